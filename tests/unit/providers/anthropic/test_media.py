"""Images and documents: by address or by value, with the type that they really have."""

import base64
from typing import Any

import orjson
import pytest

from core.catalog.model import Abilities, Format, Quirk, Target
from core.errors import InvalidRequest
from core.providers.anthropic import AnthropicFormat
from core.providers.base import Media, Prepared, RemoteMedia
from tests.support.requests import ask
from tests.support.targets import make_target, make_vendor

FORMAT = AnthropicFormat()


def target(*quirks: Quirk) -> Target:
    return make_target(
        vendor=make_vendor(format=Format.ANTHROPIC, quirks=frozenset(quirks)),
        abilities=Abilities(vision=True, documents=True),
    )


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def file(data: str, **more: str) -> dict[str, Any]:
    return {"type": "file", "file": {"file_data": data, **more}}


def block(part: dict[str, Any], media: dict[str, Media] | None = None) -> Any:
    sent = FORMAT.encode(ask([{"role": "user", "content": [part]}]), target(), Prepared(media=media or {}))
    return orjson.loads(sent.body)["messages"][0]["content"][0]


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


PNG = b64(b"\x89PNG\r\n\x1a\n....")
PDF = b64(b"%PDF-1.4\n")


@pytest.mark.parametrize("declared", ["image/png", "image/jpeg", "text/plain", ""])
def test_an_image_has_the_type_of_its_bytes(declared: str) -> None:
    source = block(image(f"data:{declared};base64,{PNG}"))["source"]
    assert source == {"type": "base64", "media_type": "image/png", "data": PNG}


def test_an_image_is_named_by_its_address_where_the_host_fetches() -> None:
    assert block(image("https://a.example/b.png")) == {
        "type": "image",
        "source": {"type": "url", "url": "https://a.example/b.png"},
    }


def test_a_fetched_image_is_sent_by_value() -> None:
    url = "https://a.example/b.png"
    source = block(image(url), {url: Media(b"\x89PNG\r\n\x1a\n....", "image/png")})["source"]
    assert source == {"type": "base64", "media_type": "image/png", "data": PNG}


@pytest.mark.parametrize(
    ("url", "what"), [("data:image/svg+xml,<svg/>", "image/svg+xml"), ("data:,AAAA", "unknown type")]
)
def test_other_images_are_refused_by_name(url: str, what: str) -> None:
    with pytest.raises(InvalidRequest, match=what.replace("+", r"\+")) as refused:
        block(image(url))
    assert refused.value.param == "messages[0].content[0].image_url.url"


def test_a_pdf_is_a_document_with_the_files_name() -> None:
    assert block(file(PDF, filename="a.pdf")) == {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": PDF},
        "title": "a.pdf",
    }


@pytest.mark.parametrize("head", ["", "data:text/csv;base64,", "data:application/json;base64,", "data:;base64,"])
def test_text_is_sent_as_text(head: str) -> None:
    source = block(file(head + b64("\ufeffä,b\n".encode())))["source"]
    assert source == {"type": "text", "media_type": "text/plain", "data": "ä,b\n"}


def test_an_image_among_the_files_is_an_image() -> None:
    assert block(file(PNG, filename="a.png")) == {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PNG},
    }


def test_a_pdf_is_named_by_its_address() -> None:
    assert block(file("https://a.example/b.pdf", filename="b.pdf")) == {
        "type": "document",
        "source": {"type": "url", "url": "https://a.example/b.pdf"},
        "title": "b.pdf",
    }


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b64(b"PK\x03\x04\xff\xfe"), "neither"),
        (b64(b"a\0b"), "neither"),
        ("data:audio/wav;base64," + b64(b"RIFF"), "audio/wav"),
        ("data:application/zip;base64," + b64(b"PK\xff"), "application/zip"),
        (b64(b" \n"), "no text"),
        ("data:text/plain,", "must be base64"),
        ("not base64!", "must be base64"),
    ],
)
def test_other_files_are_refused_by_name(data: str, what: str) -> None:
    with pytest.raises(InvalidRequest, match=what) as refused:
        block(file(data))
    assert refused.value.param == "messages[0].content[0].file.file_data"


IMAGE, PAPER, NOTES, PLAIN, ODD = (
    "https://a.example/a.png",
    "https://a.example/b.PDF?x=1",
    "https://a.example/c.txt",
    "http://a.example/d.png",
    "https://[/e.pdf",
)
PARTS = [image(IMAGE), file(PAPER), file(NOTES), image(PLAIN), file(ODD), image(PLAIN), file(PDF), image("data:,x")]
REQUEST = ask([{"role": "user", "content": "Hi."}, {"role": "user", "content": PARTS}])


def test_only_what_the_host_does_not_fetch_is_needed_each_once() -> None:
    assert FORMAT.needs(REQUEST, target()) == (
        RemoteMedia(NOTES, "messages[1].content[2].file.file_data"),
        RemoteMedia(PLAIN, "messages[1].content[3].image_url.url"),
        RemoteMedia(ODD, "messages[1].content[4].file.file_data"),
    )


def test_everything_remote_is_needed_where_the_host_fetches_nothing() -> None:
    needed = FORMAT.needs(REQUEST, target(Quirk.INLINE_MEDIA))
    assert [remote.url for remote in needed] == [IMAGE, PAPER, NOTES, PLAIN, ODD]
