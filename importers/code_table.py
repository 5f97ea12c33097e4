"""Turn a table of error codes (CSV, XLSX, HTML) into a catalogue for kb/codes/.

    npu-kb import code-table codes.csv --family acl --title "Our codes" > kb/codes/ours.yaml

The header names the columns. Columns are recognised by their own names in a catalogue (code, symbol, en, zh, likely,
do, module, source ...) and by the usual words of vendor tables (errorcode, name, description, solution ...).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from npu_kb import locations
from npu_kb.codes.catalogue import FIELDS, read_catalogues, row_faults
from npu_kb.codes.model import FAMILIES
from npu_kb.codes.spelling import normal_key
from npu_kb.errors import NpuKbError, Problem
from npu_kb.importing.files import tell
from npu_kb.importing.tables import Table, read_tables
from npu_kb.importing.words import meaning

_SYNONYMS = {
    "code": ("errorcode", "error code", "errcode", "id", "错误码", "返回码", "故障码"),
    "symbol": ("name", "macro", "define", "名称", "宏", "错误名称"),
    "en": ("meaning", "description", "message", "text"),
    "zh": ("含义", "描述", "说明", "中文", "错误描述", "故障描述"),
    "likely": ("cause", "possible cause", "reason"),
    "likely_zh": ("可能原因", "原因", "故障原因"),
    "do": ("solution", "action", "handling suggestion", "suggestion", "fix", "remedy", "resolution"),
    "do_zh": ("处理", "处置", "处理建议", "处理方法", "处理措施", "解决方法", "解决方案", "措施", "建议"),
}
_PROSE = {"en": "zh", "likely": "likely_zh", "do": "do_zh"}
_OF_THE_FILE = ("family", "handling")
"""Fields that a row takes from the head of its file."""
_COLUMNS: dict[str, tuple[str, ...]] = {name: _SYNONYMS.get(name, ()) for name in FIELDS if name not in _OF_THE_FILE}
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_WORDS = {"true": True, "yes": True, "1": True, "是": True, "false": False, "no": False, "0": False, "否": False}
_LIMIT_BYTES = 50_000_000
_SHORTEST = {"en": 4, "zh": 2}
"""Characters that a meaning has at least."""

Row = dict[str, Any]


class Codes(NamedTuple):
    """What a file gave: rows in a catalogue's columns, what is wrong with others, and headings without a use."""

    rows: list[Row]
    problems: list[Problem]
    unused: list[str]
    known: int
    """Rows that were left out because their code is known."""


