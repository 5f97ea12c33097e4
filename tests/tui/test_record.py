"""A new entry from lines of a log, by the form."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from textual.pilot import Pilot
from textual.widgets import Input, SelectionList

from npu_kb import Knowledge, locations
from npu_kb.tui.app import KnowledgeApp
from npu_kb.tui.widgets.result_list import ResultList

LINES = "RuntimeError: the frobnicator of the sharded widget cache refused block 0x77, ask admin@corp.example.com"
SAID = {
    "title.en": "The quota of the sharded widget cache is used up",
    "title.zh": "分片部件缓存配额用完",
    "cause.en": "The quota is too small for the blocks of this job.",
    "cause.zh": "配额对该任务的块大小来说太小。",
    "fix.en": "Raise the quota.",
    "fix.zh": "调大配额。",
}


async def fill(pilot: Pilot[None], settle) -> None:
    for widget in pilot.app.screen.query("#form Input").results(Input):
        if widget.name in SAID:
            widget.focus()
            await pilot.pause()
            widget.value = SAID[widget.name]
            await pilot.pause()
    await pilot.press("f7")
    await settle(pilot)


@pytest.fixture
def own_kb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.setenv("NPU_KB_PATH", str(folder))
    return folder


def test_marked_lines_become_an_entry_that_is_then_in_the_list(
    drive, settle, shown, own_kb: Path, tmp_path: Path
) -> None:
    log = tmp_path / "train.log"
    log.write_text("all went well\n" + LINES + "\nand so on\n")

    async def script(pilot: Pilot[None]) -> None:
        pilot.app.screen.query_one("#log").focus()
        await pilot.press("home", "down", "v", "v", "r")
        await settle(pilot)
        screen = pilot.app.screen
        assert "title.en" in screen._judged.missing
        await fill(pilot, settle)
        assert screen._judged.is_clean, screen._judged.problems
        assert screen._judged.suggestions["id"] == "quota-sharded-widget-cache-used-up"
        await pilot.press("ctrl+o")
        await settle(pilot)
        assert "admin@corp" not in pilot.app.screen._shown.plain and "<hex>" in pilot.app.screen._shown.plain
        await pilot.press("escape", "ctrl+s")
        await settle(pilot)
        await settle(pilot)
        assert pilot.app.current_mode == "browse"
        pilot.app.screen.query_one("#search", Input).value = "部件缓存"
        await settle(pilot)
        assert pilot.app.screen.query_one(ResultList).chosen.entry["id"] == "quota-sharded-widget-cache-used-up"

    drive(script, files=[str(log)], kb=str(own_kb))
    (path,) = own_kb.rglob("*.yaml")
    entry = yaml.safe_load(path.read_text("utf-8"))
    assert {name: entry[name.partition(".")[0]][name[-2:]] for name in ("title.en", "cause.zh")} == {
        "title.en": SAID["title.en"],
        "cause.zh": SAID["cause.zh"],
    }
    assert entry["fix"][0]["en"] == "Raise the quota."


def test_what_is_not_complete_or_not_clean_is_not_saved(drive, settle, own_kb: Path) -> None:
    async def script(pilot: Pilot[None]) -> None:
        pilot.app.record(LINES)
        await settle(pilot)
        await pilot.press("ctrl+s")
        await settle(pilot)
        await fill(pilot, settle)
        name = next(w for w in pilot.app.screen.query("#form Input").results(Input) if w.name == "id")
        name.focus()
        await pilot.pause()
        name.value = "demo-slow-link"
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert not pilot.app.screen._judged.is_clean

    drive(script, kb=str(own_kb))
    assert list(own_kb.rglob("*.yaml")) == []


def test_lines_that_are_answered_already_say_so(drive, settle, own_kb: Path, shown) -> None:
    async def script(pilot: Pilot[None]) -> None:
        pilot.app.record("ImportError: libdemo.so: cannot open shared object file")
        await settle(pilot)
        assert "Answered already by demo-libraries-not-loaded" in shown(pilot.app)
        assert "demo-libraries-not-loaded.yaml" in "".join(shown(pilot.app).split())

    drive(script, kb=str(own_kb))


def test_no_folder_to_write_to_is_a_message(drive, settle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(locations, "own_kb_directory", lambda: None)

    async def script(pilot: Pilot[None]) -> None:
        pilot.app.record(LINES)
        await settle(pilot)
        assert any("no kb folder" in note.message for note in pilot.app._notifications)

    app: KnowledgeApp = drive(script)
    assert app.knowledge.counts() == Knowledge.load().counts()


def test_without_a_log_the_screen_says_what_to_do_and_offers_nothing_to_save(drive, settle, shown) -> None:
    async def script(pilot: Pilot[None]) -> None:
        await pilot.press("f4")
        await settle(pilot)
        screen = shown(pilot.app)
        assert "Press F3" in screen and "^S" not in screen
        await pilot.press("ctrl+s")
        await settle(pilot)
        assert any("Nothing to save yet" in note.message for note in pilot.app._notifications)
        await pilot.press("f3")
        await settle(pilot)
        assert pilot.app.current_mode == "diagnose"

    drive(script)


def test_a_text_that_other_faults_print_too_is_marked(drive, settle, own_kb: Path, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("ERROR: worker process exited with code 1\n")

    async def script(pilot: Pilot[None]) -> None:
        pilot.app.screen.query_one("#log").focus()
        await pilot.press("home", "v", "v", "r")
        await settle(pilot)
        prompt = pilot.app.screen.query_one("#picks", SelectionList).get_option_at_index(0).prompt
        assert str(prompt) == "worker process exited with code (possible)"

    drive(script, files=[str(log)], kb=str(own_kb))
