"""The store: what was diagnosed on this machine, whether it helped, and unfinished findings.

One SQLite file of this user alone. Several programs may use it at the same time, and any of them may be killed:
what a method has returned from stays.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import sqlite_utils

from npu_kb import locations
from npu_kb.diagnosis.model import Reports
from npu_kb.errors import StoreError
from npu_kb.findings import schema
from npu_kb.findings.faults import in_words
from npu_kb.findings.filesystem import is_local
from npu_kb.knowledge.cachefolder import private_folder

__all__ = ["Store", "StoreError"]

Row = dict[str, Any]
_JSON_COLUMNS = ("sources", "matches", "codes", "versions", "document")


class Store:
    """Diagnoses, feedback and unfinished findings. Every method raises StoreError with the file and the mend."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._database = sqlite_utils.Database(connection)
        self.path = path

    @classmethod
    def open(cls, path: str | Path | None = None) -> Store:
        """The store at `path` (default: locations.store_file), made or brought to this version if need be."""
        file = _file(path)
        with _faults_of(file):
            if not _is_there(file):
                _create(file)
            connection = schema.connect(file)
            try:
                _migrate(connection, file)
                return cls(connection, file)
            except BaseException:
                connection.close()
                raise

    def close(self) -> None:
        """Let go of the file."""
        self._database.conn.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def diagnoses(self, limit: int | None = None, since: str | None = None) -> list[Row]:
        """The latest diagnoses, the last one first; `since` is a UTC time such as 2026-11-29 or 2026-11-29T08:00:00."""
        return self._rows("diagnoses", "time >= ?", [since or ""], order_by="id DESC", limit=limit)

    def diagnosis(self, id: int) -> Row | None:
        """{"id", "time" (UTC, ISO), "sources", "matches", "codes", "versions", "paste", "checksum"}, or None."""
        return self._row("diagnoses", id)

    def last_diagnosis(self) -> Row | None:
        """The latest diagnosis, or None if there is none."""
        return next(iter(self.diagnoses(limit=1)), None)

    def last_unanswered(self) -> Row | None:
        """The latest diagnosis that named no cause, with its redacted log; None if none was kept."""
        return next((row for row in self.diagnoses(limit=schema.KEPT_PASTES) if row["paste"]), None)

    def add_feedback(
        self, diagnosis: int | None, entry: str, verdict: Literal["right", "wrong"], note: str = ""
    ) -> int:
        """Report an entry as right or wrong; the report's number. `note` is redacted."""
        row = {"diagnosis": diagnosis, "entry": entry, "verdict": verdict, "note": note}
        return self._insert("feedback", row)

    def withdraw_feedback(self, id: int) -> bool:
        """Take a report back; False if there is none of this number."""
        return self._delete("feedback", id)

    def feedback(self) -> list[Row]:
        """All reports, the last one first: {"id", "time", "diagnosis", "entry", "verdict", "note"}."""
        return self._rows("feedback", order_by="id DESC")

    def reports(self) -> dict[str, Reports]:
        """How many diagnoses each entry was reported right and wrong for; a later report replaces an earlier one."""
        with _faults_of(self.path):
            rows = self._database.execute(schema.READ_REPORTS).fetchall()
        return {entry: Reports(right, wrong) for entry, right, wrong in rows}

    def save_finding(self, document: dict[str, Any], finding: int | None = None) -> int:
        """Keep an unfinished finding, in place of the one with the number `finding` if given; its number."""
        return self._insert("findings", {"id": finding, "document": document})

    def finding(self, id: int) -> Row | None:
        """{"id", "time" (of the last saving), "document"}, or None."""
        return self._row("findings", id)

    def findings(self) -> list[Row]:
        """All unfinished findings, the last one first, as `finding` gives them."""
        return self._rows("findings", order_by="time DESC, id DESC")

    def drop_finding(self, id: int) -> bool:
        """Remove an unfinished finding; False if there is none of this number."""
        return self._delete("findings", id)

    def _insert(self, table: str, row: Row) -> int:
        with _faults_of(self.path):
            inserted = self._database.table(table).insert(_stored({**row, "time": schema.now()}), replace=True)
        return int(str(inserted.last_pk))

    def _delete(self, table: str, id: int) -> bool:
        with _faults_of(self.path):
            return self._database.execute(f"DELETE FROM {table} WHERE id = ?", [id]).rowcount > 0

    def _row(self, table: str, id: int) -> Row | None:
        return next(iter(self._rows(table, "id = ?", [id])), None)

    def _rows(self, table: str, where: str | None = None, values: list[Any] | None = None, **options: Any) -> list[Row]:
        with _faults_of(self.path):
            try:
                return [_plain(row) for row in self._database.table(table).rows_where(where, values, **options)]
            except ValueError:
                raise sqlite3.DatabaseError("a row is malformed") from None


def _file(path: str | Path | None) -> Path:
    """The store's file, absolute and without links."""
    chosen = path or locations.store_file()
    if chosen is None:
        raise StoreError("nothing is kept: NPU_KB_STORE is off, or there is no home; let NPU_KB_STORE name a file")
    return Path(os.path.realpath(chosen))


def _is_there(file: Path) -> bool:
    """Whether the store exists already; its folder is made if need be, and must belong to this user alone."""
    if not private_folder(file.parent.parent, file.parent.name):
        raise StoreError(
            f"{file.parent}: is no folder that you, and only you, can write; set NPU_KB_STORE to a file elsewhere"
        )
    if file.exists() and not file.is_file():
        raise StoreError(f"{file}: is no regular file; set NPU_KB_STORE to the file of the store, or to off")
    return file.exists()


def _create(file: Path) -> None:
    """Put a complete store in its place in one step, unless another program was faster."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f"{file.name}-", suffix=".part")
    os.close(handle)
    try:
        with contextlib.closing(schema.connect(name)) as connection:
            connection.execute(f"PRAGMA journal_mode = {'WAL' if is_local(file.parent) else 'DELETE'}")
            _migrate(connection, file)
        with contextlib.suppress(FileExistsError):
            os.link(name, file)
    finally:
        Path(name).unlink()


def _migrate(connection: sqlite3.Connection, file: Path) -> None:
    """Bring the store to this program's version in one transaction."""
    if _version(connection, file) == schema.version():
        return
    connection.execute("BEGIN IMMEDIATE")
    for step in schema.MIGRATIONS[_version(connection, file) :]:
        step(connection)
    connection.execute(f"PRAGMA user_version = {schema.version()}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection, file: Path) -> int:
    """The store's version; StoreError if it is newer than this program or no store of ours."""
    ((version,),) = connection.execute("PRAGMA user_version")
    if version > schema.version():
        raise StoreError(f"{file}: was written by a newer npu-kb; update this one, or set NPU_KB_STORE to another file")
    if version == 0 and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise StoreError(f"{file}: is no store of npu-kb; set NPU_KB_STORE to another file")
    return int(version)


@contextlib.contextmanager
def _faults_of(file: Path) -> Iterator[None]:
    """Turn what can go wrong with the file into a StoreError."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(in_words(error, str(file))) from None
    except OSError as error:
        raise StoreError(f"{file}: the store cannot be written: {error.strerror}") from None


def _stored(row: Row) -> Row:
    return {name: json.dumps(value) if name in _JSON_COLUMNS else value for name, value in row.items()}


def _plain(row: Row) -> Row:
    return {name: json.loads(value) if name in _JSON_COLUMNS else value for name, value in row.items()}
