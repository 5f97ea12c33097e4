"""Draft entries from a table of faults: CSV, XLSX or HTML, one fault a row.

    npu-kb import spreadsheet faults.xlsx --out drafts

The first row names the columns: title, symptom, error, cause, fix, verify, layer, topic, severity, url, author, or the
usual words for them in English and Chinese (现象, 报错信息, 原因, 解决方案 ...); a column of one language may say so
(cause_en, 原因(中文)). What stands in other columns goes into the draft as a comment.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from npu_kb.errors import NpuKbError, Problem
from npu_kb.importing.item import Item
from npu_kb.importing.rows import items_of, tells_faults
from npu_kb.importing.session import add_source, import_drafts
from npu_kb.importing.tables import read_tables


def main(arguments: list[str]) -> int:
    """Make drafts of the rows; exit status 1 if some were faulty."""
    return import_drafts(arguments, "spreadsheet", __doc__, _read, add_source)


def _read(options: argparse.Namespace) -> Iterator[Item | Problem]:
    for path in options.files:
        tables = [table for table in read_tables(path) if tells_faults(table)]
        if not tables:
            raise NpuKbError(f"{path}:1: no columns tell faults; name them title, symptom, error, cause, fix")
        for table in tables:
            yield from items_of(path, table, options.source)
