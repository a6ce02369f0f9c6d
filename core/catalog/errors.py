"""What goes wrong with a catalog."""


class CatalogError(ValueError):
    """A catalog file is wrong; the message names file, line and field."""
