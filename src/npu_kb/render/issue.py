"""A ready issue for the upstream tracker, redacted: what happened, with which versions, and what is known of it."""

from __future__ import annotations

import re
from typing import Any

from npu_kb.diagnosis.suggest import salient_lines
from npu_kb.intake.logtext import LogText
from npu_kb.intake.redact import redact
from npu_kb.knowledge.base import Knowledge

_EXCEPTION = re.compile(r"^[\w.]*(?:Error|Exception)\b:|\bERR\d{5}\b|\bE[A-Z]\d{4}:")
_EXCERPT_LINES = 60
_CONTEXT = 3
_ASKED = ("chip", "driver", "firmware", "cann", "torch", "torch_npu", "vllm", "vllm_ascend", "mindspore", "python")


def issue_text(document: dict[str, Any], log: LogText, knowledge: Knowledge) -> str:
    """Markdown of an issue; its first line names the tracker. Nothing is sent anywhere."""
    tracker = _tracker(log, knowledge.trackers())
    excerpt = redact("\n".join(_excerpt(log)))
    versions = document["versions"]
    lines = [
        f"<!-- {tracker['name']}: {tracker['url']} -->",
        f"# [Bug]: {_headline(log)}",
        "",
        "## Environment",
        "",
        "| component | version |",
        "|---|---|",
        *(f"| {name} | {versions.get(name, '?')} |" for name in _ASKED if name in versions or name in _ASKED[:6]),
        "",
        "## Log",
        "",
        "````text",
        excerpt,
        "````",
        "",
    ]
    return "\n".join([*lines, *_known(document), *_to_add(document)]).rstrip() + "\n"


def _tracker(log: LogText, trackers: list[dict[str, Any]]) -> dict[str, Any]:
    lowered = log.text[:400_000].lower()
    return next(t for t in trackers if not t.get("when") or any(word in lowered for word in t["when"]))


def _headline(log: LogText) -> str:
    """The last line that looks like an exception or an error code, else the last that speaks of an error."""
    lines = [line.text.strip() for line in reversed(log.lines) if _EXCEPTION.search(line.text)]
    lines += [line.text.strip() for line in salient_lines(log)]
    return redact(lines[0])[:120] if lines else "failure on Ascend NPU"


def _excerpt(log: LogText) -> list[str]:
    """The lines around those that speak of an error, in their order."""
    wanted = {id(line) for line in salient_lines(log)}
    indexes = [i for i, line in enumerate(log.lines) if id(line) in wanted]
    kept = sorted({j for i in indexes for j in range(i - _CONTEXT, i + _CONTEXT + 1) if 0 <= j < len(log.lines)})
    return [log.lines[i].text for i in kept[-_EXCERPT_LINES:]]


def _known(document: dict[str, Any]) -> list[str]:
    """Decoded codes and entries that were looked at."""
    lines = ["## Codes", ""] if document["codes"] else []
    lines += [f"- {row['code']} ({row['family']}): {row['meaning']['en']}" for row in document["codes"][:8]]
    if document["matches"]:
        lines += ["", "## Looked at already", ""]
        lines += [f"- {m['title']['en']} ({m['verdict']}, {m['id']})" for m in document["matches"][:3]]
    return [*lines, ""]


def _to_add(document: dict[str, Any]) -> list[str]:
    """Commands whose output should be added before the issue is filed."""
    if not document["next"]:
        return []
    return ["## Please add the output of", "", *(f"- [ ] `{step['run']}`" for step in document["next"])]
