"""Draws the cost and the quality of a day as an SVG: plain text, the same bytes for the same numbers."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from bench.routing.traffic import Outcome

WIDTH, HEIGHT = 760, 460
LEFT, RIGHT, TOP, BOTTOM = 70, 24, 24, 56
LEAST_DOLLARS, MOST_DOLLARS = 1.0, 4_000.0
LEAST_QUALITY, MOST_QUALITY = 0.2, 0.9

SIDES = {
    "right": (10, 4, "start"),
    "left": (-10, 4, "end"),
    "above": (0, -12, "middle"),
    "below": (-6, 22, "middle"),
}

INK, FAINT, MODEL, LINE, PICK = "#24292f", "#d8dee4", "#9aa4af", "#2f6f9f", "#b3541e"


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
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (_place(each) for _, each in floors))
    parts.append(f'<polyline points="{path}" fill="none" stroke="{LINE}" stroke-width="2"/>')
    for floor, each in floors:
        parts.append(_dot(each, 3.5, LINE, f"the cheapest of at least {floor:.2f}"))
    for mark in marks:
        parts += [_dot(mark.outcome, 5.5, mark.colour, mark.name), _name(mark)]
    parts += _legend()
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="{INK}">\n'
        "<title>Cost and expected quality of a mixed day of 10,000 requests</title>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def _place(outcome: Outcome) -> tuple[float, float]:
    return _across(outcome.dollars), _up(outcome.quality)


def _across(dollars: float) -> float:
    share = math.log(dollars / LEAST_DOLLARS) / math.log(MOST_DOLLARS / LEAST_DOLLARS)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _up(quality: float) -> float:
    share = (quality - LEAST_QUALITY) / (MOST_QUALITY - LEAST_QUALITY)
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _grid() -> Iterable[str]:
    foot = HEIGHT - BOTTOM
    for dollars in (1, 3, 10, 30, 100, 300, 1_000, 3_000):
        x = _across(dollars)
        yield f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{foot}" stroke="{FAINT}"/>'
        yield f'<text x="{x:.1f}" y="{foot + 18}" text-anchor="middle">${dollars:,}</text>'
    for tenths in range(2, 10):
        y = _up(tenths / 10)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="{FAINT}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tenths / 10:.1f}</text>'
    yield f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 14}" text-anchor="middle">cost of the day</text>'
    middle = (TOP + foot) / 2
    turned = f'text-anchor="middle" transform="rotate(-90 20 {middle:.0f})"'
    yield f'<text x="20" y="{middle:.0f}" {turned}>expected quality</text>'


def _dot(outcome: Outcome, radius: float, colour: str, name: str) -> str:
    x, y = _place(outcome)
    told = f"{name}: ${outcome.dollars:,.2f}, {outcome.quality:.3f}"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"><title>{escape(told)}</title></circle>'


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
    for place, (colour, words) in enumerate(rows):
        yield f'<circle cx="{x}" cy="{y + 20 * place - 4}" r="5" fill="{colour}"/>'
        yield f'<text x="{x + 14}" y="{y + 20 * place}">{words}</text>'
