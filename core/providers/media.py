"""Images and files of a request: which of them must be fetched, and what `data:` URLs, base64 and fetched media hold.

Nothing is fetched here.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote_to_bytes

from core.chat import ChatRequest, FilePart, ImagePart
from core.errors import InvalidRequest
from core.providers.base import Media, RemoteMedia

# How well-known types begin, in base64. Hosts check them and refuse a wrong declaration.
_SIGNATURES: Final = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGODdh", "image/gif"),
    ("R0lGODlh", "image/gif"),
    ("JVBERi0", "application/pdf"),
)
_WEBP: Final = re.compile(r"UklGR[\w+/]{6}XRUJQ")  # RIFF, four bytes of length, WEBP
_ALIASES: Final = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png"}

_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+")
_URL_SAFE: Final = str.maketrans("-_", "+/")


@dataclass(frozen=True, slots=True)
class Embedded:
    """Some content: its MIME type (empty when nothing tells) and its bytes in plain base64."""

    mime_type: str
    base64: str


def is_remote(url: str) -> bool:
    """Whether something is an address, not the data itself."""
    return url[:8].lower().startswith(("https://", "http://"))


def remote_media(
    request: ChatRequest, is_wanted: Callable[[ImagePart | FilePart, str], bool] = lambda part, url: True
) -> tuple[RemoteMedia, ...]:
    """What must be fetched before a request can be encoded, each address once, in order.

    Args:
        request: What the caller asks.
        is_wanted: Whether a host needs the bytes of this part, which names this address.
    """
    found: dict[str, RemoteMedia] = {}
    for index, message in enumerate(request.messages):
        for place, part in enumerate(message.parts):
            if isinstance(part, ImagePart):
                url, path = part.url, "image_url.url"
            elif isinstance(part, FilePart) and part.data:
                url, path = part.data, "file.file_data"
            else:
                continue
            if is_remote(url) and is_wanted(part, url):
                found.setdefault(url, RemoteMedia(url, f"messages[{index}].content[{place}].{path}"))
    return tuple(found.values())


def embedded(data: str, media: Mapping[str, Media], at: str) -> Embedded:
    """The content that a caller sent, or named and was fetched.

    Args:
        data: Base64 (with line breaks or in the URL-safe alphabet too), a `data:` URL, or an address in `media`.
        media: What was fetched, by address.
        at: The dotted path of the data, for errors.

    Raises:
        InvalidRequest: It is none of these, or there is nothing in it.
    """
    fetched = media.get(data)
    if fetched is not None:
        return Embedded(fetched.mime_type, b64encode(fetched.data).decode())
    declared, payload = "", data
    if data[:5].lower() == "data:":
        head, _, payload = data[5:].partition(",")
        declared, *parameters = (step.strip() for step in head.lower().split(";"))
        raw = unquote_to_bytes(payload)
        payload = raw.decode("latin-1") if "base64" in parameters else b64encode(raw).decode()
    base64 = _plain(payload)
    if base64 is None:
        raise InvalidRequest(f"'{at}' must be base64, or a 'data:' URL with some content.", param=at)
    return Embedded(_mime_type(declared, base64), base64)


def _plain(text: str) -> str | None:
    """Base64 in the standard alphabet, unbroken and padded; None when it is none."""
    digits = "".join(text.split()).translate(_URL_SAFE).rstrip("=")
    if not _BASE64.fullmatch(digits) or len(digits) % 4 == 1:
        return None
    return digits + "=" * (-len(digits) % 4)


def _mime_type(declared: str, base64: str) -> str:
    for signature, mime_type in _SIGNATURES:
        if base64.startswith(signature):
            return mime_type
    return "image/webp" if _WEBP.match(base64) else _ALIASES.get(declared, declared)
