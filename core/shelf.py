"""The models that a caller may use, for the lists of models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.catalog.loader import Catalog
from core.catalog.model import Model
from core.lookup import unknown_model
from core.tenant import Key
from core.workspace import Opinion, Workspace


@dataclass(frozen=True, slots=True)
class Shelf:
    """The models of a catalog that a caller may use, and the opinions of his organisation by model and task."""

    catalog: Catalog
    models: Sequence[Model]
    opinions: Mapping[tuple[str, str], Opinion] = field(default_factory=dict)

    def find(self, name: str) -> Model:
        """The model of that id or alias.

        Raises:
            NotFound: There is none that the caller may use; near matches are named.
        """
        model = self.catalog.find(name)
        if model is not None and self.models is not self.catalog.models:
            model = next((each for each in self.models if each.id == model.id), None)
        if model is None:
            raise unknown_model(self.catalog, name, self.models)
        return model


def usable_models(catalog: Catalog, workspace: Workspace, key: Key) -> Sequence[Model]:
    """The models that a key may name and that at least one of its policies lets serve."""
    policies = [workspace.policies[name] for name in key.policies if name in workspace.policies]
    allowed: set[str] | None = None if key.models is None else set(key.models)
    if all(policy.allow_models is not None for policy in policies):
        named = {catalog.id_of(name) for policy in policies for name in policy.allow_models or ()}
        allowed = named if allowed is None else allowed & named
    return catalog.models if allowed is None else [model for model in catalog.models if model.id in allowed]


def hosted(models: Sequence[Model], regions: tuple[str, ...] | None) -> Sequence[Model]:
    """The models that are hosted in one of the regions, without their hosts elsewhere; all of them for None."""
    if regions is None:
        return models
    inside = [(model, tuple(host for host in model.hosts if host.promises.region in regions)) for model in models]
    return [replace(model, hosts=hosts) for model, hosts in inside if hosts]
