"""Files as exports leave them: text in the usual encodings, and JSON in any of the forms that paging leaves."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from npu_kb.errors import NpuKbError, Problem
from npu_kb.intake.clean import printable

LIMIT_BYTES = 200_000_000
_DECODER = json.JSONDecoder(strict=False)
_BETWEEN = re.compile(r"[\s,\[\]\ufeff]*")
"""What stands between records: one list of all, a list for each page, or a record a line."""
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\]]|\n(?=\{)')
_DEPTH = {"{": 1, "[": 1, "}": -1, "]": -1}

_MOST_BROKEN = 1_000
"""Values that are no JSON, after which the rest of a file is not looked at."""


class Record(NamedTuple):
    """One JSON value of an export, the line where it starts, and its number from 0."""

    line: int
    number: int
    value: Any


def read_bytes(path: Path, limit: int = LIMIT_BYTES) -> bytes:
    """A regular file, or standard input where the path is `-`; NpuKbError if there is none or it is too large."""
    try:
        data = sys.stdin.buffer.read(limit + 1) if str(path) == "-" else _regular(path, limit)
    except OSError as error:
        raise NpuKbError(
            f"{path}: cannot be read: {error.strerror}; give a readable file, or `-` for standard input"
        ) from None
    if len(data) > limit:
        raise NpuKbError(f"{path}: is larger than {limit} bytes; split it")
    return data


def _regular(path: Path, limit: int) -> bytes:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "is no regular file")
        return file.read(limit + 1)


def read_text(path: Path, limit: int = LIMIT_BYTES) -> str:
    """The text of a file as Excel, a browser or a script wrote it: UTF-8, UTF-16 with its mark, or GB18030."""
    data = read_bytes(path, limit)
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ["utf-16"] if marked else ["utf-8-sig", "gb18030"]:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise NpuKbError(f"{path}: is neither UTF-8 nor GB18030; save it as UTF-8")


def json_records(path: Path) -> Iterator[Record | Problem]:
    """The values of a JSON file: of its list or lists, or one a line; a broken one is named, the others are given."""
    text = read_text(path)
    at = number = broken = 0
    line = 1
    while (start := _after(_BETWEEN, text, at)) < len(text):
        line += text.count("\n", at, start)
        try:
            value, end = _DECODER.raw_decode(text, start)
            yield Record(line, number, value)
        except (ValueError, RecursionError) as error:
            broken += 1
            end = _end_of(text, start) if broken < _MOST_BROKEN else len(text)
            yield Problem(path, line, 1, f"[{number}]", _fault(error, end == len(text)))
        line += text.count("\n", start, end)
        at, number = end, number + 1


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _end_of(text: str, start: int) -> int:
    """Where a value that cannot be read ends: at its closing bracket or before the next line that begins one."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += _DEPTH.get(token.group(), 0)
        if depth <= 0 or token.group() == "\n":
            return token.end()
    return len(text)


def _fault(error: Exception, is_last: bool) -> str:
    if isinstance(error, RecursionError):
        return "is nested too deeply; take it out"
    what = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    rest = "; all that follows it is left out" if is_last else ""
    return f"is no JSON: {what}; export it again or take it out{rest}"


def tell(line: object) -> None:
    """One line on stderr, such as a Problem."""
    if sys.stderr is not None:
        print(f"npu-kb: {printable(' '.join(str(line).split()))}", file=sys.stderr)
