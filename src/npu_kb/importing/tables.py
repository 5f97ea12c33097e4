"""Tables as people keep them: CSV, Excel workbooks, and HTML pages."""

from __future__ import annotations

import csv
import io
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

from npu_kb.errors import NpuKbError, Problem
from npu_kb.importing.files import LIMIT_BYTES, read_bytes, read_text

Row = tuple[int, list[str]]
"""Line of the file (of a workbook: row of the sheet), and the cells."""
_MOST_COLUMNS, _MOST_SPAN = 100, 1_000
_MOST_CELLS = 5_000_000
"""Of an HTML page, cells that span rows and columns counted as often as they show."""


class Table(NamedTuple):
    """A table: its sheet (workbooks only), the line of its headings, the headings, and the rows below."""

    sheet: str
    line: int
    headings: list[str]
    rows: Iterable[Row | Problem]


def read_tables(path: Path, limit: int = LIMIT_BYTES) -> list[Table]:
    """All tables of a CSV, XLSX or HTML file; a row that cannot be read is a Problem in its place."""
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        return _workbook(path, limit)
    text = read_text(path, limit)
    is_page = path.suffix.lower() in (".html", ".htm") or text.lstrip()[:1] == "<"
    return _page(path, text) if is_page else [_csv(path, text)]


def _csv(path: Path, text: str) -> Table:
    text = text.replace("\0", "")
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    try:
        headings = next(reader, [])
    except csv.Error as error:
        raise NpuKbError(f"{path}:1: is no CSV: {error}; save it as CSV") from None
    return Table("", 1, headings, _csv_rows(path, reader))


def _csv_rows(path: Path, reader: Any) -> Iterator[Row | Problem]:
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Problem(path, line, 1, "", f"is no CSV: {error}; mend this line, or close its quotes")
            continue
        yield line, cells


def _workbook(path: Path, limit: int) -> list[Table]:
    data = io.BytesIO(read_bytes(path, limit))
    try:
        size = sum(part.file_size for part in zipfile.ZipFile(data).infolist())
    except zipfile.BadZipFile:
        raise NpuKbError(f"{path}: is no workbook; save it as .xlsx or .csv") from None
    if size > LIMIT_BYTES:
        raise NpuKbError(f"{path}: holds more than {LIMIT_BYTES} bytes when unpacked; split it")
    try:
        return list(_sheets(data))
    except Exception as error:  # openpyxl lets through whatever its parsers raise
        raise NpuKbError(f"{path}: cannot be read: {error}; save it again as .xlsx, or as .csv") from None


def _sheets(data: io.BytesIO) -> Iterator[Table]:
    from openpyxl import load_workbook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sheet in load_workbook(data, read_only=True, data_only=True, keep_links=False).worksheets:
            sheet.reset_dimensions()  # what a file says of its size may be far too much
            if rows := list(_filled_rows(sheet.iter_rows(max_col=_MOST_COLUMNS, values_only=True))):
                yield Table(sheet.title, *rows[0], rows[1:])


def _filled_rows(rows: Iterable[tuple[object, ...]]) -> Iterator[Row]:
    """The rows that hold something, without the empty cells at their end."""
    for number, cells in enumerate(rows, 1):
        filled = max((column for column, cell in enumerate(cells, 1) if cell is not None), default=0)
        if filled:
            yield number, [_shown(cell) for cell in cells[:filled]]


def _shown(cell: object) -> str:
    """A cell's value as Excel shows it: no decimals that say nothing, no time at midnight."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell).removesuffix(" 00:00:00")


def _page(path: Path, text: str) -> list[Table]:
    parser = _TableParser()
    try:
        parser.feed(text)
        parser.close()
    except AssertionError as error:  # what html.parser raises at broken declarations
        raise NpuKbError(f"{path}: is no HTML: {error}; save the page again") from None
    if parser.cells > _MOST_CELLS:
        raise NpuKbError(f"{path}: its cells span more than {_MOST_CELLS} places; split the page")
    return [Table("", rows[0][0], rows[0][1], rows[1:]) for rows in parser.tables if rows]


class _TableParser(HTMLParser):
    """Collects the rows of all tables; a cell that spans rows or columns stands in each of them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[Row]] = []
        self.cells = 0
        self._cell: list[str] | None = None
        self._spans = (1, 1)
        self._above: dict[int, tuple[int, str]] = {}
        """Column: (rows that a cell above still reaches into, its text)."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._end_cell()
            self.tables.append([])
            self._above = {}
        elif tag == "tr" and self.tables:
            self._end_cell()
            self.tables[-1].append((self.getpos()[0], []))
            self._fill()
        elif tag in ("td", "th") and self.tables and self.tables[-1]:
            self._end_cell()
            self._cell = []
            given = dict(attrs)
            self._spans = _span(given.get("rowspan")), _span(given.get("colspan"))
        elif tag in ("br", "p", "li") and self._cell is not None:
            self._cell.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._end_cell()

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def _end_cell(self) -> None:
        if self._cell is None or self.cells > _MOST_CELLS:
            return
        text = "".join(self._cell).strip()
        self._cell = None
        rows, columns = self._spans
        for _ in range(columns):
            self._place(text, rows - 1)
        self._fill()

    def _place(self, text: str, below: int) -> None:
        cells = self.tables[-1][-1][1]
        if below:
            self._above[len(cells)] = below, text
        cells.append(text)
        self.cells += 1

    def _fill(self) -> None:
        """Repeat, where the row has come to, what reaches down from above."""
        cells = self.tables[-1][-1][1]
        while self.cells <= _MOST_CELLS and (reaching := self._above.pop(len(cells), None)):
            self._place(reaching[1], reaching[0] - 1)


def _span(given: str | None) -> int:
    return min(max(int(given), 1), _MOST_SPAN) if given and re.fullmatch(r"\d{1,6}", given) else 1
