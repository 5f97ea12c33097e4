"""The rows of what `npu-kb scan` wrote on many hosts: of each log the newest; what is damaged is left out and named."""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import SEEK_END
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from npu_kb.cluster.gaps import Gaps, Lines
from npu_kb.cluster.observation import SCHEMA, Row, SourceSummary, row_from_json
from npu_kb.intake.archives import COMPRESSED, HEAD, kind_of
from npu_kb.intake.pipes import told_if_it_waits
from npu_kb.intake.tree import Globs, LogFile, log_files
from npu_kb.intake.unpack import AsFarAsGood, Budget, metered, unpacked

_LONGEST_LINE = 1 << 20
"""Bytes; no row is as long."""
_HEADER = b'{"schema"'
"""Stands in no text of a row, where quotes are escaped."""
_END = re.compile(rb'\{"kind":"end","rows":(\d{1,12})\}')
"""The line behind the rows of a scan, which tells how many they are."""
_LONGEST_REASON = 200
_LONGEST_VERSION, _MOST_VERSIONS = 20, 5
_TOO_LATE = 1e11
_BLANK = b" \t\r\n\xef\xbb\xbf"
_OF_A_FOLDER = Globs(["*.jsonl*"])
_BEGIN_DIFFERENTLY = "their logs begin differently, as of machines of one name or of logs that were written anew"
_NAME_THEM = "name machines with `npu-kb scan --host`"
_MEND = "give what `npu-kb scan --out` wrote"


class LeftOut(NamedTuple):
    """What could not be read of a file: its first damaged line (from 1; 0: all of it), how many there are, and why."""

    file: str
    line: int
    lines: int
    why: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        more = f"; {self.lines - 1} more of its lines" if self.lines > 1 else ""
        return f"{place}: {self.why}; {_MEND}{more}"


class _Scan(NamedTuple):
    """Where the rows of one scan stand."""

    host: str
    """Empty where it is not told."""
    time: float
    """When the scan began, UTC seconds; 0 where the host or the time is not told."""
    file: str
    line: int
    """Number of its first row's line."""
    start: int
    end: int
    """Bytes of the file before the first row, and up to the next scan."""
    has_end: bool
    """Whether its header says that it has an end."""
    only: Lines

    @property
    def sources(self) -> str:
        """What the names of its sources begin with."""
        return f"{self.host}:" if self.host else ""


