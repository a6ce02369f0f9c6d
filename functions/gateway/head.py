"""HEAD, wherever there is GET (RFC 9110, section 9.3.2): probes and load balancers ask with it."""

from collections.abc import Iterable

from starlette.routing import BaseRoute, Route


def answer_head(routes: Iterable[BaseRoute]) -> None:
    """Let every endpoint that takes GET take HEAD, with the same headers; servers leave the body out.

    FastAPI's routes do not do that by themselves, as Starlette's do.
    """
    for route in routes:
        if isinstance(route, Route) and route.methods is not None and "GET" in route.methods:
            route.methods.add("HEAD")
