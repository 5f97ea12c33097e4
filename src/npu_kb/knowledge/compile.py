"""From YAML to one SQLite file that `why` can open in a millisecond.

Only JSON and text are stored, so that opening a foreign file runs no code. See _create_tables for the tables: `literal`
holds the required literals, whose numbers are the trigger values of kind `text`. The keys `next_steps`, `trackers` and
`problems` of meta hold what load.py reads beside the entries.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from npu_kb.files import put
from npu_kb.knowledge.base import FORMAT
from npu_kb.knowledge.blocks import codes_of, compile_block, triggers
from npu_kb.patterns import grams

if TYPE_CHECKING:
    import sqlite_utils

    from npu_kb.errors import Problem
    from npu_kb.knowledge.base import Knowledge
    from npu_kb.knowledge.entry import Block, Entry
    from npu_kb.knowledge.entryfile import LoadedEntry
    from npu_kb.knowledge.load import LoadedKnowledge
    from npu_kb.knowledge.signatures import SignatureTable


def compile_knowledge(directories: list[Path], key: str) -> sqlite3.Connection:
    """Compile kb folders (later ones win) into an SQLite database in memory.

    Faulty files are left out, and what is wrong with them is kept under meta `problems`, one a line.
    """
    from npu_kb.knowledge.load import load_entries

    return compile_loaded(load_entries(directories), key)


def compile_loaded(loaded: LoadedKnowledge, key: str) -> sqlite3.Connection:
    """Compile what has been read and found valid."""
    import sqlite_utils

    connection = sqlite3.connect(":memory:", check_same_thread=False)
    database = sqlite_utils.Database(connection)
    _create_tables(connection)
    _insert_entries(database, list(loaded.entries.values()))
    _insert_signatures(database, list(loaded.signatures.values()), loaded.commands)
    _insert_codes(database, loaded)
    database.table("command").insert_all({"id": id, "doc": _json(doc)} for id, doc in loaded.commands.items())
    database.table("topic").insert_all({"id": id, "doc": _json(names)} for id, names in loaded.topics.items())
    checklists = (
        (id, item.checklist.model_dump(mode="json", exclude_none=True)) for id, item in loaded.checklists.items()
    )
    database.table("checklist").insert_all({"id": id, "doc": _json(doc)} for id, doc in checklists)
    database.table("matrix").insert_all(
        {"name": name, "key": key, "doc": _json(row)} for (name, key), row in loaded.matrix.items()
    )
    database.table("meta").insert({"key": "problems", "value": "\n".join(map(_line, loaded.problems))})
    database.table("meta").insert({"key": "trackers", "value": _json(loaded.trackers)})
    database.table("meta").insert({"key": "next_steps", "value": _json(loaded.next_steps)})
    database.table("meta").insert_all([{"key": "format", "value": FORMAT}, {"key": "source", "value": key}])
    connection.commit()
    return connection


def write_database(connection: sqlite3.Connection, folder: Path, stem: str) -> Path:
    """Put the database into the folder as STEM-CHECKSUM.db, in one step, in place of older ones of the same stem."""
    content = connection.serialize() if hasattr(connection, "serialize") else _dump_bytes(connection)
    target = folder / f"{stem}-{crc32(content):08x}.db"
    folder.mkdir(parents=True, exist_ok=True)
    if target.is_symlink():  # it is no way out of the cache
        target.unlink()
    put(target, content, synced=False)
    for other in folder.glob(f"{stem}-*.db"):
        if other != target:
            other.unlink(missing_ok=True)
    return target


def _dump_bytes(connection: sqlite3.Connection) -> bytes:
    """The database file as bytes, where sqlite3 has no serialize (Python 3.10)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "copy.db"
        copy = sqlite3.connect(path)
        connection.backup(copy)
        copy.close()
        return path.read_bytes()


