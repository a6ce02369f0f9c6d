from core.catalog.model import Format
from core.providers.openai import OpenAIFormat
from core.providers.registry import provider


def test_a_codec_is_made_once() -> None:
    assert isinstance(provider(Format.OPENAI), OpenAIFormat)
    assert provider(Format.OPENAI) is provider(Format.OPENAI)
