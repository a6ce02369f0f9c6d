"""The hand-kept part of the catalog: which models it has, under which names, on which hosts, and how they are steered.

Prices, limits and most abilities come from the sources; what stands here is what they lack, or get wrong.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from core.catalog.model import StructuredOutput, Thinking, ThinkingSwitch
from functions.local.catalog.rules import HostFacts, Strict

OVERLAY: Final = Path(__file__).with_name("overlay")


class OverlayError(ValueError):
    """A file of the overlay is wrong; the message names it."""


class Priced(Strict):
    """Prices that no source file has, with where they were read: rates as a catalog file writes them."""

    source: str
    date: str
    rates: Mapping[str, Any]


class HostOverlay(HostFacts):
    """What is known of one host of a model; `takes` are request fields that it takes although a source denies it."""

    prices: Priced | None = None
    takes: tuple[str, ...] = ()


class Known(Strict):
    """Abilities that sources do not state, or state wrongly; None leaves them to the sources."""

    tools: bool | None = None
    parallel_tools: bool | None = None
    forced_tools: bool | None = None
    vision: bool | None = None
    documents: bool | None = None
    audio_input: bool | None = None
    audio_output: bool | None = None
    json_mode: bool | None = None
    structured_output: StructuredOutput | None = None
    choices: int | None = None


class Measured(Strict):
    """Under which names the evaluations know a model, in the setting that it has by default."""

    livebench: str | None = None
    lmarena: str | None = None


class Variant(Measured):
    """A model at a fixed effort, under `slug:variant`."""

    effort: str


class OverlayModel(Measured):
    """A model of the catalog.

    `hosts` gives, by vendor, the vendor's name for it; the first is the one whose word counts for abilities and limits.
    `sampling` is False where temperature and its like are refused.
    """

    id: str
    name: str
    hosts: Mapping[str, str]
    at: Mapping[str, HostOverlay] = {}
    aliases: tuple[str, ...] = ()
    context_tokens: int | None = None
    max_output_tokens: int | None = None
    released: str | None = None
    description: str = ""
    abilities: Known = Known()
    thinking: Thinking | None = None
    thinks_by_default: bool | None = None
    thinking_switch: ThinkingSwitch | None = None
    efforts: tuple[str, ...] | None = None
    default_effort: str | None = None
    sampling: bool | None = None
    refuses: tuple[str, ...] = ()
    variants: Mapping[str, Variant] = {}


class OwnerFile(Strict):
    """One file: the models of one owner."""

    owner: str
    models: tuple[OverlayModel, ...]


def read_overlay(folder: Path = OVERLAY) -> tuple[tuple[str, OverlayModel], ...]:
    """Each model with its owner, by file name and then in the order of the file.

    Raises:
        OverlayError: A file is wrong.
    """
    found: list[tuple[str, OverlayModel]] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            file = OwnerFile.model_validate(tomllib.loads(path.read_text("utf-8")))
        except (tomllib.TOMLDecodeError, ValidationError) as error:
            raise OverlayError(f"{path.name}: {error}") from error
        found += ((file.owner, model) for model in file.models)
    return tuple(found)
