"""Reports that a cause was right or wrong: kept in the store, and taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from npu_kb.errors import NpuKbError
from npu_kb.tui.screens.dialogs import AskDialog
from npu_kb.tui.words import say

if TYPE_CHECKING:
    from npu_kb.tui.app import KnowledgeApp


def keep_report(app: KnowledgeApp, verdict: Literal["right", "wrong"], entry: str, note: str = "") -> int | None:
    """Keep a report on an entry and say so; its number in the store, None if it could not be kept."""
    from npu_kb.findings.feedback import report
    from npu_kb.findings.store import Store

    try:
        with Store.open() as store:
            row = report(store, verdict, entry, app.session.number, note)
    except NpuKbError as error:
        app.tell_error(error)
        return None
    words = {"verdict": say(verdict, app.lang), "right": row["right"], "wrong": row["wrong"]}
    app.notify(say("kept report", app.lang, id=entry, **words), markup=False)
    return int(row["id"])


def report_wrong(app: KnowledgeApp, entry: str) -> None:
    """Ask what it was instead, and keep that this entry was wrong."""

    def answered(note: object) -> None:
        if isinstance(note, str):
            keep_report(app, "wrong", entry, note)

    app.push_screen(AskDialog(say("what instead", app.lang)), answered)


def withdraw_report(app: KnowledgeApp, entry: str, number: int | None) -> None:
    """Take the report of that number on an entry back, and say so."""
    from npu_kb.findings.store import Store

    try:
        if number is not None:
            with Store.open() as store:
                store.withdraw_feedback(number)
    except NpuKbError as error:
        app.tell_error(error)
    else:
        app.notify(say("withdrawn", app.lang, id=entry), markup=False)