class Scans:
    """Files (`-`: standard input) that hold the rows of one scan each, or of several behind each other.

    They may be packed; of a folder its `*.jsonl*` are read.
    """

    def __init__(self, names: list[str]) -> None:
        self._left_out: dict[str, LeftOut] = {}
        self.gaps = Gaps()
        """Complete when all rows were read."""
        self._copies: dict[str, BinaryIO] = {}
        """Of pipes, which can be read only once, and of packed files."""
        self.notes: list[str] = []
        """What else is to be known of how the scans were put together; complete when all rows were read."""
        self._states: dict[int, str] = {}
        """Of the knowledge that the scans were made with, each with a version of the program."""
        self._scans = sorted(scan for name in dict.fromkeys(self._files(names)) for scan in self._scans_in(name))

        if len(self._states) > 1:
            versions = ", ".join(sorted(set(self._states.values()))[:_MOST_VERSIONS])
            self.notes.append(
                f"the scans were made with {len(self._states)} states of the knowledge (npu-kb {versions})"
            )

    @property
    def left_out(self) -> list[LeftOut]:
        """What is damaged, one for each file; complete when all rows were read."""
        return list(self._left_out.values())

    def close(self) -> None:
        """Remove the copies."""
        for copy in self._copies.values():
            copy.close()

    def rows(self) -> Iterator[Row]:
        """The rows; their sources begin with `HOST:` where the host is told.

        Of a log that was scanned several times on a host they are those of the last scan. Where host or time of scans
        are not told, all of their rows count. Machines of the same name get a number.
        """
        for host, of_host in groupby(self._scans, lambda scan: scan.host):
            machines = self._machines(sorted(of_host, key=lambda scan: -scan.time))
            if len(machines) == 1:
                yield from self._newest(machines[0])
                continue
            names = [f"{host or 'host'}_{number}" for number, _ in enumerate(machines, 1)]
            what = f"scans of {host}" if host else "scans without a host"
            self.notes.append(f"{what}: {_BEGIN_DIFFERENTLY}; told apart as {', '.join(names)}; {_NAME_THEM}")
            for name, scans in zip(names, machines, strict=True):
                yield from self._newest([scan._replace(host=name) for scan in scans])

    def _newest(self, scans: list[_Scan]) -> Iterator[Row]:
        """The rows of a machine's scans, of which the newest is the first."""
        nothing_is_older = scans[0].time == scans[-1].time
        newest: dict[int, float] = {}
        older: set[tuple[int, float]] = set()
        for scan in scans:
            for row in self._rows_of(scan):
                if nothing_is_older or newest.setdefault(hash(row.source), scan.time) == scan.time:
                    yield row
                elif isinstance(row, SourceSummary):
                    older.add((hash(row.source), scan.time))
        if older:
            logs = f"{len(older)} log{'s' * (len(older) > 1)}"
            self.notes.append(f"{scans[0].host}: newer scans replace {logs} of older ones")

    def _machines(self, scans: list[_Scan]) -> list[list[_Scan]]:
        """The scans that name one host, those of the same machine together."""
        if len(scans) == 1:
            return [scans]
        machines: list[tuple[dict[int, str], list[_Scan]]] = []
        for scan in scans:
            heads = self._heads_in(scan)
            fits = (machine for machine in machines if _are_of_one_machine(machine[0], heads))
            known, own = next(fits, ({}, []))
            if not own:
                machines.append((known, own))
            own.append(scan)
            known.update({log: head for log, head in heads.items() if log not in known})
        return [own for _, own in machines]

    def _heads_in(self, scan: _Scan) -> dict[int, str]:
        """How the logs of a scan begin, by their names' hashes."""
        heads: dict[int, str] = {}
        with suppress(OSError), self._opened(scan.file) as stream:
            for _, _, line in _lines(stream, scan.line, scan.start, scan.end):
                with suppress(ValueError):
                    row = row_from_json(line.decode("utf-8", "replace")) if b'"head":' in line else None
                    if isinstance(row, SourceSummary):
                        heads[hash(row.source)] = row.head
        return heads

    def _files(self, names: list[str]) -> Iterator[str]:
        for name in names:
            if not Path(name).is_dir():
                yield name
                continue
            files = sorted(file.path for file in log_files([name], _OF_A_FOLDER) if isinstance(file, LogFile))
            yield from files
            if not files:
                self._leave_out(name, 0, f"holds no {_OF_A_FOLDER.include[0]}")

    def _scans_in(self, name: str) -> Iterator[_Scan]:
        try:
            with self._opened(name) as stream:
                headers = [(0, 0, 0, {"schema": SCHEMA}), *_headers(stream)]
                ends = [*(start for _, start, _, _ in headers[1:]), stream.tell()]
        except OSError as error:
            return self._leave_out(name, 0, f"cannot be read: {error.strerror}")
        if ends == [0]:
            return self._leave_out(name, 0, "is empty")
        for (line, _, start, header), end in zip(headers, ends, strict=True):
            has_end = header.get("has_end") is True
            if header["schema"] != SCHEMA:
                self._leave_out(name, line, f"is of schema {header['schema']!r}, not {SCHEMA}")
            elif has_end or start < end:
                if isinstance(state := header.get("knowledge"), int):
                    self._states[state] = str(header.get("version"))[:_LONGEST_VERSION]
                yield _Scan(*_host_and_time(header), name, line + 1, start, end, has_end, _only(header))

    def _rows_of(self, scan: _Scan) -> Iterator[Row]:
        last, lines, used = scan.line, 0, 0
        told: int | None = None
        if any(scan.only):
            self.gaps.add(scan.sources, scan.only)
        try:
            with self._opened(scan.file) as stream:
                for number, _, line in _lines(stream, scan.line, scan.start, scan.end):
                    if not (text := line.strip(_BLANK)):
                        continue
                    if told is not None:
                        self._damaged(scan, number, "something stands behind its end")
                        break
                    if end := _END.fullmatch(text):
                        told = int(end[1])
                        continue
                    last = number
                    if scan.has_end and not line.endswith(b"\n"):
                        continue
                    lines += 1
                    try:
                        row = row_from_json(line.decode("utf-8", "replace"))
                    except ValueError as error:
                        self._damaged(scan, number, f"is no row of a scan ({error})")
                        continue
                    used += 1
                    yield row._replace(source=sys.intern(f"{scan.sources}{row.source}"))
        except OSError as error:
            self._damaged(scan, 0, f"cannot be read: {error.strerror}")
        if told != lines and (scan.has_end or told is not None):
            fault = "is cut off" if told is None else f"lacks rows, it had {told}"
            self._damaged(scan, last, f"{fault}; of its rows {used} are used")

    @contextmanager
    def _opened(self, name: str) -> Iterator[BinaryIO]:
        """A file; of a pipe, or of what is packed, its copy."""
        if name in self._copies:
            yield self._copies[name]
        elif name == "-":
            if sys.stdin is None:
                raise OSError(0, "it is closed")
            yield self._unpacked(name, self._copied(name, sys.stdin.buffer))
        else:
            with told_if_it_waits(name):
                stream = Path(name).open("rb")  # noqa: SIM115
            with stream:
                yield self._unpacked(name, stream if stream.seekable() else self._copied(name, stream))

    def _unpacked(self, name: str, stream: BinaryIO) -> BinaryIO:
        stream.seek(0)
        kind = kind_of(stream.read(HEAD))
        size = stream.seek(0, SEEK_END)
        stream.seek(0)
        if kind in ("tar", "zip"):
            raise OSError(0, "it is an archive, unpack it first")
        if kind not in COMPRESSED.values():
            return stream
        content = AsFarAsGood(metered(kind, unpacked(kind, stream), Budget(size)))
        copy = self._copied(name, content)
        if content.trouble and not copy.tell():
            raise OSError(0, content.trouble)
        return copy

    def _copied(self, name: str, stream: BinaryIO | AsFarAsGood) -> BinaryIO:
        self._copies[name] = copy = tempfile.TemporaryFile()  # noqa: SIM115
        shutil.copyfileobj(stream, copy)
        return copy

    def _damaged(self, scan: _Scan, line: int, why: str) -> None:
        self.gaps.add(scan.sources)
        self._leave_out(scan.file, line, why)

    def _leave_out(self, file: str, line: int, why: str) -> None:
        self.gaps.may_hide_ranks = True
        known = self._left_out.setdefault(file, LeftOut(file, line, 0, why[:_LONGEST_REASON]))
        first = known if known.line <= line else LeftOut(file, line, 0, why[:_LONGEST_REASON])
        self._left_out[file] = first._replace(lines=known.lines + 1)


