"""Draft entries from FAQ pages in Markdown: a heading for each question, or a table with a row for each.

    npu-kb import markdown-faq docs/faq.md --source https://example.org/faq --out drafts

Below a question, headings or labels may name the parts (Symptom, Cause, Solution, 现象, 原因, 解决方法 ...); where none
does, the answer is taken as what helps. Fenced text that tells of an error is taken as program text.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from npu_kb.errors import Problem
from npu_kb.importing.files import read_text
from npu_kb.importing.item import Item, remedies, said
from npu_kb.importing.markdown import Section, plain, program_text, sections
from npu_kb.importing.rows import items_of, tells_faults
from npu_kb.importing.session import add_source, import_drafts
from npu_kb.importing.words import unnumbered

_LIMIT_BYTES = 20_000_000


def main(arguments: list[str]) -> int:
    """Make drafts of the questions; exit status 1 if some were faulty."""
    return import_drafts(arguments, "markdown-faq", __doc__, _read, add_source)


def _read(options: argparse.Namespace) -> Iterator[Item | Problem]:
    for path in options.files:
        found = sections(read_text(path, _LIMIT_BYTES))
        for section, below in zip(found, [*found[1:], None], strict=True):
            for table in section.tables:
                if tells_faults(table):
                    yield from items_of(path, table, options.source)
            is_chapter = below is not None and below.level > section.level and not section.texts.keys() - {""}
            if section.title and (section.texts or section.code) and not is_chapter:
                yield _item(path, section, options.source)


def _item(path: Path, section: Section, source: str) -> Item:
    error = program_text([section])
    answer = section.text("") if not (section.texts.keys() & {"cause", "fix"}) else ""
    symptom = "\n".join(filter(None, [section.text("symptom"), "" if answer else section.text("")]))
    return Item(
        path=path,
        line=section.line,
        where="",
        title=said(unnumbered(plain(section.title))),
        error=error,
        symptom=said(symptom),
        cause=said(section.text("cause")),
        fix=remedies(said(section.text("fix") or answer)),
        verify=said(section.text("verify")),
        source=source or f"{path.name}, line {section.line}",
        notes=tuple(_notes(section, error)),
    )


def _notes(section: Section, error: str) -> Iterator[str]:
    """Code that is no program text, the environment, and tables that are part of an answer."""
    yield from (text for texts in section.code.values() for text in texts if text not in error)
    yield section.text("environment")
    for table in section.tables:
        if not tells_faults(table):
            rows = [table.headings, *(row[1] for row in table.rows if not isinstance(row, Problem))]
            yield "\n".join(" | ".join(cells) for cells in rows)
