"""A page of terminal text, and the parts that matches and entries share."""

from __future__ import annotations

from typing import Any

from npu_kb.intake.clean import printable
from npu_kb.render.text import EFFECT_NAMES, Style, choose, label, side_by_side, width_of, wrap

_LABEL_WIDTH = 9


class Page:
    """Collects lines of at most `width` cells in one language (or both)."""

    def __init__(self, lang: str, colour: bool, width: int) -> None:
        self.lang = lang
        self.style = Style(colour)
        self.width = width
        self.lines: list[str] = []

    def blank(self) -> None:
        """An empty line, never two."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def paragraph(self, text: str, indent: int = 0, *styles: str) -> None:
        """Wrapped text behind an indent."""
        for line in wrap(printable(text), self.width - indent):
            self.lines.append(" " * indent + self.style(line, *styles))

    def heading(self, *parts: tuple[str, ...]) -> None:
        """Texts, each with its styles, on one line if they fit there."""
        self.lines += side_by_side(parts, self.width, self.style)

    def row(self, text: str) -> None:
        """A line of a table, as long as it is, so that ids in it can be copied."""
        self.lines.append(printable(text))

    def field(self, name: str, texts: list[str]) -> None:
        """A labelled paragraph; further texts stand below the first."""
        heading = label(name, self.lang)
        pad = " " * max(1, _LABEL_WIDTH - width_of(heading))
        lines = [line for text in texts for line in wrap(printable(text), self.width - width_of(heading + pad))]
        for i, line in enumerate(lines):
            self.lines.append((self.style(heading, "bold") + pad if i == 0 else " " * _LABEL_WIDTH) + line)

    def command(self, run: str, note: str = "") -> None:
        """A command line to copy, never wrapped inside, and a remark behind it where it fits."""
        for line in printable_lines(run):
            self.lines.append(" " * _LABEL_WIDTH + self.style(f"$ {line}", "cyan"))
        if note:
            self.paragraph(note, _LABEL_WIDTH + 2, "dim")

    def text(self) -> str:
        """All lines."""
        return "\n".join(self.lines).rstrip() + "\n"


def printable_lines(text: str) -> list[str]:
    """The lines of a command without control characters."""
    return [printable(line) for line in text.strip().split("\n")]


def remedies(page: Page, document: dict[str, Any]) -> None:
    """Fix, checks and verification: the same for a match and for an entry."""
    page.blank()
    for i, fix in enumerate(document["fix"], 1):
        _remedy(page, "fix" if i == 1 else "", i, len(document["fix"]), fix)
    page.blank()
    for i, check in enumerate(document["diagnose"]):
        if i == 0:
            page.lines.append(page.style(label("check", page.lang), "bold"))
        effect = "" if check["effect"] == "read" else f"[{choose(EFFECT_NAMES[check['effect']], page.lang)[0]}] "
        page.command(check["run"], effect + " / ".join(choose(check["expect"], page.lang)))
    page.blank()
    page.field("verify", choose(document["verify"], page.lang))


def _remedy(page: Page, name: str, number: int, total: int, fix: dict[str, Any]) -> None:
    effect = "" if fix["effect"] == "read" else f" [{choose(EFFECT_NAMES[fix['effect']], page.lang)[0]}]"
    texts = choose(fix, page.lang)
    texts[-1] += effect
    if total > 1:
        texts[0] = f"{number}. {texts[0]}"
    if name:
        page.field(name, texts)
    else:
        for text in texts:
            page.paragraph(text, _LABEL_WIDTH)
    if fix.get("run"):
        page.command(fix["run"])


def references(page: Page, references: list[dict[str, Any]]) -> None:
    if references:
        page.blank()
        page.field("sources", [r.get("url") or r["source"] for r in references])
