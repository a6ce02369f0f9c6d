"""The Bedrock Converse format as an upstream: JSON in, an AWS event stream out; pure."""

from core.providers.bedrock.codec import BedrockFormat

__all__ = ["BedrockFormat"]
