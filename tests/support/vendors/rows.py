"""Every kind of row that the shipped catalog has, and some that operators add, as targets on one loopback address.

A row is of its own kind when its vendor, its way to think or its quirks differ; one model stands for each kind.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from core.catalog.compiled import compile_catalog
from core.catalog.loader import load_catalog
from core.catalog.model import (
    Abilities,
    Format,
    Host,
    Model,
    Quirk,
    Target,
    Thinking,
    ThinkingSwitch,
    Vendor,
)
from tests.support.targets import PRICES

REGION = "us-east-1"
SIGNED_REGION = "eu-central-1"
"""The region whose Bedrock rows are signed for; the others' take a Bedrock API key."""


@dataclass(frozen=True)
class Row:
    """One kind of row; `slug` is its model's name for callers, and the first step of its path."""

    slug: str
    target: Target

    @property
    def format(self) -> Format:
        """The wire format."""
        return self.target.vendor.format

    @property
    def key(self) -> str | None:
        """The key that its vendor takes; None where there is none, and where calls are signed."""
        return None if self.target.vendor.key_env is None else f"key-of-{self.target.vendor.key_env.lower()}"

    @property
    def thinks(self) -> bool:
        """Whether it thinks when it is asked to."""
        return self.target.model.abilities.thinking is not Thinking.NONE

    def at(self, address: str) -> tuple[Vendor, Model]:
        """Vendor and model for a catalog, with this server's address."""
        path = urlsplit(self.target.vendor.base_url).path
        vendor = replace(self.target.vendor, name=self.slug, base_url=f"{address}/{self.slug}{path}")
        host = replace(self.target.host, vendor=self.slug, deprecated=None)
        return vendor, replace(self.target.model, id=self.slug, aliases=(), hosts=(host,), deprecated=None)


def catalog_of(rows: Sequence[Row], address: str, models: Sequence[Model] = ()) -> str:
    """The rows, and models of several of them, as a catalog file in its compiled form."""
    vendors, own = zip(*(row.at(address) for row in rows), strict=True)
    return compile_catalog(vendors, [*own, *models], {}).decode()


def keys_of(rows: Sequence[Row]) -> Mapping[str, str]:
    """The environment that has the vendors' keys."""
    return {row.target.vendor.key_env: row.key for row in rows if row.target.vendor.key_env and row.key}


def shipped_rows() -> Iterator[Row]:
    """One row of each kind in the shipped catalog, of the models that call tools."""
    seen: set[object] = set()
    catalog = load_catalog()
    for model in catalog.models:
        for target in catalog.targets(model):
            vendor, host = target.vendor, target.host
            if not model.abilities.tools or target.refuses("tools"):
                continue
            if vendor.format is Format.BEDROCK and vendor.region not in (REGION, SIGNED_REGION):
                continue
            if vendor.region == SIGNED_REGION:
                target = replace(target, vendor=replace(vendor, key_env=None))
            able = model.abilities
            kind = (vendor.name, host.thinking_switch, able.thinking, able.forced_tools, host.api_version, host.quirks)
            if kind not in seen:
                seen.add(kind)
                yield Row(_slug(vendor.name, model.id), target)


def added_rows() -> Iterator[Row]:
    """Rows that the shipped file only describes, or that stand for servers of one's own."""
    vendors = load_catalog().vendors
    claude = Abilities(tools=True, parallel_tools=True, thinking=Thinking.OPTIONAL, efforts=("low", "medium", "high"))
    yield _row("azure-v1", replace(vendors["azure"], base_url="http://azure/openai/v1"))
    by_deployment = replace(
        vendors["azure"], base_url="http://azure/openai", quirks=vendors["azure"].quirks | {Quirk.URLS_IN_PATH}
    )
    yield _row("azure-deployment", by_deployment, api_version="2024-10-21")
    yield _row("openai-signed", replace(vendors[f"bedrock-openai-{REGION}"], key_env=None))
    mantle = vendors[f"bedrock-anthropic-{REGION}"]
    yield _row("claude-mantle", mantle, claude, thinking_switch=ThinkingSwitch.ADAPTIVE)
    vertex = replace(
        mantle,
        base_url="http://vertex/v1/projects/p/locations/r/publishers/anthropic/models",
        quirks=mantle.quirks | {Quirk.VERTEX_PATH},
        key_env="VERTEX_TOKEN",
    )
    yield _row("claude-vertex", vertex, claude, thinking_switch=ThinkingSwitch.ADAPTIVE)
    yield _row("gemini-vertex", replace(vendors["vertex-project"], base_url="http://vertex/v1/publishers/google"))
    strict_template = frozenset(
        {
            *(Quirk.SINGLE_SYSTEM, Quirk.ALTERNATE_ROLES, Quirk.FLAT_TEXT, Quirk.EMPTY_CONTENT),
            *(Quirk.CLOSING_THINK_TAG, Quirk.NO_MESSAGE_NAMES),
        }
    )
    yield _row(
        "local-template",
        replace(vendors["generic"], quirks=strict_template),
        Abilities(tools=True, thinking=Thinking.OPTIONAL),
        thinking_switch=ThinkingSwitch.TEMPLATE_ENABLE_THINKING,
    )
    for name in ("vllm", "llama-cpp", "generic"):
        yield _row(name, vendors[name], Abilities(tools=True, thinking=Thinking.ALWAYS))


def _row(slug: str, vendor: Vendor, abilities: Abilities | None = None, **members: object) -> Row:
    able = abilities or Abilities(tools=True, parallel_tools=True)
    host = Host(vendor=vendor.name, upstream_model="their-model", prices=PRICES, **members)  # type: ignore[arg-type]  # catalog values, checked by the caller
    model = Model(
        id=slug,
        name=slug,
        owner="lab",
        hosts=(host,),
        context_tokens=65_536,
        max_output_tokens=8_192,
        abilities=able,
    )
    return Row(slug, Target(model, host, vendor))


def _slug(vendor: str, model: str) -> str:
    return f"{vendor}.{model.partition('/')[2]}".replace(":", "-")


ROWS: Sequence[Row] = (*shipped_rows(), *added_rows())
"""All of them."""
