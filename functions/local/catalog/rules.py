"""What the tool knows of each vendor: how the sources call its models, and what holds for all its hosts."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from core.catalog.model import Quirk, ThinkingSwitch

RULES: Final = Path(__file__).with_name("rules.toml")


class Strict(BaseModel):
    """A table of the tool's own files; a misspelt name is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Promised(Strict):
    """Promises about data that hold for a vendor's standard terms."""

    region: str | None = None
    no_training: bool = False
    zero_retention: bool = False


class HostFacts(Strict):
    """What a host's table says beside its prices; None where nothing is said."""

    thinking_switch: ThinkingSwitch | None = None
    thinking_visible: bool | None = None
    longest_thinking_s: float | None = None
    limit_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    api_version: str | None = None
    context_tokens: int | None = None
    max_output_tokens: int | None = None
    refuses: tuple[str, ...] = ()
    quirks: tuple[Quirk, ...] = ()
    options: Mapping[str, object] = {}


class VendorRule(HostFacts):
    """A vendor in the sources' eyes.

    `litellm` are patterns of keys, the first that exists counts; `modelsdev` and `genai` names of providers.
    `at_threshold` is True where a tier begins at its threshold and not above it. `service_names` gives further names
    of a service tier, as the vendor's answers have them. `needs_native_schema` is True where a schema works only
    with models that a source says take one natively. `resells` is True where it offers what others run, and ends with
    them; `speaks_claude` where Claude is spoken to in its own format, or in Bedrock's.
    """

    litellm: tuple[str, ...] = ()
    modelsdev: str | None = None
    genai: str | None = None
    at_threshold: bool = False
    service_names: Mapping[str, str] = {}
    needs_native_schema: bool = False
    resells: bool = False
    speaks_claude: bool = False
    promises: Promised = Promised()


def read_rules(path: Path = RULES) -> Mapping[str, VendorRule]:
    """The rules by vendor."""
    return TypeAdapter(dict[str, VendorRule]).validate_python(tomllib.loads(path.read_text("utf-8")))
