"""`npu-kb scan`: the faults in logs of any size, as rows that `npu-kb merge` puts together."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from npu_kb.cli.options import FOUND, NONE, add_kb, load_knowledge, overlay_folders, positive
from npu_kb.errors import NpuKbError

if TYPE_CHECKING:
    from npu_kb.cluster.observation import Row
    from npu_kb.cluster.sightings import Bound
    from npu_kb.cluster.times import Moment

_NAMES = 3
"""Of what is not read so many names are told for each reason."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="folders, logs and archives")
    parser.add_argument("--out", metavar="FILE", help="write the rows there (default: standard output)")
    parser.add_argument("--host", metavar="NAME", help="the host whose logs these are (default with --out: this one)")
    add_selection(parser)
    add_kb(parser)


def add_selection(parser: argparse.ArgumentParser) -> None:
    """The options of every command that scans: what is read, and with what."""
    parser.add_argument("--since", type=_moment, metavar="TIME", help="only lines from this time on, as logs write it")
    parser.add_argument("--until", type=_moment, metavar="TIME", help="only lines up to this time")
    parser.add_argument("--include", action="append", default=[], metavar="GLOB", help="of folders only such files")
    parser.add_argument("--exclude", action="append", default=[], metavar="GLOB", help="of folders no such files")
    engines = ["auto", "hyperscan", "ahocorasick"]
    parser.add_argument("--engine", choices=engines, default="auto", help="default: the fastest that is installed")
    parser.add_argument("--jobs", type=positive, metavar="N", help="processes (default: one for each core, up to 16)")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="read with the workers of a Dask cluster (tcp://HOST:8786)"
    )


def _moment(text: str) -> Moment:
    from npu_kb.cluster.times import read_time

    times = (read_time(text + rest) for rest in ("", ":00", " 00:00:00"))
    time = next((time for time in times if time is not None), None)
    if time is None:
        raise argparse.ArgumentTypeError("must be a day or time such as 2026-11-29 or 2026-11-29T08:00:00")
    return time


def only_lines(options: argparse.Namespace) -> dict[str, str]:
    """The only lines that the options select by time, where they do: `since` and `until`."""
    bounds = {"since": options.since, "until": options.until}
    return {name: _written(bound) for name, bound in bounds.items() if bound is not None}


def _written(moment: Moment) -> str:
    from npu_kb.cluster.times import written, zone_name

    if moment.zone is None:
        return written(moment)
    return f"{written(moment + moment.zone)} {zone_name(moment.zone)}"


def _bound(moment: Moment | None) -> Bound | None:
    from npu_kb.cluster.sightings import Bound

    return None if moment is None else Bound(moment, moment.zone is None)


def selected_rows(options: argparse.Namespace) -> Iterator[Row]:
    """The rows of what the options select, with progress on a terminal."""
    from npu_kb.cluster.dask import workers_of
    from npu_kb.cluster.progress import shown_progress
    from npu_kb.cluster.scan import scan
    from npu_kb.intake.tree import Globs

    with ExitStack() as stack:
        progress = stack.enter_context(shown_progress())
        pool, jobs = stack.enter_context(workers_of(options.scheduler)) if options.scheduler else (None, options.jobs)
        yield from scan(
            options.paths,
            overlay_folders(options),
            globs=Globs(options.include, options.exclude),
            window=(_bound(options.since), _bound(options.until)),
            engine=options.engine,
            jobs=jobs,
            pool=pool,
            progress=progress,
        )


def run(options: argparse.Namespace) -> int:
    from npu_kb.cluster.observation import to_json_lines
    from npu_kb.cluster.progress import told_if_it_prepares
    from npu_kb.cluster.scan import state_of

    with told_if_it_prepares():
        load_knowledge(options)  # tells what is wrong with it, once
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # leaves no half-written file, as Ctrl-C
    tally, began = Tally(), round(time.time(), 3)
    rows = selected_rows(options)
    first = next(rows, None)  # a path that is not there is told before anything is written
    host = options.host or (os.uname().nodename if options.out else "")
    with _output(options.out) as out:
        state, only = state_of(overlay_folders(options)), only_lines(options)
        out.writelines(to_json_lines(tally.counted(chain([first] if first else [], rows)), host, began, only, state))
    tally.tell_skipped()
    return FOUND if tally.claims else NONE


class Tally:
    """Counts rows as they pass."""

    def __init__(self) -> None:
        self.claims = 0
        self._skipped: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}

    def counted(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The same rows."""
        from npu_kb.cluster.observation import Observation, SourceSummary
        from npu_kb.diagnosis.model import CLAIMS

        for row in rows:
            if isinstance(row, Observation):
                self.claims += row.verdict in CLAIMS
            elif isinstance(row, SourceSummary) and row.skipped:
                self._counts[row.skipped] = self._counts.get(row.skipped, 0) + 1
                names = self._skipped.setdefault(row.skipped, [])
                names += [row.source] if len(names) < _NAMES else []
            yield row

    def tell_skipped(self) -> None:
        """One line on standard error for each reason for which something was not read."""
        from npu_kb.intake.clean import printable

        for reason, names in self._skipped.items():
            count = self._counts[reason]
            more = f" and {count - len(names)} more" if count > len(names) else ""
            what = f"{reason}: {', '.join(names)}{more}"
            print(printable(f"npu-kb: not read, or not to its end, {what}"), file=sys.stderr)


@contextmanager
def _output(path: str | None) -> Iterator[TextIO]:
    """Standard output, a pipe or a device, or a file that is there only when it is whole."""
    from npu_kb.files import real, replacing

    if path is None:
        yield sys.stdout
        return
    target = real(Path(path))
    special = target.exists() and not target.is_file() and not target.is_dir()
    try:
        with open(path, "wb") if special else replacing(Path(path)) as file:  # noqa: PTH123
            out = TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", write_through=True)
            yield out
            out.detach()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise NpuKbError(f"{path}: cannot be written: {error.strerror}; give --out another place") from None
