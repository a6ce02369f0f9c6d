"""Which codec speaks which format; each is made when it is first asked for."""

from core.catalog.model import Format
from core.providers.base import Provider


def provider(format: Format) -> Provider:
    """The codec of a format."""
    if format is Format.OPENAI:
        from core.providers.openai import OpenAIFormat

        return OpenAIFormat()
    raise LookupError(f"no codec for {format.value}")
