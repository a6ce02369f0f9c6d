"""Images, documents and sound as Converse blocks: always by value, with the format that they really have.

Nothing is fetched here.
"""

import re
import unicodedata
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import unquote

from core.chat import AudioPart, FilePart, ImagePart, Json
from core.errors import InvalidRequest
from core.providers.base import Media
from core.providers.media import Embedded, embedded, is_remote

_IMAGES: Final = {f"image/{name}": name for name in ("png", "jpeg", "gif", "webp")}

# DocumentFormat of the service model (botocore 1.43.127, read 2026-11-30), by MIME type and by a file's ending.
_DOCUMENTS: Final = {
    "application/pdf": "pdf",
    "application/csv": "csv",
    "text/csv": "csv",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
    "text/x-markdown": "md",
}
_ENDINGS: Final = {**{name: name for name in _DOCUMENTS.values()}, "htm": "html", "markdown": "md", "text": "txt"}
_NEVER_TEXT: Final = ("image/", "audio/", "video/")
_NOT_IN_TEXT: Final = re.compile("[\0-\x08\x0e-\x1f]")

# Names of documents (wire reference, 2.3, read 2026-11-30).
_LONGEST_NAME: Final = 200
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9()\[\]-]+")
_UNNAMED: Final = "document"


def image_block(part: ImagePart, media: Mapping[str, Media], at: str) -> dict[str, Json]:
    """An image.

    Args:
        part: What the caller sent.
        media: What was fetched, by address.
        at: The dotted path of the part, for errors.

    Raises:
        InvalidRequest: It is no image of a type that the format has.
    """
    path = f"{at}.image_url.url"
    found = embedded(part.url, media, path)
    if found.mime_type not in _IMAGES:
        what = found.mime_type or "of an unknown type"
        raise InvalidRequest(f"'{path}' must be a PNG, JPEG, GIF or WebP image; it is {what}.", param=path)
    return _image(found)


def audio_block(part: AudioPart, at: str) -> dict[str, Json]:
    """A recording.

    Raises:
        InvalidRequest: Its data is no base64.
    """
    found = embedded(part.data, {}, f"{at}.input_audio.data")
    return {"audio": {"format": part.format, "source": {"bytes": found.base64}}}


def file_block(part: FilePart, media: Mapping[str, Media], at: str, name: str) -> dict[str, Json]:
    """A file: an image, or a document under a name.

    Args:
        part: What the caller sent; its data, not the id of a file elsewhere.
        media: What was fetched, by address.
        at: The dotted path of the part, for errors.
        name: What to call a document.

    Raises:
        InvalidRequest: It is of no type that the format has.
    """
    path = f"{at}.file.file_data"
    data = part.data or ""
    found = embedded(data, media, path)
    if found.mime_type in _IMAGES:
        return _image(found)
    kind = _document_format(found, (part.filename or "", data if is_remote(data) else ""))
    if kind is None:
        what = found.mime_type or "of an unknown type"
        raise InvalidRequest(
            f"'{path}' must be a PDF, a Word or Excel file, text (also CSV, HTML or Markdown) or an image; "
            f"it is {what}.",
            param=path,
        )
    return {"document": {"format": kind, "name": name, "source": {"bytes": found.base64}}}


def document_name(filename: str | None, taken: set[str]) -> str:
    """A name that the format takes and no other document of the request has; it is added to `taken`."""
    stem, dot, ending = (filename or "").rpartition(".")
    plain = unicodedata.normalize("NFKD", stem if dot and ending.lower() in _ENDINGS else filename or "")
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    cleaned = _NOT_IN_NAMES.sub(" ", plain).strip()[:_LONGEST_NAME].rstrip() or _UNNAMED
    name, count = cleaned, 1
    while name in taken:
        count += 1
        suffix = f" ({count})"
        name = cleaned[: _LONGEST_NAME - len(suffix)].rstrip() + suffix
    taken.add(name)
    return name


def _image(found: Embedded) -> dict[str, Json]:
    return {"image": {"format": _IMAGES[found.mime_type], "source": {"bytes": found.base64}}}


def _document_format(found: Embedded, names: Sequence[str]) -> str | None:
    known = _DOCUMENTS.get(found.mime_type)
    for name in names:
        known = known or _ENDINGS.get(unquote(name).partition("?")[0].rpartition(".")[2].lower())
    if known is not None or found.mime_type.startswith(_NEVER_TEXT):
        return known
    try:
        text = b64decode(found.base64).decode()
    except UnicodeDecodeError:
        return None
    return None if _NOT_IN_TEXT.search(text) else "txt"