def _are_of_one_machine(known: dict[int, str], heads: dict[int, str]) -> bool:
    """Whether most logs of the same name begin alike: some may have been rotated, or written anew."""
    pairs = [(known[log], heads[log]) for log in known.keys() & heads.keys()]
    alike = sum(one.startswith(other) or other.startswith(one) for one, other in pairs)
    return 2 * alike >= len(pairs)


def _lines(stream: BinaryIO, number: int, start: int, end: float) -> Iterator[tuple[int, int, bytes]]:
    """(number, bytes before it, text) of each line between two places; very long ones in pieces."""
    stream.seek(start)
    while line := stream.readline(int(min(_LONGEST_LINE, end - start))):
        yield number, start, line
        start += len(line)
        number += line.endswith(b"\n")


def _headers(stream: BinaryIO) -> Iterator[tuple[int, int, int, dict[str, Any]]]:
    """(number of its line, bytes before it, bytes up to its end, content) of each header, also behind a cut off row."""
    for number, start, line in _lines(stream, 1, 0, math.inf):
        if (at := line.rfind(_HEADER)) >= 0:
            try:
                yield number, start + at, start + len(line), json.loads(line[at:])
            except (ValueError, RecursionError):
                continue  # a damaged row, or a row that holds something of this name


def _only(header: dict[str, Any]) -> Lines:
    """The lines that were read, if not all."""
    bounds = (header.get(name) for name in Lines._fields)
    return Lines(*(bound if isinstance(bound, str) and bound.isprintable() else "" for bound in bounds))


def _host_and_time(header: dict[str, Any]) -> tuple[str, float]:
    host, time = str(header.get("host") or ""), header.get("time")
    if not host or not isinstance(time, int | float) or not 0 <= time < _TOO_LATE:
        return host, 0.0
    return host, float(time)
