"""One pass over logs of any size: the same faults as `why` names, at their true places, however the work is cut."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_kb import Knowledge, diagnose
from npu_kb.cluster import pieces
from npu_kb.cluster import scan as scanning
from npu_kb.cluster.engines import AhoCorasick, Engine, Hyperscan
from npu_kb.cluster.observation import Observation, Row, SourceSummary, to_json_lines
from npu_kb.cluster.processes import own_pool
from npu_kb.cluster.progress import progress_text
from npu_kb.cluster.scan import scan
from npu_kb.cluster.scans import Scans
from npu_kb.cluster.sightings import Bound
from npu_kb.cluster.times import read_time
from npu_kb.errors import NpuKbError

Run = Callable[..., tuple[int, str, str]]
FAULT = "ImportError: libhccl.so: cannot open shared object file: No such file or directory"
ENTRY = "cann-environment-not-loaded"
NOISE = "[INFO] RUNTIME(7,python):2026-11-29-10:00:{:02}.000.000 [stream.cc:1]7 StreamCreate: stream_id={} created\n"


@pytest.fixture(autouse=True)
def compiled_once(shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPU_KB_CACHE", str(shared_cache))


@pytest.fixture(scope="session")
def generator() -> ModuleType:
    """benchmarks/cluster_logs.py."""
    path = Path(__file__).parents[1] / "benchmarks" / "cluster_logs.py"
    spec = importlib.util.spec_from_file_location("cluster_logs", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def engines() -> list[Callable[[list[bytes]], Engine]]:
    return [AhoCorasick, Hyperscan] if importlib.util.find_spec("hyperscan") else [AhoCorasick]


def observations(rows: list[Row], entry: str = ENTRY) -> list[Observation]:
    return [row for row in rows if isinstance(row, Observation) and row.entry == entry]


def summaries(rows: list[Row]) -> list[SourceSummary]:
    return [row for row in rows if isinstance(row, SourceSummary)]


def noisy(faults: dict[int, str], lines: int = 200) -> str:
    """A log with these lines in place of noise, by number."""
    return "".join(faults[n] + "\n" if n in faults else NOISE.format(n % 60, n) for n in range(1, lines + 1))


@pytest.mark.parametrize("make", engines())
@given(
    st.lists(st.text("abxy_ .é", min_size=2, max_size=5).map(str.encode), min_size=1, max_size=8, unique=True),
    st.text("abxyABXY_ .é\n").map(str.encode),
)
def test_an_engine_finds_every_place_whatever_the_case(
    make: Callable[[list[bytes]], Engine], anchors: list[bytes], chunk: bytes
) -> None:
    lowered = chunk.lower()
    there = {
        (n, at + len(anchor))
        for n, anchor in enumerate(anchors)
        for at in range(len(lowered))
        if lowered.startswith(anchor, at)
    }
    found = make(anchors).hits(chunk)
    assert set(found) == there
    assert [end for _, end in found] == sorted(end for _, end in found)


def test_line_offset_time_and_count_are_true(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(noisy({50: FAULT, 60: FAULT.upper(), 70: FAULT}))
    (row,) = observations(list(scan([str(log)], [])))
    assert (row.line, row.last_line, row.count, row.verdict) == (50, 70, 3, "certain")
    assert log.read_bytes()[row.offset :].startswith(FAULT.encode())
    assert row.time == 1795946449.0  # that of the line above, 10:00:49
    assert row.text == FAULT


def test_a_fault_has_the_time_of_its_own_line_and_not_of_one_above_it(
    tmp_path: Path, own_kb: Path, write_entry: Callable[..., Path]
) -> None:
    words = [f"frobnicator {letter}{letter}{letter} began" for letter in "abcdefgh"]
    write_entry("timed-out", f"- regex: ['call to \\w+ timed out']\n  any: [{', '.join(words)}]")
    for number, word in enumerate(words):
        (tmp_path / f"{number}.log").write_text(
            f"INFO 2026-11-29 10:10:00 {word}\nERROR 2026-11-29 10:15:00 call to quux timed out\n"
        )
    rows = observations(list(scan([str(tmp_path)], [])), "timed-out")
    assert [(row.line, row.time) for row in rows] == [(2, 1795947300.0)] * len(words)


def test_the_summary_tells_size_lines_times_and_errors(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(noisy({9: "[ERROR] GE(7,python):2026-11-29-10:00:09.000.000 oops", 10: FAULT}).rstrip("\n"))
    (row,) = summaries(list(scan([str(log)], [])))
    assert (row.bytes, row.lines, row.errors, row.skipped) == (log.stat().st_size, 200, 1, "")
    assert (row.first_time, row.last_time) == (1795946401.0, 1795946420.0)


def test_every_sample_of_the_knowledge_is_found_as_why_finds_it(tmp_path: Path, knowledge: Knowledge) -> None:
    wanted: dict[str, str] = {}
    for entry in knowledge.entries():
        for number, hit in enumerate(entry["samples"]["hit"] if entry["match"] else []):
            if any(match.entry["id"] == entry["id"] for match in diagnose(hit, knowledge, suggest=False).matches):
                path = tmp_path / f"{entry['id']}.{number}.log"
                path.write_text(hit + "\n")
                wanted[str(path)] = entry["id"]
    rows = [row for row in scan([str(tmp_path)], []) if isinstance(row, Observation)]
    found = {(row.source, row.entry) for row in rows}
    missed = [name for name, id in wanted.items() if (name, id) not in found]
    assert missed == []


def test_conditions_that_stand_far_apart_come_together(
    tmp_path: Path, own_kb: Path, write_entry: Callable[..., Path]
) -> None:
    write_entry("two-texts", "- text: [frobnicator gave up, quux overflow]\n- text: [one text only, zip]\n  within: 3")
    log = tmp_path / "a.log"
    log.write_text(noisy({20: "frobnicator  gave up", 30: "one text only", 150: "Quux Overflow", 160: "zip"}))
    rows = observations(list(scan([str(log)], [])), "two-texts")
    assert [(row.line, row.count) for row in rows] == [(20, 1)]


def test_a_line_that_rules_an_entry_out_is_heeded(
    tmp_path: Path, own_kb: Path, write_entry: Callable[..., Path]
) -> None:
    write_entry("ruled-out", "- text: frobnicator gave up\n  none: [all is well again]")
    log = tmp_path / "a.log"
    log.write_text(noisy({20: "frobnicator gave up"}))
    assert observations(list(scan([str(log)], [])), "ruled-out")
    log.write_text(noisy({20: "frobnicator gave up", 170: "all is well again"}))
    assert not observations(list(scan([str(log)], [])), "ruled-out")


def test_a_text_that_goes_on_in_the_next_line_is_found(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(noisy({20: FAULT.replace("object file", "object\nfile")}))
    assert [row.line for row in observations(list(scan([str(log)], [])))] == [20]


def test_whose_accelerators_a_log_speaks_of_is_told_by_its_later_lines_too(
    tmp_path: Path, own_kb: Path, write_entry: Callable[..., Path]
) -> None:
    write_entry("quux", "- text: quux overflow")
    write_entry("everywhere", "- text: no room is left", extra="general: true\n")
    write_entry("mover", "- text: hccl frobnicator moves")
    verdicts = {}
    for above in ("CUDA is not there", "all is well"):
        for below in ("hccl frobnicator moves", "nothing moves"):
            faults = {1: above, 900: "quux overflow", 950: "no room is left", 1000: below}
            log = noisy({}, 1000).replace("RUNTIME", "TIMER").splitlines()
            (tmp_path / "a.log").write_text("\n".join(faults.get(n, line) for n, line in enumerate(log, 1)))
            rows = [row for row in scan([str(tmp_path / "a.log")], []) if isinstance(row, Observation)]
            verdicts[above, below] = {row.entry: row.verdict for row in rows if row.entry != "mover"}
    claims = {"quux": "likely", "everywhere": "likely"}
    assert verdicts == {
        ("CUDA is not there", "hccl frobnicator moves"): claims,
        ("CUDA is not there", "nothing moves"): dict.fromkeys(claims, "possible"),
        ("all is well", "hccl frobnicator moves"): claims,
        ("all is well", "nothing moves"): claims | {"everywhere": "possible"},
    }


@pytest.mark.parametrize("end", ["", "\n"])
def test_the_last_line_counts_with_the_one_above_it(tmp_path: Path, end: str) -> None:
    log = tmp_path / "a.log"
    log.write_text(f"ValueError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!\ntorch_npu 2.1.0{end}")
    (row,) = observations(list(scan([str(log)], [])), "dist-backend-nccl-on-npu")
    assert (row.line, row.verdict, row.count) == (1, "certain", 1)


@pytest.mark.parametrize("edge", [pieces.HEAD, pieces.HEAD + pieces.CHUNK])
@pytest.mark.parametrize("before", range(-1, 3))
def test_what_is_read_in_two_goes_is_found_as_in_one(edge: int, before: int, tmp_path: Path) -> None:
    """A text and its end in the next line, and a fault that is told by two lines, wherever the first go ends."""
    wrapped = FAULT.replace("object file", "object\nfile") + "\n"
    pair = "ValueError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!\ntorch_npu 2.1.0\n"
    for name, text in (("wrapped", wrapped), ("pair", pair)):
        start = edge - text.index("\n") - before
        filler = NOISE.format(1, 1)
        above = (filler * (start // len(filler))).ljust(start - 1, "#") + "\n"
        (tmp_path / name).write_text(above + text + filler * 9)
    rows = [row for row in scan([str(tmp_path)], []) if isinstance(row, Observation)]
    assert {(Path(row.source).name, row.entry, row.verdict, row.count) for row in rows} == {
        ("wrapped", ENTRY, "certain", 1),
        ("pair", "dist-backend-nccl-on-npu", "certain", 1),
    }
    for row in rows:
        assert Path(row.source).read_text().splitlines()[row.line - 1] == row.text
        assert Path(row.source).read_bytes()[row.offset :].startswith(row.text.encode())


@pytest.mark.parametrize(
    "written", ["frob nicator met its end", "frobnicator met its end", "FROB  nicator\tmet\nits end"]
)
def test_texts_that_differ_in_their_spaces_only_are_all_found(
    written: str, tmp_path: Path, own_kb: Path, write_entry: Callable[..., Path]
) -> None:
    write_entry("apart", "- text: frob nicator met its end\n- text: frobnicator met its end")
    log = tmp_path / "a.log"
    log.write_text(noisy({20: written}))
    assert [row.line for row in observations(list(scan([str(log)], [])), "apart")] == [20]


@pytest.mark.parametrize("lines", [["ACL", "graphs are here"], ["the", "ACL", "", "graphs", "are here"]])
def test_a_text_that_began_in_a_line_above_is_found(
    lines: list[str], tmp_path: Path, own_kb: Path, write_entry: Callable[..., Path]
) -> None:
    write_entry("graphs", "- text: ACL graphs are here")
    log = tmp_path / "a.log"
    log.write_text(noisy({20: "\n".join(lines)}))
    (row,) = observations(list(scan([str(log)], [])), "graphs")
    assert (row.line, row.text) == (20 + lines.index("ACL"), "ACL")


def test_what_a_pattern_asks_for_may_stand_in_the_next_line(
    tmp_path: Path, own_kb: Path, write_entry: Callable[..., Path]
) -> None:
    write_entry("slots", "- text: frobnicator <word:name> has left <int:left> quux behind")
    log = tmp_path / "a.log"
    log.write_text(noisy({20: "frobnicator seven has left\n8 quux behind"}))
    (row,) = observations(list(scan([str(log)], [])), "slots")
    assert (row.line, row.captures) == (20, {"name": "seven", "left": "8"})


@pytest.mark.parametrize("parts", [False, True])
def test_a_fault_does_not_hide_behind_harmless_lines_with_its_longest_text(
    parts: bool, tmp_path: Path, own_kb: Path, write_entry: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_entry("behind", '- regex: ["port [0-9]+ of the frobnicator turned (dead|deaf)"]')
    harmless = {n: f"port {n} of the frobnicator turned {'green' if n % 3 else 'blue'}" for n in range(1, 6_000, 2)}
    log = tmp_path / "a.log"
    log.write_text(noisy({**harmless, 5_100: "port 7 of the frobnicator turned deaf"}, 6_000))
    if parts:
        monkeypatch.setattr(pieces, "_PART", 100_000)
    (row,) = observations(list(scan([str(log)], [])), "behind")
    assert (row.line, row.count) == (5_100, 3_001)


def test_a_common_phrase_is_found_with_other_spaces(
    tmp_path: Path, own_kb: Path, write_entry: Callable[..., Path]
) -> None:
    write_entry("common", "- text: [stream_id ended, frobnicator]")
    log = tmp_path / "a.log"
    log.write_text(noisy({30_000: "stream_id  ended", 30_002: "frobnicator"}, 40_000))
    assert observations(list(scan([str(log)], [])), "common")


TABLE = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.rc3                 Version: 24.1.rc3                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
{}+===========================+===============+====================================================+
"""
CARD = """\
| {npu:<5} 910B2               | {health:<13} | 301.4       {heat}                0    / 0             |
| 0                         | 0000:42:00.0  | 98          0    / 0          60012/ 65536         |
+===========================+===============+====================================================+
"""


