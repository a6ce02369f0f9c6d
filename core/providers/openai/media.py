"""Puts fetched media into messages, for hosts that must not fetch what a caller names."""

from base64 import b64encode
from collections.abc import Mapping

from core.catalog.model import Quirk, Target
from core.chat import ChatRequest, FilePart, ImagePart
from core.providers.base import Media, RemoteMedia


def remote_media(request: ChatRequest, target: Target) -> tuple[RemoteMedia, ...]:
    """What must be fetched before this request can be encoded, each once, in order."""
    inlines_images = target.has(Quirk.INLINE_MEDIA)
    found: dict[str, RemoteMedia] = {}
    for index, message in enumerate(request.messages):
        for place, part in enumerate(message.parts):
            at = f"messages[{index}].content[{place}]"
            if isinstance(part, ImagePart) and inlines_images and is_remote(part.url):
                found.setdefault(part.url, RemoteMedia(part.url, f"{at}.image_url.url"))
            elif isinstance(part, FilePart) and part.data and is_remote(part.data):
                found.setdefault(part.data, RemoteMedia(part.data, f"{at}.file.file_data"))
    return tuple(found.values())


def is_remote(url: str) -> bool:
    """Whether something is an address to fetch, not the data itself."""
    return url[:8].lower().startswith(("https://", "http://"))


def inlined(url: str, media: Mapping[str, Media]) -> str:
    """A fetched address as a `data:` URL; any other stays as it is."""
    fetched = media.get(url)
    if fetched is None:
        return url
    return f"data:{fetched.mime_type};base64,{b64encode(fetched.data).decode()}"
