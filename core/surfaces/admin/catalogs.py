"""Organisations' own catalogs as operators write and read them: TOML, as a string in JSON like everything else."""

from core.chat import Json
from core.surfaces.admin.changes import read
from core.surfaces.openai_chat.checks import named


def parse_own_catalog(body: bytes) -> str:
    """The TOML in a body; what it says is not looked at.

    Raises:
        InvalidRequest: It is no JSON object, or has no `toml`.
        Unprocessable: It has an unknown member.
    """
    return str(read(body, {"toml": named}, ("toml",))["toml"])


def catalog_object(toml: str) -> dict[str, Json]:
    """A catalog."""
    return {"object": "catalog", "toml": toml}
