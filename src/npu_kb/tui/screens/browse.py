"""Browse and search: the tree of layers and topics, the list, the entry."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static, Tree

from npu_kb.render.document import entry_document
from npu_kb.render.text import SEVERITY_NAMES, choose
from npu_kb.tui.catalog import Found
from npu_kb.tui.keys import Key, bindings
from npu_kb.tui.screens.base import PlaceScreen, app_of
from npu_kb.tui.screens.dialogs import Choice, ChoiceDialog
from npu_kb.tui.widgets.entry_view import EntryView
from npu_kb.tui.widgets.line_view import LineView
from npu_kb.tui.widgets.place_tree import PlaceTree, TreePlace
from npu_kb.tui.widgets.result_list import ResultList
from npu_kb.tui.words import value_name


class SearchInput(Input):
    """The search line; a paste of several lines is a log to diagnose, not a search.

    A `/` that would begin the search is left out: it is the key that leads here.
    """

    async def _on_key(self, event: events.Key) -> None:
        if event.character == "/" and self.selected_text == self.value:
            event.stop()
            event.prevent_default()

    def _on_paste(self, event: events.Paste) -> None:
        if len(event.text.strip().splitlines()) > 1:
            event.stop()
            event.prevent_default()
            app_of(self).diagnose_text(event.text)


class BrowseScreen(PlaceScreen):
    """Where one looks around in the knowledge."""

    NAME = "browse"
    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("slash", "search", "search"), Key("f", "filter", "filter"), Key("z", "zoom", "zoom"),
        Key("y", "copy", "copy"), Key("x", "run", "run"), Key("b,backspace", "back", "back"),
        Key("tab", "app.focus_next", "next part", False), Key("ctrl+r", "history", "history", False),
        Key("escape", "unzoom", "back", False),
    )  # fmt: skip
    BINDINGS = bindings(KEYS)

    def __init__(self) -> None:
        super().__init__()
        self._place = TreePlace()
        self._trail: list[str] = []
        """Entries that led to the one shown, by links."""

    def body(self) -> ComposeResult:
        with Horizontal(id="browse"):
            yield PlaceTree(id="tree")
            with Vertical(id="right"):
                yield SearchInput(id="search", compact=True)
                yield Static(id="count", markup=False, classes="title")
                yield ResultList(id="results")
                yield EntryView(id="entry")

    def on_mount(self) -> None:
        state = app_of(self).state
        self._place = TreePlace(state.layer, state.topic)
        with self.prevent(Input.Changed):
            self.query_one("#search", Input).value = state.query
        self.query_one("#search", Input).focus()

    def tell(self) -> None:
        super().tell()
        self.query_one("#search", Input).placeholder = self.say("search for")
        self._fill_tree()
        self.list_entries(app_of(self).state.entry)

    def knowledge_changed(self) -> None:
        """Show the knowledge, which was read again, at the place that the state names."""
        state = app_of(self).state
        self._place = TreePlace(state.layer, state.topic)
        self._fill_tree()
        with self.prevent(Input.Changed):
            self.query_one("#search", Input).value = state.query
        self.list_entries(state.entry)

    def index_came(self) -> None:
        """Search again by the full text, without touching what is being typed."""
        self.list_entries(app_of(self).state.entry)

    def _fill_tree(self) -> None:
        self.query_one(PlaceTree).fill(app_of(self).catalog, self._place, self._place_name)

    def _place_name(self, place: TreePlace) -> str:
        if place.topic:
            return choose(app_of(self).catalog.topics[place.topic], self.lang)[0]
        return value_name("layer", place.layer, self.lang) if place.layer else self.say("all entries")

    def list_entries(self, entry: str = "") -> None:
        """List what the search and the place in the tree leave, with the cursor on this entry if it is there."""
        catalog = app_of(self).catalog
        found = catalog.find(self.query_one("#search", Input).value, *self._place)
        at = next((row for row, one in enumerate(found) if one.entry["id"] == entry), 0)
        self._trail = []
        count = "preparing" if catalog.index is None else "found" if found else "none found"
        self.query_one("#count", Static).update(self.say(count, count=len(found)))
        with self.prevent(LineView.Moved):
            self.query_one(ResultList).show(found, self.lang, self._spans, at)
        self._show(self.query_one(ResultList).chosen)
        if entry and catalog.index is None:
            app_of(self).state.entry = entry  # which the full text may find

    def _spans(self, text: str, one: Found) -> list[tuple[int, int]]:
        index = app_of(self).catalog.index
        return index.spans(text, one.hit) if index and one.hit else []

    def _show(self, one: Found | None) -> None:
        view = self.query_one(EntryView)
        if one is None:
            view.show([])
            return
        app_of(self).state.entry = one.entry["id"]
        document = entry_document(one.entry, app_of(self).knowledge)
        view.show_document(document, lambda text: self._spans(text, one))

    @on(LineView.Moved, "#results")
    def entry_changed(self) -> None:
        self._trail = []
        self._show(self.query_one(ResultList).chosen)

    @on(LineView.Chosen, "#results")
    def read_entry(self) -> None:
        """Go to the entry, which takes the whole screen where that is small."""
        self.set_class(self.has_class("-narrow"), "zoomed")
        self.query_one(EntryView).focus()

    @on(Input.Changed, "#search")
    def search(self, event: Input.Changed) -> None:
        app_of(self).state.query = event.value
        self.list_entries()

    @on(Input.Submitted, "#search")
    def to_results(self) -> None:
        if self.query_one(ResultList).found:
            self.query_one(ResultList).focus()

    @on(Input.Blurred, "#search")
    def _remember(self) -> None:
        app_of(self).state.remember_search(self.query_one("#search", Input).value)

    @on(Tree.NodeHighlighted)
    def narrow(self, event: Tree.NodeHighlighted[TreePlace]) -> None:
        if self.query_one(PlaceTree).has_focus and event.node.data not in (None, self._place):
            self._place = event.node.data
            app_of(self).state.layer, app_of(self).state.topic = self._place
            self.list_entries()

    @on(EntryView.Follow)
    def follow(self, event: EntryView.Follow) -> None:
        here = self.query_one(EntryView).document_id
        self.show_entry(event.id)
        self._trail.append(here)

    def show_entry(self, id: str) -> None:
        """Show an entry that need not be in the list."""
        if entry := app_of(self).catalog.entry(id):
            self._show(Found(entry, None))

    def on_key(self, event: events.Key) -> None:
        if event.key == "down" and self.focused is self.query_one("#search"):
            event.stop()
            self.query_one(ResultList).focus()

    def action_search(self) -> None:
        self.set_class(False, "zoomed")
        self.query_one("#search").focus()

    def action_zoom(self) -> None:
        self.toggle_class("zoomed")
        self.query_one(EntryView).focus()

    def action_unzoom(self) -> None:
        self.set_class(False, "zoomed")
        self.query_one(ResultList).focus()

    def action_back(self) -> None:
        if self._trail:
            trail = self._trail[:-1]
            self.show_entry(self._trail[-1])
            self._trail = trail

    def action_copy(self) -> None:
        self.query_one(EntryView).copy(self.query_one(EntryView).has_focus)

    def action_run(self) -> None:
        self.query_one(EntryView).run()

    def action_filter(self) -> None:
        """Narrow by severity, status or chip: the choice is written into the search line."""
        choices = [Choice(Text(self.say("no filter")), "")]
        for name, values in app_of(self).catalog.values().items():
            for value, count in values.most_common():
                choices.append(Choice(self._filter_text(name, value, count), f"{name}:{value}"))
        self.app.push_screen(ChoiceDialog(self.say("filters"), choices), self._add_filter)

    def _filter_text(self, name: str, value: str, count: int) -> Text:
        shown = value
        if name == "severity":
            shown = choose(SEVERITY_NAMES[value], self.lang)[0]
        elif name == "status":
            shown = value_name(name, value, self.lang)
        return Text.assemble((f"{self.say(name)}: ", "dim"), shown, (f"  {count}", "dim"))

    def _add_filter(self, chosen: object) -> None:
        if isinstance(chosen, str):
            line = self.query_one("#search", Input)
            names = tuple(f"{name}:" for name in app_of(self).catalog.values())
            replaced = f"{chosen.partition(':')[0]}:" if chosen else names
            words = [word for word in line.value.split() if not word.startswith(replaced)]
            line.value = " ".join([*words, chosen]).strip()

    def action_history(self) -> None:
        searches = app_of(self).state.searches
        choices = [Choice(Text(query), query) for query in reversed(searches)]
        choices = choices or [Choice(Text(self.say("no searches")), "")]
        self.app.push_screen(ChoiceDialog(self.say("history"), choices), self._search_again)

    def _search_again(self, query: object) -> None:
        if isinstance(query, str) and query:
            self.query_one("#search", Input).value = query
