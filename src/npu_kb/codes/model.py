"""What a code and a catalogue are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

FAMILIES = (
    "acl", "aclnn", "rt", "ts", "aicpu", "cann", "torch_npu", "hccl", "ge", "drv", "dcmi", "device", "aicore", "env",
)  # fmt: skip

CodeRow = dict[str, Any]
"""One catalogue row as JSON: family, code, key, wrapper, meaning {en, zh?}, likely and action alike, source, …"""


class CodeLookup(Protocol):
    """Where catalogue rows come from: the compiled store or a table in memory."""

    def lookup(self, family: str, key: str) -> CodeRow | None:
        """The row of one code, or None."""

    def with_prefix(self, prefix: str) -> list[CodeRow]:
        """Rows whose code or symbol starts with the prefix; the case of letters does not matter."""


class CodeTable:
    """Catalogue rows in memory."""

    def __init__(self, rows: Iterable[CodeRow]) -> None:
        self._rows = {(row["family"], row["key"]): row for row in rows}

    def lookup(self, family: str, key: str) -> CodeRow | None:
        """The row of one code, or None."""
        return self._rows.get((family, key))

    def with_prefix(self, prefix: str) -> list[CodeRow]:
        """Rows whose code or symbol starts with the prefix; the case of letters does not matter."""
        return [row for row in self._rows.values() if _starts_with(row, prefix)]


def _starts_with(row: CodeRow, prefix: str) -> bool:
    wanted = prefix.lower()
    return str(row["code"]).lower().startswith(wanted) or str(row.get("symbol", "")).lower().startswith(wanted)
