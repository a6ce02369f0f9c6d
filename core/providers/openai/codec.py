"""The OpenAI format as a provider: ties encoder, decoder and error reader together; it does no I/O."""

from collections.abc import Mapping
from datetime import datetime

from core.catalog.model import Target
from core.chat import ChatRequest
from core.errors import GatewayError
from core.providers.auth import signed
from core.providers.base import Credential, Outgoing, Prepared, RemoteMedia
from core.providers.fields import dispose
from core.providers.openai.decode import ChatDecoder
from core.providers.openai.encode import outgoing
from core.providers.openai.errors import failure_of
from core.providers.openai.media import remote_media


class OpenAIFormat:
    """The codec for every host that speaks OpenAI chat completions."""

    def needs(self, request: ChatRequest, target: Target) -> tuple[RemoteMedia, ...]:
        """Images where the host must not or cannot fetch them, and files named by URL, which the format lacks."""
        return remote_media(request, target)

    def encode(self, request: ChatRequest, target: Target, prepared: Prepared) -> Outgoing:
        """The call, from the caller's own JSON; it always asks for a stream and its usage.

        Raises:
            InvalidRequest: A field that cannot be left out has no form here.
        """
        return outgoing(request, target, prepared, dispose(request, target))

    def sign(self, outgoing: Outgoing, credential: Credential, now: datetime) -> Outgoing:
        """The call with its credential.

        Raises:
            AccountFailure: The credential lacks what the vendor wants.
        """
        return signed(outgoing, credential, now)

    def decoder(self, sent: Outgoing, status: int, headers: Mapping[str, str]) -> ChatDecoder:
        """A decoder that tells streams from whole bodies by what they begin with: hosts label them wrongly."""
        return ChatDecoder(sent)

    def decode_error(
        self, target: Target, status: int, headers: Mapping[str, str], body: bytes, now: datetime
    ) -> GatewayError:
        """The failure that an error response means."""
        return failure_of(target, status, headers, body, now)
