"""The list of entries that a search or a place in the tree leaves."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text

from npu_kb.intake.clean import printable
from npu_kb.render.text import choose
from npu_kb.tui.catalog import Found
from npu_kb.tui.widgets.line_view import LineView

SEVERITY_MARKS = {"fault": ("!", "red"), "degraded": ("~", "yellow"), "benign": ("o", "green")}

Spans = Callable[[str, Found], list[tuple[int, int]]]
"""The parts of a text by which an entry was found."""


class ResultList(LineView):
    """One line an entry: severity, title with what was found in it, id where there is room."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self.found: list[Found] = []
        self.lang = "en"
        self._spans: Spans = lambda text, found: []

    def show(self, found: list[Found], lang: str, spans: Spans, cursor: int = 0) -> None:
        """List these entries."""
        self.found, self.lang, self._spans = found, lang, spans
        self.rows_changed(cursor)

    @property
    def chosen(self) -> Found | None:
        """The entry under the cursor."""
        return self.found[self.cursor] if self.cursor < len(self.found) else None

    def row_count(self) -> int:
        return len(self.found)

    def row_text(self, row: int, start: int, width: int) -> Text:
        one = self.found[row]
        mark, colour = SEVERITY_MARKS[one.entry["severity"]]
        title = printable(choose(one.entry["title"], self.lang)[0])
        text = Text(title)
        for begin, end in self._spans(title, one):
            text.stylize("bold underline yellow", begin, end)
        line = Text.assemble((mark, f"bold {colour}"), " ", text)
        room = width - line.cell_len - 2
        if room > len(one.entry["id"]):
            line.append(f"{one.entry['id']:>{room + 1}}", "dim")
        return line
