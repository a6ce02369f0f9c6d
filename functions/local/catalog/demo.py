"""The catalog entry of the demo model, as a catalog file, kept where the other commands find it."""

from pathlib import Path
from typing import Final

from core.catalog.loader import load_catalog
from functions.local.catalog.writer import write_toml
from functions.local.demo_model import SMOLLM2
from functions.settings import Settings

DEMO_MODEL: Final = "demo/smollm2-135m-instruct"
"""The catalog id of the demo model."""

UPSTREAM_NAME: Final = "smollm2-135m-instruct"
"""What the server is to call it."""

FILE: Final = "demo-catalog.toml"
"""What the kept entry is called, beside the database."""


def demo_catalog(base_url: str, context_tokens: int = SMOLLM2.context_tokens) -> str:
    """A catalog file for SmolLM2-135M-Instruct on a llama.cpp server of one's own.

    The server enforces JSON Schemas by grammar (wire reference, section 6, read 2026-11-30); tools and images the model
    does not know. Its price is made up, so that there is something to see in answers, headers and the ledger.

    Args:
        base_url: The server's address up to `/v1`.
        context_tokens: The window that the server was started with; what the model was trained on unless given.
    """
    server = load_catalog().vendors["llama-cpp"]
    vendor = {
        "format": server.format,
        "base_url": base_url,
        "auth": server.auth,
        "quirks": sorted(quirk.value for quirk in server.quirks),
        "refuses": sorted(server.refuses),
    }
    host = {
        "vendor": "local",
        "upstream_model": UPSTREAM_NAME,
        "promises": {"region": "local", "no_training": True, "zero_retention": True},
        "prices": {"input": 1, "output": 2, "source": "made up for the demo: nobody is paid", "date": "2026-11-30"},
    }
    model = {
        "id": DEMO_MODEL,
        "name": "SmolLM2 135M Instruct",
        "owner": "demo",
        "aliases": [UPSTREAM_NAME],
        "description": "A very small model on this machine, to try the gateway with: quick, and often wrong.",
        "released": "2024-11",
        "context_tokens": context_tokens,
        "max_output_tokens": context_tokens,
        "abilities": {"json_mode": True, "structured_output": "verified"},
        "hosts": [host],
    }
    return write_toml({"vendors": {"local": vendor}, "models": [model]})


def keep_demo(folder: Path, entry: str | None) -> None:
    """Keep the entry of the demo model that is served from a folder; None where it is not any more."""
    file = folder / FILE
    if entry is None:
        file.unlink(missing_ok=True)
    else:
        file.write_text(entry, "utf-8")


def kept_demo(settings: Settings) -> tuple[tuple[str, str], ...]:
    """The demo model as a catalog file and its name, where a server on this machine last served it from the data folder
    that the settings name; nothing where none did."""
    file = settings.sqlite_path.with_name(FILE)
    if settings.store != "sqlite" or not file.is_file():
        return ()
    return ((str(file), file.read_text("utf-8")),)
