"""A picture of a cluster's timeline: a row for each rank or host, a mark for each event; one SVG without any script.

Marks have the numbers of their causes, which are named below the picture, so that it tells all on paper as well.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from html import escape
from math import ceil
from typing import Any, NamedTuple

from npu_kb.cluster.times import zone_seconds
from npu_kb.render.text import clipped, width_of

_WIDTH, _RIGHT, _TOP, _BOTTOM = 1000, 20, 62, 40
_CELL, _LINE = 6.2, 16
"""Pixels of a letter, and from one line of text to the next."""
_NARROWEST, _WIDEST = 12, 30
"""Letters of the names of rows."""
_MOST_CAUSES, _CAUSE_CELLS = 24, 150
_DIGIT, _NUMBER_HEIGHT = 6, 9
"""Pixels of a number beside a mark."""
_RADIUS = 9
_COLOURS = {"root": "#c62828", "effect": "#ef6c00", "waiting": "#f9a825", "testimony": "#78909c", "wrapper": "#cfd8dc"}
_LEGEND = {"root": "fault", "effect": "its effect", "waiting": "waits for others", "testimony": "tells of others"}
_MOST_HEIGHT = 1_600
_MOST_MARKS = 20_000


class _Plane(NamedTuple):
    """Where rows and moments are in the picture."""

    rows: dict[str, int]
    height: float
    """Of a row."""
    left: float
    first: float
    span: float
    """Seconds."""

    def x(self, moment: float) -> float:
        """Where a moment is."""
        return self.left + (moment - self.first) / self.span * (_WIDTH - self.left - _RIGHT)

    def y(self, row: int) -> float:
        """Where the middle of a row is."""
        return _TOP + (row + 0.5) * self.height

    @property
    def bottom(self) -> float:
        """Where the last row ends."""
        return _TOP + self.height * len(self.rows)


def timeline_svg(document: dict[str, Any]) -> str:
    """The picture of a cluster document; every text from the logs is escaped."""
    events = [e for e in document["timeline"] if e["time"] is not None and e["severity"] != "benign"][:_MOST_MARKS]
    plane, causes = _plane(events), _causes(document, events)
    lines = _legend_of_causes(document, events, causes, plane.bottom + _BOTTOM)
    total = plane.bottom + _BOTTOM + _LINE * len(causes)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {total:.0f}" font-family="sans-serif"'
        ' font-size="11">',
        f'<rect width="{_WIDTH}" height="{total:.0f}" fill="#ffffff"/>',
        f'<text x="10" y="20" font-size="14" font-weight="bold">{escape(clipped(_heading(document), 120))}</text>',
        *_legend_of_parts(),
        *_axis(plane, zone_seconds(document["zone"] or "Z")),
        *_names(plane),
        *(_mark(event, plane, causes) for event in events),
        *_first_fault(document, plane),
        *_numbers(document, events, plane, causes),
        *lines,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _plane(events: list[dict[str, Any]]) -> _Plane:
    parties = sorted({e["party"] for e in events}, key=_row_order)
    first = min((e["time"] for e in events), default=0.0)
    span = max((e["time"] for e in events), default=1.0) - first or 1.0
    letters = min(_WIDEST, max([_NARROWEST, *map(width_of, parties)]))
    rows = {name: number for number, name in enumerate(parties)}
    return _Plane(rows, min(16.0, _MOST_HEIGHT / max(len(rows), 1)), letters * _CELL + 20, first, span)


def _causes(document: dict[str, Any], events: list[dict[str, Any]]) -> dict[str, int]:
    """The number of each entry: the first fault's is 1, the others follow in the order of time."""
    fault = document["faults"][0]["entry"] if document["faults"] else ""
    seen = dict.fromkeys(event["entry"] for event in events if event["part"] != "wrapper")
    order = sorted(seen, key=lambda entry: entry != fault)
    return {entry: number for number, entry in enumerate(order[:_MOST_CAUSES], 1)}


