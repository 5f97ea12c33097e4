"""Undo what terminals, launchers and collectors did to a log: bytes in, plain lines out."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]{0,2000}(?:\x1b\\)?|\x1b.?"
)
_GAP = re.compile(r"(?<![\] ]) {5,}")
"""Padding; behind a bracket, which ends a logger's prefix, it is the indentation of a traceback."""

_PROGRAM = r"[\w.:-]*\w (?![\w.]*(?:Error|Exception|Warning)\b)[\w./@-]{1,60}(?:\[\d+\])?: "
"""Host and program of syslog; neither is the name of an exception."""
_PREFIXES = [
    r"(?:> ?)+",  # Markdown quote
    r"```\w*\s*$",  # Markdown fence
    r"\([^()\n]{0,80}\b(?:pid|ip|rank|actor)=[^()\n]{1,80}\)\s?",  # vLLM and Ray workers
    r"\[(?P<rank>(?:rank|default)\d+)\]:\s?",  # [rank3]: and torchrun's [default0]:
    r"(?:[\w.,:+-]{1,60} ){1,3}(?=\[(?:rank|default)\d+\]:)",  # stamps, and the hosts of pdsh, before [rank3]:
    r"\[\d+,\d+\]<std(?:out|err)>:\s?",  # mpirun --tag-output
    r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d) std(?:out|err) [FP] ",  # Kubernetes container log
    r"[\w.-]{1,60}\s+\| ",  # docker compose
    r"(?:<\d{1,3}>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d " + _PROGRAM,  # syslog, journald
    r"\d{4}-\d\d-\d\dT[\d:.,]+(?:Z|[+-]\d\d:?\d\d)? " + _PROGRAM,  # journald -o short-iso
    r"(?:kern|user|daemon)\s*:\s*[a-z]{3,7}\s*:\s",  # dmesg -x
    r"\[\s*\d{1,9}\.\d{6}\]\s?",  # dmesg
    r"\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}\]\s?",  # dmesg -T
    r"\d{4}-\d\d-\d\dT[\d:.,]{8,20}[+-]\d\d:\d\d\s(?=kern|\[|[a-z])",  # dmesg --time-format iso
]
_PREFIX = re.compile("|".join(f"(?:{p})" for p in _PREFIXES))
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|nbsp|#\d{2,4}|#x[0-9a-fA-F]{2,4});")
_MAX_PREFIXES = 6


def decode(data: bytes) -> str:
    """Text of bytes in UTF-8, GB18030 or UTF-16; bytes that are none of them become replacement characters."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    if guess := utf16_without_mark(data):
        return data.decode(guess, "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.end >= len(data) - 3 and error.reason == "unexpected end of data":
            return data.decode("utf-8-sig", "replace")
    try:
        return data.decode("gb18030")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def utf16_without_mark(data: bytes) -> str | None:
    """The kind of UTF-16 of a text without a mark: most bytes at odd, or at even, places are zero."""
    head = data[:2000]
    zeros = head.count(0)
    if len(head) < 8 or zeros < len(head) * 0.3:
        return None
    return (
        "utf-16-le" if head[1::2].count(0) > zeros * 0.9 else "utf-16-be" if head[::2].count(0) > zeros * 0.9 else None
    )


def printable(text: str) -> str:
    """The text without escape sequences, control, formatting and bidi characters; other white space becomes spaces."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    text = text.replace("\t", "    ")
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " if char.isspace() else "" for char in text)
    return text


def clean_lines(text: str) -> Iterator[tuple[int, str, str | None, int]]:
    """(line number from 1, plain text, rank or None, indentation in spaces, which the text is without) of each line.

    Progress-bar updates (\\r) share a number.
    """
    for number, raw in enumerate(text.split("\n"), 1):
        for part in raw.split("\r"):
            if "&" in part:
                part = _ENTITY.sub(_unescape, part)
            body, rank = strip_prefixes(printable(part))
            for piece in body.split("\\n") if "\\n" in body else (body,):
                if bare := piece.lstrip(" "):
                    yield number, _GAP.sub("    ", bare).replace("\\t", " "), rank, len(piece) - len(bare)


def _unescape(found: re.Match[str]) -> str:
    import html

    return html.unescape(found.group())


def strip_prefixes(line: str) -> tuple[str, str | None]:
    """The line without the prefixes of launchers and collectors, and the rank that one of them named."""
    rank = None
    end = 0
    for _ in range(_MAX_PREFIXES):
        at = end
        while at < len(line) and line[at] == " ":
            at += 1
        found = _PREFIX.match(line, at)
        if not found or found.end() == at:
            break
        rank = found.group("rank") or rank
        end = found.end()
    return (line[end:] if end else line), rank
