"""Rows of a table as items: the columns are what their headings mean."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from npu_kb.errors import Problem
from npu_kb.importing.item import Item, Said, remedies, said, together
from npu_kb.importing.tables import Table
from npu_kb.importing.words import part_of

_GIVEN = ("layer", "topic", "severity")
_TELLS = {"title", "symptom", "error"}
_HELPS = {"error", "cause", "fix"}


def tells_faults(table: Table) -> bool:
    """Whether the headings name what a fault looks like, and why it comes or what helps."""
    named = {part_of(heading)[0] for heading in table.headings}
    return bool(named & _TELLS) and len(named & (_TELLS | _HELPS)) > 1


def items_of(path: Path, table: Table, source: str) -> Iterator[Item | Problem]:
    """An item for each row that is not blank; `source` is where the file is from."""
    columns = [part_of(heading) for heading in table.headings]
    for row in table.rows:
        if isinstance(row, Problem):
            yield row
        elif any(cell.strip() for cell in row[1]):
            yield _item(path, table, columns, row, source)


def _item(
    path: Path, table: Table, columns: list[tuple[str, str]], row: tuple[int, list[str]], source: str
) -> Item | Problem:
    line, cells = row
    parts: dict[str, list[Said]] = {}
    notes: list[str] = []
    for (part, lang), heading, cell in zip(columns, table.headings, cells, strict=False):
        if cell.strip() and part and part != "environment":
            parts.setdefault(part, []).append(said(cell, lang))
        elif cell.strip():
            notes.append(f"{heading.strip() or 'no heading'}: {cell}")
    told = {part: together(texts) for part, texts in parts.items()}
    title = told.get("title") or told.get("symptom") or told.get("error")
    if not title:
        return Problem(path, line, 1, table.sheet, "names no fault; fill its title, symptom or error")
    return Item(
        path=path,
        line=line,
        where=table.sheet,
        title=title,
        error=_plain(told.get("error")),
        symptom=told.get("symptom", {}),
        cause=told.get("cause", {}),
        fix=remedies(told.get("fix", {})),
        verify=told.get("verify", {}),
        source=_plain(told.get("url")) or source or ", ".join(filter(None, [path.name, table.sheet, f"row {line}"])),
        author=_plain(told.get("author")),
        given={name: _plain(told.get(name)) for name in _GIVEN},
        notes=tuple(notes),
    )


def _plain(text: Said | None) -> str:
    """The words of a cell whose language does not matter."""
    return "\n".join((text or {}).values())
