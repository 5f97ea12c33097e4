"""The ledger of combinations that somebody ran: look there first, and write every further one down."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from npu_kb.environment.names import NAMES
from npu_kb.environment.verdict import Machine, Matrix, State, Texts
from npu_kb.errors import KnowledgeError, NpuKbError
from npu_kb.findings.write import place
from npu_kb.knowledge.base import Document
from npu_kb.knowledge.matrix import Tried
from npu_kb.knowledge.matrixfile import TRIED
from npu_kb.knowledge.wording import problems_of
from npu_kb.knowledge.yamlfile import Located
from npu_kb.releases import fits

LEAST_COMPONENTS = 2
"""Judged components without which versions are no combination."""
_STATES: dict[str, State] = {"works": "matched", "slow": "compatible", "fails": "unsupported"}
_RESULTS = {"works": ("works", "可用"), "slow": ("works, but slowly", "可用但较慢"), "fails": ("fails", "失败")}


def judge_tried(matrix: Matrix, machine: Machine) -> Iterator[tuple[str, tuple[State, Texts, str, None]]]:
    """(name, (state, reason, source, no mend)) of the combinations whose versions are all those of this machine."""
    for row in matrix.rows(TRIED):
        if _is_here(row, machine):
            name = " ".join(f"{component} {version}" for component, version in row["versions"].items())
            yield name, (_STATES[row["result"]], _reason(row, name), row.get("reference") or row["by"], None)


def _is_here(row: Document, machine: Machine) -> bool:
    if "chip" in row and machine.chips and row["chip"] not in machine.chips:
        return False
    found, versions = machine.found, row["versions"]
    if len(judged_of(versions)) < LEAST_COMPONENTS:
        return False
    return all(name in found and fits(found[name], version) for name, version in versions.items())


def judged_of(versions: Iterable[str]) -> list[str]:
    """Those of the components that are judged with others."""
    return [name for name in versions if name in NAMES]


def _reason(row: Document, name: str) -> Texts:
    note = row.get("note", {})
    en, zh = note.get("en") or note.get("zh", ""), note.get("zh") or note.get("en", "")
    result = _RESULTS[row["result"]]
    return {
        "en": f"Tried: {result[0]} (by {row['by']}, {row['date']}, {row['workload']}): {name}. {en}".strip(),
        "zh": f"已试：{result[1]}（{row['by']}，{row['date']}，{row['workload']}）：{name}。{zh}",
    }


def add_tried(kb: Path, combination: dict[str, Any]) -> Path:
    """Write a combination (the fields of knowledge.matrix.Tried) into kb/matrix/tried, in one step, and say where.

    KnowledgeError names every field that is wrong; NpuKbError too few components, or a file that exists already or
    cannot be written.
    """
    text = tried_text(combination)
    name = f"{combination['date']}-{combination['result']}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.yaml"
    path = kb / "matrix" / TRIED / name
    if path.exists():
        raise NpuKbError(f"{path}: this combination stands in the ledger already")
    place(text, path)
    return path


def tried_text(combination: dict[str, Any]) -> str:
    """The text of its file; KnowledgeError names every field that is wrong."""
    text = yaml.safe_dump(combination, allow_unicode=True, sort_keys=False, width=120)
    try:
        Tried.model_validate(combination)
    except ValidationError as error:
        file = Located(Path("combination"), combination, text)  # it stands in no file yet
        raise KnowledgeError(problems_of(error, file)) from None
    if len(judged := judged_of(combination["versions"])) < LEAST_COMPONENTS:
        raise NpuKbError(
            f"a combination needs at least two of the components that are judged (has {', '.join(judged) or 'none'}); "
            "name them: --combination torch_npu=2.7.1 cann=8.2.RC1"
        )
    return text
