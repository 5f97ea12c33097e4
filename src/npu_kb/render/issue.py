"""A ready issue for the upstream tracker, redacted: what happened, with which versions, and what is known of it."""

from __future__ import annotations

import re
from typing import Any

from npu_kb.diagnosis.suggest import salient_lines
from npu_kb.intake.clean import printable
from npu_kb.intake.logtext import MAX_LINE, LogText
from npu_kb.intake.redact import names_in, redact
from npu_kb.knowledge.base import Knowledge
from npu_kb.render.markdown import fence

_NOTICE = "Read it before you post it."
_EXCERPT_LINES, _CONTEXT, _LINE_CHARS = 60, 3, 800
_TITLE_CHARS = 120
_SEARCHED_CHARS = 2_000
_ASKED = ("chip", "driver", "firmware", "cann", "torch", "torch_npu", "vllm", "vllm_ascend", "mindspore", "python")
_CHIP = re.compile(
    r"\b(?:Ascend ?)?((?:910B[1-4](?:-1|C)?|910_93\w+|310P[1-7]|310B[1-4]|910Pro[AB]|950(?:PR|DT))\w*)\b"
)

_RAISED = re.compile(r"(?:\w+\.){0,9}\w{0,80}(?:Error|Exception|Exit|Interrupt|Timeout|OutOfMemory)(?::\s*\S|$)")
_CODED = re.compile(r"\bE[A-Z]\d{4}:|\bERR\d{5}\b|\b\w{1,80}(?:Error|Exception): |what\(\):")
_WRAPPER = re.compile(
    r"EngineCore (?:failed|encountered|died)|Engine core initialization failed|Engine process failed|EngineDead"
    r"|ChildFailedError|Process(?:es)?(?: [\w-]+:?)? (?:failed|exited|terminated|died)|process \d+ terminated"
    r"|Process(?:Exited|Raised)Exception|Worker(?:Proc)?(?: \S+)? (?:initialization )?failed|CalledProcessError"
    r"|torch\.distributed\.elastic|failed \(exitcode|Root Cause \(|[Ss]ee root cause|see stack trace|Background loop"
    r"|SignalException|KeyboardInterrupt|SystemExit|leaked semaphore|Warning:|Daemon is killing|process disappeared"
    r"|^(?:time|host|rank|exitcode|error_file|traceback|msg)\s*:|^Traceback|^File \"|terminate called"
)
_LEAD = re.compile(
    r"[\s|:>*=-]+"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d[T _-]\d\d:\d\d:\d\d[\d.,:]*(?:Z|[+-]\d\d:?\d\d)?\]?"
    r"|\[?(?:\d\d[-/]\d\d )?\d\d:\d\d:\d\d[.,\d]*\]?"
    r"|[EWIF]\d{4} \d\d:\d\d:\d\d[.\d]* \d+ [\w./]+:\d+\]"
    r"|\[?\b(?:ERROR|WARNING|WARN|INFO|FATAL|CRITICAL|DEBUG|EVENT|TRACE)\b\]?"
    r"|\[[\w./-]{1,80}\.(?:py|cc|cpp|h|go|c|rs):\d+\]\d*"
    r"|\[(?:(?:pid|PID|tid)[: ]*)?\d+\]|\((?:PID|pid):[^()]{1,60}\)|\[(?:rank|default)\d+\]"
    r"|\[[a-z_]{1,20}\]|[A-Z]{2,20}\(\d+,[\w.-]{1,40}\)|[\w.]{1,40}(?= - (?:ERROR|WARNING|CRITICAL|INFO) - )"
)
_PLACEHOLDER = re.compile(r"<(key|token|secret|user|mail|mac|ip6?|serial|path|host|pod|namespace|phone)>")
_LIVE = re.compile(r"[`*~\\$|]|<(?=[A-Za-z/!?])|(?<!\w)_|_(?!\w)|\](?=[(\[:])|&(?=[#\w])|^(?:[#>+=-]|\d+(?=[.)]\s))")
_REFERENCE = re.compile(r"(?<=[@#])(?=\w)|(?<=://)(?=\S)|(?<=\bwww\.)(?=\w)|(?<=\bGH-)(?=\d)")


