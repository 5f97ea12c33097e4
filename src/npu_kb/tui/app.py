"""The app: the knowledge, the session, the language and the places, for the screens to share."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import events, work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.filter import LineFilter, NoColor

from npu_kb.errors import NpuKbError
from npu_kb.intake.clean import printable
from npu_kb.intake.logtext import LogText
from npu_kb.knowledge.base import Knowledge
from npu_kb.knowledge.fulltext import open_index
from npu_kb.tui.catalog import Catalog
from npu_kb.tui.files import write_private
from npu_kb.tui.hand_ticks import HandTicks
from npu_kb.tui.keys import bindings
from npu_kb.tui.machines import ThisMachine
from npu_kb.tui.palette import Palette
from npu_kb.tui.running import is_runnable
from npu_kb.tui.screens.base import GLOBAL_KEYS, PlaceScreen
from npu_kb.tui.screens.command import ConfirmDialog, OutputDialog
from npu_kb.tui.screens.dialogs import help_dialog
from npu_kb.tui.screens.registry import SCREENS
from npu_kb.tui.session import Session
from npu_kb.tui.state import State
from npu_kb.tui.themes import PLAIN, THEMES, first_theme
from npu_kb.tui.threads import aside
from npu_kb.tui.words import say


class KnowledgeApp(App[None]):
    """The TUI over what `load` gives; `files` are diagnosed at once."""

    CSS_PATH = Path(__file__).with_name("app.tcss")
    MODES = SCREENS  # type: ignore[assignment]
    COMMANDS = {Palette}  # noqa: RUF012
    ENABLE_COMMAND_PALETTE = True
    TITLE = "npu-kb"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(GLOBAL_KEYS),
        # before what is typed behind it reaches the part that had the focus
        Binding("tab", "app.focus_next", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", show=False, priority=True),
        *(Binding(f"f{number}", f"go('{place}')", show=False) for number, place in enumerate(SCREENS, 2)),
    ]

    def __init__(
        self, load: Callable[[], Knowledge], lang: str = "en", files: list[str] | None = None,
        state_file: str | None = None, kb: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)  # else colours would become greys
        self._load = load
        self._state_file = state_file
        self.kb = kb
        """The folder that was named for new entries."""
        self._to_record: LogText | None = None
        self.state = State.load(state_file)
        self.lang = lang
        self.knowledge = load()
        self.catalog = Catalog(self.knowledge)
        self.session = Session()
        self.this_machine = ThisMachine()
        self.hand_ticks = HandTicks(self.state_path("ticks.json"))
        for name in files or []:
            self.session.open(name)
        self.register_theme(PLAIN)

    @property
    def places(self) -> list[str]:
        """The names of the screens, in the order of their keys."""
        return list(SCREENS)

    def on_mount(self) -> None:
        self.theme = first_theme(self.state.theme, self.no_color, str(self.console.color_system))
        self.go("diagnose" if self.session.logs else "browse")
        self._open_index()
        for number in (signal.SIGTERM, signal.SIGHUP):  # leave the terminal as it was, and remember the place
            asyncio.get_running_loop().add_signal_handler(number, self.exit)

    @work
    async def _open_index(self) -> None:
        """Get the full-text index, which may have to be built."""
        await self._index_of(self.knowledge, self.catalog)

    async def _index_of(self, knowledge: Knowledge, catalog: Catalog) -> None:
        try:
            catalog.index = await aside(partial(open_index, knowledge))
        except NpuKbError as error:
            self.tell_error(error)
            return
        for screen in self._place_screens():
            screen.index_came()

    @work
    async def reload(self, entry: str) -> None:
        """Read the knowledge anew, after this entry was written, and show it."""
        try:
            knowledge = await aside(self._load)
        except NpuKbError as error:
            self.tell_error(error)
            return
        catalog = await aside(partial(Catalog, knowledge))
        self._use_knowledge(knowledge, catalog, entry)
        await self._index_of(knowledge, catalog)

    def _use_knowledge(self, knowledge: Knowledge, catalog: Catalog, entry: str) -> None:
        self.knowledge, self.catalog = knowledge, catalog
        self.state.entry, self.state.query, self.state.layer, self.state.topic = entry, "", "", ""
        for screen in self._place_screens():
            screen.knowledge_changed()
        self.notify(say("reloaded", self.lang, count=len(catalog.entries)), markup=False)

    def _place_screens(self) -> list[PlaceScreen]:
        return [
            s for stack in self._screen_stacks.values() for s in stack if isinstance(s, PlaceScreen) and s.is_mounted
        ]

    def go(self, place: str) -> None:
        """Go to a screen."""
        self.switch_mode(place)

    def action_go(self, place: str) -> None:
        self.go(place)

    def action_help(self) -> None:
        if isinstance(self.screen, PlaceScreen):
            self.push_screen(help_dialog(self.screen))

    def action_language(self) -> None:
        self.use_language("en" if self.lang == "zh" else "zh")

    def use_language(self, lang: str) -> None:
        """Say everything in another language until the end; the next start asks --lang and the settings again."""
        self.lang = lang
        for screen in self._place_screens():
            screen.tell()

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), *([NoColor()] if self.theme == PLAIN.name else [])]

    def action_theme(self) -> None:
        at = THEMES.index(self.theme) if self.theme in THEMES else -1
        self.use_theme(THEMES[(at + 1) % len(THEMES)])

    def use_theme(self, theme: str) -> None:
        """Change the colours."""
        self.theme = self.state.theme = theme

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, CommandPalette):
            self.push_screen(CommandPalette(placeholder=say("palette search", self.lang), id="--command-palette"))

    def action_help_quit(self) -> None:
        """Ctrl-C, which copies what is selected, ends nothing: say what does."""
        self.notify(say("quit with", self.lang), timeout=3, markup=False)

    def action_leave(self) -> None:
        self.exit()

    def on_unmount(self) -> None:
        self.state.save(self._state_file)
        self.session.close()

    def new_session(self) -> None:
        """Forget all logs and what was found in them."""
        self.session.close()
        self.session = Session()

    def on_paste(self, event: events.Paste) -> None:
        """A paste that no input takes is a log."""
        self.diagnose_text(event.text)

    def diagnose_text(self, text: str) -> None:
        """Diagnose a paste together with the other logs; terminals end its lines with a carriage return."""
        if text.strip():
            lines = text.replace("\r\n", "\n").replace("\r", "\n")
            self.session.add_text(say("pasted", self.lang), lines)
            self.go("diagnose")
            self._session_changed()

    def record(self, text: str) -> None:
        """Make an entry of these lines, or of all that was diagnosed."""
        self._to_record = LogText.of(text, "-") if text.strip() else self.session.read_lines
        self.go("record")

    def take_lines_to_record(self) -> LogText | None:
        """The lines of which an entry is wanted, once."""
        lines, self._to_record = self._to_record, None
        return lines

    def state_path(self, name: str) -> Path | None:
        """A file or folder beside the state; None where nothing can be remembered."""
        return Path(self._state_file).with_name(name) if self._state_file else None

    def copy(self, text: str) -> None:
        """Copy by the terminal; where it does not do that, the text stands in a file."""
        if not text.strip():
            self.notify(say("nothing to copy", self.lang), markup=False)
            return
        self.copy_to_clipboard(text)
        path = self.state_path("clipboard.txt")
        written = path is not None and write_private(path, text)
        self.notify(say("copied" if written else "copied only", self.lang, path=path), markup=False)

    def tell_error(self, error: BaseException) -> None:
        """Say what failed."""
        self.notify(printable(" ".join(str(error).split())), severity="error", timeout=12, markup=False)

    def run_command(self, id: str) -> None:
        """Run a read-only command of commands.yaml once the user agrees, and diagnose its output with the rest."""
        command = self.knowledge.command(id) if id else None
        if command is None or not is_runnable(command):
            self.notify(say("not runnable", self.lang), markup=False)
            return

        def ran(text: object) -> None:
            if isinstance(text, str):
                self.session.add_text(f"$ {command['run']}", text)
                self.notify(say("into diagnosis", self.lang), markup=False)
                self._session_changed()

        def agreed(stages: object) -> None:
            if stages:
                self.push_screen(OutputDialog(command, stages), ran)  # type: ignore[arg-type]

        self.push_screen(ConfirmDialog(command), agreed)

    def _session_changed(self) -> None:
        for screen in self._place_screens():
            screen.session_changed()

    @property
    def failure(self) -> str:
        """What ended the app, if it failed."""
        return repr(self._exception)

    def _print_error_renderables(self) -> None:
        """Nothing: a failure is one line, which the command line prints."""
