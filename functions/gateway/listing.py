"""The endpoints of models: what can be asked, and which request fields each model takes."""

from collections.abc import Callable, Sequence

from fastapi import FastAPI, Request
from fastapi.responses import Response

from core.catalog.loader import Catalog
from core.catalog.model import Model
from core.providers.supported import supported_parameters
from core.service import Service
from core.shelf import Shelf
from core.surfaces.models import Supported, model_list, model_object
from core.surfaces.surface import Surface
from functions.gateway.incoming import caller_of, json_answer, token_of


class SupportedFields:
    """Tells the top-level fields that at least one of a model's hosts takes in some form.

    What the gateway's own catalog says is worked out once per model.

    Args:
        common: Gives that catalog.
    """

    def __init__(self, common: Callable[[], Catalog]) -> None:
        self._common = common
        self._known: dict[str, Sequence[str]] = {}

    def among(self, catalog: Catalog) -> Supported:
        """The fields of the models of a catalog, sorted."""
        if catalog is self._common():
            return self._remembered
        return lambda model: supported_parameters(catalog.targets(model))

    def _remembered(self, model: Model) -> Sequence[str]:
        fields = self._known.get(model.id)
        if fields is None:
            fields = supported_parameters(self._common().targets(model))
            self._known[model.id] = fields
        return fields


def add_models(app: FastAPI, surface: Surface, service: Callable[[], Service], supported: SupportedFields) -> None:
    """Add the endpoints of one surface."""

    async def models(request: Request) -> Response:
        shelf = await _shelf(service(), request)
        body = model_list(shelf.models, supported.among(shelf.catalog), shelf.opinions)
        return Response(body, media_type="application/json")

    async def model(request: Request) -> Response:
        shelf = await _shelf(service(), request)
        found = shelf.find(request.path_params["model_id"])
        return json_answer(model_object(found, supported.among(shelf.catalog), shelf.opinions))

    app.add_api_route(f"{surface.prefix}/models", models, methods=["GET"])
    app.add_api_route(f"{surface.prefix}/models/{{model_id:path}}", model, methods=["GET"])


async def _shelf(gateway: Service, request: Request) -> Shelf:
    return await gateway.shelf(await caller_of(request, gateway) if token_of(request) else None)
