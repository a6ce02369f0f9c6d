"""Which codec speaks which format; each is imported and made when it is first asked for."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from core.catalog.model import Format
from core.providers.base import Provider


def _openai() -> Provider:
    from core.providers.openai import OpenAIFormat

    return OpenAIFormat()


def _anthropic() -> Provider:
    from core.providers.anthropic import AnthropicFormat

    return AnthropicFormat()


def _gemini() -> Provider:
    from core.providers.gemini import GeminiFormat

    return GeminiFormat()


def _bedrock() -> Provider:
    from core.providers.bedrock import BedrockFormat

    return BedrockFormat()


_MAKERS: Final[Mapping[Format, Callable[[], Provider]]] = {
    Format.OPENAI: _openai,
    Format.ANTHROPIC: _anthropic,
    Format.GEMINI: _gemini,
    Format.BEDROCK: _bedrock,
}


@cache
def provider(format: Format) -> Provider:
    """The codec of a format.

    Raises:
        LookupError: There is none.
    """
    return _MAKERS[format]()
