"""The compiled form says what the values say, and damage is told as such."""

import time
from contextlib import suppress
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog.compiled import MARK, compile_catalog, read_compiled
from core.catalog.errors import CatalogError
from core.catalog.model import Host, Model, Vendor
from tests.support.catalogs import MODELS, VENDORS

MODEL = Model("lab/m", "M", "lab", (Host("lab", "m"), Host("far", "m")), 100, 10, aliases=("m",))


@given(vendors=st.lists(VENDORS, max_size=2), models=st.lists(MODELS, max_size=2))
def test_what_was_compiled_is_read(vendors: list[Vendor], models: list[Model]) -> None:
    read = read_compiled(compile_catalog(vendors, models, {"a": "1"}), "it")
    assert read.digests == {"a": "1"}
    assert read.vendors == tuple(vendors)
    assert [entry.make() for entry in read.entries] == models


def test_an_entry_tells_names_and_vendors_before_the_model_is_made() -> None:
    (entry,) = read_compiled(compile_catalog((), [MODEL], {}), "it").entries
    assert (entry.id, entry.aliases, entry.vendors) == ("lab/m", ["m"], ["lab", "far"])


def test_the_same_values_give_the_same_bytes_whatever_the_order_of_sets() -> None:
    names = [f"field{number}" for number in range(50)]
    one = replace(MODEL, hosts=(Host("lab", "m", refuses=frozenset(names)),))
    other = replace(MODEL, hosts=(Host("lab", "m", refuses=frozenset(reversed(names))),))
    assert compile_catalog((), [one], {"b": "2", "a": "1"}) == compile_catalog((), [other], {"a": "1", "b": "2"})


def test_a_model_is_one_line_without_what_is_as_it_is_by_default() -> None:
    data = compile_catalog((), [MODEL], {})
    assert data.startswith(MARK)
    assert orjson.loads(data.splitlines()[3]) == {
        "id": "lab/m",
        "name": "M",
        "owner": "lab",
        "hosts": [{"vendor": "lab", "upstream_model": "m"}, {"vendor": "far", "upstream_model": "m"}],
        "context_tokens": 100,
        "max_output_tokens": 10,
        "aliases": ["m"],
    }


def test_ten_thousand_models_are_there_in_a_fraction_of_a_second() -> None:
    data = compile_catalog((), [replace(MODEL, id=f"lab/m{number}") for number in range(10_000)], {})
    times: list[float] = []
    for _ in range(3):
        begin = time.process_time()
        assert len(read_compiled(data, "it").entries) == 10_000
        times.append(time.process_time() - begin)
    assert min(times) < 0.3


WHOLE = compile_catalog((), [MODEL], {})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "it: damaged"),
        (b"{}\n[]\n[]\n", "it: damaged"),
        (b"not json\n", "it: damaged"),
        (b'{"headrace_catalog":1}\n[]\n[]\n', "it: damaged"),
        (b'{"headrace_catalog":1,"digests":{}}\n[{"name":"x"}]\n[]\n', "it: damaged"),
        (WHOLE[: WHOLE.rindex(b'{"id"')], "it: damaged"),
        (WHOLE.replace(b'"headrace_catalog":1', b'"headrace_catalog":2'), "it: compiled by another version"),
    ],
)
def test_damage_is_told(data: bytes, message: str) -> None:
    with pytest.raises(CatalogError, match=message):
        read_compiled(data, "it")


def test_a_damaged_model_is_told_when_it_is_made() -> None:
    damaged = WHOLE.replace(b'"owner":"lab"', b'"owner_":"lab"')
    (entry,) = read_compiled(damaged, "it").entries
    with pytest.raises(CatalogError, match="it: damaged"):
        entry.make()


@given(st.binary(max_size=200) | st.integers(0, len(WHOLE)).map(lambda end: WHOLE[:end]))
def test_any_bytes_are_a_catalog_or_a_catalog_error(data: bytes) -> None:
    with suppress(CatalogError):
        for entry in read_compiled(data, "it").entries:
            entry.make()
