"""What a scan tells of each log: the faults seen in it, and how much of it was read; as rows and as JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from npu_kb.version import __version__

SCHEMA = "npu-kb/scan/1"
MAX_TEXT = 400
"""Characters of a line that an observation keeps."""


class Observation(NamedTuple):
    """One entry of the knowledge seen in one source: its first line there, and how often."""

    source: str
    """Path inside the tree that was scanned; a file in an archive is `ARCHIVE!MEMBER`."""
    line: int
    """Number of the first line, from 1."""
    offset: int
    """Bytes before that line in its (unpacked) source."""
    time: float | None
    """UTC seconds that the line, or the nearest one above it, tells; None if none does."""
    entry: str
    verdict: str
    """certain, likely or possible."""
    text: str
    """The first line, plain, at most 400 characters."""
    captures: dict[str, str]
    count: int  # type: ignore[assignment]  # a row has no use for tuple.count
    """Lines of this source that hold the entry's literal and were not refuted; at least 1."""
    last_line: int
    last_time: float | None


class SourceSummary(NamedTuple):
    """One source that was scanned, or why it was skipped."""

    source: str
    bytes: int
    lines: int
    first_time: float | None
    last_time: float | None
    errors: int
    """Lines of level ERROR, CRITICAL or FATAL."""
    skipped: str
    """Why it was not read, or not to its end; empty if it was."""
    logs: int = 1
    """How many logs are told together (gather.py)."""
    head: str = ""
    """Check sums of its first lines, each with all above it: they stay as it grows. Empty: not known."""


class Clue(NamedTuple):
    """What a line says of who wrote it, or of another rank (`clues.ClueReader` finds them)."""

    source: str
    line: int
    time: float | None
    tells: str
    """member, lines, raised, waits, missing, connected, accuses, differs, collective, version, host or stamp."""
    values: dict[str, str]
    text: str


Row = Observation | SourceSummary | Clue
_KINDS: dict[str, type[Observation] | type[SourceSummary] | type[Clue]] = {
    "observation": Observation,
    "source": SourceSummary,
    "clue": Clue,
}
_NAMES = {row_type: kind for kind, row_type in _KINDS.items()}


def to_json_lines(
    rows: Iterable[Row],
    host: str = "",
    time: float | None = None,
    only: dict[str, str] | None = None,
    knowledge: int | None = None,
) -> Iterator[str]:
    """The rows as JSON lines.

    The first one names the schema, the host that is scanned, when (UTC seconds), the version of the program, and with
    which state of the knowledge (`scan.state_of`; None: not told).

    It also names the `only` lines that were read, if not all: `since` and `until`.

    The last one says how many rows there are, so that a file that was cut off is told from a whole one.
    """
    made_with = {"version": __version__, "knowledge": knowledge}
    yield (
        json.dumps({"schema": SCHEMA, "host": host, "time": time, "has_end": True, **made_with, **(only or {})}) + "\n"
    )
    count = 0
    for row in rows:
        count += 1
        yield row_json(row) + "\n"
    yield f'{{"kind":"end","rows":{count}}}\n'


def row_json(row: Row) -> str:
    """One row as one JSON object whose `kind` says what it is."""
    defaults = row._field_defaults.items()
    fields = {field: value for field, value in row._asdict().items() if (field, value) not in defaults}
    return json.dumps({"kind": _NAMES[type(row)], **fields}, ensure_ascii=False, separators=(",", ":"))


def row_from_json(line: str) -> Row:
    """The row that one JSON object tells; ValueError says why it is none of ours."""
    try:
        return _row(json.loads(line, parse_constant=_no_number))
    except KeyError as error:
        raise ValueError(f"{error} is missing or unknown") from None
    except (TypeError, AttributeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no time")


def _row(document: dict[str, Any]) -> Row:
    row_type = _KINDS[document["kind"]]
    fields = {**row_type._field_defaults, **document}
    row = row_type(**{field: _shared(fields[field]) for field in row_type._fields})
    for field, value in row._asdict().items():
        if not isinstance(value, _TYPES[field]) or isinstance(value, bool):
            raise TypeError(f"{field} is {type(value).__name__}")
        if isinstance(value, dict) and not all(isinstance(text, str) for text in value.values()):
            raise TypeError(f"{field} holds more than texts")
    if isinstance(row, Observation) and not row.entry.isprintable():
        raise ValueError("entry is no name")
    return row


def _shared(value: object) -> Any:
    """The value, of like texts only one."""
    if isinstance(value, str):
        return sys.intern(value)
    return {name: _shared(text) for name, text in value.items()} if isinstance(value, dict) else value


_NUMBER = (int, float, type(None))
_TYPES: dict[str, type | tuple[type, ...]] = {
    "source": str, "line": int, "offset": int, "time": _NUMBER, "entry": str, "verdict": str, "text": str,
    "captures": dict, "count": int, "last_line": int, "last_time": _NUMBER,
    "bytes": int, "lines": int, "first_time": _NUMBER, "errors": int, "skipped": str, "logs": int, "head": str,
    "tells": str, "values": dict,
}  # fmt: skip
