"""The compiled knowledge: rebuilt when stale or damaged, never in the way where nothing can be written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from npu_kb import Knowledge, locations
from npu_kb.knowledge.base import COMPILED

Write = Callable[..., Path]


@pytest.fixture
def own_kb(write_entry: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kb folder of one entry in place of the built-in one, and an empty cache."""
    write_entry("first-entry", "- text: widget exploded")
    monkeypatch.setattr(locations, "builtin_kb_directory", lambda: str(tmp_path / "kb"))
    monkeypatch.setattr(locations, "packaged_database", lambda: None)
    monkeypatch.setenv("NPU_KB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "kb"


def ids(knowledge: Knowledge) -> list[str]:
    return [entry["id"] for entry in knowledge.entries()]


def cache_file(own_kb: Path) -> Path:
    (path,) = (own_kb.parent / "cache" / COMPILED).glob("*.db")
    return path


def test_the_second_load_opens_the_cache(own_kb: Path) -> None:
    assert ids(Knowledge.load([])) == ["first-entry"]
    before = cache_file(own_kb).stat()
    assert ids(Knowledge.load([])) == ["first-entry"]
    assert cache_file(own_kb).stat().st_mtime_ns == before.st_mtime_ns


def test_a_changed_added_or_removed_file_rebuilds_it(own_kb: Path, write_entry: Write) -> None:
    Knowledge.load([])
    second = write_entry("second-entry", "- text: gadget exploded")
    assert ids(Knowledge.load([])) == ["first-entry", "second-entry"]
    second.write_text(second.read_text().replace("second-entry.", "something."))
    assert "something" in next(e for e in Knowledge.load([]).entries() if e["id"] == "second-entry")["cause"]["en"]
    second.unlink()
    assert ids(Knowledge.load([])) == ["first-entry"]


def test_only_the_three_last_used_are_kept(own_kb: Path) -> None:
    folder = own_kb.parent / "cache" / COMPILED
    overlays = [own_kb.parent / f"team{number}" for number in range(4)]
    first = Knowledge.load([])
    builtin = cache_file(own_kb)
    for overlay in overlays:
        overlay.mkdir()
        Knowledge.load([str(overlay)])
        assert ids(Knowledge.load([])) == ["first-entry"]
    assert len(list(folder.iterdir())) == 3 and builtin.exists()
    builtin.unlink()
    assert ids(first) == ["first-entry"]


@pytest.mark.parametrize("damage", [b"", b"not a database at all" * 300, None])
def test_a_damaged_file_is_rebuilt(own_kb: Path, damage: bytes | None) -> None:
    Knowledge.load([])
    path = cache_file(own_kb)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] if damage is None else damage)
    assert ids(Knowledge.load([])) == ["first-entry"]
    assert ids(Knowledge.load([])) == ["first-entry"]


def test_a_file_with_flipped_bytes_never_breaks_an_answer(own_kb: Path) -> None:
    Knowledge.load([])
    path = cache_file(own_kb)
    whole = path.read_bytes()
    for at in range(100, len(whole), max(1, len(whole) // 40)):
        path.write_bytes(whole[:at] + b"\xff" * 64 + whole[at + 64 :])
        assert ids(Knowledge.load([])) == ["first-entry"]


def test_a_folder_that_cannot_be_written_costs_only_time(own_kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPU_KB_CACHE", "/proc/no-such-place")
    assert ids(Knowledge.load([])) == ["first-entry"]


def test_no_home_at_all_works_in_memory(own_kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NPU_KB_CACHE")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert locations.cache_directory() is None
    assert ids(Knowledge.load([])) == ["first-entry"]


def test_an_interrupted_write_leaves_no_half_file(own_kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Path, target: Path) -> Path:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    assert ids(Knowledge.load([])) == ["first-entry"]
    assert list((own_kb.parent / "cache" / COMPILED).iterdir()) == []


def test_several_processes_may_build_at_once(tmp_path: Path) -> None:
    environment = {**os.environ, "NPU_KB_CACHE": str(tmp_path / "cache")}
    code = "from npu_kb import Knowledge; print(len(list(Knowledge.load([]).entries())) > 100)"
    running = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert [process.communicate()[0].strip() for process in running] == ["True"] * 3
