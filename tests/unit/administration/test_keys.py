"""Changes of a key that meet others: none is lost, none is undone, and nobody tries for ever."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import cast

import pytest

from core.accounts.keys import digest
from core.administration import keys
from core.administration.office import Office
from core.errors import Conflict
from core.ports import Directory, Store
from core.routing.offers import Offers
from core.tenant import Key, Limits, Organisation
from core.workspace import Workspace
from tests.support.memory_directory import MemoryDirectory

NOW_MS = 1_796_083_200_000
KEY = Key(digest("key"), "key_1", "acme", "ci", "abcd", NOW_MS)
Work = Callable[[Office], Awaitable[object]]


class Contended(MemoryDirectory):
    """A directory in which others are quicker, with one change before each of the next writes."""

    def __init__(self, *others: Key) -> None:
        super().__init__(KEY)
        self.spaces["acme"] = Workspace(Organisation("acme", "Acme", 1))
        self.others = [*others]

    async def save_key(self, key: Key, before: Key | None = None) -> bool:
        if before is not None and self.others:
            self.known[KEY.digest] = self.others.pop(0)
        return await super().save_key(key, before)


class Randomness:
    """Different bytes each time."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, size: int) -> bytes:
        self.count += 1
        return bytes((self.count + place) % 200 for place in range(size))


def office(directory: MemoryDirectory) -> Office:
    return Office(
        store=cast(Store, directory),
        directory=cast(Directory, directory),
        now_ms=lambda: NOW_MS,
        random_bytes=Randomness(),
        offers=lambda: cast(Offers, None),
    )


async def test_a_change_keeps_what_another_one_changed() -> None:
    directory = Contended(replace(KEY, revoked_ms=NOW_MS - 1))
    changed = await keys.change(office(directory), "acme", "key_1", {"limits": Limits(parallel=1)})
    assert directory.known[KEY.digest] == changed == replace(KEY, revoked_ms=NOW_MS - 1, limits=Limits(parallel=1))


async def test_a_key_that_was_revoked_meanwhile_stays_so_and_is_not_rotated() -> None:
    directory = Contended(replace(KEY, revoked_ms=NOW_MS - 1))
    with pytest.raises(Conflict) as refused:
        await keys.rotate(office(directory), "acme", "key_1", 24)
    assert refused.value.code == "key_not_live"
    assert list(directory.known.values()) == [replace(KEY, revoked_ms=NOW_MS - 1)]


async def test_a_rotation_follows_what_changed_meanwhile() -> None:
    directory = Contended(replace(KEY, name="renamed"))
    _, made = await keys.rotate(office(directory), "acme", "key_1", 24)
    assert (made.name, made.counted_as, made.counter_id) == ("renamed", "key_1", "key_1")
    assert set(directory.known) == {KEY.digest, made.digest}
    assert directory.known[KEY.digest].successor == made.id


async def test_a_key_that_is_revoked_twice_keeps_its_first_time() -> None:
    directory = Contended()
    first = await keys.revoke(office(directory), "acme", "key_1")
    assert (first.revoked_ms, await keys.revoke(office(directory), "acme", "key_1")) == (NOW_MS, first)


@pytest.mark.parametrize(
    "work",
    [
        lambda office: keys.rotate(office, "acme", "key_1", 24),
        lambda office: keys.revoke(office, "acme", "key_1"),
        lambda office: keys.change(office, "acme", "key_1", {"name": "mine"}),
    ],
    ids=["rotate", "revoke", "change"],
)
async def test_nobody_tries_for_ever(work: Work) -> None:
    directory = Contended(*(replace(KEY, name=str(number)) for number in range(99)))
    with pytest.raises(Conflict) as refused:
        await work(office(directory))
    assert refused.value.code == "key_changed"
    assert len(directory.known) == 1
