"""What stands on each screen, in both languages and two sizes, as text files that a reviewer can read.

NPU_KB_UPDATE_SCREENS=1 writes them anew.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.command import CommandList
from textual.pilot import Pilot
from textual.widgets import Input

from npu_kb.environment.snapshot import Snapshot

SCREENS = Path(__file__).parent / "screens"
TAKEN = "2026-01-01T00:00:00Z"


async def browse(pilot: Pilot[None], settle: Callable[..., Awaitable[None]]) -> None:
    pilot.app.screen.query_one("#search", Input).value = "demo severity:fault"


async def diagnose(pilot: Pilot[None], settle: Callable[..., Awaitable[None]]) -> None:
    pilot.app.screen.panel.view.go_to(5)  # now that the bar below the log has come, which takes a row of it


async def answer(pilot: Pilot[None], settle: Callable[..., Awaitable[None]]) -> None:
    await pilot.press("enter")


async def no_log(pilot: Pilot[None], settle: Callable[..., Awaitable[None]]) -> None:
    pilot.app.go("diagnose")


async def confirm(pilot: Pilot[None], settle: Callable[..., Awaitable[None]]) -> None:
    pilot.app.run_command("demo-board")
    await settle(pilot)
    pilot.app.screen.query_one(Input).value = "3"


async def record(pilot: Pilot[None], settle: Callable[..., Awaitable[None]]) -> None:
    pilot.app.record("RuntimeError: the frobnicator of the sharded widget refused block 0x77")


async def nothing_to_record(pilot: Pilot[None], settle: Callable[..., Awaitable[None]]) -> None:
    await pilot.press("f4")


async def help(pilot: Pilot[None], settle: Callable[..., Awaitable[None]]) -> None:
    await pilot.press("f1")


async def environment(pilot: Pilot[None], settle: Callable[..., Awaitable[None]]) -> None:
    await pilot.press("f5")


async def versions(pilot: Pilot[None], settle: Callable[..., Awaitable[None]]) -> None:
    await pilot.press("f5")
    await settle(pilot)
    await pilot.press("down", "down", "enter")


async def compare(pilot: Pilot[None], settle: Callable[..., Awaitable[None]]) -> None:
    await pilot.press("f5")
    await settle(pilot)
    await pilot.press("m", "down", "down")
    await settle(pilot)
    await pilot.press("c")


async def checklist(pilot: Pilot[None], settle: Callable[..., Awaitable[None]]) -> None:
    await pilot.press("f5")
    await settle(pilot)
    await pilot.press("end", "enter", "end", "space")


async def diagnose_with_machine(pilot: Pilot[None], settle: Callable[..., Awaitable[None]]) -> None:
    await pilot.press("e")


async def shown_quietly(show, pilot: Pilot[None], settle) -> None:
    """Go to the screen, and wait until nothing moves and no notice stands over it."""
    await show(pilot, settle)
    await settle(pilot)
    pilot.app.clear_notifications()
    await settle(pilot)


NEEDS_LOG = (diagnose, answer, diagnose_with_machine)
OF_MACHINES = (environment, versions, compare, checklist, diagnose_with_machine)


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["80x24", "140x40"])
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "show",
    [browse, diagnose, answer, no_log, confirm, record, nothing_to_record, help],
    ids=lambda show: show.__name__,
)
def test_screen(show, lang, size, drive, settle, shown, log_file: str, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "own").mkdir()
    seen = []

    async def script(pilot: Pilot[None]) -> None:
        await shown_quietly(show, pilot, settle)
        seen.append(shown(pilot.app) + "\n")

    drive(script, files=[log_file] if show in NEEDS_LOG else None, size=size, lang=lang, kb=str(tmp_path / "own"))
    compare_with_file(show, lang, size, seen[0])


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("show", OF_MACHINES, ids=lambda show: show.__name__)
def test_screen_of_a_machine(show, lang, size, drive, settle, shown, log_file: str, machine) -> None:
    machine("a2")
    told = {"torch": "2.5.1", "torch_npu": "2.1.0.post12", "python": "3.10.4", "cann": "8.2.RC1", "driver": "24.1.0"}
    other = Snapshot(taken=TAKEN, versions={name: {"version": v, "source": "x"} for name, v in told.items()})
    Path("other.json").write_text(json.dumps(other.document()))
    seen = []

    async def script(pilot: Pilot[None]) -> None:
        await shown_quietly(show, pilot, settle)
        seen.append(re.sub(r"\d{4}-\d\d-\d\dT[\d:]{8}Z", TAKEN, shown(pilot.app)) + "\n")

    drive(script, files=[log_file] if show in NEEDS_LOG else None, size=size, lang=lang)
    compare_with_file(show, lang, size, seen[0])


def compare_with_file(show, lang: str, size: tuple[int, int], seen: str) -> None:
    path = SCREENS / f"{show.__name__.replace('_', '-')}-{lang}-{size[0]}x{size[1]}.txt"
    if os.environ.get("NPU_KB_UPDATE_SCREENS"):
        path.write_text(seen, "utf-8")
    assert seen.splitlines() == path.read_text("utf-8").splitlines()


def test_the_cursor_of_the_palette_is_seen_without_colours(drive, settle) -> None:
    async def script(pilot: Pilot[None]) -> None:
        pilot.app.use_theme("no-colour")
        await pilot.press("ctrl+p")
        while not (view := pilot.app.screen.query_one(CommandList)).option_count:
            await pilot.pause(0.01)
        await pilot.press("down")
        await settle(pilot)
        rows = [view.render_line(y) for y in range(view.size.height)]
        marked = [row.text for row in rows if any(s.style and s.style.underline for s in row if s.text.strip())]
        assert len(marked) == 1

    drive(script)


@pytest.mark.parametrize("theme", ["textual-dark", "ansi-dark", "ansi-light", "no-colour"])
def test_the_cursor_is_seen_in_every_theme(theme: str, drive, settle, log_file: str) -> None:
    async def script(pilot: Pilot[None]) -> None:
        pilot.app.use_theme(theme)
        await settle(pilot)
        for part in ("#causes", "#log"):
            pilot.app.screen.query_one(part).focus()
            await settle(pilot)
            view = pilot.app.screen.query_one(part)
            rows = [view.render_line(y) for y in range(view.size.height)]
            reversed_rows = [row for row in rows if all(s.style and s.style.reverse for s in row if s.text.strip())]
            assert any(row.text.strip() for row in reversed_rows), part
        strips = pilot.app.screen._compositor.render_strips()
        colours = {s.style.color.name for strip in strips for s in strip if s.style and s.style.color}
        assert theme != "no-colour" or colours <= {"default"}

    drive(script, files=[log_file])
