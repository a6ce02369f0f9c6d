"""Puts fetched media into messages, for hosts that must not fetch what a caller names."""

from base64 import b64encode
from collections.abc import Mapping

from core.catalog.model import Quirk, Target
from core.chat import ChatRequest, FilePart
from core.providers import media
from core.providers.base import Media, RemoteMedia


def remote_media(request: ChatRequest, target: Target) -> tuple[RemoteMedia, ...]:
    """What must be fetched before this request can be encoded: no host fetches files, some fetch images."""
    inlines_images = target.has(Quirk.INLINE_MEDIA)
    return media.remote_media(request, lambda part, url: inlines_images or isinstance(part, FilePart))


def inlined(url: str, fetched: Mapping[str, Media]) -> str:
    """A fetched address as a `data:` URL; any other stays as it is."""
    found = fetched.get(url)
    if found is None:
        return url
    return f"data:{found.mime_type};base64,{b64encode(found.data).decode()}"
