"""This machine, snapshots and checklists by keys, on machines of fake tools and files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static, Tree

from npu_kb import locations
from npu_kb.environment import evidence
from npu_kb.environment.running import Stopped as ProbeStopped
from npu_kb.environment.snapshot import Devices, Node, Snapshot
from npu_kb.environment.tried import add_tried
from npu_kb.tui.app import KnowledgeApp
from npu_kb.tui.environment_items import machine_parts, shown_items
from npu_kb.tui.hand_ticks import HandTicks
from npu_kb.tui.machines import Machine, ThisMachine, free_name, identity, kept_snapshots
from npu_kb.tui.screens.answer import AnswerDialog
from npu_kb.tui.session import Stopped
from npu_kb.tui.state import State
from npu_kb.tui.widgets.entry_view import EntryView

Shown = Callable[[KnowledgeApp], str]
CARD = "| 0     910B3               | Alarm         | 93.1        36                0    / 0             |\n"
PASTE = "torch 2.5.1\ntorch-npu 2.1.0.post12\nPython 3.10.4\n"


def is_alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


async def begin(pilot: Pilot[None], settle) -> None:
    await pilot.press("f5")
    await settle(pilot)


def items(pilot: Pilot[None]) -> list[str]:
    return [item.text.plain for item in pilot.app.screen.query_one(EntryView).items]


def about(pilot: Pilot[None]) -> str:
    return str(pilot.app.screen.query_one("#about", Static).content)


def told(pilot: Pilot[None]) -> list[str]:
    return [note.message for note in pilot.app._notifications]


async def go_to(pilot: Pilot[None], settle, name: str) -> None:
    """The cursor of the tree on the node of this name."""
    tree = pilot.app.screen.query_one(Tree)
    tree.focus()
    nodes = [node for top in tree.root.children for node in (top, *top.children)]
    tree.move_cursor(next(node for node in nodes if str(node.label) == name))
    await settle(pilot)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the snapshot of a machine whose versions do not go together."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    versions = {"torch": "2.5.1", "torch_npu": "2.1.0.post12", "python": "3.10.4", "cann": "8.2.RC1"}
    told = {name: {"version": version, "source": "x"} for name, version in versions.items()}
    snapshot = Snapshot(taken="2026-01-01T00:00:00Z", versions=told, environment={"HCCL_SOCKET_IFNAME": "eth1"})
    (folder / "other.json").write_text(json.dumps(snapshot.document()))
    return folder


@pytest.mark.parametrize(
    ("name", "first", "texts"),
    [
        ("910a", "some pairs are unknown.", ["2 x 910ProB (910A)", "driver 23.0.6", "! hccn.link = DOWN [1]"]),
        (
            "a2",
            "| 1    910B3    | Alarm    | 92.2    37    0    / 0    |",
            ["2 x 910B3 (910B)", "! npu.health = Alarm [1]", "! /home 100%"],
        ),
        (
            "a3-container",
            "some pairs are unknown.",
            ["1 x Ascend910 (910_93)", "! host.device_missing = /dev/hisi_hdc"],
        ),
        ("310p", "some pairs are unknown.", ["2 x 310P3 (310P)", "driver 25.2.1"]),
        ("950", "These versions are a matched set.", ["1 x Ascend950PR (950)", "! hccn.link = PARTIAL LINK [0]"]),
    ],
)
def test_this_machine_is_judged_and_shown(name: str, first: str, texts: list[str], machine, drive, settle) -> None:
    machine(name)

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        shown = "\n".join(items(pilot))
        assert [text for text in texts if text not in shown] == []
        assert items(pilot)[0].endswith(first)

    drive(script)


def test_what_the_facts_claim_stands_on_top_and_opens(machine, drive, settle) -> None:
    machine("a2")

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        assert items(pilot)[0].startswith("LIKELY  A card has an active alarm\n  npu-smi info: | 1")
        assert "versions" in items(pilot)[1]
        await pilot.press("enter", "home", "enter")
        await settle(pilot)
        assert pilot.app.screen.query_one(EntryView).document_id == "demo-card-alarm"

    drive(script)


def test_a_machine_without_an_npu_says_what_is_missing(machine, drive, settle) -> None:
    machine({})

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        shown = "\n".join(items(pilot))
        assert "none found" in shown and "npu-smi info: not found" in shown

    drive(script)


def test_what_does_not_go_together_comes_first_and_its_mend_is_copied(machine, drive, settle, here: Path) -> None:
    machine({})

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        await go_to(pilot, settle, "other.json")
        first = items(pilot)
        assert first[0] == "These versions do not all go together." and first[1].startswith("Smallest change")
        assert first[2].startswith("UNSUPPORTED  torch_npu 2.1.0.post12 - torch 2.5.1\n")
        assert "Sources: " in first[2]
        assert first[3].startswith("unknown") and any(text.startswith("Go together: 2  torch_npu") for text in first)
        await pilot.press("enter", "down", "y")
        assert pilot.app.clipboard.startswith("pip install torch")
        await pilot.press("a")
        await settle(pilot)
        assert "compatible  torch_npu 2.1.0.post12 - CANN 8.2.RC1" in pilot.app.screen._shown.plain

    drive(script)


def test_a_combination_of_the_ledger_stands_above_the_pairs(
    machine, machine_kb: Path, drive, settle, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine({})
    kb = tmp_path / "ledger-kb"
    shutil.copytree(machine_kb, kb)
    monkeypatch.setattr(locations, "builtin_kb_directory", lambda: str(kb))
    versions = {"torch": "2.5.1", "torch_npu": "2.1.0.post12"}
    add_tried(kb, {"versions": versions, "result": "fails", "workload": "demo", "by": "me", "date": date(2026, 1, 2)})

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        await go_to(pilot, settle, "other.json")
        assert items(pilot)[2].startswith("FAILS  Ledger") and "Tried: fails" in items(pilot)[2]

    drive(script)


def test_typing_into_the_filter_narrows_the_facts_below_their_headings(machine, drive, settle) -> None:
    machine("a2")

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        await pilot.press("slash", *"alarm", "space", *"1")
        assert items(pilot)[1:] == ["NPUs\n  1: Alarm, 37 C, 92.2 W, 5.2% memory", "Look at\n! npu.health = Alarm [1]"]
        await pilot.press("ctrl+u", *"limits")
        assert len(items(pilot)) == 1 and "nofile 1024" in items(pilot)[0]
        await pilot.press("ctrl+u", *"frobnicator")
        assert items(pilot) == ["No line holds these words (Esc clears the filter)."]
        await pilot.press("escape")
        assert len(items(pilot)) > 5

    drive(script)


def test_a_machine_is_kept_and_compared_with_another(machine, drive, settle, here: Path, tmp_path: Path) -> None:
    machine("a2")

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        await pilot.press("c")
        assert any("Mark two machines" in text for text in told(pilot))
        await pilot.press("s")
        await settle(pilot)
        assert str(pilot.app.screen.query_one(".title", Static).content).startswith("File to keep the snapshot of This")
        await pilot.press("enter")
        await settle(pilot)
        await pilot.press("m")
        await go_to(pilot, settle, "other.json")
        await pilot.press("c")
        await settle(pilot)
        assert about(pilot).startswith("This machine -> other.json")
        assert items(pilot)[0].startswith("Versions\n  driver: 24.1.0 -> none")
        assert "  HCCL_SOCKET_IFNAME: eth0 -> eth1" in "\n".join(items(pilot))
        await pilot.press("c")
        assert items(pilot)[0] == "These versions do not all go together."

    drive(script)
    (kept,) = (tmp_path / "state" / "snapshots").iterdir()
    assert Snapshot.model_validate_json(kept.read_text()).versions["driver"].version == "24.1.0"


def test_alike_machines_have_no_difference(machine, drive, settle, here: Path) -> None:
    machine({})
    (here / "again.json").write_text((here / "other.json").read_text())

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        await go_to(pilot, settle, "again.json")
        await pilot.press("m")
        await go_to(pilot, settle, "other.json")
        await pilot.press("c")
        assert items(pilot) == ["No difference that matters."]

    drive(script)


def test_two_marked_machines_are_compared_and_a_third_mark_replaces_the_first(
    machine, drive, settle, here: Path
) -> None:
    machine("a2")
    (here / "third.json").write_text((here / "other.json").read_text().replace("2.5.1", "2.6.0"))

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        for name in ("This machine", "other.json", "third.json"):
            await go_to(pilot, settle, name)
            await pilot.press("m")
        await go_to(pilot, settle, "Snapshots")
        await pilot.press("c")
        await settle(pilot)
        assert about(pilot) == "other.json -> third.json" and "torch: 2.5.1 -> 2.6.0" in items(pilot)[0]
        await pilot.press("c")
        assert items(pilot)[0].startswith("Snapshots are machines")

    drive(script)


def test_marked_files_that_were_not_read_are_read_for_the_comparison(machine, drive, settle, here: Path) -> None:
    machine({})
    (here / "broken.json").write_text(GARBAGE["cut.json"])

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        screen = pilot.app.screen
        screen.marked = ["other.json", "broken.json"]
        await pilot.press("c")
        await settle(pilot)
        assert items(pilot)[0].startswith("Not read: broken.json")
        screen.marked, screen.compared = ["other.json", ""], ()
        screen.machines.clear()
        await pilot.press("c")
        await settle(pilot)
        assert items(pilot)[0].startswith("Versions\n")

    drive(script)


def test_only_enter_chooses_the_machine_of_the_checklists(machine, drive, settle, here: Path, shown: Shown) -> None:
    machine("a2")

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        await go_to(pilot, settle, "other.json")
        await go_to(pilot, settle, "Demo of [bold]checks[/bold]")
        assert about(pilot).startswith("(o) Facts of: This machine  20") and items(pilot)[1].startswith("[!]")
        assert "This machine (o)" in shown(pilot.app)
        await go_to(pilot, settle, "other.json")
        await pilot.press("enter")
        assert "other.json (o)" in shown(pilot.app) and "This machine (o)" not in shown(pilot.app)
        await go_to(pilot, settle, "Checklists")
        assert items(pilot)[0].startswith("Checklists are held against the machine with (o) in the tree.")
        await go_to(pilot, settle, "Demo of [bold]checks[/bold]")
        assert about(pilot) == "(o) Facts of: other.json  2026-01-01T00:00:00Z" and items(pilot)[1].startswith("[ ]")

    drive(script)


def test_steps_are_ticked_by_facts_and_by_hand_and_the_ticks_are_kept(
    machine, drive, settle, here: Path, shown: Shown
) -> None:
    machine("a2")

    def marks(pilot: Pilot[None]) -> list[str]:
        return [text[:3] for text in items(pilot) if text.startswith("[")]

    async def tick(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        await go_to(pilot, settle, "Demo of [bold]checks[/bold]")
        assert marks(pilot) == ["[!]", "[x]", "[ ]"] and "npu.health = Alarm [1]" in items(pilot)[1]
        assert "Demo of [bold]check… 1/3" in shown(pilot.app)
        view = pilot.app.screen.query_one(EntryView)
        view.focus()
        await pilot.press("space")
        assert any("Choose a step" in text for text in told(pilot))
        for at in (1, 4):
            view.highlighted = at
            await pilot.press("space")
        assert marks(pilot) == ["[!]", "[x]", "[x]"] and "facts speak against it" in items(pilot)[1]
        assert "1/3" not in shown(pilot.app) and "2/3" in shown(pilot.app)
        await pilot.press("e", "enter")
        await settle(pilot)
        await go_to(pilot, settle, "other.json")
        await pilot.press("enter")
        await go_to(pilot, settle, "Demo of [bold]checks[/bold]")
        assert marks(pilot) == ["[ ]", "[ ]", "[ ]"]  # of another machine

    async def take_back(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        await go_to(pilot, settle, "Demo of [bold]checks[/bold]")
        assert marks(pilot) == ["[!]", "[x]", "[x]"]
        pilot.app.screen.query_one(EntryView).focus()
        pilot.app.screen.query_one(EntryView).highlighted = 4
        await pilot.press("space")
        assert marks(pilot) == ["[!]", "[x]", "[ ]"]

    drive(tick)
    page = (here / "demo.md").read_text()
    assert "- [!] Health is OK.\n  - ticked by hand, but the facts speak against it\n" in page
    assert "- [x] Look at them.\n  - ticked by hand\n" in page
    assert "1 proved, 1 disproved, 1 ticked by hand, 0 to be looked at by you.\n\nFacts of: This machine 20" in page
    drive(take_back)


def test_enter_on_an_entry_of_a_step_opens_it(machine, drive, settle) -> None:
    machine("a2")

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        await go_to(pilot, settle, "Demo of [bold]checks[/bold]")
        await pilot.press("enter", "down", "down", "enter")
        await settle(pilot)
        assert isinstance(pilot.app.screen, AnswerDialog)

    drive(script)


def test_pasted_outputs_and_folders_are_opened_by_path(machine, drive, settle, tmp_path: Path, here: Path) -> None:
    machine({})
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "third.json").write_text((here / "other.json").read_text())
    (tmp_path / "paste.txt").write_text(PASTE)

    async def open_path(pilot: Pilot[None], path: str) -> None:
        await pilot.press("o")
        await settle(pilot)
        pilot.app.screen.query_one("#path", Input).value = path
        await pilot.press("enter")
        await settle(pilot)

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        await open_path(pilot, str(tmp_path / "paste.txt"))
        assert about(pilot).startswith("paste.txt") and items(pilot)[0] == "These versions do not all go together."
        await open_path(pilot, str(tmp_path / "more"))
        await go_to(pilot, settle, "third.json")
        assert items(pilot)[0] == "These versions do not all go together."

    drive(script)


GARBAGE = {
    "cut.json": '{"schema": "npu-kb/snapshot/1", "facts": [',
    "wrong.json": '{"schema": "npu-kb/snapshot/1", "taken": 3}',
    "deep.json": '{"schema": "npu-kb/snapshot/1", "x": ' + "[" * 100_000,
}


@pytest.mark.parametrize("name", GARBAGE)
def test_a_damaged_snapshot_is_one_line(name: str, machine, drive, settle, here: Path) -> None:
    machine({})
    (here / name).write_text(GARBAGE[name])

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        await go_to(pilot, settle, name)
        assert told(pilot) == [] and len(items(pilot)) == 1
        assert items(pilot)[0].startswith(f"Not read: ./{name}: ") and items(pilot)[0].endswith("\n\nr reads it again.")
        await go_to(pilot, settle, "Demo of [bold]checks[/bold]")
        assert items(pilot)[1].startswith("[ ]")

    drive(script)


def test_a_snapshot_of_many_facts_is_shown_in_part_and_filtered_as_a_whole(machine, drive, settle, here: Path) -> None:
    machine({})
    facts = [{"name": "npu.health", "value": "Alarm\x1b[31m", "subject": str(n)} for n in range(5_000)]
    document = {"schema": "npu-kb/snapshot/1", "taken": None, "facts": facts}
    (here / "huge.json").write_text(json.dumps(document))

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        await go_to(pilot, settle, "huge.json")
        assert len(items(pilot)) < 300 and any("and 4800 more" in text for text in items(pilot))
        assert "\x1b" not in "".join(items(pilot))
        await pilot.press("slash", *"[4999]")
        assert items(pilot) == ["Look at\n! npu.health = Alarm [4999]"]

    drive(script)


def test_what_cannot_be_written_is_a_message(machine, drive, settle, here: Path) -> None:
    machine("a2")

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        for path in ("/dev/null/x.json", "new/x.json", str(here / "other.json"), "", "~"):
            await pilot.press("s")
            await settle(pilot)
            pilot.app.screen.query_one("#answer", Input).value = path
            await pilot.press("enter")
            await settle(pilot)
        assert len(told(pilot)) == 4 and "2.5.1" in (here / "other.json").read_text()
        assert "there is no folder new; make it" in told(pilot)[1] and not (here / "new").exists()

    drive(script)


def test_ticks_that_cannot_be_kept_last_until_the_end(machine, drive, settle, tmp_path: Path) -> None:
    machine({})
    (tmp_path / "state").write_text("no folder")

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        await go_to(pilot, settle, "Demo of [bold]checks[/bold]")
        await pilot.press("enter", "down", "space")
        assert items(pilot)[1].startswith("[x]") and any("cannot be kept" in text for text in told(pilot))

    drive(script)


@pytest.mark.parametrize("text", ["{", "[]", '{"x": 3}', '{"x": {"demo": 1}}', '{"x": {"demo": [1, {}]}}', "\0"])
def test_damaged_ticks_are_no_error(text: str, machine, drive, settle, tmp_path: Path) -> None:
    machine({})
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "ticks.json").write_text(text.replace('"x"', f'"{identity("")}"'))

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        await go_to(pilot, settle, "Demo of [bold]checks[/bold]")
        assert items(pilot)[1].startswith("[ ]")
        await pilot.press("enter", "down", "space")
        assert items(pilot)[1].startswith("[x]") and "it is kept as" in told(pilot)[-1]

    drive(script)
    aside = tmp_path / "state" / "ticks.damaged.json"
    assert aside.read_text() == text.replace('"x"', f'"{identity("")}"')


def test_ticks_of_two_windows_are_merged(tmp_path: Path) -> None:
    path = tmp_path / "ticks.json"
    first, second = HandTicks(path), HandTicks(path)
    assert first.toggle("m", "demo", "A") and second.toggle("m", "demo", "B") and second.toggle("n", "demo", "C")
    assert HandTicks(path).of("m", "demo") == ["A", "B"]
    assert first.toggle("m", "demo", "B")  # which still looks open there
    assert first.of("m", "demo") == ["A", "B"] and first.of("n", "demo") == ["C"]
    assert first.toggle("m", "demo", "A") and HandTicks(path).of("m", "demo") == ["B"]


def test_of_a_huge_row_the_screen_shows_a_part_and_copies_all() -> None:
    nodes = [Node(path=f"/dev/davinci{n}", mode="crw-rw----", owner="me", usable=True) for n in range(20_000)]
    snapshot = Snapshot(taken=None, devices=Devices(nodes=nodes))
    items = shown_items(machine_parts(Machine("", snapshot, {"matches": []}, [], {}), "en"), "", "en")
    (row,) = [item for item in items if "davinci0" in item.text.plain]
    assert len(row.text.plain) < 3_000 and row.text.plain.endswith("...") and "davinci19999" in row.copy


def test_programs_that_tick_at_the_same_time_lose_no_tick(tmp_path: Path) -> None:
    path = tmp_path / "own" / "ticks.json"
    code = (
        "import sys; from pathlib import Path; from npu_kb.tui.hand_ticks import HandTicks\n"
        "ticks = HandTicks(Path(sys.argv[1]))\n"
        "print(flush=True); sys.stdin.readline()\n"
        "assert all(ticks.toggle('m', 'demo', f'{sys.argv[2]} {step}') for step in range(60))"
    )
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in "ab"
    ]
    assert [program.stdout.readline() for program in programs if program.stdout] == ["\n", "\n"]
    for program in programs:
        assert program.stdin
        print(file=program.stdin, flush=True)  # both begin
    assert [program.communicate() and program.returncode for program in programs] == [0, 0]
    assert sorted(HandTicks(path).of("m", "demo")) == sorted(f"{name} {step}" for name in "ab" for step in range(60))


def test_pipes_in_the_place_of_kept_files_are_not_waited_for(tmp_path: Path) -> None:
    for name in ("ticks.json", "tui.json"):
        os.mkfifo(tmp_path / name)
    ticks = HandTicks(tmp_path / "ticks.json")
    assert not ticks.toggle("m", "demo", "A") and not ticks.toggle("m", "demo", "B")
    assert ticks.of("m", "demo") == ["A", "B"]
    assert State.load(str(tmp_path / "tui.json")) == State()


def hanging() -> tuple[threading.Event, Callable[..., None]]:
    """A reading of this machine that ends only when it is cancelled, and what tells that it was asked for."""
    asked = threading.Event()

    def hangs(cancelled: Callable[[], bool]) -> None:
        asked.set()
        while not cancelled():
            threading.Event().wait(0.01)
        raise ProbeStopped

    return asked, hangs


def test_reading_this_machine_can_be_cancelled_and_begun_again(machine, drive, settle, monkeypatch) -> None:
    machine("a2")
    (asked, hangs), snapshot_here = hanging(), evidence.snapshot_here

    async def script(pilot: Pilot[None]) -> None:
        monkeypatch.setattr(evidence, "snapshot_here", hangs)
        await pilot.press("f5")
        while not asked.is_set():
            await pilot.pause(0.01)
        assert "reading ... (Esc cancels)" in about(pilot)
        await pilot.press("s")
        assert told(pilot) == ["This machine is still being read."]
        await pilot.press("f2", "f5", "escape")
        await settle(pilot)
        assert "not read" in about(pilot)
        monkeypatch.setattr(evidence, "snapshot_here", snapshot_here)
        await pilot.press("r")
        await settle(pilot)
        assert "driver 24.1.0" in "\n".join(items(pilot))

    drive(script)


def test_commands_end_with_the_reading(machine, tmp_path: Path, script) -> None:
    machine("a2")
    script(tmp_path / "bin" / "npu-smi", f"echo $$ >> {tmp_path}/pids; exec /bin/sleep 60")
    begun = tmp_path / "pids"
    with pytest.raises(Stopped):
        ThisMachine().read(lambda: begun.exists() and begun.stat().st_size > 0)
    end = time.monotonic() + 10
    while any(map(is_alive, begun.read_text().split())):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_snapshots_are_found_by_what_they_hold(here: Path) -> None:
    (here / "settings.json").write_text("{}")
    (here / "folder.json").mkdir()
    (here / "link.json").symlink_to(here / "other.json")
    (here / "broken.json").symlink_to("nowhere")
    assert [Path(path).name in ("other.json", "link.json") for path in kept_snapshots([".", "/nowhere"])] == [True]
    assert free_name(here, "other", ".json").name == "other-2.json"


def test_the_facts_of_this_machine_count_in_the_diagnosis(machine, drive, settle, log_file: str, monkeypatch) -> None:
    reads, snapshot_here = [], evidence.snapshot_here
    machine({"tools": {"pip": {"list": PASTE}, "npu-smi": {"info": CARD}}})
    monkeypatch.setattr(evidence, "snapshot_here", lambda cancelled: reads.append(1) or snapshot_here(cancelled))

    def causes(pilot: Pilot[None]) -> list[str]:
        return [item.text.plain for item in pilot.app.screen.query_one("#causes").items]

    def title(pilot: Pilot[None]) -> str:
        return str(pilot.app.screen.query_one("#why-title", Static).content)

    async def script(pilot: Pilot[None]) -> None:
        without = causes(pilot)
        assert title(pilot) == "Causes"
        await pilot.press("e")
        await settle(pilot)
        assert title(pilot) == "Causes  with this machine's facts"
        assert any(text.startswith("UNSUPPORTED  torch_npu 2.1.0.post12 - torch 2.5.1") for text in causes(pilot))
        put_on = next(
            at for at, text in enumerate(causes(pilot)) if text.startswith("  > This machine, npu-smi info 1: ")
        )
        pilot.app.screen.query_one("#causes").highlighted = put_on
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(pilot.app.screen, AnswerDialog)  # there is no line of a log to go to
        await pilot.press("escape")
        await pilot.press("Y")
        assert "UNSUPPORTED  torch_npu" in pilot.app.clipboard
        assert all(line.source == log_file for line in pilot.app.session.read_lines.lines)
        await pilot.press("e")
        await settle(pilot)
        assert causes(pilot) == without and title(pilot) == "Causes"
        await pilot.press("e")
        await settle(pilot)
        assert reads == [1]

    drive(script, files=[log_file])


def test_the_machine_alone_is_diagnosed_and_forgotten_again(machine, drive, settle, shown: Shown) -> None:
    machine({"tools": {"pip": {"list": PASTE}}})

    async def script(pilot: Pilot[None]) -> None:
        await pilot.press("f3", "e")
        await settle(pilot)
        assert "UNSUPPORTED" in shown(pilot.app)
        await pilot.press("e")
        await settle(pilot)
        assert "Nothing to diagnose yet" in shown(pilot.app)

    drive(script)


def test_a_reading_that_is_cancelled_leaves_the_diagnosis_as_it_was(
    machine, drive, settle, log_file, monkeypatch
) -> None:
    machine({})
    asked, hangs = hanging()

    async def script(pilot: Pilot[None]) -> None:
        monkeypatch.setattr(evidence, "snapshot_here", hangs)
        await pilot.press("e")
        while not asked.is_set():
            await pilot.pause(0.01)
        await pilot.press("escape")
        await settle(pilot)
        assert not pilot.app.screen.with_machine and pilot.app.session.diagnosis is not None
        assert "with this machine" not in str(pilot.app.screen.query_one("#why-title", Static).content)

    drive(script, files=[log_file])


def test_the_language_changes_at_every_place(machine, drive, settle, here: Path) -> None:
    machine("a2")

    async def script(pilot: Pilot[None]) -> None:
        await begin(pilot, settle)
        await pilot.press("f8")
        await settle(pilot)
        assert "! npu.health = Alarm [1]" in "\n".join(items(pilot)) and "需关注" in "\n".join(items(pilot))
        for name, text in {
            "快照": "按 s 保存",
            "检查清单": "演示检查",
            "演示检查": "所有卡健康。",
            "other.json": "不支持",
        }.items():
            await go_to(pilot, settle, name)
            assert text in "\n".join(items(pilot)), name

    drive(script)
