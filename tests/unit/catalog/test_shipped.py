"""What ships: complete, sourced, compiled from what lies beside it, and read without pydantic."""

import shutil
import subprocess
import sys
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from core.catalog.compiled import read_compiled
from core.catalog.errors import CatalogError
from core.catalog.loader import load_catalog
from core.catalog.model import Format, Thinking, ThinkingSwitch
from core.catalog.shipped import COMPILED, FILES, SHIPPED_FOLDER, read_shipped
from functions.local.catalog.check import TASKS, check
from functions.local.catalog.findings import Severity
from functions.local.catalog.ship import compiled_form, recompile

CATALOG = load_catalog()
HOSTS = [(model, host) for model in CATALOG.models for host in model.hosts]


def test_the_compiled_form_is_that_of_the_files() -> None:
    found = (SHIPPED_FOLDER / COMPILED).read_bytes()
    assert found == compiled_form(), "a shipped file was changed: run `headrace catalog compile`"


def test_at_least_sixty_models_on_at_least_eight_vendors() -> None:
    assert len([model for model in CATALOG.models if ":" not in model.id]) >= 60
    assert len({host.vendor for _, host in HOSTS}) >= 8
    assert {CATALOG.vendors[host.vendor].format for _, host in HOSTS} == set(Format)


def test_there_are_no_errors_in_it() -> None:
    assert [str(finding) for finding in check(CATALOG, date(2026, 11, 30)) if finding.severity is Severity.ERROR] == []


@pytest.mark.parametrize("member", ["price_source", "price_date"])
def test_every_price_says_where_it_is_from_and_when_it_was_read(member: str) -> None:
    assert [f"{model.id} on {host.vendor}" for model, host in HOSTS if not getattr(host, member)] == []


def test_no_price_is_zero() -> None:
    for model, host in HOSTS:
        assert host.prices is not None, model.id
        lists = [host.prices, *(change.prices for change in host.price_changes), *host.prices.service_prices.values()]
        for listed in lists:
            for rates in (listed.base, *(tier.rates for tier in listed.tiers)):
                stated = [getattr(rates, name) for name in rates.__dataclass_fields__]
                assert all(rate is None or rate > 0 for rate in stated), f"{model.id} on {host.vendor}"


def test_every_quality_is_of_a_known_task_and_says_where_it_is_from() -> None:
    for model in CATALOG.models:
        assert model.quality.keys() <= TASKS
        for score in model.quality.values():
            assert 0 <= score.value <= 1
            assert score.source
            assert score.date


def test_one_task_has_one_source_so_that_scores_compare() -> None:
    sources: dict[str, set[str]] = {}
    for model in CATALOG.models:
        for task, score in model.quality.items():
            sources.setdefault(task, set()).add(score.source.partition(", as ")[0])
    assert {task: found for task, found in sources.items() if len(found) > 1} == {}


def test_ids_are_an_owner_and_a_name_and_belong_to_the_owner() -> None:
    for model in CATALOG.models:
        owner, _, name = model.id.partition("/")
        assert owner == model.owner
        assert name


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("gpt-5.5", "openai/gpt-5.5"),
        ("gpt-5.5-2026-04-23", "openai/gpt-5.5"),
        ("gpt-5.5:high", "openai/gpt-5.5:high"),
        ("claude-opus-5-5", "anthropic/claude-opus-5-5"),
        ("anthropic/claude-opus-5.5", "anthropic/claude-opus-5-5"),
        ("claude-haiku-4-5-20251001", "anthropic/claude-haiku-4-5"),
        ("gemini-3.8-flash", "google/gemini-3.8-flash"),
        ("grok-4.7", "xai/grok-4.7"),
        ("deepseek-v4-pro", "deepseek/deepseek-v4-pro"),
        ("openai/gpt-oss-120b", "openai/gpt-oss-120b"),
    ],
)
def test_the_names_in_callers_code_are_known(name: str, model: str) -> None:
    found = CATALOG.find(name)
    assert found is not None
    assert found.id == model


def test_a_variant_is_its_model_at_one_effort() -> None:
    variants = [model for model in CATALOG.models if ":" in model.id]
    assert variants
    for variant in variants:
        model = CATALOG.find(variant.id.partition(":")[0])
        assert model is not None
        (effort,) = variant.abilities.efforts
        assert variant.abilities.thinking is Thinking.ALWAYS
        assert effort in model.abilities.efforts
        assert all(host.options["reasoning_effort"] == effort for host in variant.hosts)
        assert {host.vendor for host in variant.hosts} <= {host.vendor for host in model.hosts}


def test_a_host_is_told_to_think_in_words_of_its_format() -> None:
    claude = {ThinkingSwitch.BUDGET, ThinkingSwitch.ADAPTIVE, ThinkingSwitch.BETWEEN_TOOLS, ThinkingSwitch.EFFORT}
    words = {
        Format.ANTHROPIC: claude,
        Format.BEDROCK: claude,
        Format.GEMINI: {ThinkingSwitch.BUDGET, ThinkingSwitch.LEVEL},
        Format.OPENAI: set(ThinkingSwitch) - claude - {ThinkingSwitch.LEVEL},
    }
    for model, host in HOSTS:
        spoken = words[CATALOG.vendors[host.vendor].format]
        assert host.thinking_switch in spoken | {ThinkingSwitch.NONE}, f"{model.id} on {host.vendor}"


def test_no_vendor_offers_one_model_twice() -> None:
    for model in CATALOG.models:
        assert Counter(host.vendor for host in model.hosts).most_common(1)[0][1] == 1, model.id


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (*FILES, COMPILED):
        shutil.copy(SHIPPED_FOLDER / name, tmp_path / name)
    return tmp_path


def test_the_files_count_where_the_compiled_form_is_stale_or_missing(folder: Path) -> None:
    fast = read_shipped(folder)
    models = folder / "models.toml"
    models.write_text(models.read_text("utf-8").replace('name = "GPT-4o"', 'name = "Renamed"'), encoding="utf-8")
    vendors, entries = read_shipped(folder)
    assert vendors == fast[0]
    made = {entry.id: entry.make() for entry in entries}
    assert made["openai/gpt-4o"].name == "Renamed"
    assert made.keys() == {entry.id for entry in fast[1]}
    (folder / COMPILED).unlink()
    assert [entry.make() for entry in read_shipped(folder)[1]] == list(made.values())
    recompile(folder)
    assert read_compiled((folder / COMPILED).read_bytes(), "it").vendors == vendors
    assert [entry.make() for entry in read_shipped(folder)[1]] == list(made.values())


def test_a_wrong_file_is_told_by_name(folder: Path) -> None:
    (folder / "vendors.toml").write_text("vendors = 3", encoding="utf-8")
    with pytest.raises(CatalogError, match=r"^vendors.toml:1: vendors: "):
        read_shipped(folder)


def test_it_loads_without_pydantic() -> None:
    code = (
        "import sys\n"
        "from core.catalog.loader import load_catalog\n"
        "assert [model.id for model in load_catalog().models]\n"
        "assert 'pydantic' not in sys.modules and 'tomllib' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=SHIPPED_FOLDER.parents[1], check=True)
