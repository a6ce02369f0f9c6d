"""The two surfaces and the forms of their ids."""

import pytest

from core.surfaces.surface import PLAIN, ROUTING, canonical_request_id

HEX = "0123456789abcdef" * 2


def test_ids_of_one_request_on_both_surfaces() -> None:
    assert ROUTING.response_id(f"req-{HEX}") == f"req-{HEX}"
    assert PLAIN.response_id(f"req-{HEX}") == f"chatcmpl-{HEX}"


@pytest.mark.parametrize("written", [f"req-{HEX}", f"chatcmpl-{HEX}"])
def test_either_form_names_the_request(written: str) -> None:
    assert canonical_request_id(written) == f"req-{HEX}"


def test_another_form_is_left_as_it_is() -> None:
    assert canonical_request_id("other") == "other"
