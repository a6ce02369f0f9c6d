"""The lasting parts of routing, and how a request is read for it."""

from core.routing.offers import Offer
from core.routing.reading import Reading, read
from core.routing.weights import shipped_weights
from tests.support.requests import ask
from tests.support.routing import make_catalog, make_model


def test_the_catalog_is_laid_out_once_and_when_it_is_needed() -> None:
    asked: list[str] = []

    def traits(target: object) -> str:
        asked.append(str(target))
        return "alike"

    offer = Offer(make_catalog(make_model("a"), make_model("b")), traits)
    assert asked == []
    assert offer.index is offer.index
    assert (len(asked), offer.index.size) == (2, 2)


def test_a_request_is_read_with_what_ships() -> None:
    reading = read(
        ask("Write a Python function that adds two numbers.\n```python\ndef add(a, b):\n```"), shipped_weights()
    )
    assert isinstance(reading, Reading)
    assert (reading.task, max(reading.tasks, key=lambda task: reading.tasks[task])) == ("code", "code")
    assert 10 < reading.prompt_tokens < 60
    assert 0 <= reading.complexity <= 1
