"""What each of the operator's endpoints is given, and what tables of them are made of."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from core.administration.office import Office
from core.chat import Json
from core.errors import InvalidRequest
from core.surfaces.admin.changes import LONGEST_NAME, is_identifier

ADMIN: Final = "/admin/v1"
"""What the addresses of the operator's endpoints begin with."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the operator's; `names` are those in its path, `body` is as it came."""

    office: Office
    names: Mapping[str, str]
    body: bytes

    def new_name(self, name: str) -> str:
        """A name in the path under which something is about to be written.

        Raises:
            InvalidRequest: It is none that could stand in a path everywhere.
        """
        if not is_identifier(self.names[name]):
            raise InvalidRequest(
                f"The {name} in the address must be 1 to {LONGEST_NAME} letters, digits, dots, hyphens or "
                "underscores, no dot first.",
                param=name,
            )
        return self.names[name]


Endpoint: TypeAlias = Callable[[Call], Awaitable[Json]]
"""Does what is asked, and returns the JSON to answer with."""

Endpoints: TypeAlias = tuple[tuple[str, str, Endpoint], ...]
"""Method, path and endpoint of each."""


def listed(data: Iterable[Json]) -> Json:
    """A list, in the shape of all our lists."""
    return {"object": "list", "data": [*data]}


def deleted(kind: str, name: str) -> Json:
    """What is said of something that was deleted."""
    return {"object": kind, "id": name, "deleted": True}
