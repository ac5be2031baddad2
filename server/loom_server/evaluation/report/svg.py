"""Figures as inline SVG, drawn by hand: bars with intervals, spreads, curves, histograms.

Each is an image with a title and a description that says in words what it shows; the table beside it has the
numbers. Colours are CSS variables of the page, and series differ in dash or pattern too, so that a black-and-white
print can be read. Every text is escaped here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count

WIDTH, LABEL, RIGHT, LINE = 640, 150, 64, 24
SQUARE = 260
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Bar:
    """A value in [0, 1] with its interval; `faint` bars are those of the oracle."""

    label: str
    value: float
    low: float
    high: float
    faint: bool = False


@dataclass(frozen=True, slots=True)
class Spread:
    """Where the values of a label lie: their 5th, 25th, 50th, 75th, 95th and 99th percentile."""

    label: str
    points: tuple[float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Series:
    """Named values or points; `place` chooses colour and dash."""

    name: str
    place: int
    points: Sequence[tuple[float, float]] = ()
    values: Sequence[float] = ()


def bars(title: str, said: str, some: Sequence[Bar]) -> str:
    """Horizontal bars from 0 to 1."""
    span = WIDTH - LABEL - RIGHT
    parts: list[str] = [*_axis([(one / 5, f"{one / 5:.1f}") for one in range(6)], span, len(some))]
    for place, one in enumerate(some):
        y = 8 + place * LINE
        middle, end = y + LINE / 2 - 3, LABEL + span * one.value
        kind = "faint" if one.faint else "solid"
        parts += [
            _text(LABEL - 8, middle + 4, one.label, "end"),
            f'<rect class="{kind}" x="{LABEL}" y="{y}" width="{max(0.0, end - LABEL):.1f}" height="{LINE - 8}"/>',
            _range(LABEL + span * one.low, LABEL + span * one.high, middle),
            _text(LABEL + span * max(one.value, one.high) + 8, middle + 4, f"{one.value:.3f}"),
        ]
    return _image(title, said, WIDTH, 8 + len(some) * LINE + 22, parts)


def spreads(title: str, said: str, some: Sequence[Spread], unit: str) -> str:
    """Boxes of the middle half, lines from the 5th to the 95th percentile, a dot at the 99th."""
    span = WIDTH - LABEL - RIGHT
    most = max((one.points[-1] for one in some), default=0.0) or 1.0
    ticks = [(share / 4, f"{most * share / 4:.3g} {unit}") for share in range(5)]
    parts: list[str] = [*_axis(ticks, span, len(some))]
    for place, one in enumerate(some):
        y = 8 + place * LINE
        middle = y + LINE / 2 - 3
        low, first, half, third, high, far = (LABEL + span * point / most for point in one.points)
        parts += [
            _text(LABEL - 8, middle + 4, one.label, "end"),
            f'<line class="line" x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}"/>',
            f'<rect class="solid" x="{first:.1f}" y="{y + 1}" width="{max(1.0, third - first):.1f}" '
            f'height="{LINE - 10}"/>',
            f'<line class="mark" x1="{half:.1f}" x2="{half:.1f}" y1="{y - 1}" y2="{y + LINE - 7}"/>',
            f'<circle class="dot" cx="{far:.1f}" cy="{middle}" r="3"/>',
        ]
    return _image(title, said, WIDTH, 8 + len(some) * LINE + 22, parts)


def curves(title: str, said: str, some: Sequence[Series], axes: tuple[str, str]) -> str:
    """Lines in the unit square, and the diagonal of chance."""
    parts = [*_square(axes), _path([(0.0, 0.0), (1.0, 1.0)], "chance")]
    parts += [_path(one.points, f"series s{one.place}") for one in some if one.points]
    parts += _legend(some)
    return _image(title, said, SQUARE + 60, SQUARE + 66 + 18 * len(some), parts)


def histogram(title: str, said: str, some: Sequence[Series], axes: tuple[str, str]) -> str:
    """Shares of each series in twenty bins of [0, 1], as steps."""
    shares = [(one, _shares(one.values)) for one in some if one.values]
    most = max((max(bins) for _, bins in shares), default=0.0) or 1.0
    parts = [*_square((axes[0], f"{axes[1]}, up to {most:.0%}"))]
    for one, bins in shares:
        steps = [(0.0, 0.0)]
        for place, share in enumerate(bins):
            steps += [(place / len(bins), share / most), ((place + 1) / len(bins), share / most)]
        parts.append(_path([*steps, (1.0, 0.0)], f"series s{one.place}"))
    parts += _legend([one for one, _ in shares])
    return _image(title, said, SQUARE + 60, SQUARE + 66 + 18 * len(shares), parts)


def _shares(values: Sequence[float], bins: int = 20) -> list[float]:
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, max(0, int(value * bins)))] += 1
    return [number / len(values) for number in counts]


def _image(title: str, said: str, width: float, height: float, parts: Sequence[str]) -> str:
    number = next(_numbers)
    return (
        f'<svg role="img" aria-labelledby="t{number} d{number}" viewBox="0 0 {width:g} {height:g}" width="{width:g}">'
        f'<title id="t{number}">{escape(title)}</title><desc id="d{number}">{escape(said)}</desc>{"".join(parts)}</svg>'
    )


def _axis(ticks: Sequence[tuple[float, str]], span: float, lines: int) -> Iterator[str]:
    bottom = 8 + lines * LINE
    for share, told in ticks:
        x = LABEL + span * share
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{bottom}"/>'
        yield _text(x, bottom + 16, told, "middle")


def _square(axes: tuple[str, str]) -> Iterator[str]:
    yield f'<rect class="frame" x="40" y="8" width="{SQUARE}" height="{SQUARE}"/>'
    yield from (_text(40 + SQUARE * share, SQUARE + 24, f"{share:g}", "middle") for share in (0.0, 0.5, 1.0))
    yield _text(40 + SQUARE / 2, SQUARE + 42, axes[0], "middle")
    x, y = 16, 8 + SQUARE / 2
    yield f'<text x="{x}" y="{y:g}" text-anchor="middle" transform="rotate(-90 {x} {y:g})">{escape(axes[1])}</text>'


def _legend(some: Sequence[Series]) -> Iterator[str]:
    for place, one in enumerate(some):
        y = SQUARE + 62 + 18 * place
        yield f'<line class="series s{one.place}" x1="40" x2="70" y1="{y - 4}" y2="{y - 4}"/>'
        yield _text(78, y, one.name)


def _path(points: Sequence[tuple[float, float]], kind: str) -> str:
    places = " ".join(f"{40 + SQUARE * x:.1f},{8 + SQUARE * (1 - y):.1f}" for x, y in points)
    return f'<polyline class="{kind}" points="{places}"/>'


def _range(low: float, high: float, y: float) -> str:
    return (
        f'<path class="range" d="M{low:.1f} {y - 4:.1f}V{y + 4:.1f}M{low:.1f} {y:.1f}H{high:.1f}'
        f'M{high:.1f} {y - 4:.1f}V{y + 4:.1f}"/>'
    )


def _text(x: float, y: float, told: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(told)}</text>'
