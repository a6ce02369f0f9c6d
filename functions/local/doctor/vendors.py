"""Do vendors take our keys? Each is asked what costs nothing: for its list of models, or an answer to no question."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Final, TypeAlias
from urllib.parse import quote

from core.catalog.model import Format, Target, Vendor
from core.errors import AccountFailure, UpstreamFailure
from core.providers.auth import signed
from core.providers.base import Credential, Outgoing
from core.upstream.client import UpstreamClient
from functions.local.doctor.finding import Finding, fail, fine, warn

PATIENCE_S: Final = 15.0

# Lists that anybody may read tell nothing of a key ("Get current API key", OpenRouter API reference, read 2026-12-01).
_LISTS: Final = {"openrouter": "/key"}
_LIST: Final = {Format.OPENAI: "/models", Format.ANTHROPIC: "/models?limit=1", Format.GEMINI: "/models?pageSize=1"}
_VERSION: Final = {"anthropic-version": "2023-06-01"}
_ACTION: Final = re.compile(r"perform: ([a-z0-9-]+:[A-Za-z]+)")

Credentials: TypeAlias = Callable[[Vendor], Awaitable[Credential]]


def question(target: Target) -> Outgoing:
    """What a vendor is asked, unsigned: a GET of its list of models, or for Bedrock a Converse without messages, which
    generates nothing. Bedrock is taken to look at the credential and the permission first, as AWS's services do."""
    vendor = target.vendor
    base = vendor.base_url.rstrip("/")
    if vendor.format is Format.BEDROCK:
        url = f"{base}/model/{quote(target.host.upstream_model, safe='')}/converse"
        return Outgoing(target, url, {"content-type": "application/json"}, b'{"messages":[]}')
    headers = _VERSION if vendor.format is Format.ANTHROPIC else {}
    path = _LISTS.get(vendor.name, _LIST[vendor.format])
    return Outgoing(target, base + path, {**vendor.headers, **headers}, b"", method="GET")


async def check_vendor(
    client: UpstreamClient,
    target: Target,
    credentials: Credentials,
    now: Callable[[], float],
    patience_s: float = PATIENCE_S,
) -> tuple[Sequence[Finding], str | None]:
    """What is to be said of a vendor, and the `Date` header of its answer.

    Args:
        client: Sends the question.
        target: Any host of the vendor's.
        credentials: Gives its credential.
        now: Unix time in seconds, for signatures.
        patience_s: How long to wait for all of it, in seconds.
    """
    vendor = target.vendor
    about = f"vendor {vendor.name}"
    try:
        async with asyncio.timeout(patience_s):
            credential = await credentials(vendor)
            asked = signed(question(target), credential, datetime.fromtimestamp(now(), UTC))
            async with await client.send(asked) as response:
                body = await response.body()
    except TimeoutError:
        return [fail(about, f"no answer within {patience_s:g} s", "Try again; check the network and the proxy.")], None
    except AccountFailure as error:
        return [fail(about, error.detail, f"Set {vendor.key_env or 'AWS credentials'}.")], None
    except UpstreamFailure as error:
        do = f"Check the network, and whether {vendor.base_url} is its address."
        return [fail(about, f"cannot be reached ({error.detail})", do)], None
    except Exception as error:  # whatever the libraries raise that look for AWS credentials
        says = f"its credentials cannot be had ({type(error).__name__})"
        return [fail(about, says, "Check the AWS profile, role or keys of this process.")], None
    return [_verdict(about, vendor, response.status, body)], response.headers.get("date")


def _verdict(about: str, vendor: Vendor, status: int, body: bytes) -> Finding:
    key = vendor.key_env or "the AWS credentials"
    if status == 200 or (vendor.format is Format.BEDROCK and status == 400):
        return fine(about, "needs no key" if vendor.key_env is None else "takes our key")
    if status in (400, 401, 403):
        action = _ACTION.search(body.decode("utf-8", "replace"))
        if action is not None:
            return fail(about, f"{action[1]} is not allowed", f"Allow {action[1]} to whoever {key} belongs to.")
        return fail(about, f"refuses our key ({status})", f"Put a valid key into {key}; check what it may be used for.")
    if status == 429:
        return warn(about, "limits us at the moment (429)", "Wait, or ask the vendor for higher limits.")
    if status in (404, 405, 501):
        return warn(about, f"has no list of models ({status}): its key was not checked", "Ask one of its models.")
    return warn(about, f"fails at the moment ({status})", "Try again; requests go to other hosts meanwhile.")
