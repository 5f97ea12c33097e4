"""An entry to walk through: Enter follows a link, y copies, x runs a read-only command."""

from __future__ import annotations

from typing import Any

from textual import on
from textual.message import Message
from textual.widgets import OptionList

from npu_kb.render.text import choose
from npu_kb.tui.entry_items import Item, Spans, entry_items
from npu_kb.tui.screens.base import app_of
from npu_kb.tui.widgets.item_list import ItemList


class EntryView(ItemList[Item]):
    """The items of one entry or answer."""

    class Follow(Message):
        """The user wants to see another entry."""

        def __init__(self, id: str) -> None:
            super().__init__()
            self.id = id

    document_id = ""

    def show_document(self, document: dict[str, Any], spans: Spans = lambda text: []) -> None:
        """Show an entry document or a match document."""
        app = app_of(self)
        self.document_id = document["id"]
        topic = choose(app.catalog.topics.get(document["topic"], {"en": document["topic"]}), app.lang)[0]
        self.show(entry_items(document, app.catalog.links, topic, app.lang, spans))

    @on(OptionList.OptionSelected)
    def act(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        item = self.chosen
        if item and item.entry:
            self.post_message(self.Follow(item.entry))
        elif item and item.command:
            self.run()

    def copy(self, item_only: bool = True) -> None:
        """Copy the item under the cursor, or the whole entry."""
        items = [self.chosen] if item_only and self.chosen else self.items
        app_of(self).copy("\n\n".join(item.copy if item_only else item.text.plain for item in items if item))

    def run(self) -> None:
        """Run the command under the cursor, or the first one of the entry, after a confirmation."""
        named = [item for item in (self.chosen, *self.items) if item and item.command]
        app_of(self).run_command(named[0].command if named else "")
