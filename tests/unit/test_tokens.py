"""Estimated tokens, beside real counts of three vocabularies."""

from bench.routing.tokens import counted, quantile
from core.tokens import estimated_text_tokens, estimated_tokens


def test_bytes_alone_give_a_rough_figure() -> None:
    assert [estimated_tokens(size) for size in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_the_error_stays_below_fifteen_percent_for_nine_texts_of_ten() -> None:
    found = counted()
    assert len(found) > 250, "too few texts are as they were when they were counted: count them again"
    assert len({each.language for each in found}) >= 8
    assert quantile([each.error for each in found], 0.9) < 0.15


def test_scripts_count_differently() -> None:
    assert estimated_text_tokens("好" * 100) > estimated_text_tokens("o" * 100)
    assert estimated_text_tokens("🙂🙂🙂") > 0
