"""The Bedrock Converse format as a provider: ties encoder, decoder and error reader together; it does no I/O."""

from collections.abc import Mapping
from datetime import datetime

from core.catalog.model import Target
from core.chat import ChatRequest
from core.errors import GatewayError
from core.providers.auth import signed
from core.providers.base import Credential, Outgoing, Prepared, RemoteMedia
from core.providers.bedrock.decode import ConverseDecoder
from core.providers.bedrock.encode import outgoing
from core.providers.bedrock.errors import failure_of
from core.providers.fields import dispose
from core.providers.media import remote_media


class BedrockFormat:
    """The codec for Bedrock's ConverseStream, whatever model stands behind it."""

    def needs(self, request: ChatRequest, target: Target) -> tuple[RemoteMedia, ...]:
        """Everything that is named by address: the format takes bytes only."""
        return remote_media(request)

    def encode(self, request: ChatRequest, target: Target, prepared: Prepared) -> Outgoing:
        """The call; it always asks for a stream.

        Raises:
            InvalidRequest: A field that cannot be left out has no form here, or a file is of no known type.
        """
        return outgoing(request, target, prepared, dispose(request, target))

    def sign(self, outgoing: Outgoing, credential: Credential, now: datetime) -> Outgoing:
        """The call with its AWS signature, or with a Bedrock API key as bearer.

        Raises:
            AccountFailure: The credential lacks what the vendor wants.
        """
        return signed(outgoing, credential, now)

    def decoder(self, sent: Outgoing, status: int, headers: Mapping[str, str]) -> ConverseDecoder:
        """A decoder that tells the event stream from a whole answer by what it begins with."""
        return ConverseDecoder(sent)

    def decode_error(
        self, target: Target, status: int, headers: Mapping[str, str], body: bytes, now: datetime
    ) -> GatewayError:
        """The failure that an error response means."""
        return failure_of(target, status, headers, body, now)
