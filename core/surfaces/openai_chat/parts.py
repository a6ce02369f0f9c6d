"""Content parts of messages, checked and made canonical. Nothing is fetched and no base64 is decoded here."""

from collections.abc import Callable
from typing import Final, TypeAlias

from core.chat import AudioPart, CacheBreakpoint, FilePart, ImagePart, Json, Part, RefusalPart, TextPart
from core.surfaces.openai_chat.checks import (
    At,
    Check,
    Table,
    anything,
    missing,
    named,
    one_of,
    record,
    string,
    variant,
    wrong,
    wrong_type,
)

Content: TypeAlias = str | tuple[Part, ...]

_SCHEMES: Final = ("https://", "http://", "data:")


def _url(value: Json, at: At) -> str:
    url = string(value, at)
    if url[:8].lower().startswith(_SCHEMES):
        return url
    raise wrong(at, "must be an 'https:' URL or a 'data:' URL.")


def _breakpoint(value: Json, at: At) -> CacheBreakpoint:
    return CacheBreakpoint(_BREAKPOINT(value, at).get("ttl"))


_BREAKPOINT: Final = record({"mode": one_of("explicit"), "ttl": one_of("30m", "12h")}, ("mode",))
_IMAGE: Final = record({"url": _url, "detail": one_of("auto", "low", "high", "original")}, ("url",))
_AUDIO: Final = record({"data": named, "format": one_of("wav", "mp3")}, ("data", "format"))
_FILE: Final = record({"file_data": named, "file_id": named, "filename": string})


def _part(payload: str, check: Check) -> Check:
    table: Table = {"type": anything, payload: check, "prompt_cache_breakpoint": _breakpoint}
    return record(table, (payload,))


_TEXT_PART: Final = _part("text", string)
_IMAGE_PART: Final = _part("image_url", _IMAGE)
_AUDIO_PART: Final = _part("input_audio", _AUDIO)
_FILE_PART: Final = _part("file", _FILE)
_REFUSAL_PART: Final = record({"type": anything, "refusal": string}, ("refusal",))


def _text(value: Json, at: At) -> TextPart:
    got = _TEXT_PART(value, at)
    return TextPart(got["text"], got.get("prompt_cache_breakpoint"))


def _image(value: Json, at: At) -> ImagePart:
    got = _IMAGE_PART(value, at)
    image = got["image_url"]
    return ImagePart(image["url"], image.get("detail"), got.get("prompt_cache_breakpoint"))


def _audio(value: Json, at: At) -> AudioPart:
    got = _AUDIO_PART(value, at)
    audio = got["input_audio"]
    return AudioPart(audio["data"], audio["format"], got.get("prompt_cache_breakpoint"))


def _file(value: Json, at: At) -> FilePart:
    got = _FILE_PART(value, at)
    file = got["file"]
    if "file_data" not in file and "file_id" not in file:
        raise missing(((at, "file"), "file_data"))
    return FilePart(
        file.get("file_data"), file.get("file_id"), file.get("filename"), got.get("prompt_cache_breakpoint")
    )


def _refusal(value: Json, at: At) -> RefusalPart:
    return RefusalPart(_REFUSAL_PART(value, at)["refusal"])


_PARTS: Final[dict[str, Callable[[Json, At], Part]]] = {
    "text": _text,
    "image_url": _image,
    "input_audio": _audio,
    "file": _file,
    "refusal": _refusal,
}

_HINTS: Final = {"document": "Send a document as a 'file' part of a user's message, with its bytes in 'file_data'."}


def content_of(*kinds: str) -> Callable[[Json, At], Content]:
    """A check of a message's content: a string, or parts of these types; an empty array is an empty tuple.

    Documents are parts of type `file`. The `document` type of other formats has no form in OpenAI's (wire reference,
    section 3, read 2026-11-30): it is refused, with a word on what to send.
    """
    part = variant({kind: _PARTS[kind] for kind in kinds}, _HINTS)

    def content(value: Json, at: At) -> Content:
        if type(value) is str:
            return value
        if type(value) is not list:
            raise wrong_type(at, "a string or an array of parts", value)
        return tuple([part(each, (at, index)) for index, each in enumerate(value)])

    return content
