"""The knowledge at run time: one read-only SQLite database, opened in a millisecond.

| where the YAML stands | what is opened |
|---|---|
| in the wheel, no overlay | the database compiled into the wheel |
| a checkout, or with overlays | a cache file, rebuilt when a YAML file changed or the file is damaged |
| the same, no writable cache | a database in memory |
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any
from zlib import crc32

from npu_kb import locations
from npu_kb.errors import NpuKbError
from npu_kb.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

Document = dict[str, Any]

FORMAT = "15"
"""Changes with the tables of compile.py; a database of another format is rebuilt."""

_PROGRAM = f"{__version__}-{FORMAT}"
"""Start of the key of what this program compiled; the rest changes with path, size or time of any knowledge file."""

COMPILED = "compiled"
"""Folder of compiled files inside the cache folder, which belongs to this user alone."""
_MAX_DATABASE = 500_000_000


class Knowledge:
    """Entries, codes and commands, looked up in a compiled database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @cached_property
    def literals(self) -> list[str]:
        """The required literal of every text trigger; a trigger's number is its place here."""
        return [text for (text,) in self._connection.execute("SELECT text FROM literal ORDER BY n")]

    def literals_with(self, pieces: Iterable[str]) -> Iterator[tuple[int, str]]:
        """Number and text of the literals that are looked up by one of these pieces, and of those too short for one."""
        yield from self._connection.execute("SELECT n, text FROM literal WHERE gram = ''")
        for part in _parts(pieces):
            marks = ",".join("?" * len(part))
            yield from self._connection.execute(f"SELECT n, text FROM literal WHERE gram IN ({marks})", part)

    @classmethod
    def load(cls, overlays: Iterable[str | Path] | None = None, but_for: Iterable[str] = ()) -> Knowledge:
        """The built-in knowledge with overlays merged over it (default: those of the settings, see settings.py).

        Files that are wrong are left out and named in `problems`; a folder that does not exist raises NpuKbError.
        What stands at the paths `but_for` may be older than the files are now.
        """
        if overlays is None:
            from npu_kb.settings import overlay_sources

            overlays = [source.path for source in overlay_sources()]
        extra = [str(directory) for directory in overlays]
        for directory in extra:
            if not os.path.isdir(directory):
                raise NpuKbError(f"{directory}: no such folder of knowledge; mend --kb or the settings")
        packaged = locations.packaged_database()
        if packaged and not extra and (knowledge := cls._open(packaged, None)):
            return knowledge
        return cls._load_folders([locations.builtin_kb_directory(), *extra], frozenset(but_for))

    @classmethod
    def _load_folders(cls, directories: list[str], but_for: frozenset[str]) -> Knowledge:
        from npu_kb.knowledge.walk import walk

        files = sorted(file for directory in directories for file in walk(directory).files)
        key = f"{_PROGRAM}-{len(files)}-{crc32(repr(files).encode()):08x}"
        cache = locations.cache_directory()
        compiled = os.path.join(cache, COMPILED) if cache else None
        stem = f"knowledge-{crc32(repr(directories).encode()):08x}"
        for path in _cached(compiled, stem):
            if _is_whole(path) and (knowledge := cls._open(path, key)):
                _mark_used(path)
                return knowledge
            if but_for and (knowledge := cls._open(path, None)) and knowledge._is_from(files, but_for):
                return knowledge
        from pathlib import Path

        from npu_kb.knowledge.cachefolder import drop_old, private_folder
        from npu_kb.knowledge.compile import compile_knowledge, write_database

        connection = compile_knowledge([Path(directory) for directory in directories], key)
        connection.execute("INSERT INTO meta VALUES ('files', ?)", (json.dumps(files),))
        connection.commit()
        if cache and (folder := private_folder(cache, COMPILED)):
            with suppress(OSError):  # a read-only or full disk only costs the next start some time
                write_database(connection, folder, stem)
                drop_old(folder)
        return cls(connection)

    @classmethod
    def _open(cls, path: str, key: str | None) -> Knowledge | None:
        """The database at `path` if it is of our format and built from these files; else None."""
        try:
            connection = sqlite3.connect(_read_only_uri(path), uri=True, check_same_thread=False)  # it is only read
            meta = dict(connection.execute("SELECT key, value FROM meta WHERE key IN ('format', 'source')"))
        except sqlite3.Error:
            return None
        fits = meta.get("format") == FORMAT and (key is None or meta.get("source") == key)
        return cls(connection) if fits else None

    def _is_from(self, files: list[tuple[str, int, int]], but_for: frozenset[str]) -> bool:
        """Whether this program built it from these files, whatever stood at the paths `but_for`."""
        built_from = [tuple(file) for file in json.loads(self._meta("files") or "[]")]
        same = [file for file in built_from if file[0] not in but_for] == [f for f in files if f[0] not in but_for]
        return same and self.source_key.startswith(f"{_PROGRAM}-")

    def copy(self) -> sqlite3.Connection:
        """Its database once more, in memory."""
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.backup(connection)
        return connection

    def _meta(self, key: str) -> str:
        row = self._connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def blocks(self, kind: str, values: Iterable[str]) -> Iterator[Document]:
        """The match blocks that any of these literal numbers (`text`), codes (`code`) or facts (`fact`) calls up."""
        for part in _parts(values):
            marks = ",".join("?" * len(part))
            rows = self._connection.execute(
                f"SELECT DISTINCT n, doc FROM trigger JOIN block ON block.n = trigger.block"
                f" WHERE kind = ? AND value IN ({marks}) ORDER BY n",
                (kind, *part),
            )
            for _, doc in rows:
                yield json.loads(doc)

    def blocks_of(self, id: str) -> list[Document]:
        """The compiled match blocks of an entry, in the order in which they are written."""
        sql = "SELECT block.doc FROM block JOIN entry ON block.entry = entry.n WHERE entry.id = ? ORDER BY block.n"
        return [json.loads(doc) for (doc,) in self._connection.execute(sql, (id,))]

    def entry_number(self, number: int) -> Document:
        """The entry with this number in the database."""
        return self._document("SELECT doc FROM entry WHERE n = ?", number) or {}

    def entry(self, id: str) -> Document | None:
        """The entry with this id; else the one to which this former id leads."""
        named = "SELECT id FROM alias WHERE alias = ? ORDER BY rowid LIMIT 1"
        sql = f"SELECT doc FROM entry WHERE id = ? OR id = ({named}) ORDER BY id = ? DESC"
        return self._document(sql, id, id, id)

    def aliases(self) -> list[tuple[str, str, str]]:
        """(former id, the id to which it leads, the entry that names it); a deprecated entry names its own id."""
        return list(self._connection.execute("SELECT alias, id, named_by FROM alias ORDER BY rowid"))

    def entries(self) -> Iterator[Document]:
        """All entries, in the order of their files."""
        for (doc,) in self._connection.execute("SELECT doc FROM entry WHERE NOT signature ORDER BY n"):
            yield json.loads(doc)

    def signatures(self) -> Iterator[Document]:
        """All one-line faults, as entries in short form (see signatures.py), in the order of their files."""
        for (doc,) in self._connection.execute("SELECT doc FROM entry WHERE signature ORDER BY n"):
            yield json.loads(doc)

    def signatures_with(self, words: Iterable[str]) -> list[Document]:
        """The one-line faults of which some text holds each of these words, whatever its case."""
        wanted = [f"%{_escaped(word)}%" for word in words]
        holds = "".join(" AND doc LIKE ? ESCAPE '\\'" for _ in wanted)
        sql = f"SELECT doc FROM entry WHERE signature{holds} ORDER BY n"
        return [json.loads(doc) for (doc,) in self._connection.execute(sql, wanted)]

    def command(self, id: str) -> Document | None:
        """The diagnostic command with this id."""
        return self._document("SELECT doc FROM command WHERE id = ?", id)

    def commands(self) -> dict[str, Document]:
        """All diagnostic commands by id."""
        return {id: json.loads(doc) for id, doc in self._connection.execute("SELECT id, doc FROM command")}

    def checklists(self) -> dict[str, Document]:
        """All checklists by id."""
        return {
            id: json.loads(doc) for id, doc in self._connection.execute("SELECT id, doc FROM checklist ORDER BY id")
        }

    def matrix(self, table: str) -> list[Document]:
        """The rows of a table of kb/matrix (see knowledge/matrix.py), in the order of their files."""
        sql = "SELECT doc FROM matrix WHERE name = ? ORDER BY n"
        return [json.loads(doc) for (doc,) in self._connection.execute(sql, (table,))]

    def next_steps(self) -> list[Document]:
        """What to capture where nothing certain was found."""
        steps: list[Document] = json.loads(self._meta("next_steps") or "[]")
        return steps

    def trackers(self) -> list[Document]:
        """Where an issue is filed, the first that fits before the last resort."""
        trackers: list[Document] = json.loads(self._meta("trackers") or "[]")
        return trackers

    def topics(self) -> dict[str, dict[str, str]]:
        """Topic names by id."""
        return {id: json.loads(doc) for id, doc in self._connection.execute("SELECT id, doc FROM topic")}

    def lookup(self, family: str, key: str) -> Document | None:
        """The catalogue row of a code."""
        return self._document("SELECT doc FROM code WHERE family = ? AND key = ?", family, str(key))

    def with_prefix(self, prefix: str) -> list[Document]:
        """Catalogue rows whose printed code or symbol starts so; the case of letters does not matter."""
        like = f"{_escaped(prefix)}%"
        sql = "SELECT doc FROM code WHERE code LIKE ? ESCAPE '\\' OR symbol LIKE ? ESCAPE '\\' ORDER BY code"
        return [json.loads(doc) for (doc,) in self._connection.execute(sql, (like, like))]

    def code_rows(self) -> Iterator[Document]:
        """All catalogue rows."""
        for (doc,) in self._connection.execute("SELECT doc FROM code"):
            yield json.loads(doc)

    def entries_for_code(self, family: str, key: str) -> list[Document]:
        """The entries that concern a code."""
        sql = "SELECT doc FROM entry WHERE id IN (SELECT id FROM code_entry WHERE family = ? AND key = ?) ORDER BY n"
        return [json.loads(doc) for (doc,) in self._connection.execute(sql, (family, str(key)))]

    def entries_by_code(self) -> dict[tuple[str, str], list[str]]:
        """The ids of the entries that concern each (family, key)."""
        found: dict[tuple[str, str], list[str]] = {}
        for family, key, id in self._connection.execute("SELECT family, key, id FROM code_entry ORDER BY id"):
            found.setdefault((family, key), []).append(id)
        return found

    def counts(self) -> dict[str, int]:
        """How many entries, one-line faults, codes and commands there are."""
        tables = {
            "entries": "entry WHERE NOT signature",
            "signatures": "entry WHERE signature",
            "codes": "code",
            "commands": "command",
        }
        return {
            name: int(self._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            for name, table in tables.items()
        }

    @property
    def problems(self) -> list[str]:
        """What is wrong with knowledge files that were left out, one text each."""
        return self._meta("problems").splitlines()

    @property
    def source_key(self) -> str:
        """Changes whenever the knowledge does; indexes built from it carry it."""
        return self._meta("source")

    def _document(self, sql: str, *values: object) -> Document | None:
        row = self._connection.execute(sql, values).fetchone()
        return json.loads(row[0]) if row else None


def _parts(values: Iterable[str]) -> Iterator[list[str]]:
    """The values, as many at a time as a statement takes."""
    wanted = list(values)
    yield from (wanted[start : start + 500] for start in range(0, len(wanted), 500))


def _escaped(text: str) -> str:
    """The text as a part of a LIKE pattern."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _cached(folder: str | None, stem: str) -> list[str]:
    """The compiled files of this stem in a folder that only this user can write: the stem, then a check sum."""
    try:
        names = os.listdir(folder) if folder and locations.is_private(folder) else []
    except OSError:
        return []
    return [os.path.join(str(folder), name) for name in names if name.startswith(stem) and name.endswith(".db")]


def _mark_used(path: str) -> None:
    """Let the file count as used now, so that it is kept when older ones are removed."""
    with suppress(OSError):
        os.utime(path, ns=(time.time_ns(), os.stat(path).st_mtime_ns))


def _is_whole(path: str) -> bool:
    """Whether this is a regular file of this user whose content fits the check sum in its name."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            status = os.fstat(handle)
            own = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid() and status.st_size <= _MAX_DATABASE
            return own and path.endswith(f"-{crc32(file.read()):08x}.db")
    except OSError:
        return False


def _read_only_uri(path: str) -> str:
    escaped = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{escaped}?mode=ro&immutable=1"
