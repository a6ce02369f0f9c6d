"""A gateway for clients: `headrace dev` as a process, with a scripted upstream and a real llama.cpp behind it."""

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from core.catalog.loader import load_catalog
from functions.local.catalog.writer import write_toml
from functions.local.llama_server import LlamaServer
from tests.support.command import serving
from tests.support.knowing_model import know
from tests.support.llama import ALIAS, CONTEXT_TOKENS, tiny_settings
from tests.support.upstream import ScriptedUpstream

KNOWING = "lab/knowing"
TINY = "local/tiny"


@dataclass(frozen=True, slots=True)
class Served:
    """A running gateway, what it logs, and the scripted upstream behind `lab/knowing`."""

    url: str
    key: str
    upstream: ScriptedUpstream
    log: list[str] = field(default_factory=list)

    def environment(self, prefix: str, model: str) -> dict[str, str]:
        """The variables from which clients learn where they are."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
        return {**inherited, "OPENAI_BASE_URL": self.url + prefix, "OPENAI_API_KEY": self.key, "MODEL": model}


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("gateway")
    # At temperature 0 the same prompt gives the same words.
    settings = replace(tiny_settings(folder), temperature=0.0)
    catalog = folder / "catalog.toml"
    with LlamaServer.start(settings, log_path=folder / "llama.log") as llama, ScriptedUpstream(know) as upstream:
        catalog.write_text(_catalog(upstream.url, llama.base_url), "utf-8")
        with serving(folder / "data", "--no-demo", "--catalog", str(catalog)) as dev:
            served = Served(dev.url, dev.token, upstream)
            reader = threading.Thread(target=served.log.extend, args=(dev.process.stdout,))
            reader.start()
            yield served
            dev.process.terminate()
            reader.join()


def _catalog(scripted: str, llama: str) -> str:
    abilities = {"tools": True, "parallel_tools": True, "json_mode": True, "structured_output": "verified"}

    def model(name: str, vendor: str, upstream: str, context: int, **more: object) -> dict[str, object]:
        host = {"vendor": vendor, "upstream_model": upstream, "prices": {"input": 3, "output": 15}}
        limits = {"context_tokens": context, "max_output_tokens": context // 2}
        return {"id": name, **limits, "abilities": {**abilities, **more}, "hosts": [host]}

    known = load_catalog().vendors["llama-cpp"]
    local = {"quirks": sorted(quirk.value for quirk in known.quirks), "refuses": sorted(known.refuses)}
    vendors = {
        "lab": {"format": "openai", "base_url": f"{scripted}/v1", "auth": "none"},
        "local": {"format": known.format, "base_url": llama, "auth": known.auth, **local},
    }
    knowing = model(KNOWING, "lab", "knowing", 128_000, vision=True, choices=4)
    return write_toml({"vendors": vendors, "models": [knowing, model(TINY, "local", ALIAS, CONTEXT_TOKENS)]})
