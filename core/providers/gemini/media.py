"""Images, sound and files as `inlineData`: base64 with the type that they really have. Nothing is fetched here."""

import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Final

from core.chat import AudioPart, ChatRequest, FilePart, ImagePart, Json
from core.errors import InvalidRequest
from core.providers import media
from core.providers.base import Media, RemoteMedia
from core.providers.media import embedded

_TAKEN: Final = ("image/", "audio/", "video/", "application/pdf")
_TEXT: Final = "text/plain"

# The only addresses that the host fetches itself (Gemini API, "Video understanding", read 2026-11-30), beside those of
# files kept in the account: that is the operator's, and callers share it.
_VIDEO: Final = re.compile(r"https://(?:(?:www\.)?youtube\.com/watch\?v=|youtu\.be/)[\w-]+")


def remote_media(request: ChatRequest) -> tuple[RemoteMedia, ...]:
    """What must be fetched before this request can be encoded: all but what the host fetches itself."""
    return media.remote_media(request, lambda part, url: _VIDEO.match(url) is None)


def media_part(part: ImagePart | AudioPart | FilePart, fetched: Mapping[str, Media], at: str) -> dict[str, Json]:
    """A part by value.

    Args:
        part: An image, sound or a file.
        fetched: What was fetched, by address.
        at: The dotted path of the part, for errors.

    Raises:
        InvalidRequest: It is no base64, or nothing that the format takes.
    """
    if isinstance(part, AudioPart):
        return _inline(f"audio/{part.format}", embedded(part.data, {}, f"{at}.input_audio.data").base64)
    if isinstance(part, ImagePart):
        return _by_value(part.url, fetched, f"{at}.image_url.url")
    return _by_value(part.data or "", fetched, f"{at}.file.file_data")


def _by_value(data: str, fetched: Mapping[str, Media], at: str) -> dict[str, Json]:
    if data not in fetched and _VIDEO.match(data):
        return {"fileData": {"mimeType": "video/mp4", "fileUri": data}}
    found = embedded(data, fetched, at)
    if found.mime_type.startswith(_TAKEN):
        return _inline(found.mime_type, found.base64)
    try:
        b64decode(found.base64).decode()
    except UnicodeDecodeError:
        what = found.mime_type or "of an unknown type"
        raise InvalidRequest(f"'{at}' must be an image, sound, a PDF or UTF-8 text; it is {what}.", param=at) from None
    # Whatever kind of text it is: this one is taken everywhere.
    return _inline(_TEXT, found.base64)


def _inline(mime_type: str, base64: str) -> dict[str, Json]:
    return {"inlineData": {"mimeType": mime_type, "data": base64}}