def issue_text(document: dict[str, Any], log: LogText, knowledge: Knowledge) -> str:
    """Markdown of an issue; its first line names the tracker. Nothing is sent anywhere."""
    tracker = _tracker(log, knowledge.trackers())
    names = names_in(log.text)
    whole, salient = _redacted(log, names)
    lines = [
        f"<!-- {tracker['name']}: {tracker['url']} -->",
        _NOTICE,
        "",
        f"# [Bug]: {_inert(_headline(whole, salient))}",
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


def _redacted(log: LogText, names: dict[str, str]) -> tuple[list[str], list[int]]:
    """All lines without secrets, a long one in one piece, and the indexes of those that speak of an error."""
    wanted = {id(line) for line in salient_lines(log)}
    whole: list[str] = []
    salient: list[int] = []
    continues = False
    for line in log.lines:
        text = " ".join(printable(line.text).splitlines())
        if continues:
            whole[-1] += text
        else:
            whole.append(text)
        continues = len(line.text) == MAX_LINE
        if id(line) in wanted:
            salient.append(len(whole) - 1)
    return redact("\n".join(whole), names).split("\n"), salient


def _headline(lines: list[str], salient: list[int]) -> str:
    """The last exception that is no wrapper, else the last error code, else the last line that speaks of an error."""
    bare = [_bare(line[:_SEARCHED_CHARS]) for line in lines]
    real = [text for text in reversed(bare) if text and not _WRAPPER.search(text)]
    chosen = next((text for text in real if _RAISED.match(text)), None)
    chosen = chosen or next((text for text in real if _CODED.search(text)), None)
    spoken = [bare[index] for index in reversed(salient) if bare[index]]
    chosen = chosen or next((text for text in spoken if not _WRAPPER.search(text)), None)
    return _cut(chosen or next(iter(spoken), "failure on Ascend NPU"))


def _bare(line: str) -> str:
    """The line without time stamps, levels, places in source and the like before its words."""
    at = 0
    while (found := _LEAD.match(line, at)) and found.end() > at:
        at = found.end()
    return " ".join(line[at:].split())


def _cut(text: str) -> str:
    """The text, cut at a word if it is longer than a title should be."""
    if len(text) <= _TITLE_CHARS:
        return text
    head, space, _ = text[: _TITLE_CHARS + 1].rpartition(" ")
    return (head if space and len(head) > _TITLE_CHARS // 2 else text[:_TITLE_CHARS]) + " ..."


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
    rows = [f"| {name} | {_inert(value)} |" for name, value in zip(asked, values, strict=True)]
    return ["## Environment", "", "| component | version |", "|---|---|", *rows, ""]


def _known(document: dict[str, Any], names: dict[str, str]) -> list[str]:
    """Decoded codes and entries that were looked at."""
    codes = [f"{row['code']} ({row['family']}): {row['meaning']['en']}" for row in document["codes"][:8]]
    entries = [f"{m['title']['en']} ({m['verdict']}, {m['id']})" for m in document["matches"][:3]]
    lines = ["## Codes", "", *(f"- {_inert(redact(text, names))}" for text in codes), ""] if codes else []
    if entries:
        lines += ["## Looked at already", "", *(f"- {_inert(redact(text, names))}" for text in entries), ""]
    return lines


def _to_add(document: dict[str, Any]) -> list[str]:
    """Commands whose output should be added before the issue is filed."""
    if not document["next"]:
        return []
    return ["## Please add the output of", "", *(f"- [ ] {_code(step['run'])}" for step in document["next"])]


def _code(command: str) -> str:
    """A command as a code span whose marks are longer than any run of backticks inside."""
    text = "; ".join(line.strip() for line in printable(command.strip()).splitlines() if line.strip())
    runs = [len(run) for run in re.findall("`+", text)]
    marks = "`" * (max(runs, default=0) + 1)
    return f"{marks} {text} {marks}" if runs else f"{marks}{text}{marks}"


def _inert(text: str) -> str:
    """The text for a heading, item or cell: no Markdown, no HTML, no links, nobody is mentioned."""
    plain = _PLACEHOLDER.sub(r"(\1)", " ".join(printable(text).split()))
    return _LIVE.sub(r"\\\g<0>", _REFERENCE.sub(" ", plain))
