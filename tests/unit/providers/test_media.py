"""What callers embed or name, in every way that they write it."""

import pytest

from core.errors import InvalidRequest
from core.providers.base import Media
from core.providers.media import Embedded, embedded, is_remote

PNG = "iVBORw0KGgo="


@pytest.mark.parametrize(
    ("data", "mime_type", "base64"),
    [
        (PNG, "image/png", PNG),
        (f"data:image/png;base64,{PNG}", "image/png", PNG),
        (f"DATA:Image/JPG;charset=x;Base64,{PNG}", "image/png", PNG),  # what it is counts, not what it says
        ("data:image/jpg;base64,AAAA", "image/jpeg", "AAAA"),
        ("data:image/tiff;base64,AAAA", "image/tiff", "AAAA"),
        ("_9j_4AA", "image/jpeg", "/9j/4AA="),
        ("R0lGODlhAQ==", "image/gif", "R0lGODlhAQ=="),
        ("UklGRiQAAABXRUJQVlA4", "image/webp", "UklGRiQAAABXRUJQVlA4"),
        ("JVBERi0xLjQK", "application/pdf", "JVBERi0xLjQK"),
        ("AA\r\n AA\n", "", "AAAA"),
        ("data:,a%20b", "", "YSBi"),
        ("data:text/plain;base64,QQ%3D%3D", "text/plain", "QQ=="),
    ],
)
def test_content_by_value(data: str, mime_type: str, base64: str) -> None:
    assert embedded(data, {}, "at") == Embedded(mime_type, base64)


def test_content_that_was_fetched() -> None:
    media = {"https://a/b": Media(b"\0\1", "image/png")}
    assert embedded("https://a/b", media, "at") == Embedded("image/png", "AAE=")


@pytest.mark.parametrize("data", ["", "A", "data:image/png;base64,", "data:image/png", "https://a/b", "ä"])
def test_what_holds_nothing_is_refused(data: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        embedded(data, {}, "messages[0].content[1].image_url.url")
    assert caught.value.param == "messages[0].content[1].image_url.url"


def test_addresses_and_data() -> None:
    assert is_remote("HTTPS://a/b")
    assert is_remote("http://a/b")
    assert not is_remote("data:,a")
    assert not is_remote("aHR0cHM=")
