"""Names and closes the request schemas of one surface: what nobody documents is refused there, or passes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from core.surfaces.surface import Surface
from functions.gateway.openapi.shapes import Schema, by_member, nullable, record, ref


@dataclass(frozen=True, slots=True)
class Space:
    """The request schemas of one surface. Both surfaces have the same ones; they differ in what is unknown alone."""

    surface: Surface

    def name(self, component: str) -> str:
        """The full name of a component."""
        return f"{self.surface.name}.{component}"

    def ref(self, component: str, about: str = "") -> Schema:
        """What a component of this surface says."""
        return ref(self.name(component), about)

    def kinds(self, member: str, kinds: Mapping[str, str], about: str = "") -> Schema:
        """An object whose `member` tells which component of this surface describes it."""
        return by_member(member, {kind: self.name(component) for kind, component in kinds.items()}, about)

    def record(
        self,
        members: Mapping[str, Schema],
        required: Sequence[str] = (),
        about: str = "",
        *,
        elsewhere: Collection[str] = (),
    ) -> Schema:
        """An object of a request. A null in an optional member is the same as leaving it out.

        Args:
            members: The members that are known.
            required: Those that must be there.
            about: What it is.
            elsewhere: Members of its siblings: clients send one shape for all of them, with nulls in what is not used.
        """
        shapes = {name: shape if name in required else nullable(shape) for name, shape in members.items()}
        if not self.surface.strict_fields:
            return record(shapes, required, about)
        nulls: dict[str, Schema] = {name: {"type": "null"} for name in sorted(elsewhere) if name not in members}
        return record({**shapes, **nulls}, required, about, additionalProperties=False)
