"""Draws SVG as plain text: the same bytes for the same numbers."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Final

INK: Final = "#24292f"
FAINT: Final = "#d8dee4"
GREY: Final = "#9aa4af"
BLUE: Final = "#2f6f9f"
RUST: Final = "#b3541e"
PALETTE: Final = (BLUE, RUST, "#4d7c3a", "#7a4d94", "#b08a1e", "#1e8a8a", "#a33b4f", INK)


@dataclass(frozen=True, slots=True)
class Axis:
    """Where values lie: `least` at the pixel `start`, `most` at `end`; by their logarithm if `log`."""

    least: float
    most: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """The pixel of a value."""
        if self.log:
            share = math.log(value / self.least) / math.log(self.most / self.least)
        else:
            share = (value - self.least) / (self.most - self.least)
        return self.start + share * (self.end - self.start)


def document(title: str, width: int, height: int, parts: Iterable[str]) -> str:
    """The whole picture, on white."""
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="{INK}">\n'
        f"<title>{escape(title)}</title>\n"
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def upright(x: float, top: float, foot: float) -> str:
    """A faint line from top to foot."""
    return f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{foot}" stroke="{FAINT}"/>'


def level(y: float, left: float, right: float) -> str:
    """A faint line from left to right."""
    return f'<line x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="{FAINT}"/>'


def words(x: str, y: str, text: str, anchor: str | None = None, more: str = "") -> str:
    """Text at a place; `anchor` tells which end of it lies there, `more` are further attributes."""
    attributes = (f' text-anchor="{anchor}"' if anchor else "") + (f" {more}" if more else "")
    return f'<text x="{x}" y="{y}"{attributes}>{escape(text, quote=False)}</text>'


def dot(x: float, y: float, radius: float, colour: str, told: str) -> str:
    """A point that tells what it is when it is pointed at."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"><title>{escape(told)}</title></circle>'


def path(points: Iterable[tuple[float, float]], colour: str) -> str:
    """Points, joined."""
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2"/>'
