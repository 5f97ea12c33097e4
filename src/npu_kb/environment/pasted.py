"""The snapshot that pasted outputs tell."""

from __future__ import annotations

from pathlib import Path

from npu_kb.environment.assemble import assemble
from npu_kb.environment.snapshot import HOST, SCHEMA, Snapshot, read_snapshot
from npu_kb.importing.files import read_bytes
from npu_kb.intake.logtext import Line, lines_of

_MOST_BYTES = 20_000_000


def snapshot_from(names: list[str], host: str | None = None) -> Snapshot:
    """What files of outputs (`-`: standard input) say of a machine; a kept snapshot is taken as it is."""
    lines: list[Line] = []
    for name in names:
        data = read_bytes(Path(name), _MOST_BYTES)
        if len(names) == 1 and name != "-" and data.lstrip().startswith(b"{") and SCHEMA.encode() in data:
            return read_snapshot(name)
        lines += lines_of(data, name)
    return assemble(lines, {"host": host or HOST})
