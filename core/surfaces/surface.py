"""The differences between the two surfaces, as one frozen value; nothing else asks which one it is on."""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Surface:
    """How one surface speaks.

    `prefix` is its path, `id_prefix` stands before the 32 hex digits of a response's id. `strict_fields` refuses what
    nobody documents; otherwise it is sent on. `own_frames` sends the routing and usage events and the `routing` object.
    `echo_model` shows callers the model id that they asked for.
    """

    name: str
    prefix: str
    id_prefix: str
    strict_fields: bool
    own_frames: bool
    echo_model: bool

    def response_id(self, request_id: str) -> str:
        """The id of a response, from the request id `req-` + 32 hex digits."""
        return self.id_prefix + request_id.removeprefix("req-")


ROUTING = Surface("routing", "/api/v1/inference", "req-", strict_fields=True, own_frames=True, echo_model=False)
PLAIN = Surface("plain", "/v1", "chatcmpl-", strict_fields=False, own_frames=False, echo_model=True)
SURFACES = (ROUTING, PLAIN)

_REQUEST_ID: Final = re.compile(r"req-[0-9a-f]{32}")


def canonical_request_id(response_id: str) -> str:
    """The `req-` form of an id in either surface's form."""
    for surface in SURFACES:
        if response_id.startswith(surface.id_prefix):
            return "req-" + response_id.removeprefix(surface.id_prefix)
    return response_id


def is_request_id(value: str) -> bool:
    """Whether something could be the id of a request: `req-` and 32 hex digits."""
    return _REQUEST_ID.fullmatch(value) is not None
