"""Record: a new entry from lines of a log, checked and held against its neighbours while it is written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Select, SelectionList, Static
from textual.widgets.selection_list import Selection

from npu_kb.errors import NpuKbError
from npu_kb.intake.clean import printable
from npu_kb.intake.logtext import LogText
from npu_kb.render.text import EFFECT_NAMES, SEVERITY_NAMES, VERDICT_NAMES, choose
from npu_kb.tui.keys import Key, bindings
from npu_kb.tui.screens.base import PlaceScreen, app_of, key_line
from npu_kb.tui.screens.dialogs import TextDialog
from npu_kb.tui.words import value_name

if TYPE_CHECKING:
    from npu_kb.findings.proposals import Proposal
    from npu_kb.tui.form import Form, Judged

_BLANK = "_" * 40
"""Where something can be typed, seen in every theme."""
_KEYS_WITHOUT_FORM = (Key("f3", "app.go('diagnose')", "diagnose"),)
_PATIENCE = 0.5
"""Seconds without a key after which the fields are judged."""


class RecordScreen(PlaceScreen):
    """Where a finding becomes knowledge."""

    NAME = "record"
    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("ctrl+s", "save", "save"), Key("ctrl+o", "preview", "preview"),
        Key("tab", "app.focus_next", "next part"), Key("f7", "judge_now", "check now"),
    )  # fmt: skip
    BINDINGS = bindings(KEYS)

    def __init__(self) -> None:
        super().__init__()
        self._form: Form | None = None
        self._judged: Judged | None = None
        self._own: set[str] = set()
        """Fields that the user filled; the others follow what is suggested."""
        self._timer: Timer | None = None

    def body(self) -> ComposeResult:
        with Container(id="record"):
            yield VerticalScroll(id="form", can_focus=False)
            with VerticalScroll(id="judgement"):
                yield Static(id="judged", markup=False)
        yield Static(id="no-record", markup=False)

    def tell(self) -> None:
        super().tell()
        self.query_one("#no-record", Static).update(self.say("nothing to record"))
        self._show_whether_empty()
        for field in self.query(".ask").results(Static):
            field.update(ask_for(str(field.name), self.lang))
        self._show_judged()

    def _show_whether_empty(self) -> None:
        """Without a form there is nothing to save: its keys give way to the one that leads to a log."""
        self.set_class(self._form is None, "empty")
        self.query_one("#keys", Static).update(key_line(self.KEYS if self._form else _KEYS_WITHOUT_FORM, self.lang))

    def on_screen_resume(self) -> None:
        if lines := app_of(self).take_lines_to_record():
            self.query_one("#no-record", Static).update(self.say("getting ready"))
            self._form = None
            self._show_whether_empty()
            self._begin(lines)

    @work(thread=True, exclusive=True, group="begin")
    def _begin(self, log: LogText) -> None:
        """Make the form of a log, for which all known texts are read."""
        from npu_kb.tui.form import Form  # heavy, and not needed for the first frame

        app = app_of(self)
        try:
            form = Form(log, app.knowledge, app.kb)
        except NpuKbError as error:
            self.app.call_from_thread(app.tell_error, error)
            self.app.call_from_thread(self.tell)
        else:
            self.call_later(self._show_form, form)

    async def _show_form(self, form: Form) -> None:
        self._form, self._judged, self._own = form, None, set()
        holder = self.query_one("#form", VerticalScroll)
        await holder.remove_children()
        await holder.mount_all(self._fields(form))
        self.tell()
        self.query("#form Input").first().focus(scroll_visible=False)
        self.action_judge_now()

    def _fields(self, form: Form) -> list[Widget]:
        """The proposals, then every field below its question."""
        title = self.say("proposals") if form.proposals else self.say("no proposals")
        selections = [
            Selection(self._proposal_text(p), number, number == 1 and not p.good_logs)
            for number, p in enumerate(form.proposals, 1)
        ]
        widgets: list[Widget] = [Static(title, classes="title", markup=False)]
        widgets += [SelectionList[int](*selections, id="picks")] if selections else []
        for path in form.paths(self.lang):
            widgets.append(Static(ask_for(path, self.lang), name=path, classes="ask", markup=False))
            if path in form.choices:
                options = [(self._choice_name(path, value), value) for value in form.choices[path]]
                widgets.append(Select(options, name=path, compact=True, prompt="-"))
            else:
                widgets.append(Input(name=path, compact=True, placeholder=_BLANK))
        excerpt = Text("\n".join(printable(line) for line in form.excerpt), "dim", no_wrap=True)
        return [*widgets, Static(self.say("excerpt"), classes="title", markup=False), Static(excerpt, markup=False)]

    def _proposal_text(self, proposal: Proposal) -> Text:
        """The texts of a proposal, and that it makes no claim where other faults print them too."""
        text = Text(" + ".join(map(printable, proposal.texts)))
        mark = choose(VERDICT_NAMES["possible"], self.lang)[0]
        return text.append(f" ({mark})", "dim") if proposal.is_general else text

    def _choice_name(self, path: str, value: str) -> str:
        """What a value of a closed list is called, and how the YAML writes it."""
        topics = app_of(self).catalog.topics
        names = {"topic": topics, "severity": SEVERITY_NAMES, "fix.effect": EFFECT_NAMES}.get(path, {})
        name = value_name(path, value, self.lang) if path == "layer" else choose(names[value], self.lang)[0]
        return name if name.lower() == value else f"{name} ({value})"

    @on(Input.Changed)
    @on(Select.Changed)
    def changed(self, event: Input.Changed | Select.Changed) -> None:
        """A change by the user: what we suggest is set without such a message."""
        widget = event.input if isinstance(event, Input.Changed) else event.select
        if self._value(widget):
            self._own.add(str(widget.name))
        else:
            self._own.discard(str(widget.name))
        self._judge_soon()

    @on(SelectionList.SelectedChanged)
    def picked(self) -> None:
        self._judge_soon()

    def _judge_soon(self) -> None:
        if self._timer:
            self._timer.stop()
        self._timer = self.set_timer(_PATIENCE, self.action_judge_now)

    def action_judge_now(self) -> None:
        if self._form:
            self._judge(self._form, self._values(), self._picks(), False)

    @staticmethod
    def _value(widget: Input | Select[Any]) -> str:
        return widget.value if isinstance(widget.value, str) else ""

    def _field_widgets(self) -> list[Input | Select[Any]]:
        return [*self.query("#form Input").results(Input), *self.query("#form Select").results(Select)]

    def _values(self) -> dict[str, str]:
        return {str(w.name): self._value(w) for w in self._field_widgets() if w.name in self._own}

    def _picks(self) -> list[int]:
        lists = list(self.query("#picks").results(SelectionList))
        return sorted(lists[0].selected) if lists else []

    @work(thread=True, exclusive=True, group="judge")
    def _judge(self, form: Form, values: dict[str, str], picks: list[int], save: bool) -> None:
        try:
            judged = form.judge(values, picks)
            if save and judged.is_clean:
                form.save(judged)
                self.call_later(self._saved, judged)
                return
        except NpuKbError as error:
            self.app.call_from_thread(app_of(self).tell_error, error)
            return
        self.app.call_from_thread(self._use_judged, form, judged, save)

    def _use_judged(self, form: Form, judged: Judged, save: bool) -> None:
        if form is not self._form:
            return
        self._judged = judged
        with self.prevent(Input.Changed, Select.Changed):
            for widget in self._field_widgets():
                suggestion = judged.suggestions.get(str(widget.name), "")
                if suggestion and widget.name not in self._own and suggestion != self._value(widget):
                    widget.value = suggestion
        self._show_judged()
        if save:
            problem = self.say("not yet", names=self._names(judged)) if judged.missing else self.say("not clean")
            self.notify(problem, severity="warning", markup=False)

    def _names(self, judged: Judged) -> str:
        """The missing fields by the first words of their questions."""
        questions = (ask_for(path, self.lang) if path != "match" else self.say("match") for path in judged.missing)
        return ", ".join(re.split(r" ?[(（]", question)[0] for question in questions)

    def _show_judged(self) -> None:
        """Say what answers these lines already, what is missing or wrong, and which entries come near."""
        judged, shown = self._judged, Text()
        if self._form and self._form.answered:
            shown.append(self.say("answered", id=self._form.answered) + "\n", "bold yellow")
            shown.append(printable(str(self._form.answered_in or "")) + "\n", "dim")
        shown.append(self.say("check") + "\n", "bold underline")
        if judged and judged.missing:
            shown.append(self.say("still missing", names=self._names(judged)) + "\n", "yellow")
        elif not judged or not judged.checked:
            shown.append(self.say("checking") + "\n", "dim")
        elif not judged.problems:
            shown.append(self.say("clean") + "\n", "green")
        for problem in judged.problems if judged else []:
            field = f"{problem.field}: " if problem.field else ""
            shown.append(printable(f"- {field}{problem.message}") + "\n", "yellow" if problem.is_warning else "red")
        shown.append(self.say("near entries") + "\n", "bold underline")
        if judged and not judged.near:
            shown.append(self.say("no near") + "\n", "dim")
        for near in judged.near if judged else []:
            title = printable(choose(near.entry["title"], self.lang)[0])
            shown.append_text(
                Text.assemble((f"{near.percent:>3}% ", "bold"), (near.entry["id"], "cyan"), f" {title}\n")
            )
        self.query_one("#judged", Static).update(shown)

    def action_preview(self) -> None:
        """Show the YAML as it would be saved, and where."""
        if judged := self._judged:
            yaml = "\n".join(printable(line) for line in judged.text.splitlines())
            self.app.push_screen(TextDialog(printable(str(judged.path)), Text(yaml)))

    def action_save(self) -> None:
        self.notify(self.say("saving" if self._form else "no form"), timeout=2, markup=False)
        if self._form:
            self._judge(self._form, self._values(), self._picks(), True)

    async def _saved(self, judged: Judged) -> None:
        app = app_of(self)
        self._form, self._judged, self._own = None, None, set()
        await self.query_one("#form", VerticalScroll).remove_children()
        self.tell()
        app.notify(self.say("saved", path=printable(str(judged.path))), timeout=8, markup=False)
        app.reload(judged.path.stem)
        app.go("browse")


def ask_for(path: str, lang: str) -> str:
    """The question for a field, as `npu-kb record` asks it."""
    from npu_kb.render.record import say

    return say(path, lang)
