"""The catalog that ships with the gateway: the compiled form while it is of the files beside it, else those files."""

import hashlib
from pathlib import Path
from typing import Final

from core.catalog.compiled import Entry, read_compiled
from core.catalog.model import Model, Vendor

FILES: Final = ("vendors.toml", "models.toml")
"""The files, in reading order: vendors stand before the models on them."""

COMPILED: Final = "catalog.jsonl"

SHIPPED_FOLDER: Final = Path(__file__).parent


def read_shipped(folder: Path) -> tuple[tuple[Vendor, ...], tuple[Entry, ...]]:
    """The vendors and models of a folder with `FILES` and, to be fast, `COMPILED`.

    Raises:
        CatalogError: A file is wrong.
    """
    texts = {name: (folder / name).read_bytes() for name in FILES}
    compiled = folder / COMPILED
    if compiled.is_file():
        fast = read_compiled(compiled.read_bytes(), COMPILED)
        if fast.digests == digests(texts):
            return fast.vendors, fast.entries
    return _parsed(texts)


def digests(texts: dict[str, bytes]) -> dict[str, str]:
    """What tells one state of the files from another."""
    return {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}


def entry(model: Model) -> Entry:
    """A model that is there already."""
    return Entry(model.id, model.aliases, [host.vendor for host in model.hosts], lambda: model)


def _parsed(texts: dict[str, bytes]) -> tuple[tuple[Vendor, ...], tuple[Entry, ...]]:
    from core.catalog.file import parse_catalog  # it brings pydantic, which the compiled form does without

    vendors: tuple[Vendor, ...] = ()
    models: tuple[Model, ...] = ()
    for name, text in texts.items():
        file_vendors, file_models = parse_catalog(text.decode(), name)
        vendors, models = vendors + file_vendors, models + file_models
    return vendors, tuple(map(entry, models))
