"""Vendors are asked what costs nothing, in each wire format, and their answers are read; keys are never told."""

import asyncio
from collections.abc import Callable, Sequence

import httpx
import pytest

from core.catalog.model import Auth, Format, Host, Model, Target, Vendor
from core.errors import AccountFailure
from core.providers.base import Credential
from core.upstream.client import UpstreamClient
from functions.gateway.compose import every_offer
from functions.local.doctor.finding import Finding, Level
from functions.local.doctor.vendors import check_vendor, question
from functions.settings import read_settings

KEY = "sk-c4nary-0123456789"
DATE = "Tue, 01 Dec 2026 10:00:00 GMT"
AUTH = {
    Format.OPENAI: (Auth.BEARER, ("authorization", f"Bearer {KEY}")),
    Format.ANTHROPIC: (Auth.X_API_KEY, ("x-api-key", KEY)),
    Format.GEMINI: (Auth.GOOGLE, ("x-goog-api-key", KEY)),
    Format.BEDROCK: (Auth.SIGV4, ("authorization", f"Bearer {KEY}")),
}
ASKED = {
    Format.OPENAI: ("GET", "https://lab.test/v1/models"),
    Format.ANTHROPIC: ("GET", "https://lab.test/v1/models?limit=1"),
    Format.GEMINI: ("GET", "https://lab.test/v1/models?pageSize=1"),
    Format.BEDROCK: ("POST", "https://lab.test/v1/model/small%3A1/converse"),
}
FORBIDDEN = "User: arn:aws:iam::1:role/r is not authorized to perform: bedrock:InvokeModel on resource: small"


def target(format_: Format, auth: Auth | None = None, name: str = "lab") -> Target:
    vendor = Vendor(
        name=name,
        format=format_,
        base_url="https://lab.test/v1",
        auth=auth or AUTH[format_][0],
        key_env=None if auth is Auth.NONE else "LAB_KEY",
        region="us-east-1",
    )
    host = Host("lab", "small:1")
    model = Model("lab/small", "Small", "lab", context_tokens=8_192, max_output_tokens=2_048, hosts=(host,))
    return Target(model, host, vendor)


async def credentials(vendor: Vendor) -> Credential:
    return Credential(key=KEY)


async def check(
    answer: Callable[[httpx.Request], httpx.Response], asked: Target
) -> tuple[Sequence[Finding], str | None]:
    client = UpstreamClient(httpx.MockTransport(answer))
    found, told = await check_vendor(client, asked, credentials, lambda: 1_790_000_000.0)
    assert KEY not in repr(found)
    assert all(each.level is Level.OK or each.do for each in found)
    return found, told


@pytest.mark.parametrize("format_", Format)
async def test_the_question_of_each_format(format_: Format) -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(400 if format_ is Format.BEDROCK else 200, headers={"date": DATE})

    found, told = await check(answer, target(format_))
    (request,) = seen
    name, value = AUTH[format_][1]
    assert (request.method, str(request.url)) == ASKED[format_]
    assert request.headers[name] == value
    assert ("anthropic-version" in request.headers) is (format_ is Format.ANTHROPIC)
    assert ([each.level.value for each in found], told) == (["ok"], DATE)


@pytest.mark.parametrize(
    ("status", "body", "level", "word"),
    [
        (200, "{}", "ok", "takes our key"),
        (401, f"no such key: {KEY}", "fail", "refuses our key (401)"),
        (403, "", "fail", "refuses our key (403)"),
        (400, "API key not valid", "fail", "refuses our key (400)"),
        (403, FORBIDDEN, "fail", "bedrock:InvokeModel is not allowed"),
        (404, "", "warn", "was not checked"),
        (405, "", "warn", "was not checked"),
        (429, "", "warn", "limits us"),
        (503, "", "warn", "fails at the moment"),
    ],
)
async def test_what_an_answer_means(status: int, body: str, level: str, word: str) -> None:
    found, _ = await check(lambda request: httpx.Response(status, text=body), target(Format.OPENAI))
    assert [each.level.value for each in found] == [level]
    assert word in found[0].says
    if word.startswith("bedrock"):
        assert "Allow bedrock:InvokeModel" in (found[0].do or "")


async def test_a_vendor_that_cannot_be_reached_and_one_that_never_answers() -> None:
    def away(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("no route")

    async def never(request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError("nobody waits for ever")

    found, told = await check(away, target(Format.OPENAI))
    assert ([each.level.value for each in found], told) == (["fail"], None)
    assert "cannot be reached" in found[0].says
    client = UpstreamClient(httpx.MockTransport(never))
    found, told = await check_vendor(client, target(Format.OPENAI), credentials, lambda: 0.0, patience_s=0.02)
    assert ([each.level.value for each in found], told) == (["fail"], None)
    assert "no answer" in found[0].says


async def test_a_key_that_is_missing_and_one_that_is_not_needed() -> None:
    async def none(vendor: Vendor) -> Credential:
        raise AccountFailure("no", detail="no credential for lab")

    async def broken(vendor: Vendor) -> Credential:
        raise LookupError(f"no profile: {KEY}")

    client = UpstreamClient(httpx.MockTransport(lambda request: httpx.Response(200)))
    found, _ = await check_vendor(client, target(Format.OPENAI), none, lambda: 0.0)
    assert (found[0].level, found[0].do) == (Level.FAIL, "Set LAB_KEY.")
    found, _ = await check_vendor(client, target(Format.BEDROCK), broken, lambda: 0.0)
    assert (found[0].level, found[0].says) == (Level.FAIL, "its credentials cannot be had (LookupError)")
    found, _ = await check_vendor(client, target(Format.OPENAI, Auth.NONE), credentials, lambda: 0.0)
    assert (found[0].level, found[0].says) == (Level.OK, "needs no key")


def test_every_vendor_that_ships_can_be_asked() -> None:
    catalog = every_offer(read_settings({})).common.catalog
    targets = {each.vendor.name: each for model in catalog.scan() for each in catalog.targets(model)}
    assert len(targets) > 10
    for each in targets.values():
        asked = question(each)
        assert asked.url.startswith(each.vendor.base_url)
        assert asked.method == ("POST" if each.vendor.format is Format.BEDROCK else "GET")
