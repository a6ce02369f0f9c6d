"""Reads catalog files of the operator's own, in either form."""

from pathlib import Path

from core.catalog.errors import CatalogError


def read_catalog_file(path: Path) -> tuple[str, str]:
    """What a catalog file is called in errors, and its text.

    Raises:
        CatalogError: It cannot be read, or is not UTF-8.
    """
    try:
        return str(path), path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise CatalogError(f"{path}: not a catalog file: it is not UTF-8 ({error.reason} at {error.start})") from None
    except OSError as error:
        raise CatalogError(f"{path}: cannot be read: {error.strerror}") from None
