"""Images and documents as Anthropic's sources: by URL where it fetches, else as base64 with the type they really have.

Nothing is fetched here.
"""

from base64 import b64decode
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from core.catalog.model import Quirk, Target
from core.chat import ChatRequest, FilePart, ImagePart, Json
from core.errors import InvalidRequest
from core.providers import media
from core.providers.base import Media, RemoteMedia
from core.providers.media import Embedded, embedded, is_remote

_IMAGES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
_PDF: Final = "application/pdf"
_NEVER_TEXT: Final = ("image/", "audio/", "video/")


def remote_media(request: ChatRequest, target: Target) -> tuple[RemoteMedia, ...]:
    """What must be fetched before this request can be encoded.

    Anthropic fetches images and PDFs from `https:` addresses (wire reference, 2.1, read 2026-11-30); a document that
    does not look like a PDF may be text, which it takes by value alone.
    """
    fetches = not target.has(Quirk.INLINE_MEDIA)

    def is_wanted(part: ImagePart | FilePart, url: str) -> bool:
        return not (fetches and _is_secure(url) and (isinstance(part, ImagePart) or _is_pdf(url)))

    return media.remote_media(request, is_wanted)


def image_block(url: str, fetched: Mapping[str, Media], at: str) -> dict[str, Json]:
    """An image, by address or by value.

    Args:
        url: An `https:` or `data:` URL.
        fetched: What was fetched, by address.
        at: The dotted path of the URL, for errors.

    Raises:
        InvalidRequest: It is no image of a type that the format has.
    """
    if is_remote(url) and url not in fetched:
        return {"type": "image", "source": {"type": "url", "url": url}}
    found = embedded(url, fetched, at)
    if found.mime_type not in _IMAGES:
        what = found.mime_type or "of an unknown type"
        raise InvalidRequest(f"'{at}' must be a JPEG, PNG, GIF or WebP image; it is {what}.", param=at)
    return _image(found)


def document_block(data: str, fetched: Mapping[str, Media], at: str) -> dict[str, Json]:
    """A file: a PDF, anything that is text, or an image.

    Args:
        data: Base64, a `data:` URL or an `https:` URL.
        fetched: What was fetched, by address.
        at: The dotted path of the data, for errors.

    Raises:
        InvalidRequest: It is none of these.
    """
    if is_remote(data) and data not in fetched:
        return {"type": "document", "source": {"type": "url", "url": data}}
    found = embedded(data, fetched, at)
    if found.mime_type == _PDF:
        source = {"type": "base64", "media_type": _PDF, "data": found.base64}
    elif found.mime_type in _IMAGES:
        return _image(found)
    else:
        source = {"type": "text", "media_type": "text/plain", "data": _text(found, at)}
    return {"type": "document", "source": source}


def _image(found: Embedded) -> dict[str, Json]:
    return {"type": "image", "source": {"type": "base64", "media_type": found.mime_type, "data": found.base64}}


def _text(found: Embedded, at: str) -> str:
    text = "\0" if found.mime_type.startswith(_NEVER_TEXT) else _decoded(found.base64)
    if "\0" in text:
        what = found.mime_type or "neither"
        raise InvalidRequest(f"'{at}' must be a PDF, UTF-8 text or an image; it is {what}.", param=at)
    if not text.strip():
        raise InvalidRequest(f"'{at}' has no text in it.", param=at)
    return text


def _decoded(base64: str) -> str:
    try:
        return b64decode(base64).decode("utf-8-sig")
    except UnicodeDecodeError:
        return "\0"  # like text, binary data has this character; text never does


def _is_secure(url: str) -> bool:
    return url[:8].lower() == "https://"


def _is_pdf(url: str) -> bool:
    try:
        return urlsplit(url).path.lower().endswith(".pdf")
    except ValueError:
        return False
