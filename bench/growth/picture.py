"""Draws how time and memory grow: a row for each dimension, both axes logarithmic."""

import math
from collections.abc import Iterator, Mapping, Sequence

from bench.drawing import FAINT, PALETTE, Axis, document, dot, level, path, upright, words
from bench.growth.measuring import Series

WIDTH, ROW = 1_000, 230
TOP, FOOT = 34, 40
PANELS = ((64, 370), (434, 740))
NAMES = 760

Points = Sequence[tuple[float, float]]


def picture(series: Sequence[Series]) -> str:
    """The whole document."""
    rows: dict[str, list[Series]] = {}
    for each in series:
        rows.setdefault(each.dimension, []).append(each)
    return document("How time and memory grow", WIDTH, ROW * len(rows), _rows(rows))


def _rows(rows: Mapping[str, Sequence[Series]]) -> Iterator[str]:
    for place, (dimension, found) in enumerate(rows.items()):
        top = place * ROW
        times = [[(float(each.size), each.seconds * 1e3) for each in one.samples if each.seconds] for one in found]
        sizes = [[(float(each.size), each.bytes / 1e6) for each in one.samples if each.bytes] for one in found]
        unit = found[0].unit
        yield from _panel(top, PANELS[0], f"{dimension}: milliseconds", unit, times, found)
        if any(sizes):
            yield from _panel(top, PANELS[1], f"{dimension}: megabytes", unit, sizes, found)
        for number, one in enumerate(found):
            y = top + TOP + 10 + 17 * number
            yield f'<circle cx="{NAMES}" cy="{y - 4}" r="4" fill="{_colour(number)}"/>'
            yield words(f"{NAMES + 10}", f"{y}", one.what)


def _panel(
    top: int, sides: tuple[int, int], title: str, unit: str, lines: Sequence[Points], found: Sequence[Series]
) -> Iterator[str]:
    left, right = sides
    values = [point for line in lines for point in line]
    across = _axis([size for size, _ in values], left, right)
    up = _axis([value for _, value in values], top + ROW - FOOT, top + TOP)
    yield words(f"{left}", f"{top + TOP - 12}", title, more='font-weight="600"')
    span = f'width="{right - left}" height="{ROW - FOOT - TOP}"'
    yield f'<rect x="{left}" y="{top + TOP}" {span} fill="none" stroke="{FAINT}"/>'
    for value in _decades(across):
        x = across.at(value)
        yield upright(x, top + TOP, top + ROW - FOOT)
        yield words(f"{x:.1f}", f"{top + ROW - FOOT + 16}", _short(value), "middle")
    for value in _decades(up):
        height = up.at(value)
        yield level(height, left, right)
        yield words(f"{left - 6}", f"{height + 4:.1f}", _short(value), "end")
    yield words(f"{(left + right) / 2:.0f}", f"{top + ROW - 8}", unit, "middle")
    for number, (line, one) in enumerate(zip(lines, found, strict=True)):
        places = [(across.at(size), up.at(value)) for size, value in line]
        if places:
            yield path(places, _colour(number))
        for (x, y), (size, value) in zip(places, line, strict=True):
            yield dot(x, y, 3, _colour(number), f"{one.what}, {size:,.0f} {unit}: {value:,.3g}")


def _axis(values: Sequence[float], start: float, end: float) -> Axis:
    """Whole decades around the values."""
    least, most = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return Axis(10.0**least, 10.0 ** max(most, least + 1), start, end, log=True)


def _decades(axis: Axis) -> Iterator[float]:
    first, last = round(math.log10(axis.least)), round(math.log10(axis.most))
    step = 1 if last - first <= 6 else 2
    return (10.0**power for power in range(first, last + 1, step))


def _short(value: float) -> str:
    if value >= 1_000_000:
        return f"{value / 1_000_000:g}M"
    return f"{value / 1_000:g}k" if value >= 1_000 else f"{value:g}"


def _colour(number: int) -> str:
    return PALETTE[number % len(PALETTE)]
