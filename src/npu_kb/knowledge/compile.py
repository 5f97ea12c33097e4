"""From YAML to one SQLite file that `why` can open in a millisecond.

Only JSON and text are stored, so that opening a foreign file runs no code. See _create_tables for the
tables. The key `literals` of meta holds one required literal per line; trigger values of kind `text` are line numbers
in it. The keys `next_steps`, `trackers` and `problems` hold what load.py reads beside the entries.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from npu_kb.knowledge.base import FORMAT
from npu_kb.patterns import TextPattern, required_literal

if TYPE_CHECKING:
    import sqlite_utils

    from npu_kb.errors import Problem
    from npu_kb.knowledge.entry import Block, CodeCondition, Entry
    from npu_kb.knowledge.load import LoadedKnowledge


def compile_knowledge(directories: list[Path], key: str) -> sqlite3.Connection:
    """Compile kb folders (later ones win) into an SQLite database in memory.

    Faulty files are left out, and what is wrong with them is kept under meta `problems`, one a line.
    """
    from npu_kb.knowledge.load import load_entries

    return compile_loaded(load_entries(directories), key)


def compile_loaded(loaded: LoadedKnowledge, key: str) -> sqlite3.Connection:
    """Compile what has been read and found valid."""
    import sqlite_utils

    connection = sqlite3.connect(":memory:")
    database = sqlite_utils.Database(connection)
    _create_tables(connection)
    _insert_entries(database, loaded)
    _insert_codes(database, loaded)
    database.table("command").insert_all({"id": id, "doc": _json(doc)} for id, doc in loaded.commands.items())
    database.table("topic").insert_all({"id": id, "doc": _json(names)} for id, names in loaded.topics.items())
    checklists = (
        (id, item.checklist.model_dump(mode="json", exclude_none=True)) for id, item in loaded.checklists.items()
    )
    database.table("checklist").insert_all({"id": id, "doc": _json(doc)} for id, doc in checklists)
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
    handle, name = tempfile.mkstemp(dir=folder, prefix=stem, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
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
        CREATE TABLE entry(n INTEGER PRIMARY KEY, id TEXT UNIQUE, doc TEXT);
        CREATE TABLE alias(alias TEXT PRIMARY KEY, id TEXT);
        CREATE TABLE block(n INTEGER PRIMARY KEY, entry INTEGER, doc TEXT);
        CREATE TABLE trigger(kind TEXT, value TEXT, block INTEGER, PRIMARY KEY(kind, value, block));
        CREATE TABLE code(family TEXT, key TEXT, code TEXT, symbol TEXT, doc TEXT, PRIMARY KEY(family, key));
        CREATE INDEX code_by_code ON code(code);
        CREATE TABLE code_entry(family TEXT, key TEXT, id TEXT, PRIMARY KEY(family, key, id));
        CREATE TABLE command(id TEXT PRIMARY KEY, doc TEXT);
        CREATE TABLE checklist(id TEXT PRIMARY KEY, doc TEXT);
        CREATE TABLE topic(id TEXT PRIMARY KEY, doc TEXT);
        """
    )


def _insert_entries(database: sqlite_utils.Database, loaded: LoadedKnowledge) -> None:
    items = [item for item in loaded.entries.values() if item.entry.status != "deprecated"]
    entries = [item.entry for item in items]
    documents = ({"n": n, "id": e.id, "doc": _json(_document(e))} for n, e in enumerate(entries))
    database.table("entry").insert_all(documents)
    aliases = ({"alias": alias, "id": e.id} for e in entries for alias in e.aliases if alias not in loaded.entries)
    database.table("alias").insert_all(aliases, ignore=True)
    database.table("code_entry").insert_all(
        {"family": family, "key": key, "id": e.id} for e in entries for family, key in sorted(_codes_of(e))
    )
    blocks = [
        {"entry": n, **compile_block(block), **({"foreign": True} if item.is_foreign else {})}
        for n, item in enumerate(items)
        for block in item.entry.match
    ]
    database.table("block").insert_all(
        {"n": n, "entry": block["entry"], "doc": _json(block)} for n, block in enumerate(blocks)
    )
    _insert_triggers(database, blocks)


def _document(entry: Entry) -> dict[str, Any]:
    return entry.model_dump(mode="json", exclude_none=True)


def _insert_triggers(database: sqlite_utils.Database, blocks: list[dict[str, Any]]) -> None:
    literals: dict[str, int] = {}
    rows: dict[tuple[str, str, int], None] = {}
    for number, block in enumerate(blocks):
        for kind, value in triggers(block):
            stored = str(literals.setdefault(value, len(literals))) if kind == "text" else value
            rows[kind, stored, number] = None
    database.table("trigger").insert_all({"kind": kind, "value": value, "block": n} for kind, value, n in rows)
    database.table("meta").insert({"key": "literals", "value": "\n".join(literals)})


def compile_block(block: Block) -> dict[str, Any]:
    """The run-time form of a block: patterns as lists of the fields of TextPattern, codes as [family, key]."""

    def patterns(sources: list[str]) -> list[list[Any]]:
        return [list(TextPattern.parse(source)) for source in sources]

    return {
        "text": patterns(block.text),
        "any": patterns(block.any),
        "none": patterns(block.none),
        "regex": [[required_literal(source), source] for source in block.regex],
        "code": [[c.family, _key(c)] for c in block.code],
        "fact": [fact.model_dump(exclude_none=True) for fact in block.fact],
        "within": block.within,
        "proves": block.proves,
    }


def _key(condition: CodeCondition) -> str:
    from npu_kb.codes.spelling import code_key

    return code_key(condition.family, condition.value)


def triggers(block: dict[str, Any]) -> list[tuple[str, str]]:
    """What must be present for a compiled block to be looked at: literals, else codes, else facts."""
    if block["text"]:
        return [("text", max((p[0] for p in block["text"]), key=len))]
    if literal := max((r[0] for r in block["regex"] if r[0]), key=len, default=None):
        return [("text", literal)]
    if block["any"]:
        return [("text", p[0]) for p in block["any"]]
    if block["code"]:
        family, key = block["code"][0]
        return [("code", f"{family}:{key}")]
    return [("fact", block["fact"][0]["name"])] if block["fact"] else []


def _codes_of(entry: Entry) -> set[tuple[str, str]]:
    """(family, key) of every code that the entry's conditions name or its texts print."""
    from npu_kb.codes.mentions import find_codes

    codes = {(str(c.family), _key(c)) for block in entry.match for c in block.code}
    texts = (source for block in entry.match for source in [*block.text, *block.any])
    return codes | {(mention.family, mention.key) for mention in find_codes("\n".join(texts))}


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
