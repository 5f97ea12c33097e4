"""The snapshot that pasted outputs tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from npu_kb.environment.assemble import assemble_plain, redacted
from npu_kb.environment.snapshot import HOST, Snapshot, is_snapshot, read_output, snapshot_in
from npu_kb.errors import NpuKbError
from npu_kb.intake.logtext import lines_of


def snapshot_from(
    names: list[str], host: str | None = None, warn: Callable[[str], None] = lambda line: None
) -> Snapshot:
    """What files of outputs (`-`: standard input) say of a machine; a kept snapshot is taken as it is.

    `warn` is told of versions in which the files differ. NpuKbError where they say nothing, or where a snapshot is
    one of several files: no machine is made of two.
    """
    texts = {name: read_output(name) for name in names}
    if kept := next((name for name in names if is_snapshot(texts[name])), None):
        if len(texts) > 1:
            raise NpuKbError(f"{kept}: is the snapshot of a whole machine; give it alone, or `npu-kb env compare A B`")
        snapshot = snapshot_in(texts[kept], kept)
    else:
        lines = [line for name, text in texts.items() for line in lines_of(text, name)]
        plain = assemble_plain(lines, {"host": host or HOST})
        for line in _contradictions(plain):
            warn(line)
        snapshot = redacted(plain)
    if not (snapshot.facts or snapshot.versions or snapshot.environment):
        raise NpuKbError(
            f"{', '.join(texts)}: holds no fact and no version of a machine; give outputs such as that of "
            "`npu-smi info`, or a snapshot of `npu-kb env save FILE`"
        )
    return snapshot


def _contradictions(snapshot: Snapshot) -> Iterator[str]:
    """A line on each component of which two files name different versions."""
    for component, first in snapshot.versions.items():
        if other := next((other for other in first.also if other.source != first.source), None):
            yield (
                f"{first.source} says {component} {first.version}, {other.source} says {other.version}: "
                "the first one counts; give files of one machine"
            )
