"""Looks up what a request names: the organisation of its key, and its model."""

from collections.abc import Sequence

from core.catalog.loader import Catalog
from core.catalog.model import Model
from core.errors import AuthenticationFailed, NotFound, PermissionDenied
from core.parts import Parts
from core.tenant import Key
from core.workspace import Workspace


async def workspace_of(parts: Parts, org: str) -> Workspace:
    """What an organisation has set up.

    Raises:
        AuthenticationFailed: It was deleted.
        StoreUnavailable: It cannot be looked up.
    """
    found = await parts.directory.workspace(org)
    if found is None:
        raise AuthenticationFailed("The organisation of this API key is not there any more. Use another key.")
    return found


def named_model(catalog: Catalog, key: Key, name: str) -> Model:
    """The model of that id or alias.

    Raises:
        NotFound: There is none.
        PermissionDenied: The key may not use it.
    """
    model = catalog.find(name)
    if model is None:
        raise unknown_model(catalog, name, [each for each in catalog.models if may_use(key, each)])
    if not may_use(key, model):
        raise PermissionDenied(f"This key may not use {name!r}. GET /models lists what it may use.", param="model")
    return model


def unknown_model(catalog: Catalog, name: str, allowed: Sequence[Model]) -> NotFound:
    """The failure for a name that is no model's; it names near matches among those allowed."""
    near = catalog.near(name, allowed)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return NotFound(f"There is no model {name!r}.{hint} GET /models lists them all.", param="model")


def may_use(key: Key, model: Model) -> bool:
    """Whether the key's own list has the model, if it has one."""
    return key.models is None or model.id in key.models
