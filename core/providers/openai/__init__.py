"""The OpenAI chat completions format as an upstream, with the dialects of the hosts that speak it; pure."""

from core.providers.openai.codec import OpenAIFormat

__all__ = ["OpenAIFormat"]
