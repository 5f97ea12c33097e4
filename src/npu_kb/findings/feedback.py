"""Reports that an answer was right or wrong, and what they change in later answers."""

from __future__ import annotations

from typing import Any, Literal

from npu_kb.errors import NpuKbError
from npu_kb.findings.store import Store
from npu_kb.intake.clean import printable
from npu_kb.intake.redact import redact

_NOTE_CHARS = 1_000


def report(
    store: Store, verdict: Literal["right", "wrong"], entry: str | None, diagnosis: int | None, note: str
) -> dict[str, Any]:
    """Keep a report on `entry` (default: the first answer of the diagnosis, default: the last) and return it.

    The store's row of it, with all reports on the entry as "right" and "wrong" and what follows as "demoted".
    """
    row = known_diagnosis(store, diagnosis) if diagnosis else store.last_diagnosis()
    answers = [match["id"] for match in row["matches"]] if row else []
    if entry is None and not answers:
        what = f"diagnosis {row['id']} named no entry" if row else "nothing was diagnosed here yet"
        raise NpuKbError(f"{what}; name the entry: npu-kb feedback {verdict} ENTRY")
    named = entry or answers[0]
    number = row["id"] if row and (diagnosis or named in answers) else None
    id = store.add_feedback(number, named, verdict, redact(printable(note))[:_NOTE_CHARS])
    reports = store.reports()[named]
    return {
        "id": id,
        "diagnosis": number,
        "entry": named,
        "verdict": verdict,
        **reports._asdict(),
        "demoted": reports.demote,
    }


def known_diagnosis(store: Store, number: int) -> dict[str, Any]:
    """The diagnosis of this number; NpuKbError if there is none."""
    if row := store.diagnosis(number):
        return row
    raise NpuKbError(f"there is no diagnosis {number}; `npu-kb history` lists them")
