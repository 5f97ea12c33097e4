"""The command line without a command, and with a mistyped one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Run = Callable[..., tuple[int, str, str]]


def test_without_arguments_the_help_is_printed(run: Run) -> None:
    status, out, err = run()
    assert (status, out, err.startswith("usage: npu-kb")) == (2, "", True)


def test_a_mistyped_command_is_answered_with_the_likeliest_one(run: Run) -> None:
    assert run("wyh") == (2, "", "npu-kb: there is no command 'wyh'; did you mean why?\n")
    assert run("zzzz") == (2, "", "npu-kb: there is no command 'zzzz'; `npu-kb --help` lists the commands\n")


def test_a_saved_snapshot_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    err = run("env", "save", str(tmp_path / "a.json"), "--root", str(tmp_path / "root"), "--lang", "en")[2]
    assert err.startswith(f"npu-kb: saved {tmp_path / 'a.json'}: ")
    assert "redacted" in err


def test_a_runtime_code_has_the_entries_of_the_code_it_becomes(run: Run) -> None:
    assert "device-memory-allocation-refused-by-driver" in run("explain", "0x7020016")[1]
