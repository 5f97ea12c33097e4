"""A ready issue for the upstream tracker, redacted: what happened, with which versions, and what is known of it."""

from __future__ import annotations

import re
from typing import Any

from npu_kb.intake.logtext import LogText
from npu_kb.intake.redact import names_in, redact
from npu_kb.intake.salient import headline, redacted_lines
from npu_kb.knowledge.base import Knowledge
from npu_kb.render.inert import code_span, inert
from npu_kb.render.markdown import fence

_NOTICE = "Read it before you post it."
_EXCERPT_LINES, _CONTEXT, _LINE_CHARS = 60, 3, 800
_ASKED = ("chip", "driver", "firmware", "cann", "torch", "torch_npu", "vllm", "vllm_ascend", "mindspore", "python")
_CHIP = re.compile(
    r"\b(?:Ascend ?)?((?:910B[1-4](?:-1|C)?|910_93\w+|310P[1-7]|310B[1-4]|910Pro[AB]|950(?:PR|DT))\w*)\b"
)


def issue_text(document: dict[str, Any], log: LogText, knowledge: Knowledge) -> str:
    """Markdown of an issue; its first line names the tracker. Nothing is sent anywhere."""
    tracker = _tracker(log, knowledge.trackers())
    names = names_in(log.text)
    whole, salient = redacted_lines(log, names)
    lines = [
        f"<!-- {tracker['name']}: {tracker['url']} -->",
        _NOTICE,
        "",
        f"# [Bug]: {inert(headline(whole, salient))}",
        "",
        *_environment(document["versions"], log),
        "## Log",
        "",
        *fence("\n".join(_excerpt(whole, salient)), "text"),
        "",
    ]
    text = "\n".join([*lines, *_known(document, names), *_to_add(document)]).rstrip() + "\n"
    return redact(text, names)


def _tracker(log: LogText, trackers: list[dict[str, Any]]) -> dict[str, Any]:
    lowered = log.text[:400_000].lower()
    return next(t for t in trackers if not t.get("when") or any(word in lowered for word in t["when"]))


def _excerpt(lines: list[str], salient: list[int]) -> list[str]:
    """The lines around those that speak of an error, in their order."""
    kept = sorted({j for i in salient for j in range(i - _CONTEXT, i + _CONTEXT + 1) if 0 <= j < len(lines)})
    return [_shortened(lines[i]) for i in kept[-_EXCERPT_LINES:]]


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
    entries = [f"{m['title']['en']} ({m['verdict']}, {m['id']})" for m in document["matches"][:3]]
    lines = ["## Codes", "", *(f"- {inert(redact(text, names))}" for text in codes), ""] if codes else []
    if entries:
        lines += ["## Looked at already", "", *(f"- {inert(redact(text, names))}" for text in entries), ""]
    return lines


def _to_add(document: dict[str, Any]) -> list[str]:
    """Commands whose output should be added before the issue is filed."""
    if not document["next"]:
        return []
    return ["## Please add the output of", "", *(f"- [ ] {code_span(step['run'])}" for step in document["next"])]
