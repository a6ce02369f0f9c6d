"""Images, documents and sound, and the names that documents get."""

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.chat import AudioPart, FilePart, ImagePart
from core.errors import InvalidRequest
from core.providers.base import Media
from core.providers.bedrock.media import audio_block, document_name, file_block, image_block
from tests.support.converse_checks import DOCUMENT_NAME

AT = "messages[0].content[0]"
OFFICE = "application/vnd.openxmlformats-officedocument"


def file(data: str, filename: str | None = None, media: dict[str, Media] | None = None) -> dict[str, Any]:
    return file_block(FilePart(data, filename=filename), media or {}, AT, "name")


def test_an_image_has_the_format_that_it_really_has() -> None:
    part = ImagePart("data:image/jpeg;base64,iVBORw0KGgo=")
    assert image_block(part, {}, AT) == {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}


def test_an_image_that_was_fetched() -> None:
    media = {"https://a/b": Media(b"\xff\xd8\xff", "image/jpeg")}
    assert image_block(ImagePart("https://a/b"), media, AT)["image"]["format"] == "jpeg"


@pytest.mark.parametrize(
    ("url", "what"), [("data:image/tiff;base64,AAAA", "image/tiff"), ("data:;base64,AAAA", "of an unknown type")]
)
def test_other_images_are_refused(url: str, what: str) -> None:
    with pytest.raises(InvalidRequest, match=what) as caught:
        image_block(ImagePart(url), {}, AT)
    assert caught.value.param == f"{AT}.image_url.url"


def test_sound() -> None:
    assert audio_block(AudioPart("UklG\nRg", "wav"), AT) == {
        "audio": {"format": "wav", "source": {"bytes": "UklGRg=="}}
    }
    with pytest.raises(InvalidRequest) as caught:
        audio_block(AudioPart("!", "mp3"), AT)
    assert caught.value.param == f"{AT}.input_audio.data"


@pytest.mark.parametrize(
    ("data", "filename", "kind"),
    [
        ("JVBERi0xLjQK", None, "pdf"),
        ("data:text/plain;base64,JVBERi0xLjQK", "a.txt", "pdf"),
        ("data:text/csv;base64,YSxi", None, "csv"),
        ("data:text/csv;charset=utf-8,a", None, "csv"),
        (f"data:{OFFICE}.wordprocessingml.document;base64,UEsDBA==", None, "docx"),
        (f"data:{OFFICE}.spreadsheetml.sheet;base64,UEsDBA==", "a.bin", "xlsx"),
        ("UEsDBA==", "Budget.XLSX", "xlsx"),
        ("0M8R4A==", "old.doc", "doc"),
        ("YQ==", "notes.markdown", "md"),
        ("YQ==", "page.htm", "html"),
        ("data:application/json;base64,e30=", "a.json", "txt"),
        ("YQ==", None, "txt"),
    ],
)
def test_documents_are_told_by_what_they_are_then_by_type_then_by_name(
    data: str, filename: str | None, kind: str
) -> None:
    document = file(data, filename)["document"]
    assert (document["format"], document["name"]) == (kind, "name")


def test_a_fetched_document_is_told_by_its_address_too() -> None:
    url = "https://a/b/Report%2Ecsv?sig=x.pdf"
    media = {url: Media(b"a,b", "application/octet-stream")}
    assert file(url, media=media)["document"] == {"format": "csv", "name": "name", "source": {"bytes": "YSxi"}}


def test_a_file_may_be_an_image() -> None:
    assert file("iVBORw0KGgo=", "a.pdf") == {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}


@pytest.mark.parametrize(
    "data",
    ["UEsDBA==", "AAAA", b64encode(b"\xff\xfe").decode(), "data:video/mp4;base64,YQ==", "data:image/tiff;base64,YQ=="],
)
def test_other_files_are_refused(data: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        file(data)
    assert caught.value.param == f"{AT}.file.file_data"


@pytest.mark.parametrize(
    ("filename", "name"),
    [
        (None, "document"),
        ("", "document"),
        ("…", "document"),
        ("report.pdf", "report"),
        ("report.v2.tar.gz", "report v2 tar gz"),
        ("Résumé_final (2)[x].PDF", "Resume final (2)[x]"),
        ("../../etc/passwd", "etc passwd"),
        ("x" * 300 + ".pdf", "x" * 200),
    ],
)
def test_names_of_documents(filename: str | None, name: str) -> None:
    assert document_name(filename, set()) == name


def test_no_two_documents_share_a_name() -> None:
    taken: set[str] = set()
    names = [document_name(name, taken) for name in ("a.pdf", "a.csv", "a (2).pdf", "a", "x" * 200, "x" * 200)]
    assert names == ["a", "a (2)", "a (2) (2)", "a (3)", "x" * 200, "x" * 196 + " (2)"]
    assert taken == set(names)


@given(st.lists(st.text(max_size=12) | st.text("a. ()-é", max_size=205), max_size=5))
def test_any_name_is_taken(filenames: list[str]) -> None:
    taken: set[str] = set()
    names = [document_name(filename, taken) for filename in filenames]
    assert len(taken) == len(names)
    assert all(DOCUMENT_NAME.fullmatch(name) and len(name) <= 200 for name in names)
