"""Logs beside their explanation, by keys."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import DirectoryTree, Input, Static

from npu_kb import locations
from npu_kb.findings.store import Store
from npu_kb.tui.app import KnowledgeApp
from npu_kb.tui.screens.command import ConfirmDialog, OutputDialog
from npu_kb.tui.widgets.entry_view import EntryView
from npu_kb.tui.widgets.item_list import ItemList
from npu_kb.tui.widgets.log_view import LogView

HERE = Path(__file__).parent
Shown = Callable[[KnowledgeApp], str]
ROOT, FOLLOWS = "demo-libraries-not-loaded", "demo-wait-timed-out"


def causes(pilot: Pilot[None]) -> ItemList:
    return pilot.app.screen.query_one("#causes", ItemList)


def log(pilot: Pilot[None]) -> LogView:
    return pilot.app.screen.query_one(LogView)


def put_on(pilot: Pilot[None], match: str) -> None:
    """The cursor on the heading of a cause."""
    view = causes(pilot)
    view.focus()
    view.highlighted = next(at for at, item in enumerate(view.items) if item.match == match and not item.place)


def test_causes_are_ranked_and_their_evidence_is_marked(drive, settle, log_file: str) -> None:
    async def script(pilot: Pilot[None]) -> None:
        heads = [item.match for item in causes(pilot).items if item.match and not item.place]
        assert list(dict.fromkeys(heads)) == [ROOT, "demo-harmless-notice", FOLLOWS]
        assert log(pilot).evidence == {2, 5, 6}
        assert log(pilot).line_number == 5

    drive(script, files=[log_file])


@pytest.fixture
def long_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The root cause of the log is told at length."""
    kb = tmp_path / "long-kb"
    shutil.copytree(HERE / "kb", kb)
    entry = kb / "entries" / "cann" / f"{ROOT}.yaml"
    cause = "Beginning of the cause. " + "The library path of this shell lacks the folder. " * 15 + "End of the cause."
    entry.write_text(entry.read_text("utf-8").replace("`set_env.sh` was not sourced in this shell.", cause), "utf-8")
    monkeypatch.setattr(locations, "builtin_kb_directory", lambda: str(kb))


def test_the_first_drawing_shows_as_much_as_one_after_a_resize(
    drive, settle, shown: Shown, log_file: str, long_answer: None
) -> None:
    Path(log_file).write_text(Path(log_file).read_text() * 4)
    seen = []

    async def script(pilot: Pilot[None]) -> None:
        seen.append(shown(pilot.app))
        for size in [(80, 24), (110, 40)]:
            await pilot.resize_terminal(*size)
            await settle(pilot)
        seen.append(shown(pilot.app))
        assert causes(pilot).show_vertical_scrollbar

    drive(script, files=[log_file], size=(110, 40))
    assert "End of the cause." in " ".join(line[:44].strip() for line in seen[0].splitlines())
    assert seen[0] == seen[1]


def test_a_small_screen_shows_title_evidence_beginning_of_the_cause_and_first_fix(
    drive, settle, shown: Shown, log_file: str, long_answer: None
) -> None:
    line = "ImportError: libdemo.so: cannot open shared object file" + " and more" * 20
    Path(log_file).write_text(f"a step\n{line}\n" * 4)

    async def script(pilot: Pilot[None]) -> None:
        screen = shown(pilot.app)
        for text in ("CERTAIN", "> 2:", "Beginning of the cause.", "Fix 1", "$ source"):
            assert text in screen
        assert "End of the cause." not in screen
        await pilot.resize_terminal(80, 50)
        await settle(pilot)
        assert "End of the cause." in " ".join(shown(pilot.app).split())

    drive(script, files=[log_file])


def test_enter_jumps_from_evidence_to_its_line_and_back(drive, settle, log_file: str) -> None:
    async def script(pilot: Pilot[None]) -> None:
        put_on(pilot, FOLLOWS)
        await pilot.press("down", "enter")
        await settle(pilot)
        assert log(pilot).has_focus and log(pilot).line_number == 6
        await pilot.press("M")
        assert log(pilot).line_number == 5
        await pilot.press("enter")
        assert causes(pilot).has_focus and causes(pilot).chosen.match == ROOT

    drive(script, files=[log_file])