def test_the_table_of_npu_smi_in_a_log_is_read(tmp_path: Path) -> None:
    """As a job prints it in its loop: only the last card of the last table is ill, and one is hot in the first."""
    tables = [[CARD.format(npu=n, health="OK", heat=45) for n in range(16)] for _ in range(30)]
    tables[0][14] = CARD.format(npu=14, health="OK", heat=91)
    tables[-1][15] = CARD.format(npu=15, health="Alarm", heat=45)
    text = "".join(
        f"2026-11-29 10:{n:02}:00,000 step {n}\n{TABLE.format(''.join(cards))}" for n, cards in enumerate(tables)
    )
    log = tmp_path / "a.log"
    log.write_text(text)
    rows = [row for row in scan([str(log)], []) if isinstance(row, Observation)]
    told = {row.entry: row for row in rows}
    assert told.keys() == {"npu-health-alarm", "npu-temperature-above-85"}
    lines = text.splitlines()
    for entry, words, time in (("npu-health-alarm", "Alarm", "10:29"), ("npu-temperature-above-85", " 91 ", "10:00")):
        row = told[entry]
        assert words in lines[row.line - 1] and row.text == lines[row.line - 1]
        assert log.read_bytes()[row.offset :].startswith(row.text.encode())
        assert row.time == read_time(f"2026-11-29 {time}:00")


