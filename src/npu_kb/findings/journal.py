"""The store as `why` meets it: reports before the answer, one row after it, over one light connection.

A store that cannot be used costs a warning, never the answer. The heavy store.py is imported only to make the store,
to bring it up to date, or to say what is wrong with it.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from npu_kb import locations
from npu_kb.diagnosis.model import Diagnosis, Reports
from npu_kb.errors import NpuKbError
from npu_kb.findings import schema
from npu_kb.findings.faults import in_words
from npu_kb.intake.clean import printable

_FOLDED_EVERY = 50
"""Rows after which SQLite's log of changes is folded into the file: that waits for the disk, a mere insert does not."""


class Journal:
    """Reads what users reported of entries, and keeps diagnoses; nothing where NPU_KB_STORE is `off`."""

    def __init__(self) -> None:
        self._path = locations.store_file()
        self._connection: sqlite3.Connection | None = None
        self.feedback: dict[str, Reports] = {}
        """Reports by entry."""
        if self._path and os.path.exists(self._path):
            with self._harmless():
                self._connection = _connected(self._path)
                self.feedback = _feedback(self._connection)

    def keep(self, diagnosis: Diagnosis, names: list[str]) -> int | None:
        """Write a diagnosis of the files `names` down; its number, or None if it is not kept, as of no text."""
        from npu_kb.findings.digest import digest

        if not (diagnosis.log.lines or diagnosis.claims):
            return None
        return self._keep(lambda: digest(diagnosis, names))

    def keep_story(self, story: dict[str, Any], names: list[str]) -> int | None:
        """The same for a cluster document of the logs in `names`."""
        from npu_kb.findings.digest import story_digest

        return self._keep(lambda: story_digest(story, names))

    def _keep(self, columns: Callable[[], dict[str, str | None]]) -> int | None:
        if self._path is None:
            return None
        with self._harmless():
            self._connection = self._connection or _connected(self._path)
            number = _insert(self._connection, {"time": schema.now(), **columns()})
            if number % _FOLDED_EVERY == 0:
                self._connection.close()
                self._connection = None
            return number
        return None

    @contextmanager
    def _harmless(self) -> Iterator[None]:
        """Turn a failure into one line of warning, and keep nothing from then on."""
        path = str(self._path)
        try:
            yield
        except (sqlite3.Error, NpuKbError, OSError) as error:
            self._path = None
            if sys.stderr is not None and not _is_read_only(path):
                text = in_words(error, path) if isinstance(error, sqlite3.Error) else str(error)
                print(f"npu-kb: warning: this diagnosis is not kept: {printable(text)}", file=sys.stderr)


def _connected(path: str) -> sqlite3.Connection:
    """A connection to the store, which is made or brought up to date if need be."""
    file = os.path.realpath(path)
    if os.path.isfile(file) and locations.is_private(os.path.dirname(file)):
        connection = schema.connect(file)
        if connection.execute("PRAGMA user_version").fetchone() == (schema.version(),):
            return connection
        connection.close()
    from npu_kb.findings.store import Store

    Store.open(file).close()
    return schema.connect(file)


def _feedback(connection: sqlite3.Connection) -> dict[str, Reports]:
    return {entry: Reports(right, wrong) for entry, right, wrong in connection.execute(schema.READ_REPORTS)}


def _insert(connection: sqlite3.Connection, row: dict[str, str | None]) -> int:
    sql = f"INSERT INTO diagnoses ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
    return connection.execute(sql, tuple(row.values())).lastrowid or 0


def _is_read_only(path: str) -> bool:
    """Whether nobody asked for a store where it is, and nothing can be written there: a home that is read-only."""
    folder = os.path.dirname(path)
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return not os.environ.get("NPU_KB_STORE") and not os.access(folder, os.W_OK)
