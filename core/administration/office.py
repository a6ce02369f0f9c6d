"""What operators' use cases work with, and how they find what they work on."""

from collections.abc import Callable
from dataclasses import dataclass

from core.errors import NotFound
from core.ports import Directory, Sealer, Store
from core.routing.offers import Offers
from core.tenant import Key, Organisation
from core.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Office:
    """The collaborators of operators' use cases.

    `store` is read: operators see what is, not what was a minute ago. `directory` is written to, so that this
    process forgets at once what it remembers. `now_ms` gives Unix time in milliseconds, `random_bytes` so many
    bytes from a cryptographic source, `offers` what there is to choose from for those who have a key at every
    vendor. `sealer` is None where there is no key to seal with.
    """

    store: Store
    directory: Directory
    now_ms: Callable[[], int]
    random_bytes: Callable[[int], bytes]
    offers: Callable[[], Offers]
    sealer: Sealer | None = None

    async def organisation(self, org: str) -> Organisation:
        """The organisation of that id.

        Raises:
            NotFound: There is none.
        """
        found = await self.store.organisation(org)
        if found is None:
            raise _no_organisation(org)
        return found

    async def workspace(self, org: str) -> Workspace:
        """Everything that the organisation of that id has set up.

        Raises:
            NotFound: There is none.
        """
        found = await self.store.workspace(org)
        if found is None:
            raise _no_organisation(org)
        return found

    async def key(self, org: str, key_id: str) -> Key:
        """The organisation's key of that id.

        Raises:
            NotFound: There is none.
        """
        for key in await self.store.keys(org):
            if key.id == key_id:
                return key
        await self.organisation(org)
        raise NotFound(f"{org!r} has no key {key_id!r}.", code="key_not_found")


def _no_organisation(org: str) -> NotFound:
    return NotFound(f"There is no organisation {org!r}.", code="organisation_not_found")
