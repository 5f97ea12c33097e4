"""Take private keys that span lines out of a text, even where their first or last line is missing."""

from __future__ import annotations

import re

_BEGIN, _END = (re.compile(rf"-----{word} [A-Z0-9 ]{{0,40}}-----") for word in ("BEGIN", "END"))
_BODY = re.compile(r"\W{0,12}[A-Za-z0-9+/=]{16,}\W{0,4}$")
_LONG_BODY = re.compile(r"\s*(?!/)(?=\S*[a-z])(?=\S*[A-Z])(?=\S*[0-9])[A-Za-z0-9+/]{40,}={0,2}\s*$")
_KEY_HEADER, _RUN = re.compile(r"(?:Proc-Type|DEK-Info):"), re.compile(r"[A-Za-z0-9+/=]{16,}")
_LONGEST_KEY = 400
"""Lines."""


def without_keys(text: str) -> str:
    """The text with <key> in place of private keys; lines keep their number."""
    if "-----" not in text and not any(len(line) >= 40 and " " not in line.strip() for line in text.split("\n")):
        return text
    lines = text.split("\n")
    index = 0
    while index < len(lines):
        index = _drop_key(lines, index) + 1
    return "\n".join(lines)


def _drop_key(lines: list[str], index: int) -> int:
    """Replace the key that begins, ends or stands at this line; the index of the last line that was looked at."""
    line = lines[index]
    begin, end = _BEGIN.search(line), _END.search(line)
    if begin and not end:
        return _drop_from(lines, index, begin.start())
    if end and not begin:
        lines[index] = "<key>" + line[end.end() :]
        _drop_above(lines, index)
    elif _LONG_BODY.match(line):
        lines[index] = "<key>"
    return index


def _drop_from(lines: list[str], index: int, start: int) -> int:
    """Replace a key from its first line to its last, or as far as lines look like its body."""
    ahead = range(index + 1, min(len(lines), index + _LONGEST_KEY))
    last = next((i for i in ahead if _END.search(lines[i])), None)
    if last is None:
        last = index
        while last + 1 < len(lines) and (_BODY.match(lines[last + 1]) or _KEY_HEADER.match(lines[last + 1])):
            last += 1
    lines[index] = lines[index][:start] + "<key>"
    for inside in range(index + 1, last + 1):
        lines[inside] = _inside_key(lines[inside])
    return last


def _drop_above(lines: list[str], index: int) -> None:
    while index and _BODY.match(lines[index - 1]):
        index -= 1
        lines[index] = "<key>"


def _inside_key(line: str) -> str:
    """<key>, but what is plainly a sentence keeps its words."""
    if end := _END.search(line):
        return "<key>" + line[end.end() :]
    return _RUN.sub("<key>", line) if " " in line.strip() else "<key>"
