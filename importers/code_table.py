"""Turn a table of error codes (CSV) into a catalogue for kb/codes/.

    npu-kb import code-table codes.csv --family acl --title "Our codes" > kb/codes/ours.yaml

The header names the columns. Columns are recognised by their own names in a catalogue (code, symbol, en, zh, likely,
do, module, source ...) and by the usual words of vendor tables (errorcode, name, description, solution ...).
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from npu_kb.codes.catalogue import FIELDS, read_catalogues
from npu_kb.codes.model import FAMILIES
from npu_kb.codes.spelling import normal_key
from npu_kb.errors import NpuKbError, Problem

SYNONYMS = {
    "code": ("errorcode", "error code", "errcode", "id", "错误码", "返回码"),
    "symbol": ("name", "macro", "define", "名称", "宏"),
    "en": ("meaning", "description", "message", "text"),
    "zh": ("含义", "描述", "说明", "中文"),
    "likely": ("cause", "possible cause", "reason"),
    "likely_zh": ("可能原因", "原因"),
    "do": ("solution", "action", "handling suggestion", "suggestion"),
    "do_zh": ("处理建议", "处理方法", "解决方法"),
}


def main(arguments: list[str]) -> int:
    """Print the catalogue; bad rows are left out and named on stderr (exit status 1)."""
    parser = argparse.ArgumentParser(prog="npu-kb import code-table", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("table", type=Path, help="CSV file, UTF-8")
    parser.add_argument("--family", required=True, choices=FAMILIES, help="family of the codes")
    parser.add_argument("--title", default="Imported codes", help="title of the catalogue")
    parser.add_argument("--source", help="where the table is from: an address or a name")
    parser.add_argument("--kb", type=Path, help="leave out codes that this kb folder has already")
    options = parser.parse_args(arguments)
    known = {(r["family"], r["key"]) for r in read_catalogues(options.kb / "codes")} if options.kb else set()
    rows, problems = read_table(options.table, options.family, options.source or options.table.name, known)
    sys.stdout.write(catalogue(options.family, options.title, rows))
    for problem in problems:
        print(f"npu-kb: {problem}", file=sys.stderr)
    print(f"npu-kb: {len(rows)} codes, {len(problems)} rows left out", file=sys.stderr)
    return 1 if problems else 0


def read_table(
    path: Path, family: str, source: str, known: set[tuple[str, str]]
) -> tuple[list[dict[str, str]], list[Problem]]:
    """Rows in a catalogue's columns, without codes that stand twice or are known, and what is wrong with others."""
    rows: list[dict[str, str]] = []
    problems: list[Problem] = []
    seen = set(known)
    for line, cells in _records(path):
        key = normal_key(family, cells.get("code", ""))
        if key is None:
            message = f"{cells.get('code', '')!r} is no {family} code; correct it or give another --family"
            problems.append(Problem(path, line, 1, "code", message))
        elif not cells.get("en") and not cells.get("zh"):
            problems.append(Problem(path, line, 1, "en", "has no meaning; fill a column `meaning` or `含义`"))
        elif (family, key) not in seen:
            seen.add((family, key))
            rows.append({**cells, "en": cells.get("en") or cells["zh"], "source": cells.get("source", source)})
    return rows, problems


def _records(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """(line number, cells by catalogue column) of each row."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            columns = {name: _column(name) for name in reader.fieldnames or []}
            if "code" not in columns.values():
                raise NpuKbError(f"{path}:1: no column holds codes; name one of them `code`")
            for row in reader:
                cells = {columns[name]: " ".join(text.split()) for name, text in row.items() if name and text}
                yield reader.line_num, {column: text for column, text in cells.items() if column and text}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise NpuKbError(f"{path}: cannot be read as UTF-8 CSV: {error}") from None


def _column(name: str) -> str:
    """The catalogue column that a heading means, or nothing."""
    plain = " ".join(name.lower().replace("_", " ").split())
    if name.strip().lower() in FIELDS:
        return name.strip().lower()
    return next((column for column, words in SYNONYMS.items() if plain in words), "")


def catalogue(family: str, title: str, rows: list[dict[str, str]]) -> str:
    """A catalogue file: one row a line."""
    quoted = json.dumps({"en": title, "zh": title}, ensure_ascii=False)
    lines = [f"family: {family}", f"title: {quoted}", "rows:"]
    for row in rows:
        cells = ", ".join(f"{name}: {json.dumps(row[name], ensure_ascii=False)}" for name in FIELDS if name in row)
        lines.append(f"- {{{cells}}}")
    return "\n".join(lines) + "\n"
