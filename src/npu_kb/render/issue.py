"""A ready issue for the upstream tracker, redacted: what happened, with which versions, and what is known of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from npu_kb.intake.logtext import LogText
from npu_kb.intake.redact import names_in, redact
from npu_kb.intake.salient import headline, redacted_lines, salient_lines
from npu_kb.knowledge.base import Knowledge
from npu_kb.render.inert import code_span, inert
from npu_kb.render.markdown import fence

_NOTICE = "Read it before you post it."
_EXCERPT_LINES, _CONTEXT, _TRACEBACK_LINES, _LINE_CHARS = 60, 3, 40, 800
_NAMED_MATCHES = 3
_ASKED = ("chip", "driver", "firmware", "cann", "torch", "torch_npu", "vllm", "vllm_ascend", "mindspore", "python")
_TRACEBACK = "Traceback (most recent call last)"
_CHIP = re.compile(
    r"\b(?:Ascend ?)?((?:910B[1-4](?:-1|C)?|910_93\w+|310P[1-7]|310B[1-4]|910Pro[AB]|950(?:PR|DT))\w*)\b"
)


def issue_text(document: dict[str, Any], log: LogText, knowledge: Knowledge) -> str:
    """Markdown of an issue; its first line names the tracker. Nothing is sent anywhere."""
    tracker = _tracker(log, knowledge.trackers())
    names = names_in(log.text)
    whole, places = redacted_lines(log, names)
    salient = _salient(log, places)
    lines = [
        f"<!-- {tracker['name']}: {tracker['url']} -->",
        _NOTICE,
        "",
        f"# [Bug]: {inert(headline(whole, salient))}",
        "",
        *_environment(document["versions"], log),
        "## Log",
        "",
        *fence("\n".join(_excerpt(whole, _proving(document, log, places), salient)), "text"),
        "",
    ]
    text = "\n".join([*lines, *_known(document, names), *_to_add(document)]).rstrip() + "\n"
    return redact(text, names)


def _tracker(log: LogText, trackers: list[dict[str, Any]]) -> dict[str, Any]:
    lowered = log.text[:400_000].lower()
    return next(t for t in trackers if not t.get("when") or any(word in lowered for word in t["when"]))


def _salient(log: LogText, places: list[int]) -> list[int]:
    """Places of the lines that speak of an error."""
    wanted = {id(line) for line in salient_lines(log)}
    return sorted({place for line, place in zip(log.lines, places, strict=True) if id(line) in wanted})


def _proving(document: dict[str, Any], log: LogText, places: list[int]) -> list[int]:
    """Places of the lines that speak for the named entries, those of the first entry first."""
    at: dict[tuple[str, int], int] = {}
    for line, place in zip(log.lines, places, strict=True):
        at.setdefault((line.source, line.number), place)
    evidence = [(row["source"], row["line"]) for m in document["matches"][:_NAMED_MATCHES] for row in m["evidence"]]
    return [at[origin] for origin in evidence if origin in at]


def _excerpt(lines: list[str], proving: list[int], salient: list[int]) -> list[str]:
    """In order, gaps marked: lines that prove the answer with their tracebacks, and those around the last errors."""
    wanted = [near for place in proving for near in _with_traceback(lines, place)]
    wanted += [near for place in reversed(salient) for near in _around(place, _CONTEXT)]
    kept = sorted([near for near in dict.fromkeys(wanted) if 0 <= near < len(lines)][:_EXCERPT_LINES])
    excerpt: list[str] = []
    for last, place in zip([*kept[:1], *kept], kept, strict=False):
        if place > last + 1:
            excerpt.append(f"[... lines left out: {place - last - 1} ...]")
        excerpt.append(_shortened(lines[place]))
    return excerpt


def _with_traceback(lines: list[str], place: int) -> Iterable[int]:
    """The line, those before it up to the head of its traceback, the nearest first, and those behind it."""
    before = range(place, max(place - _TRACEBACK_LINES, -1), -1)
    head = next((near for near in before if _TRACEBACK in lines[near]), place)
    return _around(place, max(place - head, _CONTEXT))


def _around(place: int, before: int) -> Iterable[int]:
    return (*range(place, place - before - 1, -1), *range(place + 1, place + _CONTEXT + 1))


def _shortened(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else line[:_LINE_CHARS] + " ..."


def _environment(versions: dict[str, str], log: LogText) -> list[str]:
    """The table of versions; the chip as the log writes it."""
    chip = _CHIP.search(log.text)
    told = {**versions, "chip": chip[1]} if chip and "chip" in versions else versions
    asked = [name for name in _ASKED if name in told or name in _ASKED[:6]]
    values = [redact(f"{name} {told.get(name, '?')}").partition(" ")[2] for name in asked]
    rows = [f"| {name} | {inert(value)} |" for name, value in zip(asked, values, strict=True)]
    return ["## Environment", "", "| component | version |", "|---|---|", *rows, ""]


def _known(document: dict[str, Any], names: dict[str, str]) -> list[str]:
    """Decoded codes and entries that were looked at."""
    codes = [f"{row['code']} ({row['family']}): {row['meaning']['en']}" for row in document["codes"][:8]]
    entries = [f"{m['title']['en']} ({m['verdict']}, {m['id']})" for m in document["matches"][:_NAMED_MATCHES]]
    lines = ["## Codes", "", *(f"- {inert(redact(text, names))}" for text in codes), ""] if codes else []
    if entries:
        lines += ["## Looked at already", "", *(f"- {inert(redact(text, names))}" for text in entries), ""]
    return lines


def _to_add(document: dict[str, Any]) -> list[str]:
    """Commands whose output should be added before the issue is filed."""
    if not document["next"]:
        return []
    return ["## Please add the output of", "", *(f"- [ ] {code_span(step['run'])}" for step in document["next"])]