def timeline_html(document: dict[str, Any]) -> str:
    """The picture as a page of its own."""
    title = escape(_heading(document))
    head = f'<head><meta charset="utf-8"><title>{title}</title></head>'
    return f"<!doctype html>\n<html>{head}\n<body>\n{timeline_svg(document)}</body></html>\n"


def _heading(document: dict[str, Any]) -> str:
    if not document["faults"]:
        return "No fault found"
    fault = document["faults"][0]
    return f"First fault: {fault['parties'][0]['party']}, {fault['entry'] or fault['reason']}, {fault['time_text']}"


def _row_order(name: str) -> tuple[bool, int, str]:
    word, _, number = name.rpartition(" ")
    is_rank = word == "rank" and number.isdigit()
    return not is_rank, int(number) if is_rank else 0, name


def _legend_of_parts() -> Iterator[str]:
    for number, (part, words) in enumerate(_LEGEND.items()):
        x = 10 + number * 130
        yield f'<rect x="{x}" y="32" width="10" height="10" fill="{_COLOURS[part]}"/>'
        yield f'<text x="{x + 15}" y="41">{words}</text>'


def _legend_of_causes(
    document: dict[str, Any], events: list[dict[str, Any]], causes: dict[str, int], top: float
) -> Iterator[str]:
    """A line for each cause: its number, entry and title, and in how many rows it stands."""
    titles = {
        row["entry"]: row["title"]["en"] for row in (*document["followers"], *document["faults"]) if "title" in row
    }
    parts = {event["entry"]: event["part"] for event in reversed(events)}
    rows = Counter(entry for entry, _ in {(event["entry"], event["party"]) for event in events})
    for entry, number in causes.items():
        y = top + _LINE * (number - 1)
        title = f": {titles[entry]}" if entry in titles else ""
        words = (
            clipped(f"{number}  {entry}{title}", _CAUSE_CELLS - 8)
            + f" ({rows[entry]} row{'' if rows[entry] == 1 else 's'})"
        )
        yield f'<rect x="10" y="{y - 9:.0f}" width="10" height="10" fill="{_COLOURS.get(parts[entry], "#90a4ae")}"/>'
        yield f'<text x="25" y="{y:.0f}">{escape(words)}</text>'


def _axis(plane: _Plane, zone: int) -> Iterator[str]:
    """Five moments, with the date at the first; as clocks of a zone (seconds east of UTC) tell them."""
    for number in range(5):
        moment = plane.first + plane.span * number / 4
        form = "%Y-%m-%d %H:%M:%S" if number == 0 else "%H:%M:%S"
        x, anchor = plane.x(moment), ("start", "middle", "middle", "middle", "end")[number]
        yield f'<line x1="{x:.1f}" y1="{_TOP - 6}" x2="{x:.1f}" y2="{plane.bottom + 6:.0f}" stroke="#e0e0e0"/>'
        text = time.strftime(form, time.gmtime(moment + zone))
        yield f'<text x="{x:.1f}" y="{plane.bottom + 20:.0f}" text-anchor="{anchor}">{text}</text>'


def _names(plane: _Plane) -> list[str]:
    """The names of the rows, of every nth where they would overlap."""
    step, x = ceil(12 / plane.height), plane.left - 8
    return [
        f'<text x="{x:.0f}" y="{plane.y(row) + 4:.1f}" text-anchor="end">{escape(clipped(name, _WIDEST))}</text>'
        for name, row in plane.rows.items()
        if row % step == 0
    ]


def _mark(event: dict[str, Any], plane: _Plane, causes: dict[str, int]) -> str:
    x, y = plane.x(event["time"]), plane.y(plane.rows[event["party"]]) - plane.height / 2
    number = f"{causes[event['entry']]}  " if event["entry"] in causes else ""
    words = escape(f"{number}{event['party']} {event['time_text']} {event['entry']}: {event['text'][:160]}")
    place = f'x="{x - 3:.1f}" y="{y + 1:.1f}" width="6" height="{max(1.0, plane.height - 2):.1f}"'
    return f'<rect {place} fill="{_COLOURS.get(event["part"], "#90a4ae")}"><title>{words}</title></rect>'


