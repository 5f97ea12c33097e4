"""kb/signatures/*.yaml: tables of one-line faults, for breadth beside the entries' depth.

A row says what one line of program text means, what is likely behind it and what to do next. It is compiled to an
entry in short form, so that all that reads entries can show it; its id is the file's name and the words of its text,
as in `driver-svm.mem-map-failed`, and its field `signature` tells it from an entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

from pydantic import Field, ValidationError, field_validator

from npu_kb.errors import Problem
from npu_kb.knowledge.entry import Bilingual, Block, Layer, Model, Pattern, Sentence, Slug
from npu_kb.knowledge.entryfile import is_built_in, runaways
from npu_kb.knowledge.slug import SLUG
from npu_kb.knowledge.wording import problems_of
from npu_kb.knowledge.yamlfile import Located, read_yaml

FOLDER = "signatures"
_ID_WORDS, _ID_CHARS = 8, 48
_VERIFY = {"en": "The same step runs again and the line stays away.", "zh": "重新执行同一步骤，不再出现该行日志。"}


class Remedy(Bilingual):
    """What to do where the line stands, and the command for it by its id in commands.yaml."""

    command: Slug | None = None


class Signature(Model):
    """One line of program text and what it says."""

    text: Pattern = Field(description="Exact program text; <*> <int> <hex> <word:name> stand for what varies.")
    any: list[Pattern] = Field(default=[], description="Other spellings that say the same.")
    near: list[Pattern] | None = Field(
        default=None, description="One of these stands in the log too; in place of the file's."
    )
    en: Sentence = Field(description="What went wrong, as a title.")
    zh: Sentence
    likely: Sentence = Field(description="What is behind it.")
    likely_zh: Sentence
    next: list[Slug] = Field(min_length=1, description="Names of the table `next`, the mildest first.")
    source: list[str] = Field(min_length=1, description="Names of the table `sources`.")
    wrapper: bool = Field(
        default=False, description="It only passes on another's failure: a suggestion, never a claim."
    )
    severity: Literal["fault", "degraded", "benign"] = "fault"

    @field_validator("next", "source", "any", "near", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value


class Head(Model):
    """What the rows of a file share."""

    component: Bilingual
    layer: Layer
    topic: Slug
    near: list[Pattern] = Field(default=[])
    general: bool = False
    sources: dict[str, Sentence] = Field(min_length=1)
    next: dict[Slug, Remedy] = Field(min_length=1)


@dataclass
class SignatureTable:
    """A file of signatures: its head, and the good rows by id, each with its place in the file."""

    head: Head
    rows: dict[str, tuple[int, Signature]]
    file: Located
    is_foreign: bool
    """Whether it is from outside the built-in knowledge, so that its patterns get a budget."""

    def documents(self, commands: dict[str, dict[str, Any]]) -> Iterator[tuple[dict[str, Any], list[Block]]]:
        """Each row as the document of an entry, and its match blocks; commands are written out."""
        for id, (_, row) in self.rows.items():
            blocks = blocks_of(row, self.head)
            yield _document(id, row, self.head, blocks, commands), blocks


def read_signatures(path: Path, trusted: bool = False) -> tuple[SignatureTable | None, list[Problem]]:
    """The good rows of one file, and what is wrong with the others; None where the head is wrong.

    The patterns of a file that is neither built in nor `trusted` must not run away.
    """
    file, problems = read_yaml(path)
    if file is None:
        return None, problems
    if not re.fullmatch(SLUG, path.stem):
        return None, [file.problem((), "its name starts the ids of its rows; use lower-case words joined by -")]
    if not isinstance(file.value, dict) or not isinstance(file.value.get("rows"), list):
        return None, [file.problem(("rows",), "no list of rows; write `rows:` and one `- {text: ...}` per line")]
    try:
        head = Head.model_validate({name: value for name, value in file.value.items() if name != "rows"})
    except ValidationError as error:
        return None, problems_of(error, file)
    table = SignatureTable(head, {}, file, not (trusted or is_built_in(path)))
    for index, written in enumerate(file.value["rows"]):
        problems += _read_row(index, written, table)
    return table, problems


def _read_row(index: int, written: object, table: SignatureTable) -> list[Problem]:
    try:
        row = Signature.model_validate(written)
        blocks = blocks_of(row, table.head)
    except ValidationError as error:
        return problems_of(error, table.file, ("rows", index))
    if table.is_foreign and (fault := next((fault for block in blocks for fault in runaways(block)), None)):
        return [table.file.problem(("rows", index, "text"), fault[1])]
    unknown = [
        table.file.problem(("rows", index, field), f"{name!r} is not in the table `{where}`; add it there")
        for field, where, names, known in (
            ("next", "next", row.next, table.head.next),
            ("source", "sources", row.source, table.head.sources),
        )
        for name in names
        if name not in known
    ]
    if not unknown:
        table.rows[_id_of(row.text, table)] = (index, row)
    return unknown


def _id_of(text: str, table: SignatureTable) -> str:
    """A readable id; of rows whose texts read alike, the later ones get a check sum of their text."""
    words = re.findall(r"[a-z0-9]+", re.sub(r"<[^<>]*>", " ", text).lower())[:_ID_WORDS]
    mark = f"{crc32(text.encode()):08x}"
    id = f"{table.file.path.stem}.{'-'.join(words)[:_ID_CHARS].strip('-') or mark}"
    return f"{id}-{mark}" if id in table.rows else id


def blocks_of(row: Signature, head: Head) -> list[Block]:
    """A match block for each spelling."""
    near = head.near if row.near is None else row.near
    proves = "possible" if row.wrapper else "likely"
    return [Block.model_validate({"text": [text], "any": near, "proves": proves}) for text in (row.text, *row.any)]


def _document(
    id: str, row: Signature, head: Head, blocks: list[Block], commands: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    sources = [head.sources[name] for name in row.source]
    return {
        "id": id,
        "signature": True,
        "component": {"en": head.component.en, "zh": head.component.zh},
        "title": {"en": row.en, "zh": row.zh},
        "layer": head.layer,
        "topic": head.topic,
        "severity": row.severity,
        "role": "wrapper" if row.wrapper else "root",
        "general": head.general,
        "status": "reported",
        "symptom": {
            "en": f"{head.component.en}: the log says `{row.text}`.",
            "zh": f"{head.component.zh}：日志出现 `{row.text}`。",
        },
        "match": [block.model_dump(mode="json", exclude_none=True) for block in blocks],
        "versions": {"affected": {}, "chip": [], "fixed": {}},
        "cause": {"en": row.likely, "zh": row.likely_zh},
        "aliases": [], "causes": [], "related": [], "diagnose": [],
        "fix": [_fix(head.next[name], commands) for name in row.next],
        "verify": _VERIFY,
        "samples": {"hit": [row.text, *row.any], "miss": []},
        "references": [{"url" if re.match(r"https?://", text) else "source": text} for text in sources],
    }  # fmt: skip


def _fix(step: Remedy, commands: dict[str, dict[str, Any]]) -> dict[str, str]:
    texts = {"en": step.en, "zh": step.zh, "effect": "read"}
    command = commands.get(step.command or "")
    return {**texts, "run": command["run"], "effect": command["effect"]} if command else texts
