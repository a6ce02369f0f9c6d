"""What requests are served with: everything from outside, put together once by the composition root."""

from collections.abc import Callable
from dataclasses import dataclass

from core.catalog.loader import Catalog
from core.own_keys import OwnKeys
from core.ports import Clock, Directory, Journal, Sealer, Store, ToolMemory
from core.routing.policy import STREAM_SILENCE_S
from core.routing.router import Router
from core.sharing import Sharing
from core.upstream.call import Caller
from core.waiting import Background


@dataclass(frozen=True, slots=True)
class Parts:
    """The collaborators of a request.

    `router` is where choosing keeps what it knows of the catalog, and what it learns. `directory` is the cached
    view of the store's, `memory` the view of its tool turns that seals and opens them, `sharing` tells other
    processes of hosts' health, `sealer` seals all else; None where there is no key to seal with. `jitter` gives
    random numbers from 0 to 1, `new_request_id` `req-` and 32 hex digits that rise with time. `header_prefix`
    stands before the names of our own response headers. `stream_silence_s` is how long a host may be silent in a
    stream, in seconds. `host_regions` are the only regions that requests may be sent to, None for all.
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
    memory: ToolMemory
    own_keys: OwnKeys
    sharing: Sharing
    sealer: Sealer | None = None
    header_prefix: str = "X-Inferbase-"
    stream_silence_s: float = STREAM_SILENCE_S
    host_regions: tuple[str, ...] | None = None
