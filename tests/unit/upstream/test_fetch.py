"""Remote media: only public https, at the address that was checked, within bounds."""

from collections.abc import Callable, Sequence
from ipaddress import ip_address

import httpx
import pytest

from core.errors import InvalidRequest
from core.providers.base import Media, RemoteMedia
from core.upstream.addresses import Address, is_public, looks_numeric, plain_address
from core.upstream.fetch import LARGEST_BYTES, Fetcher, system_resolve
from core.upstream.mime import mime_type_of
from tests.support.clock import ManualClock, drive

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 16
PUBLIC = "93.184.215.14"


def resolver(**hosts: Sequence[str]) -> Callable[[str, int], object]:
    async def resolve(host: str, port: int) -> list[Address]:
        found = hosts.get(host.split(".")[0])
        if found is None:
            raise OSError("no such host")
        return [ip_address(address) for address in found]

    return resolve


async def fetch(url: str, answer: Callable[[httpx.Request], httpx.Response], **hosts: Sequence[str]) -> Media:
    clock = ManualClock()
    known = hosts or {"example": [PUBLIC]}
    fetcher = Fetcher(httpx.MockTransport(answer), clock, resolver(**known))  # type: ignore[arg-type]  # see resolver
    return await drive(clock, fetcher.fetch(RemoteMedia(url, "messages[0].content[0].image_url.url")))


async def refusal(url: str, answer: Callable[[httpx.Request], httpx.Response], **hosts: Sequence[str]) -> str:
    with pytest.raises(InvalidRequest) as refused:
        await fetch(url, answer, **hosts)
    assert refused.value.param == "messages[0].content[0].image_url.url"
    return refused.value.message


def ok(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, content=PNG, headers={"content-type": "image/jpg; charset=x"})


async def test_the_checked_address_is_the_one_connected_to() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return ok(request)

    media = await fetch("https://example.org/a.png?x=1#frag", answer, example=[PUBLIC])
    assert media == Media(PNG, "image/png")
    assert str(seen[0].url) == f"https://{PUBLIC}/a.png?x=1"
    assert seen[0].headers["host"] == "example.org"
    assert seen[0].extensions["sni_hostname"] == "example.org"


async def test_other_ports_and_version_6_addresses_work() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return ok(request)

    await fetch("https://example.org:8443", answer, example=["2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
    assert str(seen[0].url) == "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8443/"
    assert seen[0].headers["host"] == "example.org:8443"


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "file:///etc/passwd",
        "ftp://example.org/",
        "https:///nohost",
        "https://user@example.org/",
        "https://:secret@example.org/",
        "https://example.org:99999/",
        "https://[::1/",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://0177.0.0.1/",
        "https://127.0.0.1./",
        "https://10.0.0.8/",
        "https://169.254.169.254/latest/meta-data/",
        "https://100.100.100.200/",
        "https://168.63.129.16/",
        "https://[::1]/",
        "https://[::ffff:169.254.169.254]/",
        "https://[64:ff9b::a9fe:a9fe]/",
        "https://[2002:7f00:1::]/",
        "https://[fd00:ec2::254]/",
        "https://nowhere.example/",
        "https://" + "a" * 300 + ".org/",
    ],
)
async def test_what_is_not_plainly_public_is_refused(url: str) -> None:
    assert "could not be fetched" in await refusal(url, ok)


@pytest.mark.parametrize("addresses", [[], ["127.0.0.1"], [PUBLIC, "10.0.0.1"]])
async def test_a_name_counts_only_if_all_its_addresses_are_public(addresses: list[str]) -> None:
    assert "not a public one" in await refusal("https://example.org/", ok, example=addresses)


async def test_redirects_are_followed_and_each_is_checked() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.headers["host"] == "example.org":
            return httpx.Response(302, headers={"location": "https://cdn.org/b.png"})
        return ok(request)

    hosts = {"example": [PUBLIC], "cdn": ["198.35.26.96"]}
    assert (await fetch("https://example.org/", answer, **hosts)).mime_type == "image/png"

    def inward(request: httpx.Request) -> httpx.Response:
        return httpx.Response(307, headers={"location": "https://169.254.169.254/"})

    assert "not a public one" in await refusal("https://example.org/", inward)

    def forever(request: httpx.Request) -> httpx.Response:
        return httpx.Response(301, headers={"location": "/again"})

    assert "redirected more than" in await refusal("https://example.org/", forever)


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (httpx.Response(404), "status 404"),
        (httpx.Response(200, content=b""), "nothing in it"),
        (httpx.Response(200, content=b"x", headers={"content-length": str(LARGEST_BYTES + 1)}), "larger than"),
        (httpx.Response(200, content=b"x" * (LARGEST_BYTES + 1), headers={"content-length": "odd"}), "larger than"),
    ],
)
async def test_answers_that_are_of_no_use_are_refused(response: httpx.Response, words: str) -> None:
    assert words in await refusal("https://example.org/", lambda request: response)


async def test_a_server_that_breaks_off_is_told_of() -> None:
    def broken(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("reset")

    assert "broke off" in await refusal("https://example.org/", broken)


async def test_a_server_that_is_too_slow_is_given_up() -> None:
    clock = ManualClock()

    async def resolve(host: str, port: int) -> list[Address]:
        await clock.sleep_until(1_000)
        return []

    fetcher = Fetcher(httpx.MockTransport(ok), clock, resolve)
    with pytest.raises(InvalidRequest, match="within 15 seconds"):
        await drive(clock, fetcher.fetch(RemoteMedia("https://example.org/")))


async def test_the_systems_resolver_answers_for_this_machine() -> None:
    assert ip_address("127.0.0.1") in await system_resolve("127.0.0.1", 443)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2001:4860:4860::8888", True),
        ("::ffff:8.8.8.8", True),
        ("224.0.0.1", False),
        ("0.0.0.0", False),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", False),
    ],
)
def test_public_addresses(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) is public


def test_hosts_that_end_in_a_number_look_numeric() -> None:
    assert looks_numeric("1.2.3")
    assert looks_numeric("0x7f")
    assert not looks_numeric("a1.org")
    assert plain_address("a1.org") is None


@pytest.mark.parametrize(
    ("declared", "first", "expected"),
    [
        ("image/jpg", b"", "image/jpeg"),
        ("text/plain; charset=utf-8", b"hello", "text/plain"),
        ("", b"hello", "application/octet-stream"),
        ("image/png", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("", b"GIF89a", "image/gif"),
        ("", b"%PDF-1.7", "application/pdf"),
        ("", b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        ("audio/wave", b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
    ],
)
def test_mime_types_have_one_spelling(declared: str, first: bytes, expected: str) -> None:
    assert mime_type_of(declared, first) == expected
