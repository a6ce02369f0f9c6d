"""Catalog files for gateways that choose: models of one scripted upstream, evaluated for every task."""

from functions.gateway.openapi.decision import TASKS

VENDORS = """
[vendors.lab]
format = "openai"
base_url = "{upstream}/lab"
auth = "none"

[vendors.shop]
format = "openai"
base_url = "{upstream}/shop"
auth = "none"
"""


def entry(
    name: str,
    *,
    price: float | None = 1,
    quality: float | None = 0.5,
    vendors: tuple[str, ...] = ("lab",),
    more: str = "",
) -> str:
    """One model as a catalog file has it; `more` are abilities, as TOML."""
    lines = ["[[models]]", f'id = "{name}"', f'aliases = ["{name.rpartition("/")[2]}-alias"]']
    abilities = f"abilities = {{{{ tools = true{more and ', '}{more} }}}}"
    lines += ["context_tokens = 8192", "max_output_tokens = 2048", abilities]
    if quality is not None:
        lines.append("[models.quality]")
        lines += [f'{task} = {{{{ value = {quality}, source = "a table", date = "2026-11-30" }}}}' for task in TASKS]
    for vendor in vendors:
        lines += ["[[models.hosts]]", f'vendor = "{vendor}"', f'upstream_model = "{name.rpartition("/")[2]}"']
        if price is not None:
            lines.append(f"prices = {{{{ input = {price}, output = {price} }}}}")
    return "\n".join(lines)


def catalog(*entries: str) -> str:
    """A whole file; `{upstream}` stands for the upstream's address."""
    return "\n\n".join((VENDORS, *entries))


STRONG = entry("lab/strong", price=9, quality=0.9, more='vision = true, structured_output = "verified"')
CHEAP = entry("lab/cheap", price=1, quality=0.5)
NEW = entry("lab/new", price=0.1, quality=None)
THREE = catalog(STRONG, CHEAP, NEW)
