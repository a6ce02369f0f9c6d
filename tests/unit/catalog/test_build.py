"""A small overlay over small sources becomes catalog models; what is missing is told."""

import gzip
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from core.catalog.loader import load_catalog
from core.catalog.model import Model, Quirk, Thinking, ThinkingSwitch
from functions.local.catalog.build import BuildReport, build
from functions.local.catalog.demo import DEMO_MODEL, demo_catalog
from functions.local.catalog.findings import Severity
from functions.local.catalog.overlay import OverlayError
from functions.local.catalog.ship import compile_own
from functions.local.catalog.sources.evaluations import LIVEBENCH_TASKS
from functions.local.catalog.sources.folder import FILES, SourcesMissing

PRICES = {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06}
PLAIN = {"mode": "chat", "max_input_tokens": 100, "max_output_tokens": 10, **PRICES}
RULES = """
[lab]
litellm = ["lab/{}"]
modelsdev = "lab"
thinking_switch = "reasoning_effort"
promises = { no_training = true }
limit_field = "max_completion_tokens"

[far]
litellm = ["far/{}"]
thinking_visible = false
speaks_claude = true

[shop]
litellm = ["shop/{}"]
resells = true
"""


class Bench:
    """A folder of sources, an overlay and rules, all as small as they can be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.litellm: dict[str, Any] = {"lab/m": dict(PLAIN)}
        self.modelsdev: dict[str, Any] = {"lab": {}}

    def build(self, overlay: str = "", rules: str = RULES) -> BuildReport:
        files = tomllib.loads(FILES.read_text("utf-8"))
        columns = sorted({column for columns in LIVEBENCH_TASKS.values() for column in columns})
        for source, content in (
            (files["litellm"]["prices"], self.litellm),
            (files["modelsdev"]["providers"], self.modelsdev),
            (files["modelsdev"]["models"], []),
            (files["lmarena"]["ratings"], {"full": {"m-rated": {"rating": 1200.0}}}),
        ):
            (self.folder / source).write_bytes(gzip.compress(json.dumps(content).encode()))
        table = f"model,{','.join(columns)}\nm-bench,{','.join('50' for _ in columns)}\n"
        (self.folder / files["livebench"]["table"]).write_text(table, encoding="utf-8")
        (self.folder / "overlay").mkdir(exist_ok=True)
        (self.folder / "rules.toml").write_text(rules, encoding="utf-8")
        head = 'owner = "lab"\n[[models]]\nid = "lab/m"\nname = "M"\n'
        (self.folder / "overlay" / "lab.toml").write_text(
            head + (overlay or 'hosts = { lab = "m" }\n'), encoding="utf-8"
        )
        return build(self.folder, self.folder / "overlay", self.folder / "rules.toml")

    def model(self, overlay: str = "") -> Model:
        return self.build(overlay).models[0]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_model_has_names_limits_prices_and_promises(bench: Bench) -> None:
    bench.litellm["lab/m"] |= {"source": "https://lab.example/pricing", "deprecation_date": "2027-01-01"}
    model = bench.model('aliases = ["old-m"]\ndescription = "Small."\nhosts = { lab = "m" }')
    (host,) = model.hosts
    assert (model.id, model.name, model.owner, model.description) == ("lab/m", "M", "lab", "Small.")
    assert model.aliases == ("m", "old-m")
    assert (model.context_tokens, model.max_output_tokens) == (100, 10)
    assert (host.vendor, host.upstream_model, host.limit_field) == ("lab", "m", "max_completion_tokens")
    assert host.prices is not None
    assert (host.prices.base.input, host.prices.base.output) == (1_000_000, 2_000_000)
    assert host.price_source == "litellm 1.110.2, from https://lab.example/pricing"
    assert host.price_date == "2026-11-30"
    assert host.promises.no_training
    assert host.deprecated == model.deprecated == "2027-01-01"


def test_the_same_files_give_the_same_bytes(bench: Bench) -> None:
    assert bench.build().text == bench.build().text


def test_a_reseller_ends_with_those_who_run_the_model(bench: Bench) -> None:
    bench.litellm["lab/m"]["deprecation_date"] = "2027-01-01"
    bench.litellm |= {"far/m": {**PLAIN, "deprecation_date": "2027-02-01"}, "shop/m": dict(PLAIN)}
    assert bench.model('hosts = { lab = "m", shop = "m" }').deprecated == "2027-01-01"
    assert bench.model('hosts = { lab = "m", far = "m" }').deprecated == "2027-02-01"
    assert bench.model('hosts = { shop = "m" }').deprecated is None
    bench.litellm["far/m"].pop("deprecation_date")
    assert bench.model('hosts = { lab = "m", far = "m" }').deprecated is None


def test_a_host_says_what_differs_from_its_model(bench: Bench) -> None:
    bench.litellm["lab/m"] |= {"supports_vision": True, "supports_function_calling": True}
    bench.litellm["far/m"] = {
        **PLAIN,
        "max_input_tokens": 200,
        "max_output_tokens": 50,
        "supports_vision": False,
        "supports_mid_conversation_system": True,
    }
    lab, far = bench.model('hosts = { lab = "m", far = "m" }').hosts
    assert (lab.context_tokens, lab.max_output_tokens, lab.refuses) == (None, None, frozenset())
    assert (far.context_tokens, far.max_output_tokens) == (200, None)
    assert far.refuses == {"messages[].content[].image_url"}
    assert far.quirks == {Quirk.SYSTEM_TURNS}
    bench.litellm["far/m"] |= {"max_input_tokens": 8, "max_output_tokens": 50}
    far = bench.model('hosts = { lab = "m", far = "m" }').hosts[1]
    assert (far.context_tokens, far.max_output_tokens) == (8, 8)


def test_the_overlay_has_the_last_word_on_a_host(bench: Bench) -> None:
    bench.litellm["lab/m"] |= {"supports_vision": True, "supports_reasoning": True}
    bench.litellm["far/m"] = {**PLAIN, "supports_vision": False}
    far = bench.model(
        'thinking_switch = "budget"\nhosts = { lab = "m", far = "m" }\n[models.at.far]\n'
        'thinking_visible = true\napi_version = "v9"\nmax_output_tokens = 4\nlongest_thinking_s = 9\n'
        'takes = ["messages[].content[].image_url"]\nrefuses = ["stop"]\nquirks = ["flat_text"]\noptions = { a = 1 }\n'
        'prices = { source = "a page", date = "2026-11-01", rates = { input = 7, output = 8 } }\n'
    ).hosts[1]
    assert far.thinking_switch is ThinkingSwitch.BUDGET
    assert (far.thinking_visible, far.api_version, far.max_output_tokens, far.longest_thinking_s) == (True, "v9", 4, 9)
    assert (far.refuses, far.quirks, far.options) == (frozenset({"stop"}), frozenset({Quirk.FLAT_TEXT}), {"a": 1})
    assert far.prices is not None
    assert far.prices.base.input == 7_000_000
    assert (far.price_source, far.price_date) == ("a page", "2026-11-01")


def test_thinking_is_switched_as_host_vendor_or_model_say(bench: Bench) -> None:
    bench.litellm["lab/m"]["supports_reasoning"] = True
    bench.litellm["far/m"] = dict(PLAIN)
    lab, far = bench.model('thinking_switch = "level"\nhosts = { lab = "m", far = "m" }').hosts
    assert (lab.thinking_switch, far.thinking_switch) == (ThinkingSwitch.REASONING_EFFORT, ThinkingSwitch.LEVEL)
    assert (lab.thinking_visible, far.thinking_visible) == (True, False)
    off = bench.model('hosts = { lab = "m" }\nat = { lab = { thinking_switch = "none" } }').hosts[0]
    assert off.thinking_switch is ThinkingSwitch.NONE
    bench.litellm["lab/m"]["supports_reasoning"] = False
    silent = bench.model('thinking_switch = "level"\nhosts = { lab = "m", far = "m" }')
    assert [host.thinking_switch for host in silent.hosts] == [ThinkingSwitch.NONE] * 2
    assert silent.hosts[1].thinking_visible


def test_a_variant_is_a_model_at_one_effort_where_it_can_be_set(bench: Bench) -> None:
    bench.litellm["lab/m"] |= {"supports_reasoning": True, "reasoning_effort_levels": ["none", "low", "high"]}
    bench.litellm["shop/m"] = dict(PLAIN)
    plain, high = bench.build(
        'livebench = "m-bench"\nhosts = { lab = "m", shop = "m" }\n[models.variants]\n'
        'high = { effort = "high", lmarena = "m-rated" }\n'
    ).models
    assert plain.abilities.efforts == ("low", "high")
    assert plain.quality.keys() == LIVEBENCH_TASKS.keys()
    assert (high.id, high.name, high.aliases) == ("lab/m:high", "M (high effort)", ("m:high",))
    assert (high.abilities.thinking, high.abilities.efforts) == (Thinking.ALWAYS, ("high",))
    assert high.quality.keys() == {"chat"}
    assert [host.vendor for host in high.hosts] == ["lab"]
    assert high.hosts[0].options == {"reasoning_effort": "high"}
    assert plain.hosts[0].options == {}


def test_what_is_missing_is_told(bench: Bench) -> None:
    bench.litellm["lab/m"] = {"mode": "chat", "max_input_tokens": 9, "input_cost_per_token": 0}
    report = bench.build('max_output_tokens = 9\nlivebench = "nobody"\nhosts = { lab = "m", far = "gone" }')
    assert {(each.severity, each.field, each.message) for each in report.findings} == {
        (Severity.WARNING, "far", "no source knows 'gone'"),
        (Severity.WARNING, "lab.prices", "no source states a price"),
        (Severity.WARNING, "far.prices", "no source states a price"),
        (Severity.INFO, "lab.prices.input", "litellm 1.110.2 says 0; taken as unknown"),
        (Severity.ERROR, "quality", "LiveBench 2026-01-08 does not have 'nobody'"),
    }
    assert report.models[0].hosts[0].prices is None
    assert report.hosts_by_vendor == {"lab": 1, "far": 1}


def test_limits_that_nobody_states_stop_the_build(bench: Bench) -> None:
    bench.litellm["lab/m"] = {"mode": "chat", **PRICES}
    with pytest.raises(OverlayError, match="lab/m: no source states its limits"):
        bench.build()


def test_where_sources_differ_both_are_listed_and_the_first_counts(bench: Bench) -> None:
    bench.modelsdev["lab"]["m"] = {"cost": {"input": 1.5, "output": 2}, "limit": {"context": 100, "output": 20}}
    report = bench.build()
    assert [str(each) for each in report.disagreements] == [
        "lab/m on lab: input: 1 (litellm 1.110.2, 2026-11-30); 1.5 (models.dev, 2026-07-02)",
        "lab/m on lab: max_output_tokens: 10 (litellm 1.110.2, 2026-11-30); 20 (models.dev, 2026-07-02)",
    ]
    assert report.models[0].hosts[0].prices is not None
    assert report.models[0].hosts[0].prices.base.input == 1_000_000


def test_prices_come_from_the_next_source_that_has_them(bench: Bench) -> None:
    bench.litellm["lab/m"] = {"mode": "chat", "max_input_tokens": 9, "max_output_tokens": 9}
    bench.modelsdev["lab"]["m"] = {"cost": {"input": 1.5, "output": 2}}
    (host,) = bench.model().hosts
    assert (host.price_source, host.price_date) == ("models.dev", "2026-07-02")


def test_a_missing_source_is_named(bench: Bench) -> None:
    bench.build()
    (bench.folder / tomllib.loads(FILES.read_text("utf-8"))["lmarena"]["ratings"]).unlink()
    with pytest.raises(SourcesMissing, match=r"lmarena.*is missing"):
        build(bench.folder, bench.folder / "overlay", bench.folder / "rules.toml")


@pytest.mark.parametrize("overlay", ["hosts = 3", 'hosts = { lab = "m" }\nthinkng = "always"', "hosts = {"])
def test_a_wrong_overlay_is_named(bench: Bench, overlay: str) -> None:
    with pytest.raises(OverlayError, match=r"^lab.toml: "):
        bench.build(overlay)


def test_an_own_file_can_be_compiled() -> None:
    text = demo_catalog("http://127.0.0.1:9/v1")
    compiled = compile_own(text, "demo.toml").decode()
    plain, fast = (load_catalog([("demo", each)]) for each in (text, compiled))
    assert plain.find(DEMO_MODEL) == fast.find(DEMO_MODEL)


def test_the_demo_model_is_where_the_server_is() -> None:
    catalog = load_catalog([("the demo model", demo_catalog("http://127.0.0.1:4711/v1", 4_096))])
    model = catalog.find("smollm2-135m-instruct")
    assert model is not None
    assert model.id == DEMO_MODEL
    (target,) = catalog.targets(model)
    assert target.vendor.base_url == "http://127.0.0.1:4711/v1"
    assert target.vendor.key_env is None
    assert target.vendor.quirks == catalog.vendors["llama-cpp"].quirks
    assert (target.context_tokens, target.max_output_tokens) == (4_096, 4_096)
    assert load_catalog([("demo", demo_catalog("http://127.0.0.1:1/v1"))]).models[-1].context_tokens == 8_192
    assert target.host.prices is not None
    assert "made up" in (target.host.price_source or "")
