"""Images, sound and files as `inlineData`: base64 with the type that they really have. Nothing is fetched here."""

import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote_to_bytes

from core.chat import AudioPart, ChatRequest, FilePart, ImagePart, Json
from core.errors import InvalidRequest
from core.providers.base import Media, RemoteMedia

_ALIASES: Final = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png"}

# How well-known types begin, in base64; they win over what was declared.
_SIGNATURES: Final = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGODdh", "image/gif"),
    ("R0lGODlh", "image/gif"),
    ("JVBERi0", "application/pdf"),
)
_WEBP: Final = re.compile(r"UklGR[\w+/]{6}XRUJQ")  # RIFF, four bytes of length, WEBP

_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+")
_URL_SAFE: Final = str.maketrans("-_", "+/")
_TAKEN: Final = ("image/", "audio/", "video/", "application/pdf")
_TEXT: Final = "text/plain"

# The only addresses that the host fetches itself (Gemini API, "Video understanding", read 2026-11-30), beside those of
# files kept in the account: that is the operator's, and callers share it.
_VIDEO: Final = re.compile(r"https://(?:(?:www\.)?youtube\.com/watch\?v=|youtu\.be/)[\w-]+")


def remote_media(request: ChatRequest) -> tuple[RemoteMedia, ...]:
    """What must be fetched before this request can be encoded, each address once, in order."""
    found: dict[str, RemoteMedia] = {}
    for index, message in enumerate(request.messages):
        for place, part in enumerate(message.parts):
            at = f"messages[{index}].content[{place}]"
            if isinstance(part, ImagePart):
                url, path = part.url, f"{at}.image_url.url"
            elif isinstance(part, FilePart) and part.data:
                url, path = part.data, f"{at}.file.file_data"
            else:
                continue
            if url[:8].lower().startswith(("https://", "http://")) and not _VIDEO.match(url):
                found.setdefault(url, RemoteMedia(url, path))
    return tuple(found.values())


def media_part(part: ImagePart | AudioPart | FilePart, media: Mapping[str, Media], at: str) -> dict[str, Json]:
    """A part by value.

    Args:
        part: An image, sound or a file.
        media: What was fetched, by address.
        at: The dotted path of the part, for errors.

    Raises:
        InvalidRequest: It is no base64, or nothing that the format takes.
    """
    if isinstance(part, ImagePart):
        return _embedded(part.url, media, f"{at}.image_url.url")
    if isinstance(part, AudioPart):
        return _inline(f"audio/{part.format}", _base64(part.data, f"{at}.input_audio.data"))
    return _embedded(part.data or "", media, f"{at}.file.file_data")


def _embedded(data: str, media: Mapping[str, Media], at: str) -> dict[str, Json]:
    fetched = media.get(data)
    if fetched is not None:
        return _typed(fetched.mime_type, b64encode(fetched.data).decode(), at)
    if _VIDEO.match(data):
        return {"fileData": {"mimeType": "video/mp4", "fileUri": data}}
    declared, payload = "", data
    if data[:5].lower() == "data:":
        head, _, payload = data[5:].partition(",")
        declared, *parameters = (step.strip() for step in head.lower().split(";"))
        raw = unquote_to_bytes(payload)
        payload = raw.decode("latin-1") if "base64" in parameters else b64encode(raw).decode()
    return _typed(declared, _base64(payload, at), at)


def _base64(text: str, at: str) -> str:
    """Base64 without line breaks, in the standard alphabet, padded."""
    digits = "".join(text.split()).translate(_URL_SAFE).rstrip("=")
    if not _BASE64.fullmatch(digits) or len(digits) % 4 == 1:
        raise InvalidRequest(f"'{at}' must be base64, or a 'data:' URL with some content.", param=at)
    return digits + "=" * (-len(digits) % 4)


def _typed(declared: str, base64: str, at: str) -> dict[str, Json]:
    mime_type = _ALIASES.get(declared, declared)
    for signature, known in _SIGNATURES:
        if base64.startswith(signature):
            mime_type = known
    if _WEBP.match(base64):
        mime_type = "image/webp"
    if mime_type.startswith(_TAKEN):
        return _inline(mime_type, base64)
    try:
        b64decode(base64).decode()
    except UnicodeDecodeError:
        what = mime_type or "of an unknown type"
        raise InvalidRequest(f"'{at}' must be an image, sound, a PDF or UTF-8 text; it is {what}.", param=at) from None
    # Whatever kind of text it is: this one is taken everywhere.
    return _inline(_TEXT, base64)


def _inline(mime_type: str, base64: str) -> dict[str, Json]:
    return {"inlineData": {"mimeType": mime_type, "data": base64}}