def _create_tables(connection: sqlite3.Connection) -> None:
    connection.executescript(
        """
        CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT);
        CREATE TABLE entry(n INTEGER PRIMARY KEY, id TEXT UNIQUE, doc TEXT, signature INTEGER DEFAULT 0);
        CREATE TABLE alias(alias TEXT, id TEXT, named_by TEXT, PRIMARY KEY(alias, named_by));
        CREATE TABLE block(n INTEGER PRIMARY KEY, entry INTEGER, doc TEXT);
        CREATE INDEX block_of_entry ON block(entry);
        CREATE TABLE literal(n INTEGER PRIMARY KEY, text TEXT UNIQUE, gram TEXT);
        CREATE INDEX literal_by_gram ON literal(gram);
        CREATE TABLE trigger(kind TEXT, value TEXT, block INTEGER, PRIMARY KEY(kind, value, block));
        CREATE TABLE code(family TEXT, key TEXT, code TEXT, symbol TEXT, doc TEXT, PRIMARY KEY(family, key));
        CREATE INDEX code_by_code ON code(code);
        CREATE TABLE code_entry(family TEXT, key TEXT, id TEXT, PRIMARY KEY(family, key, id));
        CREATE TABLE command(id TEXT PRIMARY KEY, doc TEXT);
        CREATE TABLE checklist(id TEXT PRIMARY KEY, doc TEXT);
        CREATE TABLE matrix(n INTEGER PRIMARY KEY, name TEXT, key TEXT, doc TEXT, UNIQUE(name, key));
        CREATE TABLE topic(id TEXT PRIMARY KEY, doc TEXT);
        """
    )


def with_entries(
    knowledge: Knowledge, items: list[LoadedEntry], tables: list[SignatureTable], gone: Iterable[str]
) -> Knowledge:
    """The knowledge with these entries and signatures in place of those of the same ids and files.

    Entries whose id, and signatures whose file, is `gone` are left out.
    """
    import sqlite_utils

    from npu_kb.knowledge.base import Knowledge

    connection = knowledge.copy()
    texts = "".join([*(item.file.text for item in items), *(table.file.text for table in tables)])
    key = f"{knowledge.source_key}+{crc32(texts.encode()):08x}"
    connection.execute("UPDATE meta SET value = ? WHERE key = 'source'", (key,))
    for id in {*gone, *(item.entry.id for item in items)}:
        _remove(connection, id)
    _insert_entries(sqlite_utils.Database(connection), items)
    _insert_signatures(sqlite_utils.Database(connection), tables, knowledge.commands())
    return Knowledge(connection)


def _remove(connection: sqlite3.Connection, id: str) -> None:
    """Take an entry, or the signatures of the file of this name, and all that hangs on them out of the tables."""
    concerned = "(id = :id OR (signature AND substr(id, 1, length(:id) + 1) = :id || '.'))"
    blocks = f"SELECT block.n FROM block JOIN entry ON block.entry = entry.n WHERE {concerned}"
    for sql in (
        f"DELETE FROM trigger WHERE block IN ({blocks})",
        f"DELETE FROM block WHERE n IN ({blocks})",
        "DELETE FROM alias WHERE named_by = :id",
        "DELETE FROM code_entry WHERE id = :id",
        f"DELETE FROM entry WHERE {concerned}",
    ):
        connection.execute(sql, {"id": id})


def _insert_entries(database: sqlite_utils.Database, items: list[LoadedEntry]) -> None:
    """Add entries behind those that are there; of a deprecated one only that its ids lead to its successor."""
    live = [item for item in items if item.entry.status != "deprecated"]
    _insert_documents(database, ((_document(i.entry), [_compiled(i, block) for block in i.entry.match]) for i in live))
    database.table("alias").insert_all(_aliases(items), ignore=True)
    database.table("code_entry").insert_all(
        {"family": family, "key": key, "id": item.entry.id}
        for item in live
        for family, key in sorted(codes_of(item.entry))
    )


def _insert_signatures(
    database: sqlite_utils.Database, tables: list[SignatureTable], commands: dict[str, dict[str, Any]]
) -> None:
    """Add one-line faults behind the entries that are there, each as an entry in short form."""
    _insert_documents(
        database,
        (
            (document, [compile_block(block) | ({"foreign": True} if table.is_foreign else {}) for block in blocks])
            for table in tables
            for document, blocks in table.documents(commands)
        ),
    )


