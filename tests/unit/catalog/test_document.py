"""What docs/catalog.md shows works as it is shown."""

import re
from pathlib import Path

import pytest

from core.catalog.loader import CatalogError, load_catalog

TEXT = (Path(__file__).parents[3] / "docs" / "catalog.md").read_text("utf-8")
EXAMPLE = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)[0]
TOLD = re.findall(r"```\n(own\.toml.*?)```", TEXT, re.DOTALL)[0].splitlines()


def test_the_example_loads() -> None:
    catalog = load_catalog([("own.toml", EXAMPLE)])
    model = catalog.find("local/qwen3-8b")
    assert model is not None
    assert [target.vendor.base_url for target in catalog.targets(model)] == ["http://127.0.0.1:8000/v1"]


def test_the_shipped_row_will_do_without_the_first_four_lines() -> None:
    short = EXAMPLE[EXAMPLE.index("[[models]]") :].replace("my-vllm", "vllm")
    assert load_catalog([("own.toml", short)]).find("local/qwen3-8b") is not None


@pytest.mark.parametrize(
    ("told", "old", "new"),
    [
        (TOLD[0], 'format = "openai"', 'format = "open-ai"'),
        (TOLD[1], 'vendor = "my-vllm"', 'vendor = "my-vlm"'),
    ],
)
def test_the_errors_are_told_in_these_words(told: str, old: str, new: str) -> None:
    with pytest.raises(CatalogError) as error:
        load_catalog([("own.toml", EXAMPLE.replace(old, new))])
    assert str(error.value) == told
