"""What requests are served with: everything from outside, put together once by the composition root."""

from collections.abc import Callable
from dataclasses import dataclass

from core.catalog.loader import Catalog
from core.decision import BUILT_IN_POLICY, Policy
from core.ports import Clock, Directory, Journal, Store
from core.routing.router import Router
from core.upstream.call import Caller
from core.waiting import Background


@dataclass(frozen=True, slots=True)
class Parts:
    """The collaborators of a request.

    `router` is where choosing keeps what it knows of the catalog, and what it learns. `directory` is the cached view of
    the store's. `jitter` gives random numbers from 0 to 1, `new_request_id` `req-` and 32 hex digits that rise with
    time. `header_prefix` stands before the names of our own response headers. `policy` is in force for keys that name
    no other.
    """

    catalog: Catalog
    router: Router
    store: Store
    directory: Directory
    caller: Caller
    clock: Clock
    journal: Journal
    background: Background
    jitter: Callable[[], float]
    new_request_id: Callable[[], str]
    header_prefix: str = "X-Inferbase-"
    policy: Policy = BUILT_IN_POLICY
