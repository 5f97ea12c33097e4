"""A snapshot, and the differences of two, as terminal text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_kb.intake.clean import printable
from npu_kb.render.environment_blocks import Block, difference_blocks, snapshot_blocks
from npu_kb.render.page import Page
from npu_kb.render.text import choose, filled, width_of

if TYPE_CHECKING:
    from npu_kb.environment.compare import Difference
    from npu_kb.environment.snapshot import Snapshot

_LABEL_WIDTH = 13
_SAVED = {
    "en": "saved {path}: {versions:version}, {npus:NPU}, {facts:other fact}; redacted",
    "zh": "已保存到 {path}：版本 {versions} 项，NPU {npus} 个，其他信息 {facts} 项；已脱敏",
}
SAME = {"en": "No difference that matters.", "zh": "没有需要关注的差异。"}


class _Sheet(Page):
    """A page of labelled blocks of lines."""

    def block(self, block: Block) -> None:
        """The lines behind a label."""
        pad = " " * max(1, _LABEL_WIDTH - width_of(block.heading))
        for number, row in enumerate(block.rows):
            before = len(self.lines)
            self.paragraph(row.text, _LABEL_WIDTH)
            if number == 0 and len(self.lines) > before:
                first = self.lines[before][_LABEL_WIDTH:]
                self.lines[before] = self.style(block.heading, "bold") + pad + first


def saved_text(snapshot: Snapshot, path: str, lang: str) -> str:
    """What was kept, in one line."""
    counts = {"versions": len(snapshot.versions), "npus": len(snapshot.chips), "facts": len(snapshot.facts)}
    return printable(filled(choose(_SAVED, lang)[0], path=path, **counts))


def snapshot_text(snapshot: Snapshot, lang: str, colour: bool, width: int) -> str:
    """One screen: what the machine is, its versions, its NPUs, and what is not as it should be."""
    page = _Sheet(lang, colour, width)
    for block in snapshot_blocks(snapshot, lang, 2 * width):
        page.block(block)
    return page.text()


def differences_text(differences: list[Difference], names: tuple[str, str], lang: str, colour: bool, width: int) -> str:
    """What the two are called; then what differs, by kind: name, the first side's value, the second's."""
    page = _Sheet(lang, colour, width)
    if differences:
        page.paragraph(" -> ".join(map(printable, names)), _LABEL_WIDTH, "bold")
    else:
        page.lines.append(choose(SAME, lang)[0])
    for block in difference_blocks(differences, lang):
        page.block(block)
    return page.text()
