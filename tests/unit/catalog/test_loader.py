"""The catalog in force: shipped models under the operator's own, hosts without a credential left out."""

import pytest

from core.catalog.compiled import Entry, compile_catalog
from core.catalog.file import parse_catalog
from core.catalog.loader import Catalog, CatalogError, Models, load_catalog
from core.catalog.model import Host, Model, Target

LAB = '[vendors.lab]\nformat = "openai"\nbase_url = "http://127.0.0.1:9/v1"\nauth = "none"\n'


def own(model: str, *, vendor: str = "lab", aliases: tuple[str, ...] = (), context: int = 100) -> str:
    quoted = ", ".join(f'"{alias}"' for alias in aliases)
    return (
        f'[[models]]\nid = "{model}"\ncontext_tokens = {context}\nmax_output_tokens = 10\naliases = [{quoted}]\n'
        f'hosts = [{{ vendor = "{vendor}", upstream_model = "m" }}]\n'
    )


def load(*texts: str) -> Catalog:
    return load_catalog([(f"file{number}.toml", text) for number, text in enumerate(texts)])


def test_an_own_model_stands_beside_the_shipped_ones() -> None:
    catalog = load(LAB + own("lab/m"))
    assert catalog.models[-1].id == "lab/m"
    assert len(catalog.models) == len(load_catalog().models) + 1
    assert "lab" in catalog.vendors
    assert "openai" in catalog.vendors


def test_an_own_entry_replaces_the_shipped_one_of_its_name() -> None:
    shipped = load_catalog()
    catalog = load(own("openai/gpt-4o", vendor="vllm"))
    assert len(catalog.models) == len(shipped.models)
    replaced = catalog.find("openai/gpt-4o")
    assert replaced is not None
    assert [host.vendor for host in replaced.hosts] == ["vllm"]
    assert catalog.find("gpt-4o") is None
    moved = load('[vendors.openai]\nformat = "openai"\nbase_url = "http://127.0.0.1:1/v1"\n')
    assert moved.vendors["openai"].base_url == "http://127.0.0.1:1/v1"


def test_a_later_file_takes_an_alias_and_never_an_id() -> None:
    catalog = load(LAB + own("lab/a", aliases=("gpt-4o",)), own("lab/b", aliases=("shared", "openai/gpt-4o")))
    assert _id(catalog, "gpt-4o") == "lab/a"
    assert _id(catalog, "openai/gpt-4o") == "openai/gpt-4o"
    again = load(LAB + own("lab/a", aliases=("shared",)) + own("lab/b"), own("lab/b", aliases=("shared",)))
    assert _id(again, "shared") == "lab/b"
    first_replaced = load(LAB + own("lab/a") + own("lab/b", aliases=("shared",)), own("lab/a", aliases=("shared",)))
    assert _id(first_replaced, "shared") == "lab/a"


def test_a_name_that_is_none_finds_nothing() -> None:
    assert load_catalog().find("nobody/knows") is None


def _id(catalog: Catalog, name: str) -> str | None:
    found = catalog.find(name)
    return None if found is None else found.id


def test_hosts_without_a_credential_are_left_out_and_models_with_none_left() -> None:
    catalog = load_catalog(usable=lambda vendor: vendor.name == "groq")
    assert 0 < len(catalog.models) < len(load_catalog().models)
    assert {host.vendor for model in catalog.models for host in model.hosts} == {"groq"}
    assert catalog.find("gpt-4o") is None
    assert _id(catalog, "gpt-oss-120b") == "openai/gpt-oss-120b"
    assert list(load_catalog(usable=lambda vendor: False).models) == []


def test_an_unknown_vendor_is_told_with_line_and_neighbours() -> None:
    with pytest.raises(CatalogError) as error:
        load(LAB + own("lab/a") + own("lab/b", vendor="gorq"))
    assert str(error.value) == (
        "file0.toml:16: models[1].hosts[0].vendor: the vendor 'gorq' is not known. "
        "Did you mean 'groq'? Or add [vendors.gorq] to the file."
    )
    with pytest.raises(CatalogError, match=r"Known are: alibaba, anthropic, "):
        load(own("lab/b", vendor="somewhere-else"))


def test_a_vendor_may_stand_in_an_earlier_file() -> None:
    assert load(LAB, own("lab/a")).find("lab/a") is not None
    with pytest.raises(CatalogError, match="the vendor 'lab' is not known"):
        load(own("lab/a"), LAB)


def test_a_wrong_file_is_named() -> None:
    with pytest.raises(CatalogError, match=r"^file1.toml:1: models: "):
        load(LAB, "models = 3")


def test_an_own_file_may_be_compiled() -> None:
    vendors, models = parse_catalog(LAB + own("lab/m", aliases=("m",)), "own.toml")
    compiled = compile_catalog(vendors, models, {}).decode()
    catalog = load_catalog([("own.jsonl", compiled)])
    assert catalog.find("m") == models[0]
    with pytest.raises(CatalogError, match=r"^own.jsonl: damaged"):
        load_catalog([("own.jsonl", compiled[:-20].rpartition("\n")[0])])
    stranger = compile_catalog((), models, {}).decode()
    with pytest.raises(CatalogError, match=r"^own.jsonl: models\[0\].hosts\[0\].vendor: the vendor 'lab' is not known"):
        load_catalog([("own.jsonl", stranger)])


def test_targets_are_the_hosts_with_their_vendors() -> None:
    catalog = load_catalog()
    model = catalog.find("gpt-oss-120b")
    assert model is not None
    assert catalog.targets(model) == tuple(Target(model, host, catalog.vendors[host.vendor]) for host in model.hosts)


def test_near_names_are_ids_by_themselves_or_by_an_alias() -> None:
    catalog = load_catalog()
    assert catalog.near("openai/gpt-5.5x", catalog.models)[0] == "openai/gpt-5.5"
    assert catalog.near("Claude-Opus-5.5", catalog.models)[0] == "anthropic/claude-opus-5-5"
    assert len(catalog.near("gpt", catalog.models, most=2)) <= 2
    assert catalog.near("zzzzzzzzzz", catalog.models) == []
    assert catalog.near("gpt-5.5", catalog.models[:1]) == []


class Maker:
    """Makes a model and remembers how often."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.times = 0

    def __call__(self) -> Model:
        self.times += 1
        return self.model


def test_a_model_is_made_when_it_is_wanted_and_once() -> None:
    makers = [Maker(Model(f"lab/{name}", name, "lab", (Host("lab", name), Host("far", name)), 9, 9)) for name in "abc"]
    entries = [Entry(maker.model.id, (), ("lab", "far"), maker) for maker in makers]
    models = Models(entries, frozenset({"lab"}))
    assert len(models) == 3
    assert [maker.times for maker in makers] == [0, 0, 0]
    assert models[1] is models[1]
    assert models[-2] is models[1]
    assert [host.vendor for host in models[1].hosts] == ["lab"]
    assert [maker.times for maker in makers] == [0, 1, 0]
    assert [model.id for model in models] == ["lab/a", "lab/b", "lab/c"]
    assert models[1:] == (models[1], models[2])
    assert [maker.times for maker in makers] == [1, 1, 1]
    with pytest.raises(IndexError):
        models[3]