HEADS = """\
(APIServer pid=2544) INFO:     10.1.2.3:40112 - "POST /v1/completions"
(Worker_TP2 pid=2902) ERROR 10-21 09:31:44 [executor.py:671] Traceback (most recent call last):
(Worker_TP2 pid=2902) ERROR 10-21 09:31:44 [executor.py:671]   File "/srv/a/long/path/of/a/worker.py", line 1, in run
(Worker_TP2 pid=2902) ERROR 10-21 09:31:44 [executor.py:671] ImportError: libdemo.so: cannot open shared object file
[rank3]: 2025-10-21 09:31:45,120 - demo - ERROR - the end
worker-1  | 2025-10-21T09:31:46Z the end
=== no words ===
"""


def test_lines_show_who_wrote_them_and_their_words_until_whole_ones_are_wanted(
    drive, settle, tmp_path: Path, shown: Shown
) -> None:
    (tmp_path / "serve.log").write_text(HEADS)

    async def script(pilot: Pilot[None]) -> None:
        text = shown(pilot.app)
        for row in (
            '1   APIServer pid=2544 10.1.2.3:40112 - "POST',
            "2 ! Worker_TP2 Traceback (most recent call last):",
            '3 ! Worker_TP2   File "/srv/a/long/path',
            "4 > Worker_TP2 ImportError: libdemo.so: cannot",
            "5 ! rank3 the end",
            "6   worker-1  | the end",
            "7   === no words ===",
            "  > 4: ImportError: libdemo.so",
        ):
            assert row in text
        await pilot.press("tab", "w")
        await settle(pilot)
        assert "4 > (Worker_TP2 pid=2902) ERROR 10-21 09:31:44" in shown(pilot.app)

    drive(script, files=[str(tmp_path / "serve.log")], size=(120, 40))


def test_next_and_previous_error_and_text(drive, settle, log_file: str) -> None:
    async def script(pilot: Pilot[None]) -> None:
        log(pilot).focus()
        await pilot.press("home")
        lines = []
        for key in "nnN":
            await pilot.press(key)
            await settle(pilot)
            lines.append(log(pilot).line_number)
        assert lines == [5, 6, 5]
        await pilot.press("home", "slash", *"train.py", "enter")
        await settle(pilot)
        assert log(pilot).line_number == 4

    drive(script, files=[log_file])


def test_only_matched_lines_or_one_rank_are_shown(drive, settle, log_file: str) -> None:
    async def script(pilot: Pilot[None]) -> None:
        await pilot.press("f")
        assert log(pilot).only == [2, 5, 6]
        await pilot.press("f", "R")
        await settle(pilot)
        assert list(log(pilot).only) == [1, 2, 6]
        await pilot.press("R")
        await settle(pilot)
        assert list(log(pilot).only) == [3, 4, 5]
        await pilot.press("R")
        assert log(pilot).only is None

    drive(script, files=[log_file])


def test_a_rank_is_shown_whole_however_large_the_log(drive, settle, tmp_path: Path) -> None:
    path = tmp_path / "large.log"
    wall = "[rank1]: all is well here\n[rank0]: all is well there\n" * 50_000
    path.write_text(f"{wall}[rank1]: ImportError: libdemo.so: cannot open shared object file\n")

    async def script(pilot: Pilot[None]) -> None:
        while pilot.app.screen.query_one("#log-title", Static).content.count("rank1") == 0:
            await pilot.press("R")
            await settle(pilot)
        assert len(log(pilot).only) == 50_001
        pilot.app.diagnose_text("libother.so: no rank here")
        await settle(pilot)
        assert log(pilot).only is None

    drive(script, files=[str(path)])


