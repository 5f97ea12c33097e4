"""Files are written as a whole or not at all, and what is no file is left alone."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from npu_kb.errors import NpuKbError
from npu_kb.files import write_file


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_written_is_there_with_its_folders_and_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.txt"
    write_file(path, "文本\n", 0o755)
    write_file(path.with_name("c"), b"\0\xff")
    assert path.read_bytes() == "文本\n".encode() and path.with_name("c").read_bytes() == b"\0\xff"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755 & ~_umask()
    assert names(path.parent) == ["b.txt", "c"]


def test_what_a_killed_writer_left_is_removed_once_it_is_old(tmp_path: Path) -> None:
    old, new, other = (tmp_path / f".npu-kb-{name}.part" for name in ("0" * 16, "1" * 16, "notes"))
    for path in (old, new, other):
        path.touch()
    for path in (old, other):
        os.utime(path, (0, 0))
    (folder := tmp_path / f".npu-kb-{'2' * 16}.part").mkdir()
    os.utime(folder, (0, 0))
    write_file(tmp_path / "a", "text")
    assert names(tmp_path) == sorted([folder.name, new.name, other.name, "a"])


def _umask() -> int:
    os.umask(mask := os.umask(0))
    return mask


def test_a_file_is_replaced_behind_a_link_too_but_never_where_it_has_to_be_new(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("old")
    link.symlink_to(path)
    write_file(link, "new")
    assert link.is_symlink() and path.read_text() == "new"
    for taken in (path, link):
        with pytest.raises(NpuKbError, match="exists already and is never overwritten"):
            write_file(taken, "mine", new=True)
    assert path.read_text() == "new" and names(tmp_path) == ["file", "link"]


def test_a_name_of_full_length_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    write_file(path, "x")
    assert path.read_text() == "x"


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


def _pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def _below_a_file(path: Path) -> Path:
    path.write_text("a file")
    return path / "b" / "c"


@pytest.mark.parametrize("make", [_folder, _pipe, _below_a_file, lambda _: Path("/dev/full")])
@pytest.mark.parametrize("new", [False, True])
def test_what_is_no_file_is_left_alone(make: Callable[[Path], Path], new: bool, tmp_path: Path) -> None:
    path = make(tmp_path / "it")
    with pytest.raises(NpuKbError) as refusal:
        write_file(path, "text", new=new)
    assert str(path) in str(refusal.value) and "; " in str(refusal.value)
    assert names(tmp_path) in ([], ["it"])
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "file"
    path.write_text("old")
    monkeypatch.setattr(os if call == "fsync" else Path, call, full)
    with pytest.raises(NpuKbError, match="file: cannot be written: No space left on device; make room"):
        write_file(path, "new")
    assert path.read_text() == "old" and names(tmp_path) == ["file"]


def test_where_there_are_no_links_a_new_file_is_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*arguments: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "file"
    write_file(path, "mine", new=True)
    with pytest.raises(NpuKbError, match="exists already"):
        write_file(path, "other", new=True)
    assert path.read_text() == "mine" and names(tmp_path) == ["file"]
