"""The Anthropic Messages format as an upstream, on Anthropic's own API and where clouds offer it; pure."""

from core.providers.anthropic.codec import AnthropicFormat

__all__ = ["AnthropicFormat"]
