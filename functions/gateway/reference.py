"""Serves the description of the API: the OpenAPI document and the page made from it. Both are made when first asked."""

import asyncio
from collections.abc import Callable
from functools import cache

import orjson
from fastapi import FastAPI
from fastapi.responses import Response


def add_reference(app: FastAPI, header_prefix: Callable[[], str]) -> None:
    """Add `/openapi.json`, `/docs`, and the way there from `/`.

    Args:
        app: The application.
        header_prefix: Gives what our own response headers begin with; called once the application serves.
    """

    @cache
    def made() -> tuple[bytes, str, str]:
        # Imported here, so that a cold start that serves requests does not pay for it.
        from functions.gateway.openapi.document import openapi_document
        from functions.gateway.openapi.page import reference_page

        document = openapi_document(header_prefix())
        return orjson.dumps(document), *reference_page(document)

    async def openapi() -> Response:
        document, _, _ = await asyncio.to_thread(made)
        return Response(document, media_type="application/json")

    async def docs() -> Response:
        _, page, policy = await asyncio.to_thread(made)
        return Response(page, media_type="text/html", headers={"content-security-policy": policy})

    async def root() -> Response:
        # Relative, since a stage may stand before the path.
        return Response(status_code=307, headers={"location": "docs"})

    app.add_api_route("/", root, methods=["GET"])
    app.add_api_route("/openapi.json", openapi, methods=["GET"])
    app.add_api_route("/docs", docs, methods=["GET"])