def test_a_text_is_found_again_from_the_top_and_in_its_encoding(drive, settle, tmp_path: Path) -> None:
    path = tmp_path / "chinese.log"
    path.write_bytes("第一行\n设备掉线\n第三行\n".encode("gb18030") * 2)

    async def script(pilot: Pilot[None]) -> None:
        log(pilot).focus()
        await pilot.press("end")
        for line in (2, 5):
            await pilot.press("slash")
            pilot.app.screen.query_one(Input).value = pilot.app.screen.query_one(Input).value or "设备掉线"
            await pilot.press("enter")
            await settle(pilot)
            assert log(pilot).line_number == line

    drive(script, files=[str(path)])


def test_who_reads_already_is_not_moved_by_the_diagnosis(drive, settle, log_file: str, monkeypatch) -> None:
    import threading

    from npu_kb.tui.session import Session

    go, read = threading.Event(), Session.read

    def slowly(self, *arguments):
        go.wait(10)
        return read(self, *arguments)

    async def script(pilot: Pilot[None]) -> None:
        monkeypatch.setattr(Session, "read", slowly)
        pilot.app.diagnose_text("one\ntwo\nlibdemo.so: cannot open shared object file\n")
        await pilot.pause(0.1)
        await pilot.press("down")
        go.set()
        await settle(pilot)
        assert causes(pilot).items and log(pilot).has_focus and log(pilot).line_number == 2

    drive(script)


def test_a_search_in_a_log_can_be_cancelled(drive, settle, log_file: str, monkeypatch, shown: Shown) -> None:
    import threading

    from npu_kb.tui.logfile import LogFile

    ended = threading.Event()

    def find(self, pattern, start, step, cancelled):
        while not cancelled():
            ended.wait(0.01)
        ended.set()

    async def script(pilot: Pilot[None]) -> None:
        monkeypatch.setattr(LogFile, "find", find)
        await pilot.press("n")
        await pilot.pause(0.1)
        assert "searching ... (Esc cancels)" in shown(pilot.app)
        await pilot.press("escape")
        await settle(pilot)
        assert ended.is_set() and "6 lines" in shown(pilot.app)

    drive(script, files=[log_file])


def test_a_command_that_is_not_there_adds_nothing_to_the_diagnosis(drive, settle) -> None:
    async def script(pilot: Pilot[None]) -> None:
        got: list[object] = []
        pilot.app.push_screen(OutputDialog({"run": "no-such-command-here"}, [["no-such-command-here"]]), got.append)
        await settle(pilot)
        await pilot.press("escape")
        assert got == [None]

    drive(script)