def _numbers(
    document: dict[str, Any], events: list[dict[str, Any]], plane: _Plane, causes: dict[str, int]
) -> list[str]:
    """The number of its cause beside the first mark of each in its row, where there is room for it.

    The first mark of each cause comes first.
    """
    shown: dict[tuple[str, str], dict[str, Any]] = {}
    firsts: dict[str, dict[str, Any]] = {}
    room = _Room(plane, events, _ring(document, plane))
    for event in events:
        firsts.setdefault(event["entry"], event)
        shown.setdefault((event["entry"], event["party"]), event)
    parts = []
    for event in sorted(shown.values(), key=lambda event: firsts[event["entry"]] is not event):
        row, number = plane.rows[event["party"]], causes.get(event["entry"])
        width, is_first = _DIGIT * len(str(number)) + 2, firsts[event["entry"]] is event
        if number and (x := room.beside(plane.x(event["time"]), row, width, over_marks=is_first)):
            parts.append(f'<text x="{x:.1f}" y="{plane.y(row) + 3:.1f}" font-size="9">{number}</text>')
    return parts


class _Room:
    """What is taken of each row, by marks, the ring of the first fault and numbers."""

    def __init__(self, plane: _Plane, events: list[dict[str, Any]], ring: _Ring | None) -> None:
        self._plane = plane
        self._reach = ceil(_NUMBER_HEIGHT / plane.height) - 1
        """Rows above and below into which a number reaches."""
        self._marks: dict[int, list[tuple[float, float]]] = defaultdict(list)
        self._numbers: dict[int, list[tuple[float, float]]] = defaultdict(list)
        for event in events:
            x = plane.x(event["time"])
            self._marks[plane.rows[event["party"]]].append((x - 3, x + 3))
        if ring and ring.row is not None:
            self._marks[ring.row].append((ring.x - _RADIUS, ring.x + _RADIUS))

    def beside(self, mark: float, row: int, width: float, over_marks: bool) -> float | None:
        """Where a number finds room beside a mark, which is taken then; `over_marks` if need be."""
        near = range(row - self._reach, row + self._reach + 1)
        numbers = [span for other in near for span in self._numbers.get(other, ())]
        marks = [span for other in near for span in self._marks.get(other, ())]
        for taken in ([*numbers, *marks], numbers)[: 2 if over_marks else 1]:
            for x in (mark + 4, mark - 3 - width, mark + _RADIUS + 2, mark - _RADIUS - 1 - width):
                fits = self._plane.left - 4 <= x <= _WIDTH - width
                if fits and all(x + width <= start or x >= end for start, end in taken):
                    self._numbers[row].append((x, x + width))
                    return x
        return None


class _Ring(NamedTuple):
    """Where the first fault is; without a row, of a party that has none."""

    x: float
    row: int | None


def _ring(document: dict[str, Any], plane: _Plane) -> _Ring | None:
    """None if the first fault has no time."""
    if not document["faults"] or document["faults"][0]["time"] is None:
        return None
    fault = document["faults"][0]
    x = min(max(plane.x(fault["time"]), plane.left), _WIDTH - _RIGHT)
    return _Ring(x, plane.rows.get(fault["parties"][0]["party"]))


def _first_fault(document: dict[str, Any], plane: _Plane) -> list[str]:
    """A ring where the first fault is, or a line where its party has no row."""
    ring = _ring(document, plane)
    if not ring:
        return []
    if ring.row is None:
        return [
            f'<line x1="{ring.x:.1f}" y1="{_TOP - 10}" x2="{ring.x:.1f}" y2="{plane.bottom:.1f}" stroke="#c62828"/>'
        ]
    place = f'cx="{ring.x:.1f}" cy="{plane.y(ring.row):.1f}" r="{_RADIUS}"'
    return [f'<circle {place} fill="none" stroke="#c62828" stroke-width="2"/>']
