"""Images, sound and files by value."""

from base64 import b64encode
from typing import Any

import pytest

from core.chat import AudioPart, FilePart, ImagePart
from core.errors import InvalidRequest
from core.providers.base import Media, RemoteMedia
from core.providers.gemini.media import media_part, remote_media
from tests.support.requests import ask

PNG = b64encode(b"\x89PNG\r\n\x1a\n....").decode()
WEBP = b64encode(b"RIFF\x01\x02\x03\x04WEBPVP8 ").decode()
PDF = b64encode(b"%PDF-1.4\n").decode()


def inline(mime_type: str, data: str) -> dict[str, Any]:
    return {"inlineData": {"mimeType": mime_type, "data": data}}


def sent(part: Any, **media: Media) -> dict[str, Any]:
    return media_part(part, {url.replace("_", ":"): each for url, each in media.items()}, "messages[0].content[0]")


@pytest.mark.parametrize(
    ("url", "part"),
    [
        (f"data:image/png;base64,{PNG}", inline("image/png", PNG)),
        (f"DATA:image/JPG;base64,{PNG}", inline("image/png", PNG)),
        (f"data:;base64,{WEBP}", inline("image/webp", WEBP)),
        ("data:image/jpg;base64,/9j/4AAQ", inline("image/jpeg", "/9j/4AAQ")),
        ("data:image/jpg;base64,AAAA", inline("image/jpeg", "AAAA")),
        ("data:image/heic;name=a.heic;base64,AAAA", inline("image/heic", "AAAA")),
        ("data:image/gif;base64,R0lGODlh", inline("image/gif", "R0lGODlh")),
        # the other alphabet, line breaks, no padding, escapes
        ("data:image/heic;base64,-_ 8\r\n", inline("image/heic", "+/8=")),
        ("data:image/heic;base64,%2B/8%3D", inline("image/heic", "+/8=")),
        ("data:image/svg+xml,%3Csvg/%3E", inline("image/svg+xml", b64encode(b"<svg/>").decode())),
    ],
)
def test_an_image_goes_as_what_it_is(url: str, part: dict[str, Any]) -> None:
    assert sent(ImagePart(url)) == part


def test_what_was_fetched_goes_by_value() -> None:
    jpeg = Media(b"\xff\xd8\xff", "image/jpeg")
    assert sent(ImagePart("https://a"), **{"https_//a": jpeg}) == inline("image/jpeg", "/9j/")
    text = Media(b"a;b", "text/csv")
    assert sent(FilePart("https://a"), **{"https_//a": text}) == inline("text/plain", "YTti")


@pytest.mark.parametrize("kind", ["wav", "mp3"])
def test_sound(kind: str) -> None:
    assert sent(AudioPart("UklGRg", kind)) == inline(f"audio/{kind}", "UklGRg==")


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (PDF, inline("application/pdf", PDF)),
        (f"data:application/octet-stream;base64,{PDF}", inline("application/pdf", PDF)),
        (f"data:text/csv;base64,{b64encode(b'a;b').decode()}", inline("text/plain", "YTti")),
        (b64encode("日本".encode()).decode(), inline("text/plain", "5pel5pys")),
        ("data:application/json,{}", inline("text/plain", "e30=")),
        ("data:video/mp4;base64,AAAA", inline("video/mp4", "AAAA")),
    ],
)
def test_a_file_goes_as_what_it_is(data: str, part: dict[str, Any]) -> None:
    assert sent(FilePart(data, filename="a")) == part


@pytest.mark.parametrize("url", ["https://www.youtube.com/watch?v=a-b_c", "https://youtu.be/abc"])
def test_a_public_video_is_left_to_the_host(url: str) -> None:
    part = {"fileData": {"mimeType": "video/mp4", "fileUri": url}}
    assert sent(FilePart(url)) == part
    assert remote_media(ask([{"role": "user", "content": [{"type": "file", "file": {"file_data": url}}]}])) == ()


@pytest.mark.parametrize(
    ("part", "param"),
    [
        (ImagePart("data:image/png;base64,"), "messages[0].content[0].image_url.url"),
        (ImagePart("data:image/png;base64,A"), "messages[0].content[0].image_url.url"),
        (AudioPart("é", "wav"), "messages[0].content[0].input_audio.data"),
        (FilePart("???"), "messages[0].content[0].file.file_data"),
        (FilePart(None), "messages[0].content[0].file.file_data"),
    ],
)
def test_what_is_no_base64_is_the_callers_fault(part: Any, param: str) -> None:
    with pytest.raises(InvalidRequest, match="must be base64") as caught:
        sent(part)
    assert caught.value.param == param


@pytest.mark.parametrize(("declared", "told"), [("application/zip", "application/zip"), ("", "of an unknown type")])
def test_what_the_format_does_not_take_is_the_callers_fault(declared: str, told: str) -> None:
    with pytest.raises(InvalidRequest, match=f"it is {told}") as caught:
        sent(FilePart(f"data:{declared};base64,/w=="))
    assert caught.value.param == "messages[0].content[0].file.file_data"


def test_every_address_is_fetched_once_and_named() -> None:
    def image(url: str) -> dict[str, Any]:
        return {"type": "image_url", "image_url": {"url": url}}

    content = [
        {"type": "text", "text": "https://not.this"},
        image("https://a.b/1.png"),
        image(f"data:image/png;base64,{PNG}"),
        image("HTTP://a.b/2.png"),
        image("https://a.b/1.png"),
        {"type": "file", "file": {"file_data": "https://a.b/c.pdf"}},
        {"type": "file", "file": {"file_id": "file-1"}},
    ]
    request = ask([{"role": "system", "content": "Hi."}, {"role": "user", "content": content}])
    assert remote_media(request) == (
        RemoteMedia("https://a.b/1.png", "messages[1].content[1].image_url.url"),
        RemoteMedia("HTTP://a.b/2.png", "messages[1].content[3].image_url.url"),
        RemoteMedia("https://a.b/c.pdf", "messages[1].content[5].file.file_data"),
    )