def _insert_documents(
    database: sqlite_utils.Database, documents: Iterable[tuple[dict[str, Any], list[dict[str, Any]]]]
) -> None:
    """Add documents of entries with their compiled blocks."""
    blocks: list[tuple[int, dict[str, Any]]] = []
    first_entry, first_block = _next(database, "entry"), _next(database, "block")

    def entries() -> Iterator[dict[str, Any]]:
        for n, (doc, own) in enumerate(documents, first_entry):
            blocks.extend(enumerate(({"entry": n, **block} for block in own), first_block + len(blocks)))
            yield {"n": n, "id": doc["id"], "doc": _json(doc), "signature": int("signature" in doc)}

    database.table("entry").insert_all(entries())
    database.table("block").insert_all(
        {"n": number, "entry": block["entry"], "doc": _json(block)} for number, block in blocks
    )
    _insert_triggers(database, blocks)


def _next(database: sqlite_utils.Database, table: str) -> int:
    """The number behind the last one of a table."""
    return int(database.execute(f"SELECT coalesce(max(n), -1) + 1 FROM {table}").fetchone()[0])


def _aliases(items: list[LoadedEntry]) -> Iterator[dict[str, str]]:
    """Rows of former ids and those of deprecated entries; what live entries name comes first, so that it wins."""
    retired = {item.entry.id: item.entry for item in items if item.entry.status == "deprecated"}
    for item in items:
        if item.entry.status != "deprecated":
            yield from ({"alias": old, "id": item.entry.id, "named_by": item.entry.id} for old in item.entry.aliases)
    for entry in retired.values():
        id, steps = str(entry.superseded_by), 0
        while id in retired and steps < len(retired):
            id, steps = str(retired[id].superseded_by), steps + 1
        yield from ({"alias": old, "id": id, "named_by": entry.id} for old in (entry.id, *entry.aliases))


def _compiled(item: LoadedEntry, block: Block) -> dict[str, Any]:
    """A compiled block with what it inherits: whether its regexes get a budget, and that a draft only suggests."""
    foreign = {"foreign": True} if item.is_foreign else {}
    return compile_block(block) | foreign | ({"proves": "possible"} if item.entry.status == "draft" else {})


def _document(entry: Entry) -> dict[str, Any]:
    return entry.model_dump(mode="json", exclude_none=True)


def _insert_triggers(database: sqlite_utils.Database, blocks: list[tuple[int, dict[str, Any]]]) -> None:
    """Add what calls the numbered blocks up; a trigger of a text is the number of its literal."""
    known = {text: n for n, text in database.execute("SELECT n, text FROM literal")}
    literals = dict(known)
    rows: dict[tuple[str, str, int], None] = {}
    for number, block in blocks:
        for kind, value in triggers(block):
            stored = str(literals.setdefault(value, len(literals))) if kind == "text" else value
            rows[kind, stored, number] = None
    database.table("trigger").insert_all({"kind": kind, "value": value, "block": n} for kind, value, n in rows)
    new = {text: n for text, n in literals.items() if text not in known}
    database.table("literal").insert_all(
        {"n": n, "text": text, "gram": gram} for (text, n), gram in zip(new.items(), _telling(new), strict=True)
    )


def _telling(literals: Iterable[str]) -> list[str]:
    """Of each literal the piece that fewest others have, by which it is looked up; none of a short one."""
    pieces = [sorted(grams(literal)) for literal in literals]
    users = Counter(piece for own in pieces for piece in own)
    return [min(own, key=lambda piece: users[piece], default="") for own in pieces]


def _insert_codes(database: sqlite_utils.Database, loaded: LoadedKnowledge) -> None:
    database.table("code").insert_all(
        {name: str(row.get(name, "")) for name in ("family", "key", "code", "symbol")} | {"doc": _json(row)}
        for row in loaded.codes.values()
    )


def _line(problem: Problem) -> str:
    """A problem on one line, whatever its file is called."""
    return " ".join(str(problem).encode("utf-8", "backslashreplace").decode().split())


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
