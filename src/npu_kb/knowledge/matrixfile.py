"""Read kb/matrix, naming every bad row by file, line and field."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from npu_kb.errors import Problem
from npu_kb.knowledge.matrix import TABLES, Table, Tried
from npu_kb.knowledge.matrixrow import Row
from npu_kb.knowledge.wording import problems_of
from npu_kb.knowledge.yamlfile import Located, read_yaml

TRIED = "tried"
Name = tuple[str, str]
"""(table, key) of a row."""


def read_matrix(folder: Path, paths: list[Path], problems: list[Problem]) -> dict[Name, dict[str, Any]]:
    """The good rows of the files of DIR/matrix in their JSON form; of a row that stands twice, the first."""
    found: dict[Name, dict[str, Any]] = {}
    for path in paths:
        if path.parent == folder:
            for name, row, double in _rows(path, problems):
                if found.setdefault(name, row) is not row:
                    problems.append(double)
        elif path.parent == folder / TRIED and (tried := _tried(path, problems)):
            found[TRIED, path.stem] = tried
    return found


def _rows(path: Path, problems: list[Problem]) -> Iterator[tuple[Name, dict[str, Any], Problem]]:
    """(table, key), row, and what to say if it stands twice, of the good rows of a file."""
    file, faults = read_yaml(path)
    problems += faults
    if file is None:
        return
    try:
        table = Table.model_validate(file.value)
    except ValidationError as error:
        problems += problems_of(error, file)
        return
    model = TABLES[table.table]
    for i, given in enumerate(table.rows):
        row = _row(model, given, i, file, problems)
        if row and (source := _source(row.source, table.sources)) is None:
            message = f"{row.source!r} is not among the file's `sources`; add it there, or write the source itself"
            problems.append(file.problem(("rows", i, "source"), message))
        elif row and source:
            document = row.model_copy(update={"source": source}).model_dump(mode="json", exclude_none=True)
            twice = file.problem(("rows", i, model.KEY[0]), f"{row.key()} stands twice; keep one of the two")
            yield (table.table, row.key()), document, twice


def _row(model: type[Row], given: dict[str, Any], i: int, file: Located, problems: list[Problem]) -> Row | None:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        problems += problems_of(error, file, ("rows", i))
        return None


def _source(given: str, sources: dict[str, str]) -> str | None:
    """The source in full; None for a single word that the file does not explain."""
    return sources.get(given) or (given if " " in given or "/" in given else None)


def _tried(path: Path, problems: list[Problem]) -> dict[str, Any] | None:
    file, faults = read_yaml(path)
    problems += faults
    if file is None:
        return None
    try:
        return Tried.model_validate(file.value).model_dump(mode="json", exclude_none=True)
    except ValidationError as error:
        problems += problems_of(error, file)
        return None