@pytest.mark.parametrize(
    ("entry", "output"),
    [
        ("npu-health-warning", "NPU ID                         : 3\nChip ID : 0\nHealth                         : Warning\n"),
        ("max-map-count-too-small", "vm.max_map_count = 65530\n"),
        ("npu-device-ip-wrong-network", "recv seq=0,time=0.137ms\n3 packets transmitted, 0 received, 100.00% packet loss\n"),
        ("disk-full", "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda1       100G  100G     0 100% /data\n"),
    ],
)  # fmt: skip
def test_what_other_outputs_in_a_log_tell_is_found_as_why_finds_it(
    entry: str, output: str, tmp_path: Path, knowledge: Knowledge
) -> None:
    assert entry in {match.entry["id"] for match in diagnose(output, knowledge, suggest=False).matches}
    (tmp_path / "a.log").write_text(noisy({100: output}))
    assert observations(list(scan([str(tmp_path)], [])), entry)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "gb18030"])
def test_other_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(noisy({1: "这是一条日志，用于测试", 20: FAULT}).encode(encoding))
    assert [row.line for row in observations(list(scan([str(log)], [])))] == [20]


def test_a_line_without_end_is_read_in_bounded_pieces(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("x" * 3_000_000 + FAULT + "y" * 3_000_000)
    (row,) = observations(list(scan([str(log)], [])))
    assert (row.line, row.count) == (1, 1)
    assert len(row.text) <= 400


def test_parts_of_a_log_tell_the_same_as_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "a.log"
    log.write_text(noisy(dict.fromkeys(range(5, 2000, 7), FAULT), 2000))
    whole = list(scan([str(log)], []))
    monkeypatch.setattr(pieces, "_PART", 10_000)
    assert list(scan([str(log)], [])) == whole
    assert list(scan([str(log)], [], jobs=2)) == whole


def test_a_log_that_is_truncated_while_it_is_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_PART", 10_000)
    log = tmp_path / "a.log"
    log.write_text(noisy({5: FAULT}, 2000))
    rows = list(scan([str(log)], [], jobs=1, progress=lambda done, total: os.truncate(log, 0)))
    assert [row.line for row in observations(rows)] == [5]
    assert [row.skipped for row in summaries(rows)] == ["truncated while it was read"]


def test_a_text_that_spans_two_parts_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filler = NOISE.format(1, 1)
    monkeypatch.setattr(pieces, "_PART", 100 * len(filler))
    log = tmp_path / "a.log"
    log.write_text(filler * 100 + FAULT.replace("object file", "object\nfile") + "\n" + filler * 300)
    (row,) = observations(list(scan([str(log)], [])))
    assert (row.line, row.count, row.text) == (101, 1, "ImportError: libhccl.so: cannot open shared object")
    assert summaries(list(scan([str(log)], [])))[0].lines == 402


def test_processes_tell_the_same_as_one(tmp_path: Path, generator: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    generator.make(tmp_path, generator.Cluster(ranks=10, bytes_per_rank=20_000, hits=0.05), [FAULT, "Quux"])
    monkeypatch.setattr(pieces, "_BATCH_FILES", 3)
    rows = list(scan([str(tmp_path)], [], jobs=1))
    assert list(scan([str(tmp_path)], [], jobs=2)) == rows
    assert (
        sum(row.lines for row in summaries(rows))
        == sum(path.read_bytes().count(b"\n") for path in tmp_path.rglob("*.log")) + 1
    )  # truth.json has no line's end


def test_the_generator_writes_the_same_bytes_and_a_truth_that_the_scan_finds(
    tmp_path: Path, generator: ModuleType
) -> None:
    cluster = generator.Cluster(ranks=9, bytes_per_rank=5_000, hits=0.01)
    for name in ("one", "two"):
        truth = generator.make(tmp_path / name, cluster, [FAULT])
    logs = [sorted((tmp_path / name).rglob("*.log")) for name in ("one", "two")]
    assert [log.read_bytes() for log in logs[0]] == [log.read_bytes() for log in logs[1]]
    rows = observations(list(scan([str(tmp_path / "one")], [])), "hccl-peer-sent-no-data-in-time")
    assert len(rows) == 8 and truth["first_rank"] == 3
    assert not [row for row in rows if "plog-4003" in row.source]


def test_what_was_written_before_since_and_after_until_is_left_out(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(noisy({10: FAULT, 30: FAULT, 50: FAULT}, 59))
    (row,) = observations(list(scan([str(log)], [], window=(Bound(1795946420), Bound(1795946440)))))
    assert (row.line, row.last_line, row.count) == (30, 30, 1)


def test_texts_that_stand_in_every_line_do_not_drown_the_scan(
    tmp_path: Path, own_kb: Path, write_entry: Callable[..., Path]
) -> None:
    write_entry("common-and-rare", "- text: [StreamCreate, frobnicator]")
    log = tmp_path / "a.log"
    log.write_text(noisy({30_000: "frobnicator"}, 40_000))
    (row,) = observations(list(scan([str(log)], [])), "common-and-rare")
    assert row.last_line == 30_000


def test_a_killed_process_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    (tmp_path / "a.log").write_text(noisy({10: FAULT}))
    parent = os.getpid()
    monkeypatch.setattr(scanning.Scanner, "rows_in", lambda *_: os._exit(9) if os.getpid() != parent else [])
    status, _, err = run("scan", str(tmp_path), "--jobs", "2")
    assert status == 2
    assert err.startswith("npu-kb: a process of the scan was killed near ") and err.count("\n") == 1


def test_a_process_killed_before_it_is_given_more_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(ThreadPoolExecutor):
        def submit(self, *_: object, **__: object) -> Any:  # type: ignore[override]
            raise BrokenProcessPool

    (tmp_path / "a.log").write_text("noise\n")
    with Broken() as pool, pytest.raises(NpuKbError, match=r"a process of the scan was killed near .*a.log"):
        list(scan([str(tmp_path)], [], pool=pool))


def test_processes_end_with_the_one_that_began_them(tmp_path: Path) -> None:
    """However that ended: here by a signal that nobody can handle."""
    report, read = os.pipe()[::-1]
    if not (parent := os.fork()):
        os.close(read)
        with own_pool(1) as pool:
            os.write(report, b"%d" % pool.submit(os.getpid).result())
            os.kill(os.getpid(), signal.SIGKILL)
    os.close(report)
    os.waitpid(parent, 0)
    with os.fdopen(read, "rb") as pipe:
        assert pipe.read().isdigit()  # ends when the last process that holds the pipe does


@pytest.mark.parametrize("place", ["start", "end"])
def test_nul_bytes_make_no_log_binary(place: str, tmp_path: Path, knowledge: Knowledge) -> None:
    nuls = b"\0" * 200_000
    line = f"{FAULT}\n".encode()
    (tmp_path / "a.log").write_bytes(nuls + line if place == "start" else line + nuls)
    assert ENTRY in {match.entry["id"] for match in diagnose((tmp_path / "a.log").read_bytes(), knowledge).claims}
    (row,) = observations(list(scan([str(tmp_path)], [])))
    assert (row.line, row.text) == (1, FAULT)


def test_a_one_line_fault_is_not_told_again_where_an_entry_claims_its_line(
    tmp_path: Path, write_entry: Callable[..., Path]
) -> None:
    text = "hccl aicpu task error is local mem error"
    write_entry("frobnicator", f"- text: 'frobnicator: {text}'")
    log = tmp_path / "a.log"
    log.write_text(noisy({70: f"frobnicator: {text}", 100: "frobnicator"}))
    told = [
        [row.entry for row in scan([str(log)], kb) if isinstance(row, Observation)]
        for kb in ([], [str(tmp_path / "kb")])
    ]
    assert told == [["runtime-tasks.hccl-aicpu-task-error-is-local-mem-error"], ["frobnicator"]]


@pytest.mark.parametrize("space", ["  ", "\t"])
def test_other_white_space_than_the_knowledge_has_does_no_harm(space: str, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("hccl aicpu task error is local mem error\n".replace(" ", space))
    assert observations(list(scan([str(tmp_path)], [])), "runtime-tasks.hccl-aicpu-task-error-is-local-mem-error")


def test_a_code_is_found_however_the_words_before_it_are_spaced(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("failed to get device health:ret code: -8010,health code: 4\n")
    assert observations(list(scan([str(tmp_path)], [])), "dcmi-message-to-device-failed")


def test_a_regex_without_a_literal_is_looked_for_near_the_others(tmp_path: Path) -> None:
    text = "INFO device: npu:0, world size: 1\nPackageNotFoundError: No package metadata was found for auto-gptq"
    (tmp_path / "a.log").write_text(noisy({100: text}))
    (row,) = observations(list(scan([str(tmp_path)], [])), "gptq-awq-libraries-not-for-npu")
    assert (row.verdict, row.line) == ("certain", 100)


def test_scan_writes_rows_that_can_be_read_back(tmp_path: Path, run: Run) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.log.gz").write_bytes(gzip.compress(noisy({10: FAULT}).encode()))
    (tmp_path / "logs" / "core").write_bytes(b"\x7fELF" + b"\0" * 5000)
    out = tmp_path / "rows.jsonl"
    status, text, err = run("scan", str(tmp_path / "logs"), "--out", str(out), "--host", "node7")
    assert (status, text) == (0, "")
    assert err == f"npu-kb: not read, or not to its end, binary: {tmp_path}/logs/core\n"
    rows = list(Scans([str(out)]).rows())
    assert [row.source for row in observations(rows)] == [f"node7:{tmp_path}/logs/a.log.gz"]
    assert json.loads(out.read_text().splitlines()[0])["schema"] == "npu-kb/scan/1"
    assert list(to_json_lines(rows))[1:] == [
        line.replace('"source":"', '"source":"node7:', 1) + "\n" for line in out.read_text().splitlines()[1:]
    ]


def test_scan_says_by_its_status_that_nothing_was_found(tmp_path: Path, run: Run) -> None:
    (tmp_path / "a.log").write_text(noisy({}))
    assert run("scan", str(tmp_path))[0] == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["{}/none"], "none: cannot be read: No such file or directory; give a readable path"),
        (["{}", "--out", "{}/no/such/file"], "file: cannot be written: No such file or directory"),
        (["{}", "--since", "yesterday"], "must be a day or time such as 2026-11-29"),
    ],
)
def test_bad_usage_is_told_in_one_line(tmp_path: Path, run: Run, arguments: list[str], told: str) -> None:
    status, out, err = run("scan", *(word.format(tmp_path) for word in arguments))
    assert (status, out) == (2, "")
    assert told in err and "Traceback" not in err


def test_a_tree_of_many_small_files_is_read_to_its_end(tmp_path: Path) -> None:
    for number in range(1200):
        (tmp_path / f"{number}.log").write_text(FAULT if number == 777 else "all is well")
    rows = list(scan([str(tmp_path)], []))
    assert len(summaries(rows)) == 1200
    assert [Path(row.source).name for row in observations(rows)] == ["777.log"]


def test_progress_tells_share_rate_and_remaining_time() -> None:
    assert progress_text(1_260_000_000, 3_000_000_000, 3.0) == " 42%  1.3 of 3.0 GB  420 MB/s  ETA 0:04"
    assert progress_text(0, 0, 0.0).startswith("  0%")


def test_rows_go_where_a_link_leads_and_a_folder_stays_one(tmp_path: Path, run: Run) -> None:
    (tmp_path / "a.log").write_text(noisy({10: FAULT}))
    (tmp_path / "link").symlink_to(tmp_path / "rows.jsonl")
    assert run("scan", str(tmp_path / "a.log"), "--out", str(tmp_path / "link"))[0] == 0
    assert (tmp_path / "link").is_symlink() and (tmp_path / "rows.jsonl").stat().st_size
    status, _, err = run("scan", str(tmp_path / "a.log"), "--out", str(tmp_path))
    assert status == 2 and "is no regular file" in err
    assert {path.name for path in tmp_path.iterdir()} == {"a.log", "link", "rows.jsonl"}


@pytest.mark.parametrize(
    ("since", "found"), [("2026-11-29T10:00", True), ("2026-11-29 10:01", False), ("2026-11-29T18:00:00+08:00", True)]
)
def test_moments_are_given_as_logs_write_them(tmp_path: Path, run: Run, since: str, found: bool) -> None:
    (tmp_path / "a.log").write_text(noisy({10: FAULT}))
    assert (ENTRY in run("scan", str(tmp_path), "--since", since)[1]) == found
