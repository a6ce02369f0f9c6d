"""Where traces are on: are their packages there, and does the collector take spans?"""

import importlib.util
from collections.abc import Sequence

import httpx

from functions.local.doctor.finding import Finding, fail, fine
from functions.settings import Settings

ABOUT = "traces"


async def check_collector(settings: Settings, client: httpx.AsyncClient) -> Sequence[Finding]:
    """Send no spans, in the form in which spans are sent; nothing where traces are off."""
    if settings.traces == "off":
        return []
    if importlib.util.find_spec("opentelemetry.exporter") is None:
        return [fail(ABOUT, "the packages that send spans are missing", "pip install 'headrace[traces]'")]
    try:
        answer = await client.post(
            settings.traces_endpoint, content=b"", headers={"content-type": "application/x-protobuf"}
        )
    except httpx.HTTPError as error:
        do = "Start the collector, or correct HEADRACE_TRACES_ENDPOINT. On Lambda every request waits for it."
        return [fail(ABOUT, f"{settings.traces_endpoint} cannot be reached ({type(error).__name__})", do)]
    if answer.status_code != 200:
        says = f"{settings.traces_endpoint} answers with {answer.status_code}"
        return [fail(ABOUT, says, "Name the collector's address for OTLP over HTTP, with /v1/traces at its end.")]
    return [fine(ABOUT, f"{settings.traces_endpoint} takes spans")]
