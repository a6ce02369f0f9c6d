"""Who is told of requests: what the settings ask for, and nobody else; what is off is not even imported."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.catalog.model import Vendor
from functions.gateway.finished import Observer
from functions.settings import Settings, SettingsError

if TYPE_CHECKING:
    from functions.gateway.traces import Traces


def make_metrics(settings: Settings) -> Sequence[Observer]:
    """The writer of metrics, if it is on."""
    if settings.metrics == "off":
        return ()
    from functions.gateway.metrics import Metrics

    return (Metrics(settings.service),)


def make_traces(settings: Settings, vendors: Mapping[str, Vendor]) -> "Traces | None":
    """What makes spans, if it is on; it starts a thread.

    Raises:
        SettingsError: The packages that it needs are not installed.
    """
    if settings.traces == "off":
        return None
    try:
        from functions.gateway.traces import Traces
    except ImportError as error:
        raise SettingsError(
            f"HEADRACE_TRACES needs the extra 'traces' ({error}): pip install 'headrace[traces]', or build the package "
            "with --traces"
        ) from error
    return Traces(settings.traces_endpoint, settings.service, vendors)
