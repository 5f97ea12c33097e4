"""Markdown as people report and explain faults in it: sections, in each the parts that its headings name."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from npu_kb.importing.tables import Table
from npu_kb.importing.words import part_of
from npu_kb.intake.salient import speaks_of_error

_TAG = re.compile(r"</?[A-Za-z][^<>]{0,500}>|<!--.{0,2000}?-->", re.DOTALL)
_BREAK = re.compile(r"(?i)<br\s*/?>")
_MARKS = re.compile(r"(`+)(.+?)\1|\*\*(?=\S)(.+?)(?<=\S)\*\*|!?\[([^\]\n]{0,300})\]\([^()\s]{0,500}\)")
_BOLD_LABEL = re.compile(r"^(?:\*\*|__)(?P<label>[^*_\n]{1,40}?)\s*[:：]?\s*(?:\*\*|__)\s*[:：]?\s*(?P<rest>.*)$")
_PLAIN_LABEL = re.compile(r"^(?P<label>[^:：\n]{1,40}?)\s*[:：]\s*(?P<rest>.*)$")

_SCRIPTS = re.compile(r"bash|c|cpp|c\+\+|cmake|diff|dockerfile|go|ini|java|json|python|py|sh|shell|toml|xml|ya?ml")
"""Languages of code that somebody wrote."""
_DEEPEST = 9
"""Level of a label: every heading ends its part."""

_PRINTED = re.compile(
    r"Traceback \(most recent|\b\w*(?:Error|Exception): |\bE[A-Z]\d{4}\b|\[ERROR\]|\berror code\b|\bERR\d{5}\b|错误码"
)
_LOG_PARTS = ("error", "", "symptom")
"""Parts in which a log stands."""


class Block(NamedTuple):
    """A heading, a piece of prose or code, or a table, and the line where it starts (from 1)."""

    kind: str
    line: int
    text: str = ""
    level: int = 0
    table: Table | None = None
    info: str = ""
    """Language of code."""


@dataclass
class Section:
    """What stands under one heading; `texts` and `code` by the part of an entry that it belongs to.

    The part "" is what no heading or label names; in `code`, "script" is what somebody wrote and no program printed.
    """

    title: str
    level: int
    line: int
    texts: dict[str, list[str]] = field(default_factory=dict)
    code: dict[str, list[str]] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)

    def text(self, part: str) -> str:
        """The prose of a part, without Markdown's marks."""
        return "\n".join(map(plain, self.texts.get(part, ())))


def sections(text: str) -> list[Section]:
    """A section for each heading that names no part of an entry; what stands before the first one has no title."""
    found = [Section("", 0, 1)]
    part, part_level = "", 0
    for block in blocks(text):
        if block.kind == "heading":
            named, _ = part_of(block.text)
            if named:
                part, part_level = named, block.level
            elif part and part_level < block.level:
                _add(found[-1].texts, part, block.text)
            else:
                found.append(Section(block.text, block.level, block.line))
                part, part_level = "", 0
        elif block.table is not None:
            found[-1].tables.append(block.table)
        elif block.kind == "code":
            is_script = _SCRIPTS.fullmatch(block.info) and not _tells_error(block.text)
            _add(found[-1].code, "script" if is_script else part, block.text)
        elif label := _add_prose(found[-1], part, block.text):
            part, part_level = label, _DEEPEST
    return found


def program_text(found: list[Section]) -> str:
    """What a program printed: code that tells of an error, else such lines of the prose, where nothing is fenced.

    Where neither is, what stands under a heading such as Log, and code under one such as Symptom.
    """
    code = {part: [text for section in found for text in section.code.get(part, ())] for part in _LOG_PARTS}
    prose = {part: [line for section in found for line in section.texts.get(part, ())] for part in _LOG_PARTS}
    told = [text for texts in code.values() for text in texts if _tells_error(text)]
    told = told or [line.strip("` ") for lines in prose.values() for line in lines if _PRINTED.search(line)]
    return "\n".join(told or [*code["error"], *prose["error"], *code["symptom"]])


def _add_prose(section: Section, part: str, text: str) -> str:
    """Add lines to the part, or to those that labels among them name; the last label, or nothing."""
    last = ""
    for line in text.split("\n"):
        label, rest = _label(line)
        last = label or last
        _add(section.texts, last or part, rest)
    return last


def _tells_error(text: str) -> bool:
    return any(map(speaks_of_error, text.split("\n")))


def _add(parts: dict[str, list[str]], part: str, text: str) -> None:
    if text.strip():
        parts.setdefault(part, []).append(text)


def _label(line: str) -> tuple[str, str]:
    """The part that a line begins with by name (`**原因**: ...`, `Solution: ...`), and the rest of the line."""
    for pattern in (_BOLD_LABEL, _PLAIN_LABEL):
        if found := pattern.match(line.strip()):
            part, _ = part_of(found["label"])
            prints = pattern is _PLAIN_LABEL and part == "error" and found["label"].isascii()
            if part and not prints:  # a program prints `Error: ...` itself
                return part, found["rest"]
    return "", line


def plain(text: str) -> str:
    """Prose without Markdown's marks, links and HTML tags."""
    text = _BREAK.sub("\n", text)
    if "<" in text:
        text = _TAG.sub("", text)
    return html.unescape(_MARKS.sub(lambda found: found[2] or found[3] or found[4] or "", text))


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a text in their order, those inside lists and quotes too."""
    tokens = iter(_parser().parse(text))
    marker, level = "", 0
    for token in tokens:
        line = token.map[0] + 1 if token.map else 1
        if token.type == "table_open":
            yield Block("table", line, table=_table(line, tokens))
        elif token.type == "heading_open":
            level = int(token.tag[1:])
        elif token.type == "list_item_open":
            marker = f"{token.info}. " if token.info else "- "
        elif token.type == "inline":
            yield Block("heading" if level else "prose", line, marker + token.content, level)
            marker, level = "", 0
        elif token.type in ("fence", "code_block"):
            yield Block("code", line, token.content, info=token.info.strip().lower())
        elif token.type == "html_block":
            yield _html(line, token.content)


def _html(line: int, source: str) -> Block:
    """A block of HTML: what <pre> holds is code."""
    kind = "code" if re.search(r"(?i)<pre\b", source) else "prose"
    return Block(kind, line, html.unescape(_TAG.sub("", _BREAK.sub("\n", source))).strip())


def _table(line: int, tokens: Iterator[Any]) -> Table:
    rows: list[tuple[int, list[str]]] = []
    for token in tokens:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append((token.map[0] + 1 if token.map else line, []))
        elif token.type == "inline" and rows:
            rows[-1][1].append(plain(token.content).strip())
    headings = rows[0][1] if rows else []
    return Table("", line, headings, rows[1:])


def _parser() -> Any:
    """A parser of blocks only: what stands inside a line is left to `plain`."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": 20}).enable("table").disable("inline")
