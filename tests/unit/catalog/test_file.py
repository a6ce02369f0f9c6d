"""A catalog file becomes values, or an error that names the line and the field."""

from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalog.file import CatalogError, parse_catalog
from core.catalog.model import (
    Abilities,
    Auth,
    Format,
    Host,
    Model,
    Promises,
    Quirk,
    Score,
    StructuredOutput,
    Thinking,
    ThinkingSwitch,
    Vendor,
)
from core.catalog.schedule import EVERY_DAY, PriceChange, Window
from core.money import ContextTier, Prices, Rates

LOCAL_VLLM = """\
[vendors.my-vllm]
format = "openai"
base_url = "http://127.0.0.1:8000/v1"
auth = "none"

[[models]]
id = "local/qwen3-8b"
context_tokens = 32768
max_output_tokens = 8192
hosts = [{ vendor = "my-vllm", upstream_model = "Qwen/Qwen3-8B" }]
"""


def test_ten_lines_are_a_catalog_for_a_server_of_ones_own() -> None:
    vendors, models = parse_catalog(LOCAL_VLLM, "own.toml")
    assert vendors == (Vendor("my-vllm", Format.OPENAI, "http://127.0.0.1:8000/v1", Auth.NONE),)
    assert models == (
        Model(
            id="local/qwen3-8b",
            name="local/qwen3-8b",
            owner="custom",
            hosts=(Host("my-vllm", "Qwen/Qwen3-8B"),),
            context_tokens=32_768,
            max_output_tokens=8_192,
        ),
    )


WHOLE = """\
[vendors.lab]
format = "anthropic"
base_url = "https://lab.example/v1"
auth = "x-api-key"
key_env = "LAB_KEY"
region = "eu"
headers = { "x-team" = "one" }
renames = { max_tokens = "limit" }
values = { service_tier = { fast = "quick" } }
refuses = ["n"]
quirks = ["flat_text"]
drains = true

[[models]]
id = "lab/big:high"
name = "Big"
owner = "lab"
context_tokens = 100
max_output_tokens = 10
aliases = ["big"]
released = 2026-09-01
deprecated = "2027-01-01"
description = "Large."
first_token_ms = 300
tokens_per_second = 80.5

[models.abilities]
tools = true
parallel_tools = true
forced_tools = false
vision = true
documents = true
audio_input = true
audio_output = true
json_mode = true
structured_output = "verified"
thinking = "optional"
thinks_by_default = true
efforts = ["low", "high"]
reasoning_tokens = 7
choices = 3
refuses = ["stop"]

[models.quality]
code = { value = 0.75, source = "a table", date = "2026-07" }

[[models.hosts]]
vendor = "lab"
upstream_model = "big-1"
context_tokens = 90
max_output_tokens = 9
limit_field = "max_completion_tokens"
thinking_switch = "adaptive"
thinking_visible = false
longest_thinking_s = 60
api_version = "v1"
promises = { region = "eu", no_training = true, zero_retention = true }
refuses = ["seed"]
quirks = ["think_tags"]
options = { top_k = 5, weight = 0.5, deep = [{ share = 0.25, since = 2026-01-01 }] }
deprecated = 2026-12-24

[models.hosts.prices]
input = 2
output = 10.5
cached = 0.1
cache_write = 2.5
cache_write_5m = 2.6
cache_write_1h = 4
input_audio = 20
input_image = 3
reasoning = 11
output_audio = 40
tiers = [
  { above_tokens = 500, operator = ">=", input = 8, output = 40 },
  { above_tokens = 200, input = 4, output = 20 },
]
service_tiers = { flex = 0.5 }
per_request = 0.005
minimum = 0.000000000001
source = "their page"
date = "2026-11-30"

[models.hosts.prices.service_prices.priority]
input = 5
output = 20
minimum = 0.002

[[models.hosts.price_changes]]
since = "2026-12-01"
windows = [{ hours = ["00:00-01:30", "22:00-24:00"], days = [1, 5] }, {}]
input = 1
output = 2
"""

