"""What a catalog file may say, as pydantic models that turn into catalog values; never imported on the request path."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, field_validator

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
from core.money import ContextTier, Prices, Rates, pico_per_request, pico_per_token

RATE_NAMES = tuple(Rates.__dataclass_fields__)


def _as_text(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


Tokens = Annotated[int, Field(strict=True, gt=0)]
Price = Annotated[Decimal, Field(ge=0, description="US dollars per million tokens")]
PerRequest = Annotated[Decimal, Field(ge=0, description="US dollars for a request")]
Day = Annotated[str, BeforeValidator(_as_text), Field(pattern=r"^\d{4}-\d\d-\d\d$")]
DayOrMonth = Annotated[str, BeforeValidator(_as_text), Field(pattern=r"^\d{4}(-\d\d){0,2}$")]
Hours = Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$")]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


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

    @field_validator(*RATE_NAMES, mode="after")
    @classmethod
    def _is_whole_pico(cls, value: Decimal) -> Decimal:
        pico_per_token(value)
        return value

    def rates(self) -> Rates:
        values = {name: getattr(self, name) for name in RATE_NAMES}
        return Rates(**{name: pico_per_token(value) for name, value in values.items() if value is not None})


class _Tier(_Rates):
    above_tokens: Tokens
    operator: Literal[">", ">="] = ">"


class _List(_Rates):
    tiers: tuple[_Tier, ...] = ()
    per_request: PerRequest = Decimal(0)
    minimum: PerRequest = Decimal(0)

    @field_validator("per_request", "minimum", mode="after")
    @classmethod
    def _is_whole_pico_each(cls, value: Decimal) -> Decimal:
        pico_per_request(value)
        return value

    def prices(self) -> Prices:
        tiers = sorted(self.tiers, key=lambda tier: tier.above_tokens)
        return Prices(
            base=self.rates(),
            tiers=tuple(ContextTier(tier.above_tokens, tier.operator, tier.rates()) for tier in tiers),
            per_request=pico_per_request(self.per_request),
            minimum=pico_per_request(self.minimum),
        )


class _Prices(_List):
    service_tiers: Mapping[str, Annotated[Decimal, Field(gt=0)]] = {}
    service_prices: Mapping[str, _List] = {}

    def prices(self) -> Prices:
        return replace(
            super().prices(),
            service_tiers={name: Fraction(factor) for name, factor in self.service_tiers.items()},
            service_prices={name: listed.prices() for name, listed in self.service_prices.items()},
        )


class _Sourced(_Prices):
    source: str | None = None
    date: Day | None = None


class _Window(_Strict):
    hours: Annotated[tuple[Hours, ...], Field(min_length=1)] = ("00:00-24:00",)
    days: frozenset[Annotated[int, Field(strict=True, ge=1, le=7)]] = EVERY_DAY

    def windows(self) -> tuple[Window, ...]:
        spans = (tuple(map(_minute, hours.split("-"))) for hours in self.hours)
        return tuple(Window(start, end, self.days) for start, end in spans)


class _PriceChange(_Prices):
    since: Day | None = None
    windows: tuple[_Window, ...] = ()

    def change(self) -> PriceChange:
        windows = tuple(window for each in self.windows for window in each.windows())
        return PriceChange(self.prices(), self.since, windows)


class _Promises(_Strict):
    region: str | None = None
    no_training: StrictBool = False
    zero_retention: StrictBool = False


class _Host(_Strict):
    vendor: str
    upstream_model: Annotated[str, Field(min_length=1)]
    prices: _Sourced | None = None
    price_changes: tuple[_PriceChange, ...] = ()
    context_tokens: Tokens | None = None
    max_output_tokens: Tokens | None = None
    limit_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    thinking_switch: ThinkingSwitch = ThinkingSwitch.NONE
    thinking_visible: StrictBool = True
    longest_thinking_s: Annotated[float, Field(gt=0)] | None = None
    api_version: str | None = None
    promises: _Promises = _Promises()
    refuses: frozenset[str] = frozenset()
    quirks: frozenset[Quirk] = frozenset()
    options: Mapping[str, Any] = {}
    deprecated: Day | None = None

    def host(self) -> Host:
        same = {name: getattr(self, name) for name in _Host.model_fields}
        same |= {
            "prices": self.prices.prices() if self.prices else None,
            "price_source": self.prices.source if self.prices else None,
            "price_date": self.prices.date if self.prices else None,
            "price_changes": tuple(change.change() for change in self.price_changes),
            "promises": Promises(**self.promises.model_dump()),
            "options": {name: _plain(value) for name, value in self.options.items()},
        }
        return Host(**same)


class _Abilities(_Strict):
    tools: StrictBool = False
    parallel_tools: StrictBool = False
    forced_tools: StrictBool = True
    vision: StrictBool = False
    documents: StrictBool = False
    audio_input: StrictBool = False
    audio_output: StrictBool = False
    json_mode: StrictBool = False
    structured_output: StructuredOutput = StructuredOutput.NONE
    thinking: Thinking = Thinking.NONE
    thinks_by_default: StrictBool = False
    efforts: tuple[Effort, ...] = ()
    reasoning_tokens: Tokens | None = None
    choices: Annotated[int, Field(strict=True, ge=1)] = 1
    refuses: frozenset[str] = frozenset()


class _Score(_Strict):
    value: Annotated[float, Field(ge=0, le=1)]
    source: Annotated[str, Field(min_length=1)]
    date: DayOrMonth


class _Model(_Strict):
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/\-]*(:[A-Za-z0-9._\-]+)?$")]
    name: str | None = None
    owner: str = "custom"
    context_tokens: Tokens
    max_output_tokens: Tokens
    hosts: Annotated[tuple[_Host, ...], Field(min_length=1)]
    abilities: _Abilities = _Abilities()
    aliases: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    released: DayOrMonth | None = None
    deprecated: Day | None = None
    description: str = ""
    quality: Mapping[str, _Score] = {}
    first_token_ms: Annotated[int, Field(strict=True, ge=0)] | None = None
    tokens_per_second: Annotated[float, Field(gt=0)] | None = None

    def model(self) -> Model:
        same = {name: getattr(self, name) for name in _Model.model_fields}
        same |= {
            "name": self.name or self.id,
            "hosts": tuple(host.host() for host in self.hosts),
            "abilities": Abilities(**{name: getattr(self.abilities, name) for name in _Abilities.model_fields}),
            "quality": {task: Score(**score.model_dump()) for task, score in self.quality.items()},
        }
        return Model(**same)


class _Vendor(_Strict):
    format: Format
    base_url: Annotated[str, Field(pattern=r"^https?://[^/\s]")]
    auth: Auth = Auth.BEARER
    key_env: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")] | None = None
    region: str | None = None
    headers: Mapping[str, str] = {}
    renames: Mapping[str, str] = {}
    values: Mapping[str, Mapping[str, str]] = {}
    refuses: frozenset[str] = frozenset()
    quirks: frozenset[Quirk] = frozenset()
    drains: StrictBool = False

    def vendor(self, name: str) -> Vendor:
        return Vendor(name=name, **{field: getattr(self, field) for field in _Vendor.model_fields})


class CatalogFile(_Strict):
    """A whole file: vendors by name, and models."""

    vendors: Mapping[str, _Vendor] = {}
    models: tuple[_Model, ...] = ()

    def values(self) -> tuple[tuple[Vendor, ...], tuple[Model, ...]]:
        """The file as catalog values."""
        vendors = tuple(vendor.vendor(name) for name, vendor in self.vendors.items())
        return vendors, tuple(model.model() for model in self.models)


def _minute(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def _plain(value: object) -> object:
    """A TOML value as JSON knows it."""
    match value:
        case Decimal():
            return float(value)
        case dict():
            return {name: _plain(inner) for name, inner in value.items()}
        case list():
            return [_plain(inner) for inner in value]
        case _:
            return _as_text(value)
