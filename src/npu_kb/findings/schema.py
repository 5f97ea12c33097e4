"""The tables of the store, as steps from each version to the next.

| table | one row is |
|---|---|
| diagnoses | an answer of `why`: UTC time; sources, matches, codes, versions as JSON; `paste`, redacted; `checksum` |
| feedback | a report that an entry was right or wrong, for a diagnosis or for none |
| reports (a view) | an entry: how many diagnoses it was right and wrong for; a later report replaces an earlier one |
| findings | an unfinished entry that `record` is asking about, as JSON |

Nothing heavy is imported here: `why` asks for `version`.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

KEPT_DIAGNOSES = 10_000
KEPT_PASTES = 1_000
"""The texts of the latest diagnoses only, as they may be large."""
_PATIENCE = 5.0
"""Seconds to wait for another program that writes."""


def _first_tables(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE diagnoses (id INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, sources TEXT NOT NULL,"
        " matches TEXT NOT NULL, codes TEXT NOT NULL, versions TEXT NOT NULL, paste TEXT)"
    )
    connection.execute(
        f"CREATE TRIGGER keep_the_latest AFTER INSERT ON diagnoses WHEN new.id % 100 = 0 BEGIN"
        f" DELETE FROM diagnoses WHERE id <= new.id - {KEPT_DIAGNOSES};"
        f" UPDATE diagnoses SET paste = NULL WHERE id <= new.id - {KEPT_PASTES} AND paste IS NOT NULL; END"
    )
    connection.execute(
        "CREATE TABLE feedback (id INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, diagnosis INTEGER,"
        " entry TEXT NOT NULL, verdict TEXT NOT NULL CHECK (verdict IN ('right', 'wrong')), note TEXT NOT NULL)"
    )
    connection.execute(
        "CREATE VIEW reports AS"
        " SELECT entry, SUM(verdict = 'right') AS said_right, SUM(verdict = 'wrong') AS said_wrong FROM feedback"
        " WHERE id IN (SELECT MAX(id) FROM feedback GROUP BY entry, COALESCE(diagnosis, -id))"
        " GROUP BY entry"
    )
    connection.execute(
        "CREATE TABLE findings (id INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, document TEXT NOT NULL)"
    )


def _checksums(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE diagnoses ADD COLUMN checksum TEXT NOT NULL DEFAULT ''")


READ_REPORTS = "SELECT entry, said_right, said_wrong FROM reports"
MIGRATIONS: list[Callable[[sqlite3.Connection], None]] = [_first_tables, _checksums]
"""Step n brings a store of version n to version n + 1; all of them run in one transaction. Steps are only added."""


def version() -> int:
    """The version of the store that this program writes."""
    return len(MIGRATIONS)


def connect(file: str | Path) -> sqlite3.Connection:
    """A connection on which each statement is a transaction; it waits for other programs that write."""
    connection = sqlite3.connect(file, timeout=_PATIENCE, isolation_level=None)
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def now() -> str:
    """The time as the store writes it: UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