def test_the_file_picker_follows_the_folder_that_is_typed(drive, settle, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()

    async def script(pilot: Pilot[None]) -> None:
        pilot.app.go("diagnose")
        await pilot.press("o")
        line = pilot.app.screen.query_one(Input)
        for typed, folder in ((f"{tmp_path}/logs", f"{tmp_path}/logs"), ("~no-such-user/x", f"{tmp_path}/logs")):
            line.value = typed
            await settle(pilot)
            assert str(pilot.app.screen.query_one(DirectoryTree).path) == folder

    drive(script)


def test_the_code_under_the_cursor_is_explained(drive, settle, log_file: str, shown: Shown) -> None:
    async def script(pilot: Pilot[None]) -> None:
        log(pilot).focus()
        await pilot.press("end")
        await settle(pilot)
        assert "507018 (acl): A demonstration kernel failed." in shown(pilot.app)
        await pilot.press("c")
        await settle(pilot)
        assert "ACL_ERROR_DEMO" in shown(pilot.app)

    drive(script, files=[log_file])


def test_a_cause_opens_with_what_the_log_filled_in(drive, settle, log_file: str) -> None:
    async def script(pilot: Pilot[None]) -> None:
        put_on(pilot, FOLLOWS)
        await pilot.press("enter")
        await settle(pilot)
        items = pilot.app.screen.query_one(EntryView).items
        assert any("Rank 3 waited" in item.copy for item in items)

    drive(script, files=[log_file])


def test_pastes_and_files_are_diagnosed_together(drive, settle, log_file: str, tmp_path: Path) -> None:
    async def script(pilot: Pilot[None]) -> None:
        assert pilot.app.session.diagnosis is None
        pilot.app.go("diagnose")
        await settle(pilot)
        await pilot.press("p", *"demo wait timed out on rank 7", "ctrl+d")
        await settle(pilot)
        assert [m.entry["id"] for m in pilot.app.session.diagnosis.claims] == [FOLLOWS]
        await pilot.press("o", *log_file, "enter")
        await settle(pilot)
        assert pilot.app.session.diagnosis.claims[0].entry["id"] == ROOT
        assert [one.name for one in pilot.app.session.logs] == ["paste", log_file]
        await pilot.press("ctrl+l")
        await settle(pilot)
        assert pilot.app.session.logs == [] and pilot.app.session.diagnosis is None

    drive(script)


def test_a_file_that_cannot_be_read_is_a_message(drive, settle, tmp_path: Path) -> None:
    async def script(pilot: Pilot[None]) -> None:
        pilot.app.go("diagnose")
        await settle(pilot)
        for path in ("/nowhere/at/all", "/dev/zero"):
            await pilot.press("o")
            await settle(pilot)
            pilot.app.screen.query_one("#path", Input).value = path
            await pilot.press("enter")
            await settle(pilot)
            assert pilot.app.session.logs == []

    drive(script)


def test_hostile_text_is_shown_literally(drive, settle, tmp_path: Path, shown: Shown) -> None:
    lines = ["[bold red] [error] [/x]", "\x1b[31mred\x1b[0m \x1b]52;c;aGk=\x07bell\x07", "é宽字符 e\u0301\u0301 ‮bidi", "nul\0nul", "x" * 100_000,
             "宽" * 50_000, "[@click=app.bell]click[/]"]  # fmt: skip
    path = tmp_path / "hostile.log"
    path.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe broken \x80")

    async def script(pilot: Pilot[None]) -> None:
        text = shown(pilot.app)
        for part in ("[bold red] [error] [/x]", "red bell", "宽字符", "nulnul", "[@click=app.bell]click[/]"):
            assert part in text, part
        assert "\x1b" not in text and "\0" not in text and "\u202e" not in text
        log(pilot).focus()
        await pilot.press("home", "down", "down", "down", "down", "down", "right", "right", "end", "left", "c")
        await settle(pilot)
        for size in ((40, 10), (200, 60), (20, 5), (80, 24)):
            await pilot.resize_terminal(*size)
            await settle(pilot)

    drive(script, files=[str(path)], size=(80, 30))


def test_a_read_only_command_runs_after_it_was_shown_exactly(drive, settle, log_file: str) -> None:
    async def script(pilot: Pilot[None]) -> None:
        put_on(pilot, ROOT)
        await pilot.press("x")
        await settle(pilot)
        assert isinstance(pilot.app.screen, ConfirmDialog)
        told = str(pilot.app.screen.query_one("#exactly", Static).content)
        assert r"['printf', 'torch-npu==2.1.0\\n']" in told
        assert "torch_npu" not in pilot.app.session.diagnosis.versions
        await pilot.press("left", "tab", "tab")
        pilot.app.screen.query_one("#yes").focus()
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(pilot.app.screen, OutputDialog)
        assert log(pilot).log_file.line(0) == "torch-npu==2.1.0"
        await pilot.press("escape")
        await settle(pilot)
        assert pilot.app.session.diagnosis.versions["torch_npu"] == "2.1.0"
        assert len(pilot.app.session.logs) == 2

    drive(script, files=[log_file])


def test_a_command_is_not_run_unless_agreed_filled_and_read_only(drive, settle, log_file: str) -> None:
    async def script(pilot: Pilot[None]) -> None:
        app = pilot.app
        app.run_command("demo-versions")
        await settle(pilot)
        await pilot.press("enter")  # the cursor stands on Cancel
        await settle(pilot)
        assert len(app.screen_stack) == 1
        app.run_command("demo-reset")
        app.run_command("no-such-command")
        await settle(pilot)
        assert len(app.screen_stack) == 1
        app.run_command("demo-board")
        await settle(pilot)
        yes, value = app.screen.query_one("#yes"), app.screen.query_one(Input)
        assert yes.disabled
        for wrong in ("0; reboot", "$(reboot)", "-rf", "a b", "`x`"):
            value.value = wrong
            await pilot.pause()
            assert yes.disabled, wrong
        value.value = "3"
        await pilot.pause()
        assert not yes.disabled
        await pilot.press("enter", "enter")
        await settle(pilot)
        assert log(pilot).log_file.line(0) == "board 3"

    drive(script, files=[log_file])


def test_feedback_is_kept_and_what_is_not_it_is_set_aside(drive, settle, log_file: str) -> None:
    async def script(pilot: Pilot[None]) -> None:
        put_on(pilot, ROOT)
        await pilot.press("plus")
        put_on(pilot, FOLLOWS)
        await pilot.press("minus", *"a cable", "enter")
        await settle(pilot)
        put_on(pilot, ROOT)
        await pilot.press("d")
        assert log(pilot).evidence == {2, 6}
        assert [item.match for item in causes(pilot).items if item.match][-1] == ROOT
        put_on(pilot, FOLLOWS)
        await pilot.press("d")
        put_on(pilot, FOLLOWS)
        await pilot.press("d")  # taken back, and so is its report
        assert log(pilot).evidence == {2, 6}

    drive(script, files=[log_file])
    with Store.open() as store:
        kept = [(row["entry"], row["verdict"], row["note"]) for row in store.feedback()]
        assert store.last_diagnosis() is not None
    assert kept == [(ROOT, "wrong", "not it"), (FOLLOWS, "wrong", "a cable"), (ROOT, "right", "")]


def test_a_one_line_fault_is_opened_and_reported_like_an_entry(
    signature_kb: str, drive, settle, tmp_path: Path
) -> None:
    (tmp_path / "pump.log").write_text("E pump lost its prime\n")

    async def script(pilot: Pilot[None]) -> None:
        put_on(pilot, signature_kb)
        await pilot.press("plus", "enter")
        await settle(pilot)
        assert pilot.app.screen.query_one(EntryView).document_id == signature_kb
        await pilot.press("escape", "d")
        assert pilot.app.session.set_aside.keys() == {signature_kb}

    drive(script, files=[str(tmp_path / "pump.log")])
    with Store.open() as store:
        assert [(row["entry"], row["verdict"]) for row in store.feedback()] == [
            (signature_kb, "wrong"),
            (signature_kb, "right"),
        ]


def test_reading_can_be_cancelled(drive, settle, log_file: str, monkeypatch) -> None:
    import threading

    from npu_kb.tui.session import Session, Stopped

    asked = threading.Event()

    def read(self, knowledge, feedback, progress, cancelled, known):
        asked.set()
        while not cancelled():
            asked.wait(0.01)
        raise Stopped

    async def script(pilot: Pilot[None]) -> None:
        monkeypatch.setattr(Session, "read", read)
        pilot.app.diagnose_text("libdemo.so: cannot open shared object file")
        while not asked.is_set():
            await pilot.pause(0.01)
        await pilot.press("escape")
        await settle(pilot)
        assert pilot.app.session.diagnosis is None

    drive(script)


def test_the_language_changes_while_a_log_is_open(drive, settle, log_file: str, shown: Shown) -> None:
    async def script(pilot: Pilot[None]) -> None:
        await pilot.press("f8")
        await settle(pilot)
        assert "当前 shell 未加载演示环境变量" in shown(pilot.app) and "确定" in shown(pilot.app)
        await pilot.press("f8")
        await settle(pilot)
        assert "The environment of [bold]demo[/bold]" in shown(pilot.app)

    drive(script, files=[log_file], size=(140, 40))
