"""Draws the cost and the quality of a day as an SVG: plain text, the same bytes for the same numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from bench.drawing import BLUE, FAINT, GREY, RUST, Axis, document, dot, level, path, upright, words
from bench.routing.traffic import Outcome

WIDTH, HEIGHT = 760, 460
LEFT, RIGHT, TOP, BOTTOM = 70, 24, 24, 56
ACROSS = Axis(1.0, 4_000.0, LEFT, WIDTH - RIGHT, log=True)  # dollars
UP = Axis(0.2, 0.9, HEIGHT - BOTTOM, TOP)  # expected quality

SIDES = {
    "right": (10, 4, "start"),
    "left": (-10, 4, "end"),
    "above": (0, -12, "middle"),
    "below": (-6, 22, "middle"),
}

MODEL, LINE, PICK = GREY, BLUE, RUST


@dataclass(frozen=True, slots=True)
class Mark:
    """A point with a name; `side` tells where that stands."""

    name: str
    outcome: Outcome
    side: str = "right"
    colour: str = PICK


def picture(models: Mapping[str, Outcome], floors: Sequence[tuple[float, Outcome]], marks: Iterable[Mark]) -> str:
    """The whole document.

    Args:
        models: What each model alone comes to.
        floors: What the cheapest above a floor comes to, for rising floors.
        marks: The points that have names.
    """
    parts = [*_grid()]
    parts += [_dot(each, 3, MODEL, f"{name} for every request") for name, each in models.items()]
    parts.append(path((_place(each) for _, each in floors), LINE))
    for floor, each in floors:
        parts.append(_dot(each, 3.5, LINE, f"the cheapest of at least {floor:.2f}"))
    for mark in marks:
        parts += [_dot(mark.outcome, 5.5, mark.colour, mark.name), _name(mark)]
    parts += _legend()
    return document("Cost and expected quality of a mixed day of 10,000 requests", WIDTH, HEIGHT, parts)


def _place(outcome: Outcome) -> tuple[float, float]:
    return ACROSS.at(outcome.dollars), UP.at(outcome.quality)


def _grid() -> Iterable[str]:
    foot = HEIGHT - BOTTOM
    for dollars in (1, 3, 10, 30, 100, 300, 1_000, 3_000):
        x = ACROSS.at(dollars)
        yield upright(x, TOP, foot)
        yield words(f"{x:.1f}", f"{foot + 18}", f"${dollars:,}", "middle")
    for tenths in range(2, 10):
        y = UP.at(tenths / 10)
        yield level(y, LEFT, WIDTH - RIGHT)
        yield words(f"{LEFT - 8}", f"{y + 4:.1f}", f"{tenths / 10:.1f}", "end")
    yield words(f"{(LEFT + WIDTH - RIGHT) / 2:.0f}", f"{HEIGHT - 14}", "cost of the day", "middle")
    middle = (TOP + foot) / 2
    turned = f'transform="rotate(-90 20 {middle:.0f})"'
    yield words("20", f"{middle:.0f}", "expected quality", "middle", turned)


def _dot(outcome: Outcome, radius: float, colour: str, name: str) -> str:
    return dot(*_place(outcome), radius, colour, f"{name}: ${outcome.dollars:,.2f}, {outcome.quality:.3f}")


def _name(mark: Mark) -> str:
    x, y = _place(mark.outcome)
    across, down, anchor = SIDES[mark.side]
    return (
        f'<text x="{x + across:.1f}" y="{y + down:.1f}" text-anchor="{anchor}" fill="{mark.colour}" '
        f'font-weight="600">{escape(mark.name)}</text>'
    )


def _legend() -> Iterable[str]:
    x, y = WIDTH - RIGHT - 306, HEIGHT - BOTTOM - 62
    yield f'<rect x="{x - 14}" y="{y - 18}" width="312" height="68" fill="#ffffff" stroke="{FAINT}"/>'
    rows = ((PICK, "what an objective picks"), (LINE, "cost, with a rising min_quality"), (MODEL, "one model for all"))
    for place, (colour, told) in enumerate(rows):
        yield f'<circle cx="{x}" cy="{y + 20 * place - 4}" r="5" fill="{colour}"/>'
        yield f'<text x="{x + 14}" y="{y + 20 * place}">{told}</text>'
