"""What of a log tells of its failure: lines that speak of an error, their words without stamps, and a headline."""

from __future__ import annotations

import re
from functools import cache

from npu_kb.intake.clean import printable, strip_prefixes
from npu_kb.intake.logtext import MAX_LINE, Line, LogText

SEARCHED_CHARS = 2_000
"""Characters of a line that are looked at."""
_SPOKEN_CHARS = 1_000
_SHORT_LINES = 5
_MOST_SALIENT = 8
_TITLE_CHARS = 120
_MOST_INDENT = 40

_SALIENT = r"error|exception|fail|fatal|warn|cannot|unable|refused|timed? ?out|abort|killed|错误|失败|异常|超时|无法"
_RAISED = r"(?:\w+\.){0,9}\w{0,80}(?:Error|Exception|Exit|Interrupt|Timeout|OutOfMemory)(?::\s*\S|$)"
_CODED = r"\bE[A-Z]\d{4}:|\bERR\d{5}\b|\b\w{1,80}(?:Error|Exception): |what\(\):"
_NOISE = (
    r"EngineCore (?:failed|encountered|died)|Engine core initialization failed|Engine process failed|EngineDead"
    r"|ChildFailedError|Process(?:es)?(?: [\w-]+:?)? (?:failed|exited|terminated|died)|process \d+ terminated"
    r"|Process(?:Exited|Raised)Exception|Worker(?:Proc)?(?: \S+)? (?:initialization )?failed|CalledProcessError"
    r"|torch\.distributed\.elastic|failed \(exitcode|Root Cause \(|[Ss]ee root cause|see stack trace|Background loop"
    r"|SignalException|KeyboardInterrupt|SystemExit|leaked semaphore|Warning:|Daemon is killing|process disappeared"
    r"|^(?:time|host|rank|exitcode|error_file|traceback|msg)\s*:|^Traceback|^File \"|terminate called"
)
_STAMP = (
    r"\[?\d{4}[-/]\d\d[-/]\d\d[T _-]\d\d:\d\d:\d\d[\d.,:]*(?:Z|[+-]\d\d:?\d\d)?\]?"
    r"|\[?(?:\d\d[-/]\d\d )?\d\d:\d\d:\d\d[.,\d]*\]?"
    r"|[EWIF]\d{4} \d\d:\d\d:\d\d[.\d]* +\d+ [\w./]+:\d+\]"
    r"|\[?\b(?:ERROR|WARNING|WARN|INFO|FATAL|CRITICAL|DEBUG|EVENT|TRACE)\b\]?"
    r"|\[[\w./-]{1,160}\.(?:py|cc|cpp|h|go|c|rs):\d+\]\d*|\w{1,60}\](?= )"
    r"|\[(?:(?:pid|PID|tid)[: ]*)?\d+\]|\((?:PID|pid):[^()]{1,60}\)|\[(?:rank|default)\d+\]"
    r"|\[[a-z_]{1,20}\]|[A-Z]{2,20}\(\d+(?:,[\w.-]{1,40}){1,3}\)|[\w.]{1,40}(?= - (?:ERROR|WARNING|CRITICAL|INFO) - )"
)
_LEAD = rf"[\s|:>*=-]+|{_STAMP}"
_STAMPS = rf"(?:[\s|:>*-]*(?:{_STAMP}))+(?:\s*[:|-]\s+|\s)?"
_WHO = r"(\w*\d) pid=\d+|(?:\w+ )?pid=\d+|\b(?:rank|default)\d+\b|\bRankID:\d+|\[\d+,\d+\](?=<std)|^[\w.-]+\s+\|"
_HEAD_CHARS = 400


def salient_lines(log: LogText) -> list[Line]:
    """The lines that speak of an error, the last ones first; all of a short text."""
    if len(log.lines) <= _SHORT_LINES:
        return log.lines
    return [line for line in reversed(log.lines) if speaks_of_error(line.text)][:_MOST_SALIENT]


def speaks_of_error(text: str) -> bool:
    """Whether a line has one of the words that tell of an error."""
    return _regex(_SALIENT, re.IGNORECASE).search(text[:_SPOKEN_CHARS]) is not None


def is_noise(text: str) -> bool:
    """Whether the words of a line only say that something failed, as launchers and process managers do."""
    return _regex(_NOISE).search(text) is not None


def bare(line: str) -> str:
    """The line without time stamps, levels, places in source and the like before its words."""
    at = 0
    while (found := _regex(_LEAD).match(line, at)) and found.end() > at:
        at = found.end()
    return " ".join(line[at:].split())


def who_and_words(line: str) -> tuple[str, str]:
    """Who wrote a line (worker, rank, container), as its head says, and its words, as far in as behind the head.

    A line without words is all words.
    """
    start = line[:_HEAD_CHARS]
    at = len(start) - len(strip_prefixes(start)[0])
    if found := _regex(_STAMPS).match(start, at):
        at = found.end()
    if not line[at:].strip():
        return "", line
    named = (who[1] or who[0] for who in _regex(_WHO).finditer(line[:at]))
    return " ".join(dict.fromkeys(named)), line[at:]


def redacted_lines(log: LogText, names: dict[str, str]) -> tuple[list[str], list[int]]:
    """All lines without secrets, indented as before, a long one in one piece; and of each line of the log its index."""
    from npu_kb.intake.redact import redact

    whole: list[str] = []
    indents: list[int] = []
    places: list[int] = []
    continues = False
    for line in log.lines:
        text = " ".join(printable(line.text).splitlines())
        if continues:
            whole[-1] += text
        else:
            whole.append(text)
            indents.append(min(line.indent, _MOST_INDENT))
        continues = len(line.text) == MAX_LINE
        places.append(len(whole) - 1)
    plain = redact("\n".join(whole), names).split("\n")
    return [" " * indent + text for indent, text in zip(indents, plain, strict=True)] if whole else [], places


def headline(lines: list[str], salient: list[int]) -> str:
    """The last exception that is no noise, else the last error code, else the last line that speaks of an error."""
    words = [bare(line[:SEARCHED_CHARS]) for line in lines]
    real = [text for text in reversed(words) if text and not is_noise(text)]
    chosen = next((text for text in real if _regex(_RAISED).match(text)), None)
    chosen = chosen or next((text for text in real if _regex(_CODED).search(text)), None)
    spoken = [words[index] for index in reversed(salient) if words[index]]
    chosen = chosen or next((text for text in spoken if not is_noise(text)), None)
    return _cut(chosen or next(iter(spoken), "failure on Ascend NPU"))


def _cut(text: str) -> str:
    """The text, cut at a word if it is longer than a title should be."""
    if len(text) <= _TITLE_CHARS:
        return text
    head, space, _ = text[: _TITLE_CHARS + 1].rpartition(" ")
    return (head if space and len(head) > _TITLE_CHARS // 2 else text[:_TITLE_CHARS]) + " ..."


@cache
def _regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(pattern, flags)
