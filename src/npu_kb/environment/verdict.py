"""What a rule says of two versions, and what it may look at: the matrix and the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from npu_kb.knowledge.base import Document, Knowledge
from npu_kb.releases import fits

State = Literal["matched", "compatible", "unsupported", "unknown"]
Texts = dict[str, str]
GOOD = ("matched", "compatible")


class Verdict(NamedTuple):
    """A state with its reason; `mend` where something should be changed that is no matter of the versions alone."""

    state: State
    reason: Texts
    source: str
    """Empty where no source speaks of the two."""
    mend: Texts | None = None
    is_indirect: bool = False
    """Whether it rests on inference alone."""


class Machine(NamedTuple):
    """Whose versions are judged."""

    chips: frozenset[str]
    """Families, as entries name them."""
    arch: str | None
    found: dict[str, str]
    compatibility: dict[str, dict[str, Any]]
    """What the machine's own files accept, as snapshots hold it: driver, firmware, cann and npu."""

    def files(self, component: str, version: str) -> dict[str, Any]:
        """What the files of a component say, if this is the version that is installed."""
        return self.compatibility.get(component, {}) if self.found.get(component) == version else {}


class Matrix:
    """The tables of kb/matrix, each read once."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._tables: dict[str, list[Document]] = {}
        self._found: dict[tuple[str, str], Document | None] = {}

    def rows(self, table: str) -> list[Document]:
        """All rows of a table."""
        if table not in self._tables:
            self._tables[table] = self._knowledge.matrix(table)
        return self._tables[table]

    def row(self, table: str, version: str) -> Document | None:
        """The row of this version; a table's first field is named as the table."""
        if (table, version) not in self._found:
            rows = (row for row in self.rows(table) if fits(version, row[table]))
            self._found[table, version] = next(rows, None)
        return self._found[table, version]

    def cann(self, version: str) -> str:
        """The name under which the tables know a release of CANN: 8.0.0 for the community's 8.0.0.beta1."""
        others = ((row["cann"][0], name) for row in self.rows("cann_label") if row["cann"] for name in row["also"])
        return next((name for name, other in others if fits(version, other)), version)


Rule = Callable[[Matrix, Machine, str, str], Verdict]


def say(
    state: State, texts: tuple[str, str], rows: Document | Iterable[Document], source: str = "", about: str = ""
) -> Verdict:
    """A verdict with the sources of the rows it rests on, and what is disputed in them about a component."""
    used = [rows] if isinstance(rows, dict) else list(rows)
    en, zh = texts
    for row in used:
        if (dispute := row.get("disputed")) and dispute["about"] == about:
            en, zh = f"{en} Sources differ: {dispute['en']}", f"{zh} 来源不一致：{dispute['zh']}"
    is_indirect = bool(used) and all(row["verified"] == "unverified" for row in used)
    if is_indirect:
        en, zh = f"{en} (The source is indirect.)", f"{zh}（来源为间接推断。）"
    told = source or "; ".join(dict.fromkeys(row["source"] for row in used))
    return Verdict(state, {"en": en, "zh": zh}, told, is_indirect=is_indirect)


def listed(releases: Iterable[str], mark: str = ", ") -> str:
    """Releases one after the other with a mark between them (`、` in Chinese), or a dash."""
    return mark.join(dict.fromkeys(releases)) or "-"


def named(row: Document, field: str) -> list[str]:
    """The releases that a row names in a field, whether it holds one or a list."""
    value = row.get(field) or []
    return [value] if isinstance(value, str) else list(value)
