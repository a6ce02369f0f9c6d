"""Looks at a gateway from outside, as its callers do: nothing but its address and a key is needed."""

import time
from collections.abc import Callable, Sequence
from typing import Final

import httpx

from functions.local.doctor.clock import check_clock
from functions.local.doctor.finding import Finding, fail, fine, warn
from functions.local.doctor.stream import check_stream
from functions.local.output import counted

PATIENCE: Final = httpx.Timeout(30.0, read=120.0)
ABOUT: Final = "address"
_ID: Final = "x-request-id"


async def check_address(
    client: httpx.AsyncClient, now: Callable[[], float] = time.time
) -> tuple[bool, Sequence[Finding]]:
    """Whether a gateway is there, and what is to be said of it; `now` is Unix time in seconds."""
    base = str(client.base_url)
    try:
        alive = await client.get("/healthz")
        at = now()
        ready = await client.get("/readyz")
    except httpx.HTTPError as error:
        do = "Check the address, the network and the certificate; the stack's outputs name the address."
        return False, [fail(ABOUT, f"{base} cannot be reached ({type(error).__name__}: {error})", do)]
    if alive.status_code != 200 or _member(alive, "status") != "ok":
        says = f"{base} answers /healthz with {alive.status_code}, and not as this gateway does"
        return False, [fail(ABOUT, says, "Check the address: with a stage, as /live, where there is one.")]
    findings = [fine(ABOUT, f"a gateway answers at {base}")]
    if _ID not in alive.headers:
        do = "Let what stands in front of the gateway pass its headers on."
        findings.append(warn(ABOUT, f"its answers come without the header {_ID}", do))
    if ready.status_code == 200:
        findings.append(fine("store", "the gateway reaches its store"))
    else:
        do = "Look into its log; run 'headrace doctor' with its settings, where its store can be reached."
        findings.append(fail("store", f"the gateway is not ready ({ready.status_code})", do))
    return True, [*findings, *check_clock("the gateway", alive.headers.get("date"), at)]


async def check_key(client: httpx.AsyncClient) -> tuple[bool, Sequence[Finding]]:
    """Whether the gateway takes the key, and what is to be said of it."""
    try:
        answer = await client.get("/v1/models")
    except httpx.HTTPError as error:
        return False, [fail("key", f"the connection broke ({type(error).__name__})", "Try again.")]
    if answer.status_code == 401:
        do = "Make one with 'headrace keys create', in the store that this gateway uses."
        return False, [fail("key", "the gateway does not know the key", do)]
    listed = _member(answer, "data")
    if answer.status_code != 200 or not isinstance(listed, list):
        return False, [fail("key", f"/v1/models answers with {answer.status_code}", "Look into the gateway's log.")]
    if not listed:
        do = "Give the gateway a vendor's key, or let the key use more models."
        return False, [fail("key", "the key may use no model that can be called", do)]
    return True, [fine("key", f"may use {counted(len(listed), 'model')}")]


async def check_streaming(client: httpx.AsyncClient, model: str) -> Sequence[Finding]:
    """Whether a stream arrives while it is made."""
    return await check_stream(client, model)


def _member(answer: httpx.Response, name: str) -> object:
    try:
        read = answer.json()
    except ValueError:
        return None
    return read.get(name) if isinstance(read, dict) else None
