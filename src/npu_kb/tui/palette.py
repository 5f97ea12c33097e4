"""The command palette: everything that can be done here, by its words in the language of the app."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from npu_kb.settings import LANGUAGES
from npu_kb.tui.screens.base import GLOBAL_KEYS, PlaceScreen
from npu_kb.tui.themes import THEMES
from npu_kb.tui.words import say

if TYPE_CHECKING:
    from npu_kb.tui.app import KnowledgeApp


class Palette(Provider):
    """The keys of the screen, the screens, the themes and the languages."""

    def _commands(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        app = cast("KnowledgeApp", self.app)
        if isinstance(self.screen, PlaceScreen):
            for key in (*self.screen.KEYS, *GLOBAL_KEYS):
                yield f"{say(key.name, app.lang)}  ({key.label})", partial(app.run_action, key.action, self.screen)
        for place in app.places:
            yield say("go to", app.lang, name=say(place, app.lang)), partial(app.go, place)
        for theme in THEMES:
            yield say("use theme", app.lang, name=theme), partial(app.use_theme, theme)
        for lang in LANGUAGES:
            yield say("use language", app.lang, name=lang), partial(app.use_language, lang)

    async def discover(self) -> Hits:
        for name, call in self._commands():
            yield DiscoveryHit(name, call)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, call in self._commands():
            if (score := matcher.match(name)) > 0:
                yield Hit(score, matcher.highlight(name), call)
