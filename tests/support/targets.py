"""Small models, hosts and vendors for tests."""

from decimal import Decimal

from core.catalog.model import Abilities, Auth, Format, Host, Model, Target, Vendor
from core.money import Prices, Rates, pico_per_token

PRICES = Prices(Rates(input=pico_per_token(Decimal("3")), output=pico_per_token(Decimal("15"))))


def make_vendor(name: str = "lab", base_url: str = "http://127.0.0.1:9/v1", **members: object) -> Vendor:
    """A vendor of the OpenAI format that wants no key."""
    plain: dict[str, object] = {"format": Format.OPENAI, "auth": Auth.NONE, **members}
    return Vendor(name=name, base_url=base_url, **plain)  # type: ignore[arg-type]  # members are checked by the caller


def make_target(
    model: str = "lab/small",
    *,
    vendor: Vendor | None = None,
    abilities: Abilities | None = None,
    context_tokens: int = 8_192,
    max_output_tokens: int = 2_048,
    **host_members: object,
) -> Target:
    """A target with its own model and host; the host's upstream name is the model's."""
    used_vendor = vendor or make_vendor()
    plain: dict[str, object] = {"prices": PRICES, **host_members}
    host = Host(vendor=used_vendor.name, upstream_model=model, **plain)  # type: ignore[arg-type]  # as above
    return Target(
        Model(
            id=model,
            name=model,
            owner="lab",
            hosts=(host,),
            context_tokens=context_tokens,
            max_output_tokens=max_output_tokens,
            abilities=abilities or Abilities(),
        ),
        host,
        used_vendor,
    )
