"""Hosts that would have other calls made than the gateway means to."""

import pytest

from core.catalog.file import CatalogError, parse_catalog
from core.catalog.host_rules import WRITTEN, check_hosts
from core.catalog.loader import load_catalog
from core.catalog.model import Format
from core.catalog.shipped import FILES, SHIPPED_FOLDER
from functions.local.catalog.ship import compile_own


def written(host: str, *, style: str = "openai", more: str = "") -> str:
    return (
        f'[vendors.lab]\nformat = "{style}"\nbase_url = "http://127.0.0.1:9/v1"\nauth = "none"\n{more}\n'
        '[[models]]\nid = "lab/m"\ncontext_tokens = 100\nmax_output_tokens = 10\n'
        f'[[models.hosts]]\nvendor = "lab"\n{host}\n'
    )


def told(text: str) -> list[str]:
    with pytest.raises(CatalogError) as error:
        load_catalog([("own.toml", text)])
    return str(error.value).splitlines()


@pytest.mark.parametrize("name", ["..", "../../../evil", "a/./b", "a/..", "..\\\\evil"])
@pytest.mark.parametrize(
    ("style", "more"),
    [
        ("gemini", ""),
        ("bedrock", ""),
        ("openai", 'quirks = ["urls_in_path"]'),
        ("anthropic", 'quirks = ["vertex_path"]'),
    ],
)
def test_a_name_in_an_address_stays_in_its_place(name: str, style: str, more: str) -> None:
    (line,) = told(written(f'upstream_model = "{name}"', style=style, more=more))
    assert line.startswith("own.toml:12: models[0].hosts[0].upstream_model: stands in the address here")


def test_a_quirk_of_the_host_alone_puts_its_name_there_too() -> None:
    (line,) = told(written('upstream_model = ".."\nquirks = ["urls_in_path"]'))
    assert "upstream_model: stands in the address" in line


@pytest.mark.parametrize("style", ["openai", "anthropic"])
def test_a_name_in_a_body_may_be_any(style: str) -> None:
    assert load_catalog([("own.toml", written('upstream_model = "./models/../m.gguf"', style=style))]).find("lab/m")


@pytest.mark.parametrize("name", ["gemini-3..preview", "a...b", ".hidden/x", "us.amazon.nova:0"])
def test_dots_in_a_name_are_no_harm(name: str) -> None:
    assert load_catalog([("own.toml", written(f'upstream_model = "{name}"', style="gemini"))]).find("lab/m")


def test_a_version_leads_nowhere_else() -> None:
    (line,) = told(written('upstream_model = "m"\napi_version = ".."', style="gemini"))
    assert line == "own.toml:13: models[0].hosts[0].api_version: is no version"


@pytest.mark.parametrize(("style", "name"), [(style, name) for style in Format for name in WRITTEN[style]])
def test_what_the_gateway_writes_is_no_option(style: Format, name: str) -> None:
    (line,) = told(written(f'upstream_model = "m"\noptions.{name} = 1', style=style.value))
    assert line == (
        f"own.toml:13: models[0].hosts[0].options.{name}: is written by the gateway for each request, and no option"
    )


@pytest.mark.parametrize(
    ("style", "option", "path"),
    [
        ("openai", 'model = "other"', "model"),
        ("gemini", "generation_config = { max_output_tokens = 9 }", "generation_config.max_output_tokens"),
        ("gemini", "generationConfig.MAX_OUTPUT_TOKENS = 9", "generationConfig.MAX_OUTPUT_TOKENS"),
        ("bedrock", "inferenceConfig = { topP = 1, maxTokens = 9 }", "inferenceConfig.maxTokens"),
    ],
)
def test_other_spellings_are_the_same_member(style: str, option: str, path: str) -> None:
    (line,) = told(written(f'upstream_model = "m"\noptions.{option}', style=style))
    assert f"options.{path}: is written by the gateway" in line


def test_the_vendors_own_name_for_a_member_is_the_member() -> None:
    (line,) = told(
        written('upstream_model = "m"\noptions.max_new = 9', more="[vendors.lab.renames]\nmax_tokens = 'max_new'")
    )
    assert "options.max_new: is written by the gateway" in line


def test_something_else_in_the_place_of_an_object_is_told() -> None:
    lines = told(written('upstream_model = "m"\noptions.inferenceConfig = 1', style="bedrock"))
    assert all("options.inferenceConfig: is written by the gateway" in line for line in lines)


@pytest.mark.parametrize(
    ("style", "option"),
    [
        ("openai", 'reasoning_effort = "high"'),
        ("openai", "chat_template_kwargs = { model = 'x' }"),
        ("anthropic", "thinking = { type = 'disabled' }"),
        ("gemini", "generationConfig = { topP = 1 }"),
        ("bedrock", "additionalModelRequestFields = { top_k = 3 }"),
    ],
)
def test_all_else_is_the_operators_affair(style: str, option: str) -> None:
    assert load_catalog([("own.toml", written(f'upstream_model = "m"\noptions.{option}', style=style))]).find("lab/m")


def test_everything_is_told_at_once() -> None:
    lines = told(written('upstream_model = ".."\noptions = { contents = [], model = "x" }', style="gemini"))
    assert [line.split(": ")[1].removeprefix("models[0].hosts[0].") for line in lines] == [
        "upstream_model",
        "options.model",
        "options.contents",
    ]


def test_a_file_is_looked_at_before_it_is_compiled() -> None:
    with pytest.raises(CatalogError, match=r"options\.stream: is written by the gateway"):
        compile_own(written('upstream_model = "m"\noptions.stream = false'), "own.toml")
    shipped = '[[models]]\nid = "a/b"\ncontext_tokens = 1\nmax_output_tokens = 1\n[[models.hosts]]\n'
    with pytest.raises(CatalogError, match="upstream_model"):
        compile_own(shipped + 'vendor = "google"\nupstream_model = ".."\n', "own.toml")
    assert compile_own(shipped + 'vendor = "elsewhere"\nupstream_model = ".."\n', "own.toml")


def test_the_shipped_files_keep_the_rules() -> None:
    texts = [(SHIPPED_FOLDER / name).read_text(encoding="utf-8") for name in FILES]
    vendors = {vendor.name: vendor for text in texts for vendor in parse_catalog(text, "")[0]}
    check_hosts(parse_catalog(texts[1], "models.toml")[1], vendors, texts[1], "models.toml")
