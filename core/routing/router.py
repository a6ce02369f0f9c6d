"""What choosing needs and learns in one process: the catalog laid out, how requests are read, hosts' health, turns."""

from collections.abc import Callable, Hashable

from core.catalog.loader import Catalog
from core.catalog.model import Target
from core.chat import ChatRequest
from core.routing.board import HealthBoard
from core.routing.conversations import Conversations
from core.routing.index import Index
from core.routing.indexing import build_index
from core.routing.reading import Reading


class Router:
    """The lasting parts of routing.

    Args:
        catalog: What there is to choose from.
        read: Reads a request: its size, its task, how hard it is.
        refusal_traits: All that decides which fields of a request a target refuses.
    """

    def __init__(
        self,
        catalog: Catalog,
        read: Callable[[ChatRequest], Reading],
        refusal_traits: Callable[[Target], Hashable],
    ) -> None:
        self.read = read
        self.health = HealthBoard()
        self.conversations = Conversations()
        self._catalog = catalog
        self._traits = refusal_traits
        self._index: Index | None = None

    @property
    def index(self) -> Index:
        """The catalog, laid out when it is first needed."""
        if self._index is None:
            self._index = build_index(self._catalog, self._traits)
        return self._index
