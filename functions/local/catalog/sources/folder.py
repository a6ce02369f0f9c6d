"""Opens the folder that holds the source files, by the names in `files.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from functions.local.catalog.rules import VendorRule
from functions.local.catalog.sources.evaluations import LiveBench, LmArena
from functions.local.catalog.sources.genai import GenaiPrices
from functions.local.catalog.sources.litellm import LiteLlm
from functions.local.catalog.sources.modelsdev import ModelsDev
from functions.local.catalog.sources.offer import Source

FILES: Final = Path(__file__).with_name("files.toml")


OTHER_FORM: Final = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError)
"""How reading fails where a file has another form than the one that is known: others write them, and may change it."""


class SourcesMissing(Exception):
    """A source file is not where it was looked for, or is another one; the message names the file or the folder."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything that the catalog is built from; of two offers the earlier source's counts."""

    offers: tuple[Source, ...]
    livebench: LiveBench
    lmarena: LmArena


def open_sources(folder: Path, rules: Mapping[str, VendorRule]) -> Sources:
    """Read the source files.

    Args:
        folder: Where they lie.
        rules: How each vendor is called in them.

    Raises:
        SourcesMissing: One is not there, or is not what it should be.
    """
    try:
        return _opened(folder, rules)
    except OTHER_FORM as error:
        raise SourcesMissing(f"A source file in {folder} is not in the form that is known: {error!r}") from error


def _opened(folder: Path, rules: Mapping[str, VendorRule]) -> Sources:
    files: dict[str, dict[str, str]] = tomllib.loads(FILES.read_text("utf-8"))

    def path(source: str, which: str) -> Path:
        found = folder / files[source][which]
        if not found.is_file():
            raise SourcesMissing(f"{found} is missing. Name the folder that holds it.")
        return found

    def label(source: str) -> tuple[str, str]:
        return files[source]["name"], files[source]["date"]

    return Sources(
        offers=(
            LiteLlm(path("litellm", "prices"), *label("litellm"), rules),
            GenaiPrices(files["genai-prices"]["date"], rules),
            ModelsDev(path("modelsdev", "providers"), path("modelsdev", "models"), *label("modelsdev"), rules),
        ),
        livebench=LiveBench.read(path("livebench", "table"), *label("livebench")),
        lmarena=LmArena.read(path("lmarena", "ratings"), *label("lmarena")),
    )
