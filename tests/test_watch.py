"""Following logs: each new fault once, through growth, rotation and truncation."""

from __future__ import annotations

import json
import os
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


def told(watch: Watch, patience: float = 1e9) -> list[tuple[str, str, int]]:
    """(entry, name of the file, line) of each new fault."""
    return [(t.observation.entry, Path(t.observation.source).name, t.observation.line) for t in watch.look(patience)]


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


def test_a_fault_is_told_once_of_each_log_however_often_it_comes(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    watch = Watch([str(logs)], [])
    append(logs / "a.log", f"{FAULT}\n" * 3)
    assert told(watch) == [("quux", "a.log", 1)]
    append(logs / "a.log", FAULT + "\n")
    append(logs / "b.log", FAULT + "\n")
    assert told(watch) == [("quux", "b.log", 1)]
    append(logs / "b.log", FAULT + "\n")
    assert told(watch) == []


def test_a_fault_comes_again_in_a_log_that_begins_anew_and_not_in_the_copy_of_it(tmp_path: Path) -> None:
    """As logrotate does with copytruncate."""
    log = tmp_path / "a.log"
    append(log, "start\n")
    watch = Watch([str(tmp_path)], [])
    append(log, f"2026-11-29 08:00:00 {FAULT}\n")
    assert told(watch) == [("quux", "a.log", 2)]
    (tmp_path / "a.log.1").write_text(log.read_text())
    log.write_text("")
    assert told(watch) == []
    append(log, f"2026-11-29 09:00:00 {FAULT}\n")
    assert told(watch) == [("quux", "a.log", 1)]


def test_what_many_logs_tell_at_once_is_one_line_with_the_rank_of_the_first(
    tmp_path: Path, run: Callable[..., tuple[int, str, str]]
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for rank in range(4):
        append(logs / f"rank_{rank}.log", f"2026-11-29 08:00:0{9 - rank} {FAULT}\n")
    (first,) = Watch([str(logs)], [], from_start=True).look()
    assert (first.rank, first.observation.time) == (3, 1795939206.0)
    assert sorted(Path(name).name for name in first.more_logs) == ["rank_0.log", "rank_1.log", "rank_2.log"]
    out = run("watch", str(logs), "--from-start", "--first")[1]
    assert "rank 3  2026-11-29 08:00:06  " in out and out.endswith(f"{FAULT} (+3 more logs)\n")


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


@pytest.mark.parametrize("is_first_half_passed_over", [True, False])
@pytest.mark.parametrize("place", [10, 15])
def test_a_text_whose_lines_come_one_after_the_other_is_found(
    tmp_path: Path, place: int, is_first_half_passed_over: bool
) -> None:
    log = tmp_path / "a.log"
    append(log, "start\n")
    watch = Watch([str(log)], [])
    append(log, FAULT[:place] + "\n")
    watch = Watch([str(log)], []) if is_first_half_passed_over else watch
    assert told(watch) == []
    append(log, FAULT[place:] + "\n")
    assert told(watch) == [("quux", "a.log", 2)]


def test_a_line_that_was_unfinished_at_the_start_is_read_whole(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    append(log, f"start {OTHER}\nsee {FAULT[:10]}")
    watch = Watch([str(log)], [])
    append(log, FAULT[10:] + "\n")
    assert told(watch) == [("quux", "a.log", 2)]


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
    ((seen, _),) = watch._remembered.values()
    assert sum(seen.counts.values()) < 40_000
    append(log, FAULT + "\n")
    assert told(watch) == [("quux", "a.log", 30 * 4000 + 1)]


def test_what_is_remembered_does_not_grow_with_the_logs_and_their_rotations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("npu_kb.cluster.watch._MOST_REMEMBERED", 5)
    watch = Watch([str(tmp_path)], [])
    for number in range(20):
        for path in tmp_path.glob("*.log"):
            path.rename(tmp_path / "old") if number % 2 else path.unlink()
        for log in range(10):
            append(tmp_path / f"{number}-{log}.log", f"{number}-{log}\nfirst half of it\n")
        assert told(watch) == []
    assert len(watch._remembered) == 5
    assert len(watch._logs) <= 30
    for path in tmp_path.glob("*.log"):
        if (path.stat().st_dev, path.stat().st_ino) in watch._remembered:
            append(path, "second half of it\n")
    assert [(entry, line) for entry, _, line in told(watch)] == [("pair", 2)]


def test_a_last_line_without_an_end_is_read_when_nothing_comes_any_more(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    append(log, "start\n")
    watch = Watch([str(log)], [])
    append(log, f"first half of it\nand {FAULT[:10]}")
    assert told(watch) == [] == told(watch, patience=0)
    append(log, FAULT[10:])
    assert told(watch) == []
    assert told(watch, patience=0) == [("quux", "a.log", 3)]
    append(log, ", and so on\nsecond half of it")
    assert told(watch, patience=0) == [("pair", "a.log", 2)]
    append(log, f"\n{OTHER}\n")
    assert told(watch) == [("gizmo", "a.log", 5)]


@pytest.mark.parametrize("mark", ["\ufeff", ""])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_logs_in_utf16_are_read(encoding: str, mark: str, tmp_path: Path, write_entry: Write) -> None:
    write_entry("heat", "- text: 温度过高")
    log = tmp_path / "a.log"
    log.write_bytes(f"{mark}start\n".encode(encoding))
    watch = Watch([str(tmp_path)], [])
    whole = f"\u0a0a\u0d0a noise\n{FAULT}\r\n温度过高\n{OTHER}".encode(encoding)
    for part in (whole[:7], whole[7:31], whole[31:]):
        with log.open("ab") as file:
            file.write(part)
        found = told(watch)
    assert found == [("heat", "a.log", 4), ("quux", "a.log", 3)]
    assert told(watch, patience=0) == [("gizmo", "a.log", 5)]
    (tmp_path / "b.log").write_bytes(f"{mark}{FAULT}\n".encode(encoding))
    assert told(Watch([str(tmp_path / "b.log")], [], from_start=True)) == [("quux", "b.log", 1)]


def test_logs_in_gb18030_are_read(tmp_path: Path, write_entry: Write) -> None:
    write_entry("heat", "- text: 温度过高")
    append(tmp_path / "a.log", "start\n")
    watch = Watch([str(tmp_path)], [])
    with (tmp_path / "a.log").open("ab") as file:
        file.write("设备 温度过高 了\n".encode("gb18030"))
    assert told(watch) == [("heat", "a.log", 2)]


def test_what_was_written_before_a_rotation_is_read_under_the_new_name(tmp_path: Path) -> None:
    """Also where only the log itself is followed, and as long as its writer goes on with the old one."""
    log = tmp_path / "a.log"
    append(log, "start\n")
    watch = Watch([str(log)], [])
    append(log, FAULT + "\n")
    log.rename(tmp_path / "a.log.1")
    append(log, "new\n")
    assert told(watch) == [("quux", "a.log.1", 2)]
    append(tmp_path / "a.log.1", OTHER + "\n")
    assert told(watch) == [("gizmo", "a.log.1", 3)]
    (tmp_path / "a.log.1").unlink()
    assert told(watch) == []
    assert len(watch._logs) == 1


@pytest.mark.parametrize("from_start", [True, False])
def test_a_log_that_is_written_anew_is_read_from_its_start_however_long_it_is(tmp_path: Path, from_start: bool) -> None:
    """As of a job that begins again, or after copytruncate, where more is there at the next look than before."""
    log = tmp_path / "a.log"
    append(log, "2026-11-29 08:00:00 start\n")
    watch = Watch([str(log)], [], from_start=from_start)
    assert told(watch) == []
    log.write_text(f"2026-11-29 09:00:00 start\n{FAULT}\n{'x' * 100}\n")
    assert told(watch) == [("quux", "a.log", 2)]
    log.write_text("")
    append(log, f"{'y' * 500}\n{OTHER}\n")
    assert told(watch) == [("gizmo", "a.log", 2)]


@pytest.mark.parametrize("from_start", [True, False])
@pytest.mark.parametrize("filler", ["x" * 200, ""])
def test_a_log_that_is_written_anew_to_the_same_size_is_read_again(
    tmp_path: Path, from_start: bool, filler: str
) -> None:
    """Whether its start or its end differs."""
    log = tmp_path / "a.log"
    texts = [f"{line:<40}\n{filler}\n" for line in ("nothing yet", FAULT)]
    texts += [f"{filler}\n{line:<40}\n" for line in ("nothing yet", OTHER)]
    found = []
    append(log, texts[0])
    watch = Watch([str(log)], [], from_start=from_start)
    for number, text in enumerate(texts):
        log.write_text(text)
        os.utime(log, (1e9 + number, 1e9 + number))
        found.append(told(watch))
    assert found == [[], [("quux", "a.log", 1)], [], [("gizmo", "a.log", 2)]]


def test_a_log_that_differs_in_its_middle_only_is_read_again(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    around = "x" * 200 + "\n"
    append(log, around)
    watch = Watch([str(log)], [])
    found = []
    for number, line in enumerate(("nothing yet", FAULT, FAULT, OTHER)):
        log.write_text(f"{around}{line:<40}\n{around}")
        os.utime(log, (1e9 + number, 1e9 + number))
        found.append(told(watch))
    assert found == [[], [("quux", "a.log", 2)], [], [("gizmo", "a.log", 2)]]


def test_a_log_that_is_only_touched_is_not_told_again(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    append(log, f"{FAULT}\n")
    watch = Watch([str(log)], [])
    os.utime(log, (1e9, 1e9))
    assert told(watch) == []


@pytest.mark.parametrize("path", ["a.log", "logs", "logs/"])
def test_a_path_that_is_not_there_yet_is_waited_for(path: str, tmp_path: Path) -> None:
    watch = Watch([f"{tmp_path}/{path}"], [])
    assert watch.awaited == [f"{tmp_path}/{path}"] and told(watch) == []
    if path != "a.log":
        (tmp_path / path).mkdir()
    append(tmp_path / path if path == "a.log" else tmp_path / path / "a.log", f"start\n{FAULT}\n")
    assert told(watch) == [("quux", "a.log", 2)]


def test_the_command_says_what_it_waits_for_and_its_help_what_its_status_means(
    tmp_path: Path, run: Callable[..., tuple[int, str, str]]
) -> None:
    path = tmp_path / "none"
    assert run("watch", str(path), "--for", "1") == (1, "", f"npu-kb: {path} is not there yet: waiting for it.\n")
    status, out, err = run("watch", str(path / "deeper"))
    assert (status, out, err.count("\n")) == (2, "", 1) and "cannot be read" in err
    assert "Exit status: 0 a fault was told, 1 none was, 2" in " ".join(run("watch", "--help")[1].split())


def test_links_in_circles_and_pipes_are_passed_over(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "round").symlink_to(logs)
    (logs / "self.log").symlink_to("self.log")
    os.mkfifo(logs / "pipe.log")
    watch = Watch([str(logs)], [])
    append(logs / "a.log", FAULT + "\n")
    assert told(watch) == [("quux", "a.log", 1)]


def test_a_pipe_that_takes_the_place_of_a_log_holds_nothing_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "a.log"
    append(log, "start\n")
    watch = Watch([str(log)], [])
    append(log, FAULT + "\n")
    listed = list(watch._listed())
    monkeypatch.setattr(watch, "_listed", lambda: listed)
    log.rename(tmp_path / "kept")
    os.mkfifo(log)
    assert told(watch) == []
    log.unlink()
    (tmp_path / "kept").rename(log)
    assert told(watch) == [("quux", "a.log", 2)]


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
    assert run("watch", str(tmp_path / "none" / "a.log"))[0] == 2


def test_the_command_reads_the_last_line_of_a_log_before_it_ends(
    tmp_path: Path, run: Callable[..., tuple[int, str, str]]
) -> None:
    append(tmp_path / "a.log", FAULT)
    assert run("watch", str(tmp_path / "a.log"), "--from-start", "--for", "1")[0] == 0


@pytest.mark.parametrize("name", ["-", "pipe"])
def test_what_cannot_be_followed_is_told(name: str, tmp_path: Path, run: Callable[..., tuple[int, str, str]]) -> None:
    os.mkfifo(tmp_path / "pipe")
    status, out, err = run("watch", name if name == "-" else str(tmp_path / name))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "cannot be followed; write it to a file" in err
