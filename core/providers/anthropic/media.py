"""Images and documents as Anthropic's sources: by URL where it fetches, else as base64 with the type they really have.

Nothing is fetched here.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote_to_bytes, urlsplit

from core.catalog.model import Quirk, Target
from core.chat import ChatRequest, FilePart, ImagePart, Json
from core.errors import InvalidRequest
from core.providers.base import Media, RemoteMedia

_IMAGES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
_PDF: Final = "application/pdf"
_ALIASES: Final = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png"}

# How well-known types begin, in base64. Hosts check them and refuse a wrong declaration.
_SIGNATURES: Final = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGODdh", "image/gif"),
    ("R0lGODlh", "image/gif"),
    ("JVBERi0", _PDF),
)
_WEBP: Final = re.compile(r"UklGR[\w+/]{6}XRUJQ")  # RIFF, four bytes of length, WEBP

_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+")
_URL_SAFE: Final = str.maketrans("-_", "+/")
_NEVER_TEXT: Final = ("image/", "audio/", "video/")


@dataclass(frozen=True, slots=True)
class Embedded:
    """Content by value: its MIME type (empty when nothing tells) and its bytes in plain base64."""

    mime_type: str
    base64: str


def remote_media(request: ChatRequest, target: Target) -> tuple[RemoteMedia, ...]:
    """What must be fetched before this request can be encoded, each address once, in order.

    Anthropic fetches images and PDFs from `https:` addresses (wire reference, 2.1, read 2026-11-30); a document that
    does not look like a PDF may be text, which it takes by value alone.
    """
    fetches = not target.has(Quirk.INLINE_MEDIA)
    found: dict[str, RemoteMedia] = {}
    for index, message in enumerate(request.messages):
        for place, part in enumerate(message.parts):
            at = f"messages[{index}].content[{place}]"
            if isinstance(part, ImagePart):
                url, path, is_taken = part.url, f"{at}.image_url.url", _is_secure(part.url)
            elif isinstance(part, FilePart) and part.data:
                url, path, is_taken = part.data, f"{at}.file.file_data", _is_secure(part.data) and _is_pdf(part.data)
            else:
                continue
            if is_remote(url) and not (fetches and is_taken):
                found.setdefault(url, RemoteMedia(url, path))
    return tuple(found.values())


def is_remote(url: str) -> bool:
    """Whether something is an address, not the data itself."""
    return url[:8].lower().startswith(("https://", "http://"))


def image_block(url: str, media: Mapping[str, Media], at: str) -> dict[str, Json]:
    """An image, by address or by value.

    Args:
        url: An `https:` or `data:` URL.
        media: What was fetched, by address.
        at: The dotted path of the URL, for errors.

    Raises:
        InvalidRequest: It is no image of a type that the format has.
    """
    if is_remote(url) and url not in media:
        return {"type": "image", "source": {"type": "url", "url": url}}
    found = _embedded(url, media, at)
    if found.mime_type not in _IMAGES:
        what = found.mime_type or "of an unknown type"
        raise InvalidRequest(f"'{at}' must be a JPEG, PNG, GIF or WebP image; it is {what}.", param=at)
    return _image(found)


def document_block(data: str, media: Mapping[str, Media], at: str) -> dict[str, Json]:
    """A file: a PDF, anything that is text, or an image.

    Args:
        data: Base64, a `data:` URL or an `https:` URL.
        media: What was fetched, by address.
        at: The dotted path of the data, for errors.

    Raises:
        InvalidRequest: It is none of these.
    """
    if is_remote(data) and data not in media:
        return {"type": "document", "source": {"type": "url", "url": data}}
    found = _embedded(data, media, at)
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


def _embedded(data: str, media: Mapping[str, Media], at: str) -> Embedded:
    fetched = media.get(data)
    if fetched is not None:
        return Embedded(fetched.mime_type, b64encode(fetched.data).decode())
    declared, payload = "", data
    if data[:5].lower() == "data:":
        head, _, payload = data[5:].partition(",")
        declared, *parameters = (step.strip() for step in head.lower().split(";"))
        raw = unquote_to_bytes(payload)
        payload = raw.decode("latin-1") if "base64" in parameters else b64encode(raw).decode()
    base64 = _plain_base64(payload)
    if base64 is None:
        raise InvalidRequest(f"'{at}' must be base64, or a 'data:' URL with some content.", param=at)
    return Embedded(_mime_type(declared, base64), base64)


def _plain_base64(text: str) -> str | None:
    """Base64 without line breaks, in the standard alphabet, padded; None when it is none."""
    digits = "".join(text.split()).translate(_URL_SAFE).rstrip("=")
    if not _BASE64.fullmatch(digits) or len(digits) % 4 == 1:
        return None
    return digits + "=" * (-len(digits) % 4)


def _mime_type(declared: str, base64: str) -> str:
    for signature, mime_type in _SIGNATURES:
        if base64.startswith(signature):
            return mime_type
    return "image/webp" if _WEBP.match(base64) else _ALIASES.get(declared, declared)


def _is_secure(url: str) -> bool:
    return url[:8].lower() == "https://"


def _is_pdf(url: str) -> bool:
    try:
        return urlsplit(url).path.lower().endswith(".pdf")
    except ValueError:
        return False
