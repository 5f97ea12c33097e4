"""What the TUI remembers from one run to the next: place, theme and searches. Losing it is never an error."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from npu_kb.tui.files import read_regular, write_private

_MOST_SEARCHES = 50


@dataclass
class State:
    """The place where the user was, and how they want it to look."""

    layer: str = ""
    topic: str = ""
    entry: str = ""
    query: str = ""
    theme: str = ""
    searches: list[str] = field(default_factory=list)
    """The last one last."""

    def remember_search(self, query: str) -> None:
        """Put a search to the end of the history, each once."""
        if query := query.strip():
            self.searches = [*(old for old in self.searches if old != query), query][-_MOST_SEARCHES:]

    @classmethod
    def load(cls, path: str | None) -> State:
        """The state at `path`; a fresh one where there is none, or none that can be used."""
        try:
            document = json.loads(read_regular(Path(path))) if path else {}
        except (ValueError, RecursionError):
            document = {}
        state = cls()
        for name, default in asdict(state).items():
            value = document.get(name) if isinstance(document, dict) else None
            if type(value) is type(default):
                setattr(state, name, value)
        state.searches = [query for query in state.searches if isinstance(query, str)][-_MOST_SEARCHES:]
        return state

    def save(self, path: str | None) -> None:
        """Write it; nothing happens where that is not possible."""
        if path:
            write_private(Path(path), json.dumps(asdict(self), ensure_ascii=False))
