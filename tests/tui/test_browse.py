"""Browse and search, by keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input, Tree

from npu_kb.tui.app import KnowledgeApp
from npu_kb.tui.screens.dialogs import TextDialog
from npu_kb.tui.widgets.entry_view import EntryView
from npu_kb.tui.widgets.result_list import ResultList

Shown = Callable[[KnowledgeApp], str]


def ids(pilot: Pilot[None]) -> list[str]:
    return [one.entry["id"] for one in pilot.app.screen.query_one(ResultList).found]


def tree_lines(tree: Tree) -> list[str]:
    return [tree.render_line(y).text.strip() for y in range(tree.size.height)]


def last_shown(pilot: Pilot[None]) -> str:
    return pilot.app.screen.query_one(EntryView).document_id


def test_typing_searches_in_both_languages(drive, settle) -> None:
    async def script(pilot: Pilot[None]) -> None:
        assert len(ids(pilot)) == 4
        pilot.app.screen.query_one("#search", Input).value = "多机 很慢"
        await settle(pilot)
        assert ids(pilot)[0] == "demo-slow-link"
        pilot.app.screen.query_one("#search", Input).value = ""
        await pilot.press(*"fonts")
        await settle(pilot)
        assert ids(pilot) == ["demo-harmless-notice"]

    drive(script)


def test_a_slash_that_leads_to_the_search_line_is_no_part_of_the_search(drive, settle) -> None:
    async def script(pilot: Pilot[None]) -> None:
        line = pilot.app.screen.query_one("#search", Input)
        await pilot.press("slash", *"fonts", "slash", "x")
        assert line.value == "fonts/x"
        await pilot.press("escape", "slash", "slash", "f")
        assert line.value == "f"

    drive(script)


def test_enter_leads_from_the_search_to_the_first_result_and_into_the_entry(drive, settle, shown: Shown) -> None:
    async def script(pilot: Pilot[None]) -> None:
        small = pilot.app.size.width < 110
        results, entry = pilot.app.screen.query_one(ResultList), pilot.app.screen.query_one(EntryView)
        await pilot.press(*"nowhere", "enter")
        assert pilot.app.focused is pilot.app.screen.query_one("#search")
        await pilot.press(*["backspace"] * 7, *"demo", "enter")
        await settle(pilot)
        assert pilot.app.focused is results and results.cursor == 0
        await pilot.press("down", "enter")
        await settle(pilot)
        assert pilot.app.focused is entry and entry.size.height > (18 if small else 0)
        assert (results.size.height == 0) is small and "Symptom" in shown(pilot.app)
        await pilot.press("escape")
        await settle(pilot)
        assert pilot.app.focused is results and results.cursor == 1 and results.size.height

    for size in ((80, 24), (120, 40), (40, 24)):
        drive(script, size=size)


def test_one_line_faults_are_found_and_shown(signature_kb: str, drive, settle, shown: Shown) -> None:
    async def script(pilot: Pilot[None]) -> None:
        assert signature_kb not in ids(pilot)
        line = pilot.app.screen.query_one("#search", Input)
        line.value = "pump lost its"
        await settle(pilot)
        assert ids(pilot)[0] == last_shown(pilot) == signature_kb and "The pump runs dry" in shown(pilot.app)
        line.value = "layer:hardware pump"
        await settle(pilot)
        assert ids(pilot) == []

    drive(script)


def test_filters_narrow_and_combine_with_words(drive, settle) -> None:
    async def script(pilot: Pilot[None]) -> None:
        line = pilot.app.screen.query_one("#search", Input)
        for query, found in {
            "severity:degraded": {"demo-slow-link"},
            "chip:910b": {"demo-slow-link"},
            "torch_npu:2.1.0": {"demo-slow-link"},
            "torch_npu:2.3.0": set(),
            "status:reported rank": {"demo-wait-timed-out"},
            "layer:cann": {"demo-libraries-not-loaded"},
        }.items():
            line.value = query
            await settle(pilot)
            assert set(ids(pilot)) == found, query

    drive(script)


def test_the_filter_window_writes_the_choice_into_the_search_line(drive, settle) -> None:
    async def script(pilot: Pilot[None]) -> None:
        await pilot.press("down", "f", "down", "enter")
        await settle(pilot)
        assert pilot.app.screen.query_one("#search", Input).value == "severity:fault"
        assert len(ids(pilot)) == 2

    drive(script)


def test_the_tree_narrows_to_a_layer_and_a_topic_with_counts(drive, settle) -> None:
    async def script(pilot: Pilot[None]) -> None:
        tree = pilot.app.screen.query_one(Tree)
        tree.focus()
        await pilot.press("down", "down")
        await settle(pilot)
        assert "- communication 2" in tree_lines(tree) or "+ communication 2" in tree_lines(tree)
        assert str(tree.cursor_node.label) == "communication"
        assert ids(pilot) == ["demo-slow-link", "demo-wait-timed-out"]
        await pilot.press("space", "down")
        await settle(pilot)
        assert str(tree.cursor_node.label) == "HCCL time-outs" and "HCCL time-outs 1" in tree_lines(tree)
        assert ids(pilot) == ["demo-wait-timed-out"]

    drive(script)


def test_a_long_name_in_the_tree_is_cut_before_its_number(drive, settle) -> None:
    async def script(pilot: Pilot[None]) -> None:
        tree = pilot.app.screen.query_one(Tree)
        tree.styles.width = 14
        await settle(pilot)
        assert tree_lines(tree)[0] == "- All entri… 4"

    drive(script)


def test_links_lead_to_other_entries_and_back(drive, settle) -> None:
    async def script(pilot: Pilot[None]) -> None:
        view = pilot.app.screen.query_one(EntryView)
        pilot.app.screen.query_one("#search", Input).value = "demo-libraries-not-loaded"
        await settle(pilot)
        view.focus()
        view.highlighted = next(at for at, item in enumerate(view.items) if item.entry == "demo-wait-timed-out")
        await pilot.press("enter")
        assert view.document_id == "demo-wait-timed-out"
        assert [item.entry for item in view.items if item.entry] == ["demo-libraries-not-loaded"]
        await pilot.press("b")
        assert view.document_id == "demo-libraries-not-loaded"

    drive(script)


def test_markup_in_an_entry_is_shown_literally(drive, settle, shown: Shown) -> None:
    async def script(pilot: Pilot[None]) -> None:
        assert "of [bold]demo[/bold] is" in shown(pilot.app)

    drive(script, size=(140, 40))


def test_what_is_copied_goes_to_the_terminal_and_into_a_private_file(drive, settle, tmp_path: Path) -> None:
    async def script(pilot: Pilot[None]) -> None:
        view = pilot.app.screen.query_one(EntryView)
        view.focus()
        view.highlighted = next(at for at, item in enumerate(view.items) if item.copy.startswith("source "))
        await pilot.press("y")
        assert pilot.app.clipboard == "source /usr/local/demo/set_env.sh"

    drive(script)
    clip = tmp_path / "state" / "clipboard.txt"
    assert clip.read_text() == "source /usr/local/demo/set_env.sh"
    assert clip.stat().st_mode & 0o777 == 0o600


def test_place_theme_and_searches_are_remembered_and_the_language_is_not(drive, settle, tmp_path: Path) -> None:
    async def first(pilot: Pilot[None]) -> None:
        await pilot.press(*"slow", "enter", "f8")
        await settle(pilot)
        assert pilot.app.lang == "zh"
        pilot.app.use_theme("gruvbox")
        await pilot.press("ctrl+q")

    async def second(pilot: Pilot[None]) -> None:
        assert pilot.app.screen.query_one("#search", Input).value == "slow"
        assert (pilot.app.lang, pilot.app.theme, pilot.app.state.searches) == ("en", "gruvbox", ["slow"])
        assert pilot.app.screen.query_one(EntryView).document_id == "demo-slow-link"

    drive(first)
    drive(second)


def test_an_entry_that_only_the_full_text_finds_is_found_again(drive, settle, monkeypatch) -> None:
    async def first(pilot: Pilot[None]) -> None:
        pilot.app.screen.query_one("#search", Input).value = "demos"  # no title holds that
        await settle(pilot)
        await pilot.press("down", "down")
        kept.extend([pilot.app.state.entry, ids(pilot)[0]])

    async def second(pilot: Pilot[None]) -> None:
        assert pilot.app.state.entry == last_shown(pilot) == kept[0]

    kept: list[str] = []
    drive(first)
    drive(second)
    assert kept[0] != kept[1]


def test_a_search_is_remembered_once_it_is_left(drive, settle) -> None:
    async def script(pilot: Pilot[None]) -> None:
        await pilot.press(*"slow", "down")
        await settle(pilot)
        assert pilot.app.state.searches == ["slow"]

    drive(script)


def test_the_tree_stands_at_the_remembered_place(drive, settle) -> None:
    async def first(pilot: Pilot[None]) -> None:
        pilot.app.screen.query_one(Tree).focus()
        await pilot.press("down", "down", "space", "down")

    async def second(pilot: Pilot[None]) -> None:
        assert str(pilot.app.screen.query_one(Tree).cursor_node.label) == "HCCL time-outs"

    drive(first)
    drive(second)


def test_ctrl_c_says_how_to_leave(drive, settle) -> None:
    async def script(pilot: Pilot[None]) -> None:
        pilot.app.screen.query_one(ResultList).focus()
        await pilot.press("ctrl+c")
        await settle(pilot)
        assert [note.message for note in pilot.app._notifications] == ["按 ^Q 退出。"]

    drive(script, lang="zh")


def test_a_click_beside_a_window_closes_it(drive, settle) -> None:
    async def script(pilot: Pilot[None]) -> None:
        await pilot.press("f1")
        await pilot.click(offset=(20, 10))
        assert isinstance(pilot.app.screen, TextDialog)
        await pilot.click(offset=(0, 23))
        await settle(pilot)
        assert not isinstance(pilot.app.screen, TextDialog)

    drive(script)


def test_a_damaged_or_unwritable_state_is_no_error(drive, settle, tmp_path: Path) -> None:
    async def script(pilot: Pilot[None]) -> None:
        assert len(ids(pilot)) == 4
        await pilot.press("ctrl+q")

    (tmp_path / "state").mkdir()
    for text in ("{", "[]", json.dumps({"lang": 3, "searches": [1, "x"], "query": "fonts", "more": 1}), "\0"):
        (tmp_path / "state" / "tui.json").write_text(text)
        if "fonts" not in text:
            drive(script)
    (tmp_path / "state" / "tui.json").unlink(missing_ok=True)
    (tmp_path / "state").rmdir()
    (tmp_path / "state").write_text("no folder")
    drive(script)


def test_a_paste_of_several_lines_into_the_search_is_diagnosed(drive, settle) -> None:
    async def script(pilot: Pilot[None]) -> None:
        from textual import events

        pilot.app.screen.query_one("#search").post_message(
            events.Paste("one\nlibdemo.so: cannot open shared object file")
        )
        await settle(pilot)
        await settle(pilot)
        assert pilot.app.current_mode == "diagnose"
        assert [m.entry["id"] for m in pilot.app.session.diagnosis.claims] == ["demo-libraries-not-loaded"]

    drive(script)


def test_every_key_of_every_screen_is_explained_and_in_the_palette(drive, settle, shown: Shown) -> None:
    async def script(pilot: Pilot[None]) -> None:
        for place in pilot.app.places:
            pilot.app.go(place)
            await settle(pilot)
            screen = pilot.app.screen
            await pilot.press("f1")
            await settle(pilot)
            text = pilot.app.screen._shown.plain
            assert [key.name for key in screen.KEYS if screen.say(key.name) not in text] == []
            await pilot.press("escape", "ctrl+p")
            await settle(pilot)
            assert screen.say(screen.KEYS[0].name) in shown(pilot.app)
            await pilot.press("escape")

    for lang in ("en", "zh"):
        drive(script, lang=lang, size=(140, 60))
