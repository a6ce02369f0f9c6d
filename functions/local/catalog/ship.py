"""Writes what the gateway loads: the built models, and the compiled form of all shipped files."""

from pathlib import Path

from core.catalog.compiled import compile_catalog
from core.catalog.file import parse_catalog
from core.catalog.host_rules import check_hosts
from core.catalog.model import Model, Vendor
from core.catalog.shipped import COMPILED, FILES, SHIPPED_FOLDER, digests, read_shipped
from functions.local.catalog.build import BuildReport


def ship(report: BuildReport, folder: Path = SHIPPED_FOLDER) -> None:
    """Write `models.toml`, and the compiled form of it and its neighbours."""
    (folder / "models.toml").write_text(report.text, encoding="utf-8")
    recompile(folder)


def recompile(folder: Path = SHIPPED_FOLDER) -> None:
    """Write the compiled form of the shipped files anew: wanted whenever one of them was changed by hand.

    Raises:
        CatalogError: A file is wrong.
    """
    (folder / COMPILED).write_bytes(compiled_form(folder))


def compiled_form(folder: Path = SHIPPED_FOLDER) -> bytes:
    """What the compiled form of the shipped files has to be.

    Raises:
        CatalogError: A file is wrong.
    """
    texts = {name: (folder / name).read_bytes() for name in FILES}
    vendors: tuple[Vendor, ...] = ()
    models: tuple[Model, ...] = ()
    for name, text in texts.items():
        file_vendors, file_models = parse_catalog(text.decode(), name)
        vendors, models = vendors + file_vendors, models + file_models
    return compile_catalog(vendors, models, digests(texts))


def compile_own(text: str, name: str) -> bytes:
    """The compiled form of an operator's file: it loads without being checked again, thousands of models at once.

    Args:
        text: Its TOML.
        name: What to call it in errors.

    Raises:
        CatalogError: The file is wrong.
    """
    vendors, models = parse_catalog(text, name)
    shipped, _ = read_shipped(SHIPPED_FOLDER)
    check_hosts(models, {vendor.name: vendor for vendor in (*shipped, *vendors)}, text, name)
    return compile_catalog(vendors, models, {})
