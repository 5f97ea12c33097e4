"""Gates on tables of one-line faults: each row is needed, answers its own text, and names what there is."""

from __future__ import annotations

from collections.abc import Iterator

from npu_kb.errors import Problem
from npu_kb.gates.context import Context
from npu_kb.gates.patterns import is_wrapper
from npu_kb.knowledge.signatures import Head, Signature, SignatureTable
from npu_kb.patterns import example, fixed_parts, squeeze

RULE = "signatures_answer"
_SHORT = 8
"""Squeezed characters; a shorter text needs another one near it."""


def signature_problems(tables: list[SignatureTable], context: Context) -> Iterator[Problem]:
    """What is wrong with the rows of these tables in the company of all knowledge."""
    titles: dict[str, list[str]] = {}
    for document in (*context.entries.values(), *context.knowledge.signatures()):
        for title in document["title"].values():
            titles.setdefault(title.casefold(), []).append(document["id"])
    for table in tables:
        for problem in _problems(table, titles, context):
            yield problem._replace(rule=RULE)


def _problems(table: SignatureTable, titles: dict[str, list[str]], context: Context) -> Iterator[Problem]:
    if table.head.topic not in context.knowledge.topics():
        yield table.file.problem(("topic",), f"{table.head.topic!r} is not in kb/topics.yaml")
    for name, step in table.head.next.items():
        if step.command and context.knowledge.command(step.command) is None:
            yield table.file.problem(("next", name, "command"), f"{step.command!r} is not in kb/commands.yaml")
    for id, (index, row) in table.rows.items():
        for field, message in _faults(id, row, table.head, titles, context):
            yield table.file.problem(("rows", index, field), message)


def _faults(
    id: str, row: Signature, head: Head, titles: dict[str, list[str]], context: Context
) -> Iterator[tuple[str, str]]:
    near = head.near if row.near is None else row.near
    for text in (row.text, *row.any):
        if len(squeeze("".join(fixed_parts(text)))) < _SHORT and not near:
            yield "text", f"{text!r} is too short to tell anything apart; lengthen it or add `near:`"
        elif is_wrapper(text) and not row.wrapper:
            yield "text", f"{text!r} only says that something failed; set `wrapper: true`"
        elif other := _other_answer(id, sample_of(text, near), row, context):
            yield "text", f"{text!r} is answered with {other} first; leave out what is known already, or sharpen one"
    for lang in ("en", "zh"):
        others = [other for other in titles[getattr(row, lang).casefold()] if other != id]
        if others and min(others) < id:
            yield lang, f"is the title of {min(others)} too; say what differs, or make `any:` of one text"


def sample_of(text: str, near: list[str]) -> str:
    """A log that holds the text, and one of those that stand near it."""
    return "\n".join(map(example, (*near[:1], text)))


def _other_answer(id: str, sample: str, row: Signature, context: Context) -> str:
    """What answers a row's own sample in its place, and as surely; empty if nothing does."""
    first = next(iter(context.answers.to(sample)), None)
    if first is None:
        return "nothing"
    return first.id if first.id != id and (first.is_claim or row.wrapper) else ""
