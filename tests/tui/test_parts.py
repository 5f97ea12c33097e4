"""The logic below the screens: logs of any size, commands without a shell, what is remembered."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_kb.errors import NpuKbError
from npu_kb.intake.clean import printable
from npu_kb.tui import running
from npu_kb.tui.logfile import TROUBLE, LogFile
from npu_kb.tui.state import State
from npu_kb.tui.threads import aside
from npu_kb.tui.widgets.log_view import cells_from


def never() -> bool:
    return False


def counted(log: LogFile) -> LogFile:
    log.count_lines(lambda part: None, never)
    return log


@settings(max_examples=60)
@given(st.lists(st.one_of(st.text(max_size=30), st.integers(60_000, 140_000).map(lambda n: "x" * n)), max_size=12))
def test_every_line_is_where_splitting_puts_it(lines: list[str]) -> None:
    text = "\n".join(lines).encode("utf-8", "replace").decode()
    log = counted(LogFile.of_text("t", text))
    expected = text.split("\n")
    if expected[-1] == "":
        expected.pop()
    assert log.line_count == len(expected)
    for number in reversed(range(len(expected))):
        assert log.line(number) == printable(expected[number].removesuffix("\r"))
    assert log.line(len(expected) + 5) == ""


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "utf-16"])
def test_encodings_are_read_as_the_diagnosis_reads_them(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.log"
    path.write_bytes("第一行\n第二行 错误\n".encode(encoding))
    log = counted(LogFile.of_path(str(path)))
    assert [log.line(0), log.line(1), log.line_count] == ["第一行", "第二行 错误", 2]
    log.close()


def test_lines_are_found_forwards_and_backwards(tmp_path: Path) -> None:
    lines = [f"line {n}" for n in range(60_000)]
    for number in (0, 20_000, 59_999):
        lines[number] = f"an ERROR in {number}"
    log = counted(LogFile.of_text("t", "\n".join(lines)))
    forwards = [log.find(TROUBLE, start, 1, never) for start in (0, 1, 20_001)]
    backwards = [log.find(TROUBLE, start, -1, never) for start in (59_999, 59_998, 19_999)]
    assert forwards == [0, 20_000, 59_999] and backwards == [59_999, 20_000, 0]
    assert log.find(re.compile(b"no such text"), 0, 1, never) is None
    assert log.find(TROUBLE, 1, 1, lambda: True) is None


def test_a_file_that_shrinks_gives_empty_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("one\n" * 100_000)
    log = counted(LogFile.of_path(str(path)))
    os.truncate(path, 8)
    assert [log.line(1), log.line(50_000)] == ["one", ""]
    assert log.find(TROUBLE, 0, 1, never) is None
    log.close()


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "nothing", "/dev/zero", "a\0b"):
        with pytest.raises(NpuKbError):
            LogFile.of_path(str(path))


@given(st.text(st.sampled_from("ab宽e\u0301")), st.integers(0, 30), st.integers(1, 20))
def test_a_part_of_a_line_is_as_wide_as_asked(line: str, start: int, width: int) -> None:
    part = cells_from(line, start, width)
    assert part in line and len(part) <= 2 * width + line.count("\u0301")


@pytest.mark.parametrize(
    ("line", "stages"),
    [
        ("npu-smi info", [["npu-smi", "info"]]),
        ('dmesg -T | grep -iE "ascend|npu"', [["dmesg", "-T"], ["grep", "-iE", "ascend|npu"]]),
        ('python -c "import acl; print(1)"', [["python", "-c", "import acl; print(1)"]]),
        ("grep '[ERROR]' x", [["grep", "[ERROR]", "x"]]),
        *[(line, None) for line in ("a; b", "a && b", "a > b", "a < b", "a $(b)", 'a "$HOME"', "a `b`", "a || b", "a &", "| a", "a |",
                                    "while true; do x; done", "a 'b", "a\nb", "")],
    ],
)  # fmt: skip
def test_only_what_needs_no_shell_becomes_argument_lists(line: str, stages: running.Pipeline | None) -> None:
    assert running.pipeline(line) == stages


def test_limits_of_time_and_output_hold_and_nothing_is_left_running(tmp_path: Path) -> None:
    endless = running.run([["yes"]], never, seconds=20, most=100_000)
    assert (endless.end, len(endless.text)) == ("size", 100_000)
    start = time.monotonic()
    slow = running.run([["sh", "-c", f"echo $$ > {tmp_path}/pid; sleep 600 & sleep 600"]], never, seconds=1)
    assert slow.end == "time" and time.monotonic() - start < 20
    leader = int((tmp_path / "pid").read_text())
    left = subprocess.run(["ps", "-o", "stat=", "-g", str(leader)], capture_output=True, text=True, check=False).stdout
    assert [state for state in left.split() if not state.startswith("Z")] == []
    assert running.run([["sleep", "600"]], lambda: True).end == "cancelled"


def test_how_a_command_ended_is_told() -> None:
    assert running.run([["printf", "a"], ["cat"]], never) == running.Output("a", "done", 0)
    assert running.run([["false"]], never).status == 1
    missing = running.run([["no-such-program-here"]], never)
    assert missing.end == "failed" and "no-such-program-here" in missing.text


def test_a_state_survives_saving_and_is_never_half_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "tui.json"
    state = State(layer="cann", query="慢", theme="gruvbox")
    for number in range(60):
        state.remember_search(f"q{number % 55}")
    state.save(str(path))
    assert State.load(str(path)) == state and len(state.searches) == 50 and state.searches[-1] == "q4"
    assert [file.name for file in path.parent.iterdir()] == ["tui.json"]
    State().save(None)


def test_nothing_but_its_command_imports_the_tui() -> None:
    code = (
        "import sys\nfrom npu_kb.cli import COMMANDS, build_parser\nbuild_parser(None)\nimport npu_kb.findings.recording\n"
        "print([m for m in sys.modules if m.startswith(('textual', 'npu_kb.tui'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_thread_that_is_not_waited_for_any_more_holds_nobody_up() -> None:
    let_go, ended = threading.Event(), threading.Event()

    def work() -> None:
        let_go.wait(60)
        ended.set()

    async def main() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(aside(work), 0.01)

    asyncio.run(main())
    assert not ended.is_set()
    let_go.set()
    assert ended.wait(60)


def test_what_fails_aside_is_raised_where_it_is_waited_for() -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(aside(lambda: 1 // 0))
    assert asyncio.run(aside(lambda: 3)) == 3
