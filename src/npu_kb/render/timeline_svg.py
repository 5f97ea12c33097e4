"""A picture of a cluster's timeline: a row for each rank or host, a mark for each event; one SVG without any script."""

from __future__ import annotations

import time
from html import escape
from typing import Any

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 1000, 110, 20, 62, 40
_COLOURS = {"root": "#c62828", "effect": "#ef6c00", "waiting": "#f9a825", "testimony": "#78909c", "wrapper": "#cfd8dc"}
_LEGEND = {"root": "fault", "effect": "its effect", "waiting": "waits for others", "testimony": "tells of others"}
_MOST_HEIGHT = 1_600
_MOST_MARKS = 20_000


def timeline_svg(document: dict[str, Any]) -> str:
    """The picture of a cluster document; every text from the logs is escaped."""
    events = [e for e in document["timeline"] if e["time"] is not None and e["severity"] != "benign"][:_MOST_MARKS]
    parties = sorted({e["party"] for e in events}, key=lambda name: _row_order(name, events))
    rows = {name: number for number, name in enumerate(parties)}
    height = min(16.0, _MOST_HEIGHT / max(len(rows), 1))
    first = min((e["time"] for e in events), default=0.0)
    span = max((e["time"] for e in events), default=1.0) - first or 1.0
    total = _TOP + height * len(rows) + _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {total:.0f}" font-family="sans-serif"'
        ' font-size="11">',
        f'<rect width="{_WIDTH}" height="{total:.0f}" fill="#ffffff"/>',
        f'<text x="10" y="20" font-size="14" font-weight="bold">{escape(_heading(document))}</text>',
        *_legend(),
        *_axis(first, span, total),
        *_names(rows, height),
        *(_mark(event, rows[event["party"]], height, first, span) for event in events),
        *_first_fault(document, rows, height, first, span),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


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


def _row_order(name: str, events: list[dict[str, Any]]) -> tuple[bool, int, str]:
    word, _, number = name.rpartition(" ")
    is_rank = word == "rank" and number.isdigit()
    return not is_rank, int(number) if is_rank else 0, name


def _x(moment: float, first: float, span: float) -> float:
    return _LEFT + (moment - first) / span * (_WIDTH - _LEFT - _RIGHT)


def _legend() -> list[str]:
    parts = []
    for number, (part, words) in enumerate(_LEGEND.items()):
        x = 10 + number * 130
        parts.append(f'<rect x="{x}" y="32" width="10" height="10" fill="{_COLOURS[part]}"/>')
        parts.append(f'<text x="{x + 15}" y="41">{words}</text>')
    return parts


def _axis(first: float, span: float, total: float) -> list[str]:
    """Five moments, with the date at the first."""
    parts = []
    for number in range(5):
        moment = first + span * number / 4
        form = "%Y-%m-%d %H:%M:%S" if number == 0 else "%H:%M:%S"
        x, anchor = _x(moment, first, span), ("start", "middle", "middle", "middle", "end")[number]
        parts.append(
            f'<line x1="{x:.1f}" y1="{_TOP - 6}" x2="{x:.1f}" y2="{total - _BOTTOM + 6:.0f}" stroke="#e0e0e0"/>'
        )
        text = time.strftime(form, time.gmtime(moment))
        parts.append(f'<text x="{x:.1f}" y="{total - 16:.0f}" text-anchor="{anchor}">{text}</text>')
    return parts


def _names(rows: dict[str, int], height: float) -> list[str]:
    """The names of the rows, of every nth where they would overlap."""
    step = max(1, round(12 / height))
    return [
        f'<text x="{_LEFT - 8}" y="{_TOP + (row + 0.5) * height + 4:.1f}" text-anchor="end">{escape(name[:16])}</text>'
        for name, row in rows.items()
        if row % step == 0
    ]


def _mark(event: dict[str, Any], row: int, height: float, first: float, span: float) -> str:
    x, y = _x(event["time"], first, span), _TOP + row * height
    words = escape(f"{event['party']} {event['time_text']} {event['entry']}: {event['text'][:160]}")
    place = f'x="{x - 3:.1f}" y="{y + 1:.1f}" width="6" height="{max(1.0, height - 2):.1f}"'
    return f'<rect {place} fill="{_COLOURS.get(event["part"], "#90a4ae")}"><title>{words}</title></rect>'


def _first_fault(document: dict[str, Any], rows: dict[str, int], height: float, first: float, span: float) -> list[str]:
    """A ring where the first fault is, if it has a time on the picture."""
    if not document["faults"] or document["faults"][0]["time"] is None:
        return []
    fault = document["faults"][0]
    x = min(max(_x(fault["time"], first, span), _LEFT), _WIDTH - _RIGHT)
    row = rows.get(fault["parties"][0]["party"])
    if row is None:
        return [
            f'<line x1="{x:.1f}" y1="{_TOP - 10}" x2="{x:.1f}" y2="{_TOP + height * len(rows):.1f}" stroke="#c62828"/>'
        ]
    y = _TOP + (row + 0.5) * height
    return [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="none" stroke="#c62828" stroke-width="2"/>']
