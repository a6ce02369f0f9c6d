"""The catalog file: TOML as people write it, checked, as values; an error names the line and the field."""

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from core.catalog.lines import line_of
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
from core.money import ContextTier, Prices, Rates, pico_per_token


class CatalogError(ValueError):
    """A catalog file is wrong; the message names file, line and field."""


Tokens = Annotated[int, Field(gt=0)]
Price = Annotated[Decimal, Field(ge=0, description="US dollars per million tokens")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Rates(_Strict):
    input: Price
    output: Price
    cached: Price | None = None
    cache_write: Price | None = None
    cache_write_5m: Price | None = None
    cache_write_1h: Price | None = None
    input_audio: Price | None = None
    input_image: Price | None = None
    reasoning: Price | None = None
    output_audio: Price | None = None

    @field_validator("*", mode="after")
    @classmethod
    def _is_whole_pico(cls, value: object) -> object:
        if isinstance(value, Decimal):
            pico_per_token(value)
        return value

    def rates(self) -> Rates:
        values = {name: getattr(self, name) for name in _Rates.model_fields}
        return Rates(**{name: pico_per_token(value) for name, value in values.items() if value is not None})


class _Tier(_Rates):
    above_tokens: Tokens
    operator: Literal[">", ">="] = ">"


class _Prices(_Rates):
    tiers: tuple[_Tier, ...] = ()
    service_tiers: Mapping[str, Decimal] = {}
    source: str | None = None
    date: str | None = None

    def prices(self) -> Prices:
        return Prices(
            base=self.rates(),
            tiers=tuple(ContextTier(tier.above_tokens, tier.operator, tier.rates()) for tier in self.tiers),
            service_tiers={name: Fraction(factor) for name, factor in self.service_tiers.items()},
        )


class _Promises(_Strict):
    region: str | None = None
    no_training: bool = False
    zero_retention: bool = False


class _Host(_Strict):
    vendor: str
    upstream_model: str
    prices: _Prices | None = None
    context_tokens: Tokens | None = None
    max_output_tokens: Tokens | None = None
    limit_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    thinking_switch: ThinkingSwitch = ThinkingSwitch.NONE
    thinking_visible: bool = True
    longest_thinking_s: float | None = None
    api_version: str | None = None
    promises: _Promises = _Promises()
    refuses: frozenset[str] = frozenset()
    quirks: frozenset[Quirk] = frozenset()
    options: Mapping[str, Any] = {}

    def host(self) -> Host:
        plain = self.model_dump(exclude={"prices", "promises"})
        return Host(
            **plain,
            prices=self.prices.prices() if self.prices else None,
            promises=Promises(**self.promises.model_dump()),
        )


class _Abilities(_Strict):
    tools: bool = False
    parallel_tools: bool = False
    forced_tools: bool = True
    vision: bool = False
    documents: bool = False
    audio_input: bool = False
    audio_output: bool = False
    json_mode: bool = False
    structured_output: StructuredOutput = StructuredOutput.NONE
    thinking: Thinking = Thinking.NONE
    efforts: tuple[Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"], ...] = ()
    reasoning_tokens: int | None = None
    choices: Annotated[int, Field(ge=1)] = 1
    refuses: frozenset[str] = frozenset()


class _Score(_Strict):
    value: Annotated[float, Field(ge=0, le=1)]
    source: str
    date: str


class _Model(_Strict):
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/\-]*(:[A-Za-z0-9._\-]+)?$")]
    name: str | None = None
    owner: str = "custom"
    context_tokens: Tokens
    max_output_tokens: Tokens
    hosts: Annotated[tuple[_Host, ...], Field(min_length=1)]
    abilities: _Abilities = _Abilities()
    aliases: tuple[str, ...] = ()
    released: str | None = None
    deprecated: str | None = None
    description: str = ""
    quality: Mapping[str, _Score] = {}
    first_token_ms: Annotated[int, Field(ge=0)] | None = None
    tokens_per_second: Annotated[float, Field(gt=0)] | None = None

    def model(self) -> Model:
        plain = self.model_dump(exclude={"name", "hosts", "abilities", "quality"})
        return Model(
            **plain,
            name=self.name or self.id,
            hosts=tuple(host.host() for host in self.hosts),
            abilities=Abilities(**self.abilities.model_dump()),
            quality={task: Score(**score.model_dump()) for task, score in self.quality.items()},
        )


class _Vendor(_Strict):
    format: Format
    base_url: Annotated[str, Field(pattern=r"^https?://")]
    auth: Auth = Auth.BEARER
    key_env: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")] | None = None
    region: str | None = None
    headers: Mapping[str, str] = {}
    renames: Mapping[str, str] = {}
    refuses: frozenset[str] = frozenset()
    quirks: frozenset[Quirk] = frozenset()
    drains: bool = False


class _File(_Strict):
    vendors: Mapping[str, _Vendor] = {}
    models: tuple[_Model, ...] = ()


def parse_catalog(text: str, name: str) -> tuple[tuple[Vendor, ...], tuple[Model, ...]]:
    """Read a catalog file.

    Args:
        text: Its TOML.
        name: What to call the file in errors.

    Raises:
        CatalogError: The TOML or a value in it is wrong.
    """
    try:
        document = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(f"{name}: not valid TOML: {error}") from error
    try:
        file = _File.model_validate(document)
    except ValidationError as error:
        raise CatalogError("\n".join(_explained(text, name, error))) from None
    vendors = tuple(Vendor(name=vendor_name, **_shallow(vendor)) for vendor_name, vendor in file.vendors.items())
    return vendors, tuple(model.model() for model in file.models)


def _shallow(vendor: _Vendor) -> dict[str, Any]:
    return {name: getattr(vendor, name) for name in _Vendor.model_fields}


def _explained(text: str, name: str, error: ValidationError) -> list[str]:
    lines: list[str] = []
    for problem in error.errors(include_url=False):
        path = [part for part in problem["loc"] if not (isinstance(part, str) and part.startswith("function-"))]
        line = line_of(text, path)
        where = f"{name}:{line}" if line else name
        dotted = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
        lines.append(f"{where}: {dotted}: {problem['msg']}")
    return lines