VENDOR = Vendor(
    name="lab",
    format=Format.ANTHROPIC,
    base_url="https://lab.example/v1",
    auth=Auth.X_API_KEY,
    key_env="LAB_KEY",
    region="eu",
    headers={"x-team": "one"},
    renames={"max_tokens": "limit"},
    values={"service_tier": {"fast": "quick"}},
    refuses=frozenset({"n"}),
    quirks=frozenset({Quirk.FLAT_TEXT}),
    drains=True,
)
PRICES = Prices(
    base=Rates(
        input=2_000_000,
        output=10_500_000,
        cached=100_000,
        cache_write=2_500_000,
        cache_write_5m=2_600_000,
        cache_write_1h=4_000_000,
        input_audio=20_000_000,
        input_image=3_000_000,
        reasoning=11_000_000,
        output_audio=40_000_000,
    ),
    tiers=(
        ContextTier(200, ">", Rates(4_000_000, 20_000_000)),
        ContextTier(500, ">=", Rates(8_000_000, 40_000_000)),
    ),
    service_tiers={"flex": Fraction(1, 2)},
    service_prices={"priority": Prices(Rates(5_000_000, 20_000_000), minimum=2 * 10**9)},
    per_request=5 * 10**9,
    minimum=1,
)
HOST = Host(
    vendor="lab",
    upstream_model="big-1",
    prices=PRICES,
    context_tokens=90,
    max_output_tokens=9,
    limit_field="max_completion_tokens",
    thinking_switch=ThinkingSwitch.ADAPTIVE,
    thinking_visible=False,
    longest_thinking_s=60.0,
    api_version="v1",
    promises=Promises("eu", no_training=True, zero_retention=True),
    refuses=frozenset({"seed"}),
    quirks=frozenset({Quirk.THINK_TAGS}),
    options={"top_k": 5, "weight": 0.5, "deep": [{"share": 0.25, "since": "2026-01-01"}]},
    price_source="their page",
    price_date="2026-11-30",
    price_changes=(
        PriceChange(
            Prices(Rates(1_000_000, 2_000_000)),
            "2026-12-01",
            (
                Window(0, 90, frozenset({1, 5})),
                Window(1320, 1440, frozenset({1, 5})),
                Window(0, 1440, EVERY_DAY),
            ),
        ),
    ),
    deprecated="2026-12-24",
)
ABILITIES = Abilities(
    tools=True,
    parallel_tools=True,
    forced_tools=False,
    vision=True,
    documents=True,
    audio_input=True,
    audio_output=True,
    json_mode=True,
    structured_output=StructuredOutput.VERIFIED,
    thinking=Thinking.OPTIONAL,
    thinks_by_default=True,
    efforts=("low", "high"),
    reasoning_tokens=7,
    choices=3,
    refuses=frozenset({"stop"}),
)
MODEL = Model(
    id="lab/big:high",
    name="Big",
    owner="lab",
    hosts=(HOST,),
    context_tokens=100,
    max_output_tokens=10,
    abilities=ABILITIES,
    aliases=("big",),
    released="2026-09-01",
    deprecated="2027-01-01",
    description="Large.",
    quality={"code": Score(0.75, "a table", "2026-07")},
    first_token_ms=300,
    tokens_per_second=80.5,
)


def test_every_member_is_read() -> None:
    assert parse_catalog(WHOLE, "own.toml") == ((VENDOR,), (MODEL,))


def test_options_are_what_json_knows() -> None:
    options = parse_catalog(WHOLE, "own.toml")[1][0].hosts[0].options
    assert not any(isinstance(value, Decimal) for value in options.values())


