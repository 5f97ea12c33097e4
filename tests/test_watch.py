"""Following logs: each new fault once, through growth, rotation and truncation."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from npu_kb.cluster.watch import Watch

FAULT = "quux overflow in frobnicator"
OTHER = "gizmo melted down at last"
Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def two_entries(own_kb: Path, write_entry: Write, shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPU_KB_CACHE", str(shared_cache))
    write_entry("quux", f"- text: {FAULT}")
    write_entry("gizmo", f"- text: {OTHER}")
    write_entry("pair", "- text: [first half of it, second half of it]")


def told(watch: Watch) -> list[tuple[str, str, int]]:
    """(entry, name of the file, line) of each new fault."""
    return [(t.observation.entry, Path(t.observation.source).name, t.observation.line) for t in watch.look()]


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_what_stands_there_already_is_passed_over(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    append(log, FAULT + "\n")
    watch = Watch([str(log)], [])
    assert told(watch) == []
    append(log, f"noise\n{OTHER}\n")
    assert told(watch) == [("gizmo", "a.log", 3)]
    assert told(Watch([str(log)], [], from_start=True)) == [("gizmo", "a.log", 3), ("quux", "a.log", 1)]


def test_a_fault_is_told_once_however_often_it_comes(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    watch = Watch([str(logs)], [])
    append(logs / "a.log", f"{FAULT}\n" * 3)
    assert told(watch) == [("quux", "a.log", 1)]
    append(logs / "a.log", FAULT + "\n")
    append(logs / "b.log", FAULT + "\n")
    assert told(watch) == []


def test_a_line_is_read_when_it_is_whole(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    append(log, "start\n")
    watch = Watch([str(log)], [])
    append(log, FAULT[:10])
    assert told(watch) == []
    append(log, FAULT[10:] + "\n")
    assert told(watch) == [("quux", "a.log", 2)]


def test_conditions_that_come_one_after_the_other_count_together(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    append(log, "")
    watch = Watch([str(log)], [])
    append(log, "first half of it\n")
    assert told(watch) == []
    append(log, "second half of it\n")
    assert told(watch) == [("pair", "a.log", 1)]


def test_rotation_and_truncation_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    log = logs / "a.log"
    append(log, f"old {FAULT}\n")
    watch = Watch([str(logs)], [])
    append(log, "the end of the old one\n")
    log.rename(logs / "a.log.1")
    append(log, f"{OTHER}\n")
    assert told(watch) == [("gizmo", "a.log", 1)]
    log.write_text("")
    assert told(watch) == []
    append(log, FAULT + "\n")
    assert told(watch) == [("quux", "a.log", 1)]


def test_data_and_archives_are_passed_over_and_lost_files_forgiven(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    watch = Watch([str(logs)], [])
    (logs / "core").write_bytes(b"\x7fELF" + b"\0" * 5000 + FAULT.encode() + b"\n")
    (logs / "gone.log").write_text("noise\n")
    assert told(watch) == []
    (logs / "gone.log").unlink()
    assert told(watch) == []


def test_what_is_remembered_does_not_grow_with_the_log(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    append(log, "")
    watch = Watch([str(log)], [])
    for _ in range(30):
        append(log, f"first half of it\n{'x' * 100}\n" * 2000)
        told(watch)
    (followed,) = watch._logs.values()
    assert followed.seen is None or sum(followed.seen.counts.values()) < 40_000
    assert followed.lines == 30 * 4000


def test_the_command_tells_json_lines_and_ends_by_a_signal(tmp_path: Path, own_kb: Path) -> None:
    log = tmp_path / "a.log"
    append(log, "start\n")
    command = [
        sys.executable,
        "-m",
        "npu_kb",
        "watch",
        str(log),
        "--kb",
        str(own_kb),
        "--format",
        "json",
        "--from-start",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        append(log, FAULT + "\n")
        assert process.stdout and process.stderr
        row = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        told_on_stderr = process.stderr.read()
    assert (row["schema"], row["entry"], row["line"]) == ("npu-kb/watch/1", "quux", 2)
    assert (process.returncode, told_on_stderr) == (0, "npu-kb: following 1 file.\n")


def test_the_command_ends_after_its_time_and_with_the_first_fault(
    tmp_path: Path, run: Callable[..., tuple[int, str, str]]
) -> None:
    log = tmp_path / "a.log"
    append(log, f"{FAULT}\n{OTHER}\n")
    status, out, _ = run("watch", str(log), "--for", "1")
    assert (status, out) == (1, "")
    status, out, _ = run("watch", str(log), "--from-start", "--first")
    assert status == 0
    assert out.count("line") == 1
    assert run("watch", str(tmp_path / "none"))[0] == 2
