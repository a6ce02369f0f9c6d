"""The Gemini format as a provider: ties encoder, decoder and error reader together; it does no I/O."""

from collections.abc import Mapping
from datetime import datetime

from core.catalog.model import Target
from core.chat import ChatRequest
from core.errors import GatewayError
from core.providers.auth import signed
from core.providers.base import Credential, Outgoing, Prepared, RemoteMedia
from core.providers.fields import dispose
from core.providers.gemini.decode import GenerateDecoder
from core.providers.gemini.encode import outgoing
from core.providers.gemini.errors import failure_of
from core.providers.gemini.media import remote_media


class GeminiFormat:
    """The codec for every host that speaks `streamGenerateContent`."""

    def needs(self, request: ChatRequest, target: Target) -> tuple[RemoteMedia, ...]:
        """Every image and file by URL: the host fetches nothing but public videos."""
        return remote_media(request)

    def encode(self, request: ChatRequest, target: Target, prepared: Prepared) -> Outgoing:
        """The call; it always asks for a stream.

        Raises:
            InvalidRequest: A field that cannot be left out has no form here, or a file is of no known type.
        """
        return outgoing(request, target, prepared, dispose(request, target))

    def sign(self, outgoing: Outgoing, credential: Credential, now: datetime) -> Outgoing:
        """The call with its credential.

        Raises:
            AccountFailure: The credential lacks what the vendor wants.
        """
        return signed(outgoing, credential, now)

    def decoder(self, sent: Outgoing, status: int, headers: Mapping[str, str]) -> GenerateDecoder:
        """A decoder for the stream, or for a JSON body or array where the host sent one anyway."""
        return GenerateDecoder(sent, headers)

    def decode_error(
        self, target: Target, status: int, headers: Mapping[str, str], body: bytes, now: datetime
    ) -> GatewayError:
        """The failure that an error response means."""
        return failure_of(target, status, headers, body, now)
