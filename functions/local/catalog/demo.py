"""The catalog entry of the demo model, as a catalog file."""

from typing import Final

from functions.local.catalog.writer import write_toml

DEMO_MODEL: Final = "demo/smollm2-135m-instruct"
"""The catalog id of the demo model."""


def demo_catalog(base_url: str) -> str:
    """A catalog file for SmolLM2-135M-Instruct on a llama.cpp server of one's own.

    Its window is what the model was trained on (model card of HuggingFaceTB/SmolLM2-135M-Instruct, read 2026-11-30). Its
    price is made up: nominal, so that there is something to see in answers, headers and the ledger.

    Args:
        base_url: The server's address up to `/v1`.
    """
    vendor = {
        "format": "openai",
        "base_url": base_url,
        "auth": "none",
        "quirks": ["inline_media", "empty_content", "closes_connections"],
        "refuses": list(_NOT_DONE),
    }
    model = {
        "id": DEMO_MODEL,
        "name": "SmolLM2 135M Instruct",
        "owner": "demo",
        "aliases": ["smollm2"],
        "description": "A very small model on this machine, to try the gateway with. It is quick, and often wrong.",
        "context_tokens": 8192,
        "max_output_tokens": 8192,
        "abilities": {"json_mode": True, "structured_output": "verified"},
        "hosts": [
            {
                "vendor": "local",
                "upstream_model": "smollm2-135m-instruct",
                "promises": {"region": "local", "no_training": True, "zero_retention": True},
                "prices": {
                    "input": 1,
                    "output": 2,
                    "source": "made up for the demo: nobody is paid",
                    "date": "2026-11-30",
                },
            }
        ],
    }
    return write_toml({"vendors": {"local": vendor}, "models": [model]})