def main(arguments: list[str]) -> int:
    """Print the catalogue; bad rows are left out and named on stderr (exit status 1)."""
    parser = argparse.ArgumentParser(prog="npu-kb import code-table", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("table", type=Path, help="CSV, XLSX or HTML file")
    parser.add_argument("--family", required=True, choices=FAMILIES, help="family of the codes")
    parser.add_argument("--title", default="Imported codes", help="title of the catalogue")
    parser.add_argument("--source", help="where the table is from: an address or a name")
    parser.add_argument("--kb", type=Path, help="leave out codes that this kb folder has already")
    options = parser.parse_args(arguments)
    known = _known(options.kb) if options.kb else set()
    codes = read_codes(options.table, options.family, options.source or options.table.name, known)
    sys.stdout.write(catalogue(options.family, options.title, codes.rows))
    for line in [*map(str, codes.problems), *_remarks(codes, options.family, bool(options.kb))]:
        tell(line)
    return 1 if codes.problems else 0


def _known(kb: Path | str) -> set[tuple[str, str]]:
    return {(row["family"], row["key"]) for row in read_catalogues(Path(kb) / "codes")}


def _remarks(codes: Codes, family: str, compared: bool) -> Iterator[str]:
    """What the user should know of the result, one line each."""
    if codes.unused:
        yield f"columns not used: {', '.join(codes.unused)}; name them as a field of a catalogue: {', '.join(FIELDS)}"
    if chinese := sum(_CHINESE.search(row["en"]) is not None for row in codes.rows):
        yield f"{chinese} rows have no English meaning, the Chinese one stands in its place; add `en` where you can"
    if not compared:
        known = _known(locations.builtin_kb_directory())
        both = sum((family, normal_key(family, row["code"])) in known for row in codes.rows)
        if both:
            yield f"{both} codes are known already and will be replaced; to keep the known ones give --kb kb"
    left_out = f"{len(codes.problems)} rows left out" + (f", {codes.known} known already" if codes.known else "")
    yield f"{len(codes.rows)} codes, {left_out}; keep the output as codes/NAME.yaml in your kb folder"


def read_codes(path: Path, family: str, source: str, known: set[tuple[str, str]]) -> Codes:
    """Rows in a catalogue's columns, without codes that stand twice or are known, and what is wrong with others."""
    headings, records = _records(path)
    codes = Codes([], [], [name for name in headings if name.strip() and not _column(name)], 0)
    seen: set[tuple[str, str]] = set()
    for line, cells in records:
        row, fault = _row(cells, family, source)
        key = (family, normal_key(family, row.get("code", "")) or "")
        if fault:
            codes.problems.append(Problem(path, line, 1, *fault))
        elif key in known:
            codes = codes._replace(known=codes.known + 1)
        elif key not in seen:
            seen.add(key)
            codes.rows.append(row)
    return codes


def _row(cells: dict[str, str], family: str, source: str) -> tuple[Row, tuple[str, str] | None]:
    """One row of the catalogue and (field, what is wrong with it) or None."""
    if normal_key(family, cells.get("code", "")) is None:
        return {}, ("code", f"{cells.get('code', '')!r} is no {family} code; correct it or give another --family")
    row: Row = dict(_by_language(cells))
    told = row.get("en") or row.get("zh") or ""
    if not told:
        return row, ("en", "has no meaning; fill a column `meaning` or `含义`")
    if len(told) < _SHORTEST["zh" if _CHINESE.search(told) else "en"]:
        return row, ("en", f"{told!r} is too short for a meaning; say what happened")
    row = {"source": source, **row, "en": told}
    for name in row.keys() & FIELDS.keys():
        value = _typed(name, row[name])
        if value is None:
            return row, (name, f"{row[name]!r} is no {FIELDS[name][0].__name__}; it holds: {FIELDS[name][1]}")
        row[name] = value
    faults = row_faults(row, {"family": family})
    return row, faults[0] if faults else None


def _by_language(cells: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The cells, Chinese prose under an English heading moved to the Chinese field and the other way round."""
    chinese = {zh: en for en, zh in _PROSE.items()}
    for name, text in cells.items():
        is_chinese = _CHINESE.search(text) is not None
        other = _PROSE.get(name) if is_chinese else chinese.get(name)
        yield (other if other and other not in cells else name), text


def _typed(name: str, text: str) -> object:
    """A cell in the type of its field, or None if it does not fit."""
    kind = FIELDS[name][0]
    if kind is bool:
        return _WORDS.get(text.lower())
    if kind is int:
        return int(text) if re.fullmatch(r"\d{1,6}", text) else None
    return [part for part in re.split(r"[\s,;/、，；]+", text) if part] if kind is list else text


def _records(path: Path) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    """The headings, and (line number, cells by catalogue column) of each row, of all tables that hold codes."""
    tables = [table for table in read_tables(path, _LIMIT_BYTES) if "code" in map(_column, table.headings)]
    if not tables:
        raise NpuKbError(f"{path}:1: no column holds codes; name one of them `code`")
    headings = [heading for table in tables for heading in table.headings]
    return headings, (record for table in tables for record in _cells(table))


def _cells(table: Table) -> Iterator[tuple[int, dict[str, str]]]:
    columns = [_column(heading) for heading in table.headings]
    for row in table.rows:
        if isinstance(row, Problem):
            raise NpuKbError(str(row))
        line, texts = row
        cells: dict[str, str] = {}
        for column, text in zip(columns, texts, strict=False):
            plain = "".join(c for c in " ".join(text.split()) if c.isprintable())
            if column and plain:
                cells.setdefault(column, plain)
        yield line, cells


def _column(heading: str) -> str:
    """The catalogue column that a heading means, or nothing."""
    return meaning(heading, _COLUMNS)


def catalogue(family: str, title: str, rows: list[Row]) -> str:
    """A catalogue file: one row a line."""
    quoted = json.dumps({"en": title, "zh": title}, ensure_ascii=False)
    lines = [f"family: {family}", f"title: {quoted}", "rows:"]
    for row in rows:
        cells = ", ".join(f"{name}: {json.dumps(row[name], ensure_ascii=False)}" for name in FIELDS if name in row)
        lines.append(f"- {{{cells}}}")
    return "\n".join(lines) + "\n"
