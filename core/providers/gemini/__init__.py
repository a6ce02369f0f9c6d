"""The Gemini generateContent format as an upstream, on Google's developer API and on Vertex AI; pure."""

from core.providers.gemini.codec import GeminiFormat

__all__ = ["GeminiFormat"]
