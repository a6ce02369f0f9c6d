"""Which request fields each model takes, for the list of models; worked out once per model."""

from collections.abc import Callable, Sequence

from core.catalog.model import Model
from core.providers.supported import supported_parameters
from core.service import Service


class SupportedFields:
    """Tells the top-level fields that at least one of a model's hosts takes in some form.

    Args:
        service: Gives the service, whose catalog knows the hosts.
    """

    def __init__(self, service: Callable[[], Service]) -> None:
        self._service = service
        self._known: dict[str, Sequence[str]] = {}

    def __call__(self, model: Model) -> Sequence[str]:
        """The fields of that model, sorted."""
        fields = self._known.get(model.id)
        if fields is None:
            fields = supported_parameters(self._service().parts.catalog.targets(model))
            self._known[model.id] = fields
        return fields
