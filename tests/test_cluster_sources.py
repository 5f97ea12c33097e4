"""What is read of a tree, however hostile, and what is told of the rest."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_kb import waiting
from npu_kb.cluster.observation import to_json_lines
from npu_kb.intake import unpack
from npu_kb.intake.archives import Log, logs_in
from npu_kb.intake.tree import Globs, LogFile, Skipped, log_files, why_not
from npu_kb.intake.unpack import AsFarAsGood

Run = Callable[..., tuple[int, str, str]]
LINE = b"ImportError: libhccl.so: cannot open shared object file\n"


def contents(*paths: Path, globs: Globs | None = None) -> dict[str, str]:
    """The text of each log, or why it was not read in angle brackets, by its name without the folder."""
    found: dict[str, str] = {}
    for file in log_files([str(path) for path in paths], globs):
        for log in [file] if isinstance(file, Skipped) else logs_in(file):
            name = log.name.removeprefix(f"{paths[0]}/")
            if isinstance(log, Skipped):
                found[name] = f"<{log.reason}>"
                continue
            try:
                found[name] = log.stream.read().decode("utf-8", "replace")
            except OSError as error:
                found[name] = f"<{why_not(error)}>"
    return found


def tar_of(members: dict[str, bytes], mode: str = "w") -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return target.getvalue()


def zip_of(members: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


def zstd(data: bytes) -> bytes:
    zstandard = pytest.importorskip("zstandard")
    return bytes(zstandard.compress(data))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_a_packed_log_is_read_whatever_its_name(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / "plog.1").write_bytes(pack(LINE * 3))
    assert contents(tmp_path) == {"plog.1": (LINE * 3).decode()}


def test_several_packed_streams_behind_each_other_are_all_read(tmp_path: Path) -> None:
    for name, pack in {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}.items():
        (tmp_path / name).write_bytes(pack(LINE * 50_000) + pack(LINE))
    assert set(contents(tmp_path).values()) == {(LINE * 50_001).decode()}


def test_members_of_archives_and_of_one_archive_in_them_are_read(tmp_path: Path) -> None:
    inner = tar_of({"rank0/a.log": LINE}, "w:gz")
    (tmp_path / "all.tar").write_bytes(tar_of({"inner.tgz": inner, "b.log.gz": gzip.compress(LINE)}))
    (tmp_path / "all.zip").write_bytes(zip_of({"inner.zip": zip_of({"c.log": LINE}), "../d.log": LINE}))
    assert contents(tmp_path) == dict.fromkeys(
        ["all.tar!inner.tgz!rank0/a.log", "all.tar!b.log.gz", "all.zip!inner.zip!c.log", "all.zip!../d.log"],
        LINE.decode(),
    )


def test_an_archive_nested_deeper_is_named_and_not_read(tmp_path: Path) -> None:
    deep = tar_of({"2.tar": tar_of({"1.tar": tar_of({"a.log": LINE})})})
    (tmp_path / "3.tar").write_bytes(deep)
    assert contents(tmp_path) == {"3.tar!2.tar!1.tar": "<archive in an archive in an archive>"}


def test_a_bomb_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "_FREE_BYTES", 100_000)
    bomb = gzip.compress(b"\n" * 3_000_000)
    (tmp_path / "bomb.gz").write_bytes(bomb)
    (tmp_path / "bomb.zst").write_bytes(zstd(b"\n" * 3_000_000))
    (tmp_path / "bomb.tar").write_bytes(tar_of({"a": bomb, "b": b"\n"}))
    (tmp_path / "bomb.zip").write_bytes(zip_of({"a": b"\n" * 3_000_000}))
    told = contents(tmp_path)
    assert {name: text for name, text in told.items() if "250 times" not in text} == {}
    assert {"bomb.gz", "bomb.zst", "bomb.zip!a"} < set(told)


def test_damaged_archives_are_told_and_do_not_end_the_run(tmp_path: Path) -> None:
    (tmp_path / "cut.tgz").write_bytes(tar_of({"a.log": os.urandom(5_000)}, "w:gz")[:3_000])
    (tmp_path / "cut.gz").write_bytes(gzip.compress(os.urandom(5_000))[:3_000])
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04" + b"\0" * 100)
    (tmp_path / "good.log").write_bytes(LINE)
    told = contents(tmp_path)
    assert told.pop("good.log") == LINE.decode()
    assert {text.split(" (")[0] for text in told.values()} <= {"<gzip cut off>", "<damaged zip", "<damaged tar"}
    assert {name.split("!")[0] for name in told} == {"cut.tgz", "cut.gz", "bad.zip"}


def test_links_pipes_and_sockets_are_told_and_not_opened(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(LINE)
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "away").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "fifo")
    assert contents(tmp_path) == {
        "a.log": LINE.decode(), "loop": "<link>", "away": "<link>", "fifo": "<special file>",
    }  # fmt: skip


def test_a_link_in_a_tar_is_not_followed(tmp_path: Path) -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        member = tarfile.TarInfo("shadow.log")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(member)
    (tmp_path / "a.tar").write_bytes(target.getvalue())
    assert contents(tmp_path) == {"a.tar!shadow.log": "<link>"}


def test_a_file_that_vanishes_or_becomes_a_pipe_before_it_is_opened_is_told(tmp_path: Path) -> None:
    gone = LogFile(str(tmp_path / "gone"), "gone", 5)
    folder = LogFile(str(tmp_path), "folder", 5)
    assert list(logs_in(gone)) == [Skipped("gone", "vanished")]
    assert list(logs_in(folder)) == [Skipped("folder", "special file")]


def test_globs_choose_by_name_and_by_path_below_the_folder(tmp_path: Path) -> None:
    for name in ("run/plog/a.log", "debug/plog/b.log", "run/c.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(LINE)
    assert set(contents(tmp_path, globs=Globs(["*.log"]))) == {"run/plog/a.log", "debug/plog/b.log"}
    assert set(contents(tmp_path, globs=Globs(["*.log"], ["debug/*"]))) == {"run/plog/a.log"}


@given(st.sampled_from([b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"]), st.binary())
def test_whatever_looks_like_an_archive_is_read_or_told(
    tmp_path_factory: pytest.TempPathFactory, magic: bytes, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "a"
    path.write_bytes(magic + data)
    for text in contents(path).values():
        assert isinstance(text, str)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_what_a_cut_off_archive_still_tells_is_diagnosed(
    tmp_path: Path, pack: Callable[[bytes], bytes], run: Callable[..., tuple[int, str, str]]
) -> None:
    noise = b"".join(b"%d %s\n" % (n, os.urandom(30).hex().encode()) for n in range(20_000))
    data = pack(LINE * 3 + noise)
    path = tmp_path / "train.log.packed"
    path.write_bytes(data[: len(data) - 2_000])
    status, out, err = run("why", str(path))
    assert status == 0 and "cann-environment-not-loaded" in out
    assert "not read to its end" in err and "cut off" in err
    status, out, err = run("scan", str(path))
    assert status == 0 and "cann-environment-not-loaded" in out
    assert err.startswith("npu-kb: not read, or not to its end, ") and "cut off: " in err


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstd])
def test_all_that_stands_before_a_cut_is_read(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """A log that is being packed, or was copied halfway: its last lines are the ones that matter."""
    noise = os.urandom(20_000).hex().encode()
    frames = pack(noise) + pack(LINE)
    (tmp_path / "a").write_bytes(frames + pack(noise)[:20])
    logs = logs_in(LogFile(str(tmp_path / "a"), "a", len(frames)))
    log = next(logs)
    assert isinstance(log, Log)
    whole = AsFarAsGood(log.stream)
    assert whole.read(10_000_000) == noise + LINE
    assert whole.trouble.endswith(" cut off")


@pytest.mark.parametrize("size", [300, 200_000, 1_000_001])
def test_a_packed_tar_is_read_up_to_its_cut(tmp_path: Path, size: int) -> None:
    text = b"".join(b"%s\n" % os.urandom(30).hex().encode() for _ in range(size // 61)) + LINE
    whole = tar_of({"a.log": text + os.urandom(100_000)})
    end = whole.index(LINE) + len(LINE)
    path = tmp_path / "job.tar.gz"
    path.write_bytes(gzip.compress(whole[:end]) + gzip.compress(whole[end:])[:8])
    logs = {log.name: read_as_far(log) for log in logs_in(LogFile(str(path), "job.tar.gz", 0))}
    assert logs == {"job.tar.gz!a.log": text.decode(), "job.tar.gz": "<gzip cut off>"}


class Pipe(io.RawIOBase):
    """A target that cannot be gone back in, so that sizes stand behind the members."""

    def __init__(self) -> None:
        self.data = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.data += bytes(data)
        return len(data)


@pytest.mark.parametrize("cut", [60_000, 200_000, 1_000_001])
def test_a_plain_tar_is_read_up_to_its_cut(tmp_path: Path, cut: int) -> None:
    noise = "".join(f"{os.urandom(30).hex()}\n" for _ in range(30_000))
    whole = tar_of({"a.log": LINE * 3, "b.log": noise.encode()})
    path = tmp_path / "job.tar"
    path.write_bytes(whole[:cut])
    logs = {log.name: read_as_far(log) for log in logs_in(LogFile(str(path), "job.tar", 0))}
    assert logs["job.tar!a.log"] == (LINE * 3).decode() and logs["job.tar"] == "<tar cut off>"
    assert noise.startswith(logs["job.tar!b.log"]) and len(logs["job.tar!b.log"]) == cut - whole.index(
        noise[:60].encode()
    )


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("damage", ["cut before a header", "cut in a header", "bad header"])
def test_members_lost_behind_a_header_are_told(tmp_path: Path, pack: Callable[[bytes], bytes], damage: str) -> None:
    whole = tar_of({f"{rank}.log": LINE for rank in range(6)})
    header = whole.index(b"1.log")
    data = {
        "cut before a header": whole[:header],
        "cut in a header": whole[: header + 200],
        "bad header": whole[:header] + b"\xaa" * 512 + whole[header + 512 :],
    }[damage]
    (tmp_path / "job.tar").write_bytes(pack(data))
    told = contents(tmp_path)
    assert told.pop("job.tar!0.log") == LINE.decode()
    assert told == {"job.tar": "<damaged tar (bad header)>" if damage == "bad header" else "<tar cut off>"}


@pytest.mark.parametrize(
    ("method", "target"),
    [(zipfile.ZIP_STORED, io.BytesIO), (zipfile.ZIP_DEFLATED, io.BytesIO), (zipfile.ZIP_DEFLATED, Pipe)],
)
def test_a_zip_whose_end_is_missing_is_read_up_to_its_cut(
    tmp_path: Path, method: int, target: Callable[[], Any], run: Callable[..., tuple[int, str, str]]
) -> None:
    inner, noise = gzip.compress(LINE * 2), "".join(f"{os.urandom(30).hex()}\n" for _ in range(9_000))
    members = {"logs/": b"", "a.log": LINE * 3, "b.log.gz": inner, "c.log": noise.encode(), "d.log": LINE}
    whole = target()
    with zipfile.ZipFile(whole, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    data = whole.getvalue() if isinstance(whole, io.BytesIO) else whole.data
    path = tmp_path / "job.zip"
    path.write_bytes(data[: data.index(b"c.log") + 200_000])
    logs = {log.name: read_as_far(log) for log in logs_in(LogFile(str(path), "job.zip", 0))}
    assert logs["job.zip!a.log"] == (LINE * 3).decode() and logs["job.zip!b.log.gz"] == (LINE * 2).decode()
    assert noise.startswith(logs["job.zip!c.log"]) and len(logs["job.zip!c.log"]) > 150_000
    assert logs["job.zip"] == "<zip cut off>" and len(logs) == 4
    status, out, err = run("why", str(path))
    assert status == 0 and "cann-environment-not-loaded" in out
    assert f"{path}: not read, or not to its end: zip cut off" in err
    status, out, err = run("why", "-", stdin=path.read_bytes())
    assert status == 0 and "cann-environment-not-loaded" in out and "-!a.log line 1" in out
    assert "-: not read, or not to its end: zip cut off" in err
    path.write_bytes(data[: data.index(b"PK\x01\x02") + 10])
    assert set(contents(path)) == {f"{path}{name}" for name in ("", "!a.log", "!b.log.gz", "!c.log", "!d.log")}


@pytest.mark.parametrize("before", [b"#!/bin/sh\nexec unzip $0\n", b"\x7fELF" + b"\0" * 5_000, LINE])
@pytest.mark.parametrize("comment", [b"", b"kept before the restart"])
def test_a_zip_behind_something_else_is_read_like_any(tmp_path: Path, before: bytes, comment: bytes) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("rank0/a.log", LINE)
        archive.comment = comment
    (tmp_path / "logs.run").write_bytes(before + target.getvalue())
    assert contents(tmp_path) == {"logs.run!rank0/a.log": LINE.decode()}


@pytest.mark.parametrize("command", ["why", "scan"])
def test_a_zip_behind_something_else_is_read_from_a_pipe_and_up_to_its_cut(command: str) -> None:
    packed = b"#!/bin/sh\nexec unzip $0\n" + zip_of({"a.log": LINE, "b.log": os.urandom(9_000)})
    for data in (packed, packed[:-5_000]):
        piped = subprocess.run([sys.executable, "-m", "npu_kb", command, "-"], input=data, capture_output=True)
        assert piped.returncode == 0 and b"-!a.log" in piped.stdout
        assert (b"zip cut off" in piped.stderr) == (data != packed)


def test_a_log_that_speaks_of_the_end_of_a_zip_is_a_log(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(LINE + b"bad record PK\x05\x06 in job.zip, at the very end of the file\n")
    assert set(contents(tmp_path)) == {"a.log"}


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: tar_of({"a.log": data}), lambda d: zip_of({"a.log": d})])
def test_a_packed_log_on_standard_input_is_unpacked(run: Callable[..., tuple[int, str, str]], pack: Any) -> None:
    status, out, err = run("why", "-", stdin=pack(LINE))
    assert (status, err) == (0, "") and "cann-environment-not-loaded" in out


def read_as_far(log: Log | Skipped) -> str:
    """What of a log can be read, or why it was not read in angle brackets."""
    if isinstance(log, Skipped):
        return f"<{log.reason}>"
    return AsFarAsGood(log.stream).read(10_000_000).decode()


def test_a_bomb_in_a_cut_off_zip_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "_FREE_BYTES", 1_000_000)
    data = zip_of({"a": LINE, "bomb": b"\n" * 3_000_000, "c": LINE})
    (tmp_path / "cut.zip").write_bytes(data[: data.index(b"PK\x01\x02")])
    told = contents(tmp_path)
    assert told["cut.zip!a"] == LINE.decode()
    assert "250 times" in told["cut.zip!bomb"] and "250 times" in told["cut.zip"] and len(told) == 3


@given(st.data())
def test_a_zip_cut_and_damaged_anywhere_is_read_or_told(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = bytearray(
        zip_of({"a/": b"", "a/b.log": LINE * 9, "c.gz": gzip.compress(LINE, mtime=0), "d": bytes(range(50))})
    )
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=3)):
        whole[at] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("any") / "a"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    for text in contents(path).values():
        assert isinstance(text, str)


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_a_tar_header_that_would_fill_the_memory_is_not_read(kind: bytes, tmp_path: Path) -> None:
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = kind, 1 << 30
    (tmp_path / "a.tar").write_bytes(
        tar_of({"first.log": LINE})[:1024] + header.tobuf(tarfile.GNU_FORMAT) + b"a" * 200_000
    )
    assert contents(tmp_path) == {
        "a.tar!first.log": LINE.decode(),
        "a.tar": "<tar header of more than 65536 bytes>",
    }


def test_a_sparse_member_is_not_expanded(tmp_path: Path) -> None:
    member = tarfile.TarInfo("sparse.log")
    member.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(member.tobuf(tarfile.GNU_FORMAT))
    header[483:495] = b"%011o\0" % (1 << 32)
    header[148:156] = b"%06o\0 " % sum([*header[:148], *b" " * 8, *header[156:]])
    (tmp_path / "a.tar").write_bytes(bytes(header) + tar_of({"next.log": LINE}))
    assert contents(tmp_path) == {"a.tar!sparse.log": "<sparse>", "a.tar!next.log": LINE.decode()}


@pytest.mark.parametrize("command", ["scan", "cluster", "why", "merge"])
def test_a_pipe_without_a_writer_is_said_to_be_waited_for(
    command: str, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe, tell = tmp_path / "pipe", waiting._tell
    os.mkfifo(pipe)

    def tell_and_write(text: str) -> None:
        tell(text)
        pipe.write_text("".join(to_json_lines([])) if command == "merge" else "all is well\n")

    monkeypatch.setattr(waiting, "_tell", tell_and_write)
    status, _, err = run(command, str(pipe))
    assert (status, err) == (1, f"npu-kb: {pipe} is a pipe: waiting for its writer\n")


@pytest.mark.parametrize("command", ["scan", "why"])
def test_what_a_shell_substitutes_is_read_without_a_word(command: str, tmp_path: Path, shared_cache: Path) -> None:
    line = f"{sys.executable} -m npu_kb {command} <(printf %s '{LINE.decode()}')"
    environment = {**os.environ, "NPU_KB_CACHE": str(shared_cache)}
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout
