"""What choosing needs and learns in one process: the catalogs laid out, how requests are read, hosts' health, turns."""

from collections.abc import Callable

from core.chat import ChatRequest
from core.routing.board import HealthBoard
from core.routing.conversations import Conversations
from core.routing.offers import Offers
from core.routing.opinions import OpinionIndexes
from core.routing.reading import Reading


class Router:
    """The lasting parts of routing.

    Args:
        offers: What there is to choose from.
        read: Reads a request: its size, its task, how hard it is.
    """

    def __init__(self, offers: Offers, read: Callable[[ChatRequest], Reading]) -> None:
        self.offers = offers
        self.read = read
        self.health = HealthBoard()
        self.conversations = Conversations()
        self.opinions = OpinionIndexes()
