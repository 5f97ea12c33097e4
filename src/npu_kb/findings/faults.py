"""What SQLite says of a store, in words that name the file and the mend."""

from __future__ import annotations

import sqlite3

_WORDS = [
    (("not a database", "malformed", "no such", "has no column"),
        "the store is damaged; move it and its -wal file away, and a new one is begun"),
    (("full", "disk i/o error"), "the store cannot be written: no room on the disk; free some"),
    (("readonly", "unable to open", "authorization"), "the store cannot be opened and written; mend its permissions"),
    (("locked", "busy"), "another program keeps the store locked; try again, or end that program"),
]  # fmt: skip


def in_words(error: sqlite3.Error, path: str) -> str:
    """One line on an error that SQLite raised for the store at `path`."""
    said = str(error).lower()
    words = next((words for signs, words in _WORDS if any(sign in said for sign in signs)), None)
    return f"{path}: {words or f'the store cannot be used: {error}'}"
