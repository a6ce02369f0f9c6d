"""The document of the settings is what the settings say."""

from tests.support.settings_document import DOCUMENT, written


def test_it_is_up_to_date() -> None:
    """If not: `make settings-docs`."""
    text = DOCUMENT.read_text("utf-8")
    assert text == written(text)
