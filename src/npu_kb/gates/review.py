"""What a reviewer wants to see of a change: each entry with its answer, its neighbours and its counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from npu_kb.diagnosis.diagnose import diagnose
from npu_kb.gates.answers import Answers
from npu_kb.gates.context import Context
from npu_kb.gates.likeness import Neighbour, neighbours
from npu_kb.gates.run import Report
from npu_kb.gates.samples import prints_nothing
from npu_kb.gates.tally import Accuracy, Tally, accuracy
from npu_kb.knowledge.base import Document
from npu_kb.render.document import diagnosis_document

_MOST = 50
"""Changed entries that are looked at one by one."""
_FEW = 10
"""The same of entries that are checked without being compared; of more, none is."""


class EntryReview(NamedTuple):
    """One entry of a change."""

    id: str
    how: str
    """added, changed, removed or checked."""
    tally: Tally | None = None
    neighbours: Sequence[Neighbour] = ()
    answer: dict[str, Any] | None = None
    """The diagnosis document of its first hit sample, with the entry's own match only; none if it is not answered."""


class Review(NamedTuple):
    """A change as a whole."""

    entries: list[EntryReview]
    before: Accuracy | None
    """Of all samples at the revision that the change starts from; none where nothing is compared."""
    after: Accuracy | None


def review(report: Report) -> Review:
    """Look at the changed entries, or at those that were checked where nothing is compared."""
    context, history = report.context, report.history
    if history is None:
        ids = sorted(context.checked) if len(context.checked) <= _FEW else []
        return Review([_entry(id, "checked", report) for id in ids], None, None)
    live = {item.file.path.resolve(): item.entry.id for item in report.items if item.entry.id in context.checked}
    reviews = [_entry(live.get(c.path, c.path.stem), c.how, report) for c in history.entries[:_MOST]]
    before = history.knowledge_before()
    then, now = accuracy(before.entries(), Answers(before)), accuracy(context.entries.values(), context.answers)
    return Review(reviews, then, now)


def _entry(id: str, how: str, report: Report) -> EntryReview:
    context = report.context
    if id not in context.entries:
        return EntryReview(id, how)
    tallies = {tally.id: tally for tally in report.tallies}
    near = neighbours(id, context)
    return EntryReview(id, how, tallies.get(id), near, _answer(context.entries[id], context))


def _answer(entry: Document, context: Context) -> dict[str, Any] | None:
    """What somebody with the first hit sample sees of this entry."""
    sample = entry["samples"]["hit"][0]
    diagnosis = diagnose(sample, context.knowledge, suggest=prints_nothing(entry))
    own = [match for match in diagnosis.matches if match.entry["id"] == entry["id"]]
    if not own:
        return None
    return diagnosis_document(diagnosis._replace(matches=own, codes=[], next=[]), context.knowledge, in_full=False)