MISSING_FORMAT = 'format = "anthropic"\n'
MISSING_NAME = 'upstream_model = "big-1"\n'
MISSPELT = "inptu = 5\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('format = "anthropic"', 'format = "antropic"', "vendors.lab.format: must be 'openai', 'anthropic', "),
        (MISSING_FORMAT, "", "vendors.lab.format: is missing"),
        ('region = "eu"\n', 'regoin = "eu"\n', "vendors.lab.regoin: is not known here; did you mean 'region'?"),
        ("[vendors.lab]", "colour = 1\n[vendors.lab]", "colour: is not known here; known are models, vendors"),
        ('"https://lab.example/v1"', '"lab.example"', "vendors.lab.base_url: must match pattern"),
        ('"LAB_KEY"', '"sk-123"', "vendors.lab.key_env: must match pattern"),
        ('quirks = ["flat_text"]', 'quirks = ["flat"]', "vendors.lab.quirks[0]: must be 'no_stream_options', "),
        ("drains = true", 'drains = "yes"', "vendors.lab.drains: must be a valid boolean"),
        ('"lab/big:high"', '"lab big"', "models[0].id: must match pattern"),
        ("context_tokens = 100", "context_tokens = 0", "models[0].context_tokens: must be greater than 0"),
        ("context_tokens = 100", 'context_tokens = "1"', "models[0].context_tokens: must be a valid integer"),
        ("released = 2026-09-01", 'released = "soon"', "models[0].released: must match pattern"),
        ('"optional"', '"often"', "models[0].abilities.thinking: must be 'none', 'optional' or 'always'"),
        ('["low", "high"]', '["low", "hard"]', "models[0].abilities.efforts[1]: must be 'none', 'minimal', "),
        ("value = 0.75", "value = 1.5", "models[0].quality.code.value: must be less than or equal to 1"),
        (MISSING_NAME, "", "models[0].hosts[0].upstream_model: is missing"),
        ("input = 2\n", "input = -2\n", "models[0].hosts[0].prices.input: must be greater than or equal to 0"),
        ("cached = 0.1", "cached = 0.0000001", "models[0].hosts[0].prices.cached: a price has at most 6"),
        ("minimum = 0.0000", "minimum = 0.00000", "models[0].hosts[0].prices.minimum: a price has at most 12 decimal"),
        ('">="', '"=>"', "models[0].hosts[0].prices.tiers[0].operator: must be '>' or '>='"),
        ('since = "2026-12-01"', 'since = "2026-12"', "models[0].hosts[0].price_changes[0].since: must match"),
        ("22:00-24:00", "22-24", "models[0].hosts[0].price_changes[0].windows[0].hours[1]: must match pattern"),
        ("days = [1, 5]", "days = [0]", "models[0].hosts[0].price_changes[0].windows[0].days[0]: must be greater"),
        (
            "days = [1, 5]",
            "day = 1",
            "models[0].hosts[0].price_changes[0].windows[0].day: is not known here; did you mean 'days'?",
        ),
        (
            "input = 5\n",
            MISSPELT,
            "models[0].hosts[0].prices.service_prices.priority.inptu: is not known here; did you mean 'input'?",
        ),
        ('id = "lab/big:high"', 'id = "auto"', "models[0].id: 'auto' is how callers leave the choice"),
        ('owner = "lab"', 'owner = "lab', "not valid TOML: "),
    ],
)
def test_an_error_names_line_and_field(old: str, new: str, expected: str) -> None:
    where = WHOLE.index({MISSING_FORMAT: "[vendors.lab]", MISSING_NAME: "[[models.hosts]]"}.get(old, old))
    with pytest.raises(CatalogError) as error:
        parse_catalog(WHOLE.replace(old, new, 1), "own.toml")
    found = str(error.value).splitlines()
    line = WHOLE[:where].count("\n") + 1
    assert any(each.startswith(f"own.toml:{line}: {expected}") for each in found)
    assert len(found) == (2 if new == MISSPELT else 1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = " + "[" * 201, "own.toml: not a catalog file: it is nested too deeply"),
        ("x = " + "{a = " * 5_000, "own.toml: not a catalog file: it is nested too deeply"),
        ("x = " + "[" * 200, "own.toml: not valid TOML"),
        ("x = " + "[[]," * 300 + "]", "own.toml: not a catalog file: it is nested too deeply"),
        ("x = [" + "[]," * 300 + "]", "own.toml:1: x"),
        ("x = '" + "]" * 300 + "'", "own.toml:1: x"),
        ("x = " + "9" * 5_000, "own.toml: a number in it is too long or too large"),
        ("x = 1e99999999999999999999", "own.toml: a number in it is too long or too large"),
    ],
)
def test_what_would_break_the_reader_is_told(text: str, told: str) -> None:
    with pytest.raises(CatalogError) as error:
        parse_catalog(text, "own.toml")
    assert str(error.value).startswith(told)


def test_every_error_is_told_at_once() -> None:
    with pytest.raises(CatalogError) as error:
        parse_catalog(WHOLE.replace("drains = true", "drains = 1").replace("choices = 3", "choices = 0"), "own.toml")
    assert [line.split(":")[1] for line in str(error.value).splitlines()] == ["12", "41"]


def test_what_only_follows_from_another_error_is_not_told() -> None:
    broken = LOCAL_VLLM.replace('upstream_model = "Qwen/Qwen3-8B"', "upstream_model = 3")
    with pytest.raises(CatalogError) as error:
        parse_catalog(broken, "own.toml")
    assert str(error.value) == "own.toml:10: models[0].hosts[0].upstream_model: must be a valid string"


def test_a_model_has_a_host() -> None:
    with pytest.raises(CatalogError, match=r"^own.toml:10: models\[0\].hosts: Tuple should have at least 1 item"):
        parse_catalog(LOCAL_VLLM.replace('{ vendor = "my-vllm", upstream_model = "Qwen/Qwen3-8B" }', ""), "own.toml")


def test_one_name_is_one_model() -> None:
    second = LOCAL_VLLM[LOCAL_VLLM.index("[[models]]") :]
    with pytest.raises(CatalogError) as error:
        parse_catalog(LOCAL_VLLM + second, "own.toml")
    assert str(error.value) == "own.toml:12: models[1].id: 'local/qwen3-8b' is a name of 'local/qwen3-8b' already"
    other = second.replace("qwen3-8b", "other") + 'aliases = ["x", "local/qwen3-8b"]\n'
    with pytest.raises(CatalogError, match=r"own.toml:16: models\[1\].aliases\[1\]: .* is a name of"):
        parse_catalog(LOCAL_VLLM + other, "own.toml")


def test_a_name_twice_on_one_model_is_harmless() -> None:
    text = LOCAL_VLLM + 'aliases = ["q", "q", "local/qwen3-8b"]\n'
    assert parse_catalog(text, "own.toml")[1][0].aliases == ("q", "q", "local/qwen3-8b")


def test_an_error_without_a_place_names_the_file() -> None:
    with pytest.raises(CatalogError, match=r"^own.toml: not valid TOML: "):
        parse_catalog("a = [", "own.toml")


@given(st.text(max_size=80))
def test_any_text_is_a_catalog_or_a_catalog_error(text: str) -> None:
    with suppress(CatalogError):
        parse_catalog(text, "own.toml")
