"""What every wire format offers: canonical to upstream HTTP and back, purely; no client, clock, environment or log."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from core.catalog.model import Target
from core.chat import ChatRequest
from core.errors import GatewayError
from core.events import Event
from core.ports import ToolTurn


@dataclass(frozen=True, slots=True)
class RemoteMedia:
    """Something that must be fetched before a request can be encoded, because its host takes bytes only.

    `param` is the dotted path of the URL in the request, for errors.
    """

    url: str
    param: str | None = None


@dataclass(frozen=True, slots=True)
class Media:
    """Fetched bytes and their MIME type, normalised (`image/jpeg`, never `image/jpg`)."""

    data: bytes
    mime_type: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """What was gathered before encoding: fetched media by URL, remembered tool turns by our tool call id."""

    media: Mapping[str, Media] = field(default_factory=dict)
    turns: Mapping[str, ToolTurn] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """An upstream call, unsigned.

    `custom_tools` names the caller's free-text tools that were sent as functions, so that calls come back as custom;
    `choices` is how many answers were asked for.
    """

    target: Target
    url: str
    headers: Mapping[str, str]
    body: bytes
    method: str = "POST"
    custom_tools: frozenset[str] = frozenset()
    choices: int = 1


@dataclass(frozen=True, slots=True)
class Credential:
    """What proves us to a vendor: a key, or AWS credentials in all of the last three."""

    key: str | None = None
    access_key: str | None = None
    secret_key: str | None = None
    session_token: str | None = None

    def __repr__(self) -> str:
        return "Credential(...)"


class StreamDecoder(Protocol):
    """Turns one upstream response's bytes into events, however they are split."""

    @property
    def done(self) -> bool:
        """Whether the terminal event was seen: nothing that follows matters."""
        ...

    def feed(self, data: bytes) -> tuple[Event, ...]:
        """Events that these bytes complete; a failure that came with some is raised by the next call.

        Raises:
            UpstreamFailure: The upstream reports an error in band, or sends what is not its format.
        """
        ...

    def close(self) -> tuple[Event, ...]:
        """The last events, at the end of the body.

        Raises:
            Interrupted: The stream ended without its terminal event.
            UpstreamFailure: What was buffered is an error, or not the format.
        """
        ...


class Provider(Protocol):
    """One wire format."""

    def needs(self, request: ChatRequest, target: Target) -> tuple[RemoteMedia, ...]:
        """Remote media that `encode` wants in `prepared`."""
        ...

    def encode(self, request: ChatRequest, target: Target, prepared: Prepared) -> Outgoing:
        """The upstream call; it always asks for a stream.

        Raises:
            InvalidRequest: The request cannot be said in this format.
        """
        ...

    def sign(self, outgoing: Outgoing, credential: Credential, now: datetime) -> Outgoing:
        """The call with its credential, made anew for every try."""
        ...

    def decoder(self, sent: Outgoing, status: int, headers: Mapping[str, str]) -> StreamDecoder:
        """A decoder for a successful response: a stream, or a whole JSON body where the upstream sent one anyway."""
        ...

    def decode_error(
        self, target: Target, status: int, headers: Mapping[str, str], body: bytes, now: datetime
    ) -> GatewayError:
        """The failure that an error response means. Header names are lower case."""
        ...
