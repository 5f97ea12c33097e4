"""`npu-kb merge` and `cluster`: what comes from files is believed only as far as it makes sense."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import random
import re
import subprocess
import sys
import tarfile
import xml.dom.minidom
from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_kb import Knowledge
from npu_kb.cluster.observation import Clue, Observation, Row, SourceSummary, to_json_lines
from npu_kb.cluster.scans import Scans
from npu_kb.cluster.timeline import story_of
from npu_kb.render.cluster import cluster_text, timeline_text
from npu_kb.render.cluster_document import cluster_document, number_ranges
from npu_kb.render.page import Page
from npu_kb.render.timeline_svg import timeline_html, timeline_svg

Run = Callable[..., tuple[int, str, str]]

SOURCES = st.sampled_from(
    ["n1/rank_0.log", "n2/debug/plog/plog-7_20251024111652406.log", "n1/messages", "", "/", "a!b:c", "\x1b[31m<b>&"]
)
TIMES = st.none() | st.sampled_from([0.0, -5.0, 1e9, 1.7e9, 1.7e9 + 60, 4e9, 1e300, 10**400])
WORDS = st.sampled_from(
    ["", "0", "1", "7", "-1", "x", "99999999999999999999", "none", "28800", "node1", "1,2,3", "[0000],[0001];"]
)
NAMES = [
    "rank",
    "world",
    "device",
    "pid",
    "server",
    "group",
    "ranks",
    "why",
    "what",
    "local",
    "name",
    "host",
    "zone",
    "year",
    "listed",
    "barrier",
    "arrival",
]
KINDS = [
    "member",
    "waits",
    "missing",
    "connected",
    "accuses",
    "differs",
    "collective",
    "version",
    "host",
    "stamp",
    "other",
]
ENTRIES = [
    "hccl-notify-wait-timeout",
    "hbm-multi-bit-ecc-in-use",
    "aicore-exception",
    "hccl-heartbeat-lost",
    "no-such-entry",
]
TEXTS = st.sampled_from(
    [
        "",
        "[rank3]: error",
        "Killed process 7 (python)",
        "device=5 <script>alert(1)</script> \x1b[2J",
        "Failed to connect agent[1,3,]",
    ]
)
ROWS = st.one_of(
    st.builds(Clue, SOURCES, st.integers(1, 9), TIMES, st.sampled_from(KINDS), st.dictionaries(st.sampled_from(NAMES), WORDS), TEXTS),
    st.builds(
        Observation, SOURCES, st.integers(1, 9), st.just(0), TIMES, st.sampled_from(ENTRIES), st.sampled_from(["certain", "likely", "possible", "odd"]),
        TEXTS, st.just({}), st.integers(1, 9), st.integers(1, 9), TIMES,
    ),
    st.builds(SourceSummary, SOURCES, st.integers(0, 9), st.integers(0, 9), TIMES, TIMES, st.integers(0, 9), st.sampled_from(["", "binary"])),
)  # fmt: skip


@given(st.lists(ROWS, max_size=25), st.randoms(use_true_random=False))
def test_any_rows_in_any_order_tell_the_same_safe_story(knowledge: Knowledge, rows: list[Row], chance: object) -> None:
    document = cluster_document(story_of(rows, knowledge), knowledge)
    mixed = [*rows, *rows]
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    assert cluster_document(story_of(mixed, knowledge), knowledge) == document
    for lang in ("en", "zh"):
        shown = cluster_text(document, Page(lang, False, 80)) + timeline_text(document, Page(lang, False, 80), "device")
        assert "\x1b" not in shown
    for picture in (timeline_svg(document), timeline_html(document)):
        assert "<script" not in picture and "\x1b" not in picture
    xml.dom.minidom.parseString(timeline_svg(document))


def test_a_server_without_a_device_does_not_say_who_is_waited_for(knowledge: Knowledge) -> None:
    member = Clue("n1/rank_0.log", 1, None, "member", {}, "")
    rows: list[Row] = [*[member] * 4, member._replace(tells="waits", values={"server": "", "rank": "0"})]
    assert cluster_document(story_of(rows, knowledge), knowledge)["schema"] == "npu-kb/cluster/1"


@pytest.fixture(scope="session")
def scan_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that is written anew for each example."""
    return tmp_path_factory.mktemp("scans") / "x.jsonl"


@given(st.lists(ROWS.filter(lambda row: 10**400 not in row and "odd" not in row), max_size=10))
def test_rows_come_back_from_their_lines_behind_their_host(scan_file: Path, rows: list[Row]) -> None:
    scan_file.write_text("".join(to_json_lines(rows)))
    assert list(Scans([str(scan_file)]).rows()) == rows
    scan_file.write_text("".join(to_json_lines(rows, "node7", 1.7e9)))
    scans = Scans([str(scan_file)])
    assert [row.source for row in scans.rows()] == [f"node7:{row.source}" for row in rows]
    assert scans.left_out == []


@given(st.lists(ROWS, min_size=1, max_size=5), st.data())
def test_of_a_damaged_scan_the_sound_rows_are_read(scan_file: Path, rows: list[Row], data: st.DataObject) -> None:
    whole = "".join(to_json_lines(rows, "node7", 1.7e9)).encode()
    at, junk = data.draw(st.integers(0, len(whole))), data.draw(st.binary(max_size=30))
    scan_file.write_bytes(whole[:at] + junk + b"\n" + "".join(to_json_lines(rows, "node8")).encode())
    read = [row for row in Scans([str(scan_file)]).rows() if row.source.startswith("node8:")]
    assert read == [row._replace(source=f"node8:{row.source}") for row in rows]


@pytest.mark.parametrize(
    "text",
    [
        "root:x:0:0",
        "[]",
        '"x"',
        '{"schema": "npu-kb/scan/2"}',
        '{"kind": "observation"}',
        '{"kind": "source", "source": 7, "bytes": 0, "lines": 0, "first_time": null, "last_time": null, "errors": 0, "skipped": ""}',
        '{"kind": "clue", "source": "a", "line": 1, "time": NaN, "tells": "host", "values": {}, "text": ""}',
        '{"kind": "clue", "source": "a", "line": 1, "time": null, "tells": "host", "values": {"host": 7}, "text": ""}',
        "[" * 20_000,
    ],
)
def test_what_no_scan_wrote_is_named_with_its_line(text: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"schema": "npu-kb/scan/1"}\n' + text + "\n")
    status, out, err = run("merge", str(tmp_path / "a.jsonl"))
    assert (status, out) == (2, "")
    assert "a.jsonl:2: is " in err and "npu-kb scan --out" in err and err.count("\n") == 1


def test_the_rest_is_told_without_what_is_damaged(run: Run, tmp_path: Path) -> None:
    """A scan that was cut off, one of garbage, one of another release, and one that is not there."""
    seen = Observation("a.log", 1, 0, 1e9, "hbm-multi-bit-ecc-in-use", "certain", "x", {}, 1, 1, 1e9)
    good, quiet = "".join(to_json_lines([seen], "n1")), "".join(to_json_lines([], "n2"))
    texts = {
        "good": good,
        "cut": good[: good.index("verdict")],
        "garbage": "\0\x1b[2J\nx\n",
        "newer": good.replace("scan/1", "scan/2"),
    }
    names = [str(tmp_path / f"{name}.jsonl") for name in [*texts, "none"]]
    for name, text in zip(names, texts.values(), strict=False):
        Path(name).write_text(text)
    status, out, err = run("merge", *names)
    assert status == 0 and out.startswith("FIRST FAULT  n1")
    assert "Left out: 4 damaged scans, first" in out
    for place in (
        "cut.jsonl:2: is cut off; of its rows 0 are used; ",
        "garbage.jsonl:1: ",
        "newer.jsonl:1: is of schema 'npu-kb/scan/2'",
        "none.jsonl: ",
    ):
        assert place in err
    assert err.count("\n") == 4 and "garbage.jsonl:1: is no row of a scan" in err and "; 1 more of its lines" in err
    damaged = json.loads(run("merge", *names, "--format", "json")[1])["sources"]["left_out"]
    assert [(Path(each["file"]).name, each["line"], each["lines"]) for each in damaged] == [
        ("cut.jsonl", 2, 1), ("garbage.jsonl", 1, 2), ("newer.jsonl", 1, 1), ("none.jsonl", 0, 1),
    ]  # fmt: skip
    Path(names[0]).write_text(quiet + "".join(to_json_lines([SourceSummary("a", 1, 1, None, None, 0, "")])))
    status, out, _ = run("merge", *names[:2])
    assert status == 2 and "No fault was found" in out and "Left out: 1 damaged scan, first" in out


@pytest.mark.parametrize("lost", range(1, 26))
def test_a_scan_that_was_cut_off_is_named_with_what_of_it_is_used(lost: int, run: Run, tmp_path: Path) -> None:
    """Wherever the cut is, from the last row's end on; what has its end, but lost its line's, is whole."""
    seen = Observation("a.log", 1, 0, 1e9, "hbm-multi-bit-ecc-in-use", "certain", "x", {}, 1, 1, 1e9)
    path = tmp_path / "a.jsonl"
    path.write_text("".join(to_json_lines([seen, seen._replace(source="b.log")], "n1", 1e9))[:-lost])
    status, out, err = run("merge", str(path))
    assert status == 0 and out.startswith("FIRST FAULT  n1")
    used = 2 if lost < 25 else 1
    told = f"npu-kb: warning: left out: {path}:{4 if lost < 24 else 3}: is cut off; of its rows {used} are used; "
    assert err.startswith(told) and err.count("\n") == 1 if lost > 1 else err == ""
    assert ("Left out: 1 damaged scan" in out) == (lost > 1)


def test_a_scan_that_was_cut_off_behind_its_first_line_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(next(to_json_lines([], "n1", 1e9)))
    status, out, err = run("merge", str(path))
    assert (status, out) == (2, "") and "a.jsonl:2: is cut off; of its rows 0 are used" in err


def test_a_scan_of_which_rows_were_lost_is_named(run: Run, tmp_path: Path) -> None:
    lines = list(to_json_lines([SourceSummary("a.log", 1, 1, None, None, 0, "")] * 3, "n1", 1e9))
    path = tmp_path / "a.jsonl"
    path.write_text("".join(lines[:2] + lines[3:]))
    assert "a.jsonl:3: lacks rows, it had 3; of its rows 2 are used" in run("merge", str(path))[2]


def test_a_scan_without_its_head_of_which_rows_were_lost_is_named(run: Run, tmp_path: Path) -> None:
    lines = list(to_json_lines([SourceSummary("a.log", 1, 1, None, None, 0, "")] * 3, "n1", 1e9))
    path = tmp_path / "a.jsonl"
    path.write_text("".join(lines[1:3] + lines[4:]))
    assert "a.jsonl:2: lacks rows, it had 3; of its rows 2 are used" in run("merge", str(path))[2]
    path.write_text("".join(lines[1:]))
    assert run("merge", str(path))[::2] == (1, "")


@pytest.mark.parametrize("behind", ["junk\nmore\n", '{"kind":"end","rows":1}\n', "\0" * 80, "\n" * 80 + "x"])
def test_what_stands_behind_the_end_of_a_scan_is_named_so(behind: str, run: Run, tmp_path: Path) -> None:
    whole = "".join(to_json_lines([SourceSummary("a.log", 1, 1, None, None, 0, "")], "n1", 1e9))
    path = tmp_path / "a.jsonl"
    path.write_text(whole + behind)
    err = run("merge", str(path))[2]
    assert ": something stands behind its end; " in err and "more of its lines" not in err and err.count("\n") == 1
    path.write_text(whole + "\n \n" * 80)
    assert run("merge", str(path))[::2] == (1, "")


def test_a_scan_of_a_release_that_wrote_no_end_is_whole(run: Run, tmp_path: Path) -> None:
    lines = list(to_json_lines([SourceSummary("a.log", 1, 1, None, None, 0, "")], "n1", 1e9))
    header = {name: value for name, value in json.loads(lines[0]).items() if name != "has_end"}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(header) + "\n" + lines[1])
    assert run("merge", str(path))[::2] == (1, "")


def test_rows_behind_a_scan_that_was_cut_off_are_of_their_own_host(run: Run, tmp_path: Path) -> None:
    """As where `cat` put files together."""
    scans = [
        "".join(to_json_lines([SourceSummary("a.log", 1, 1, None, None, 0, "")] * 2, host, 1e9))
        for host in ("n1", "n2")
    ]
    (tmp_path / "all.jsonl").write_text(scans[0][:-30] + scans[1])
    read = Scans([str(tmp_path / "all.jsonl")])
    assert [row.source for row in read.rows()] == ["n1:a.log", "n2:a.log", "n2:a.log"]
    assert [(each.line, each.lines) for each in read.left_out] == [(3, 1)]


def scan_of(host: str, time: float | None, *logs: tuple[str, int]) -> str:
    """A scan in which each of the logs has so many lines with a fault."""
    rows: list[Row] = []
    for source, count in logs:
        rows.append(Observation(source, 1, 0, 1e9, "disk-full", "certain", "x", {}, count, count, 1e9 + count))
        rows.append(SourceSummary(source, 100 * count, count, 1e9, 1e9 + count, 0, ""))
    return "".join(to_json_lines(rows, host, time))


@pytest.mark.parametrize("seed", range(6))
def test_a_log_that_was_scanned_again_counts_as_the_last_scan_has_it(seed: int, run: Run, tmp_path: Path) -> None:
    """The newest one is told, whatever the order of the files and even if the log is shorter now."""
    texts = [
        scan_of("n1", 1e9, ("a.log", 9), ("gone.log", 2)), scan_of("n1", 2e9, ("a.log", 3)), scan_of("n1", None, ("a.log", 8)),
        scan_of("n2", 1.5e9, ("a.log", 5)),
    ]  # fmt: skip
    texts = random.Random(seed).sample(texts * 2, 8)
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.jsonl").write_text(text)
    names = [str(tmp_path / f"{number}.jsonl") for number in range(8)]
    together = run("merge", *names, "--format", "json")
    counts = {event["source"]: event["count"] for event in json.loads(together[1])["timeline"]}
    assert counts == {"n1:a.log": 3, "n1:gone.log": 2, "n2:a.log": 5}
    assert json.loads(together[1])["sources"]["bytes"] == 1_000
    assert run("merge", "-", "--format", "json", stdin="".join(texts)) == together


def test_scans_with_other_knowledge_are_named(run: Run, two_ranks: Path) -> None:
    """As of a host with another release, whose entries are not known here."""
    log = two_ranks / "node0" / "rank_0.log"
    ours = run("scan", str(log), "--host", "n1")[1]
    assert run("merge", "-", stdin=ours + ours.replace("n1", "n2", 1))[2] == ""
    header, rest = ours.replace("n1", "n3", 1).split("\n", 1)
    other = json.dumps({**json.loads(header), "knowledge": 1, "version": "9.9"})
    known = next(json.loads(row)["entry"] for row in rest.splitlines() if '"observation"' in row)
    err = run("merge", "-", stdin=f"{ours}{other}\n{rest.replace(known, 'of-the-future')}")[2].splitlines()
    assert ["2 states of the knowledge" in err[0] and "9.9" in err[0], "has no of-the-future" in err[1]] == [True, True]
    assert len(err) == 2


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_packed_scans_and_folders_of_scans_are_read(pack: Callable[[bytes], bytes], run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "scans"
    folder.mkdir()
    (folder / "n1.jsonl.packed").write_bytes(pack(scan_of("n1", 1e9, ("a.log", 3)).encode()))
    (folder / "n2.jsonl").write_text(scan_of("n2", 1e9, ("a.log", 5)))
    (folder / "notes.txt").write_text("no scan")
    status, out, err = run("merge", str(folder), "--format", "json")
    assert {event["source"]: event["count"] for event in json.loads(out)["timeline"]} == {"n1:a.log": 3, "n2:a.log": 5}
    assert (status, err) == (0, "")


def test_packed_scans_that_cannot_be_read_are_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(scan_of("n1", 1e9, ("a.log", 3)).encode() * 50)[:-30])
    (tmp_path / "nothing.gz").write_bytes(gzip.compress(b"x" * 1_000)[:10])
    with tarfile.open(tmp_path / "all.tar", "w") as archive:
        archive.add(tmp_path / "nothing.gz")
    for name, why in {
        "empty": "holds no *.jsonl*",
        "cut.jsonl.gz": "is cut off",
        "nothing.gz": "gzip cut off",
        "all.tar": "unpack it",
    }.items():
        err = run("merge", str(tmp_path / name))[2]
        assert f"{tmp_path / name}:" in err and why in err


def test_an_empty_scan_is_named(two_ranks: Path, run: Run) -> None:
    (two_ranks / "lost.jsonl").touch()
    status, _, err = run("merge", str(two_ranks / "lost.jsonl"))
    assert status == 2 and f"{two_ranks}/lost.jsonl: is empty" in err


def test_scans_of_hosts_without_a_name_all_count(run: Run, tmp_path: Path) -> None:
    texts = [scan_of("", 1e9, ("a.log", 3)), scan_of("", 2e9, ("a.log", 5))]
    document = json.loads(run("merge", "-", "--format", "json", stdin="".join(texts))[1])
    assert [event["count"] for event in document["timeline"]] == [3, 5]


def test_a_host_that_is_scanned_again_replaces_its_first_scan(two_ranks: Path, run: Run) -> None:
    scans = [str(two_ranks / f"{name}.jsonl") for name in ("first", "again")]
    log = two_ranks / "node0" / "rank_0.log"
    for scan in scans:
        assert run("scan", str(log), "--host", "node0", "--out", scan)[0] == 0
        log.write_text(log.read_text() * 3)
    first, again = (json.loads(run("merge", *names, "--format", "json")[1]) for names in (scans[::-1], scans[1:]))
    assert first == again and first["timeline"][0]["count"] == 3


@pytest.mark.parametrize("host", [["--host", "trainer"], []])
def test_pods_of_the_same_name_whose_logs_are_named_alike_are_told_apart(
    host: list[str], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = []
    for pod in range(2):
        for process in range(4):
            log = tmp_path / f"pod{pod}" / "log" / f"plog-{200 + process}_20261025031500123.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            fault = "HBM MULTI BIT ECC ERROR on device 2" if (pod, process) == (0, 2) else "StreamCreate: stream_id=1"
            log.write_text(
                f"[INFO] HCCL({200 + process},python3.11):2026-10-26-07:33:20.000.000 [op_base.cc:1370] [200][HCCL_TRACE]"
                f"HcclCommInitRootInfo success,take time [237063]us, rankNum[8], rank[{pod * 4 + process}], rootInfo "
                f"identifier[10.0.0.1%eth0_60000_0_1761275812], server[10.0.0.{pod + 1}], deviceId[{process}]\n"
                f"[ERROR] RUNTIME({200 + process},python3.11):2026-10-26-07:43:20.000.000 [a.cc:12]8231 {fault}\n"
            )
        monkeypatch.chdir(tmp_path / f"pod{pod}")
        names.append(str(tmp_path / f"{pod}.jsonl"))
        Path(names[-1]).write_text(run("scan", "log", *host)[1])
    _, out, err = run("merge", *names, "--format", "json")
    document = json.loads(out)
    assert [party["rank"] for party in document["faults"][0]["parties"]] == [2]
    assert document["ranks"]["with_logs"] == 8
    assert "_1, " in err and "scan --host" in err


def test_what_newer_scans_replace_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(scan_of("n1", 1e9, ("a.log", 3), ("b.log", 3)))
    (tmp_path / "b.jsonl").write_text(scan_of("n1", 2e9, ("a.log", 5)))
    assert "n1: newer scans replace 1 log of older ones" in run("merge", *map(str, tmp_path.glob("*.jsonl")))[2]


def test_a_scan_in_a_pipe_is_read(run: Run, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"printf %s '{scan_of('n1', 1e9, ('a.log', 3))}' > {pipe}"]):
        assert run("merge", str(pipe))[0] == 0


def test_a_folder_without_logs_is_named(run: Run, two_ranks: Path) -> None:
    (two_ranks / "empty").mkdir()
    for arguments in ([str(two_ranks / "empty")], [str(two_ranks), "--include", "*.txt"]):
        status, out, err = run("cluster", *arguments)
        assert (status, out, err.count("\n")) == (2, "", 1) and f"{arguments[0]}: " in err


def test_without_a_fault_the_status_says_so(run: Run) -> None:
    status, out, _ = run("merge", "-", stdin='{"schema": "npu-kb/scan/1"}\n')
    assert status == 1 and "No fault was found" in out


@pytest.fixture
def two_ranks(tmp_path: Path) -> Path:
    """A folder of two ranks, of which one has an error of its own and the other waits."""
    for rank, line in enumerate(
        [
            "2025-10-24 03:00:00,000 RuntimeError: HBM MULTI BIT ECC ERROR. The process exits for this inner error",
            "2025-10-24 03:30:00,000 EI0002: The wait execution of the Notify register times out. <b>",
        ]
    ):
        (tmp_path / f"node{rank}").mkdir()
        (tmp_path / f"node{rank}" / f"rank_{rank}.log").write_text(line + "\n")
    return tmp_path


def test_cluster_scan_and_merge_tell_the_same(two_ranks: Path, run: Run) -> None:
    status, out, _ = run("cluster", str(two_ranks))
    assert status == 0 and out.startswith("FIRST FAULT  rank 0 (node0)  2025-10-24 03:00:00")
    scans = []
    for host in ("node0", "node1"):
        scans.append(str(two_ranks / f"{host}.jsonl"))
        assert run("scan", str(two_ranks / host), "--host", host, "--out", scans[-1])[0] == 0
    merged = run("merge", *scans, "--format", "json")[1]
    assert json.loads(merged)["faults"][0]["parties"][0]["rank"] == 0
    assert json.loads(merged)["schema"] == "npu-kb/cluster/1"


def test_why_tells_the_story_of_a_folder_of_ranks(two_ranks: Path, run: Run) -> None:
    assert run("why", str(two_ranks)) == run("cluster", str(two_ranks))
    assert not run("why", str(two_ranks / "node0"))[1].startswith("FIRST FAULT")


def test_a_fault_after_which_its_rank_went_on_is_told_so(two_ranks: Path, run: Run) -> None:
    waits = "2025-10-24 03:30:00,000 EI0002: The wait execution of the Notify register times out."
    assert "The job went on" not in run("cluster", str(two_ranks))[1]
    with (two_ranks / "node0" / "rank_0.log").open("a") as log:
        log.write(waits + "\n")
    assert "The job went on" in run("cluster", str(two_ranks))[1]


def test_ids_are_never_cut(two_ranks: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for arguments in ([], ["--timeline"]):
        assert "hccl-notify-wait-timeout" in run("cluster", str(two_ranks), *arguments)[1]


def test_one_machine_does_not_speak_for_the_hosts_of_several_ranks(two_ranks: Path, run: Run) -> None:
    status, out, err = run("why", str(two_ranks), "--env")
    assert (status, out) == run("cluster", str(two_ranks))[:2]
    assert "--env speaks of one machine" in err and err.count("\n") == 1


@pytest.mark.parametrize("by", ["rank", "host", "device"])
def test_the_timeline_has_a_line_for_each(by: str, two_ranks: Path, run: Run) -> None:
    lines = run("cluster", str(two_ranks), "--by", by)[1].splitlines()
    assert len(lines) == 2
    assert lines == sorted(lines)


def test_the_picture_is_drawn_into_the_named_file(two_ranks: Path, run: Run) -> None:
    picture = two_ranks / "timeline.svg"
    assert run("cluster", str(two_ranks), "--plot", str(picture))[0] == 0
    assert "rank 0" in picture.read_text() and "&lt;b&gt;" in picture.read_text()
    status, _, err = run("cluster", str(two_ranks), "--plot", str(two_ranks / "timeline.png"))
    assert status == 2 and ".svg or .html" in err


@pytest.mark.parametrize("ranks", [3, 60, 400])
def test_the_picture_names_causes_by_number_and_keeps_labels_apart(ranks: int, knowledge: Knowledge) -> None:
    entries = ["hbm-multi-bit-ecc-in-use", "hccl-notify-wait-timeout", "disk-full"]
    rows: list[Row] = [
        Observation(f"n{rank // 8}/rank_{rank}.log", n, 0, 1e9 + n + rank / 9, entry, "certain", "x", {}, 1, n, 1e9)
        for rank in range(ranks)
        for n, entry in enumerate(entries, 1)
    ]
    document = cluster_document(story_of(rows, knowledge), knowledge)
    picture = xml.dom.minidom.parseString(timeline_svg(document))
    texts = [
        (float(t.getAttribute("x")), float(t.getAttribute("y")), t.firstChild.data)
        for t in picture.getElementsByTagName("text")
    ]
    legend = {text.split()[0]: text for _, _, text in texts if re.match(r"\d  ", text)}
    first = document["faults"][0]
    assert legend["1"] == f"1  {first['entry']}: {first['title']['en']} ({ranks} rows)"
    assert {line.split()[1].rstrip(":") for line in legend.values()} == set(entries)
    numbers = [(x, y) for x, y, text in texts if text.isdigit()]
    assert {text for _, _, text in texts if text.isdigit()} == legend.keys()
    assert not [(a, b) for a, b in combinations(numbers, 2) if abs(a[0] - b[0]) < 6 and abs(a[1] - b[1]) < 8]
    names = sorted(y for _, y, text in texts if text.startswith("rank "))
    assert all(below - above >= 11 for above, below in pairwise(names))


@pytest.mark.parametrize(("numbers", "text"), [([], ""), ([3], "3"), ([0, 1, 2, 5, 7, 8], "0-2, 5, 7-8")])
def test_numbers_are_shown_as_ranges(numbers: list[int], text: str) -> None:
    assert number_ranges(numbers) == text


def test_only_the_last_run_with_a_fault_is_told(knowledge: Knowledge) -> None:
    def process(pid: int, start: float, entry: str) -> list[Row]:
        source = f"n1/ascend/log/debug/plog/plog-{pid}_20251024111652406.log"
        seen = Observation(source, 1, 0, start + 50, entry, "certain", "x", {}, 1, 1, start + 50)
        return [SourceSummary(source, 9, 9, start, start + 60, 1, ""), seen]

    day = 86_400
    rows = process(1, day, "disk-full") + process(2, 9 * day, "hbm-multi-bit-ecc-in-use")
    quiet = SourceSummary("n1/ascend/log/run/plog/plog-3_20251024111652406.log", 9, 9, 20 * day, 20 * day + 60, 0, "")
    story = story_of([*rows, quiet], knowledge)
    assert [fault.entry for fault in story.faults] == ["hbm-multi-bit-ecc-in-use"]
    assert story.earlier_runs == 1


@pytest.mark.parametrize("ranks", ["9" * 6_000, "0" * 6_000, "9" * 16])
@pytest.mark.parametrize("tells", ["missing", "connected", "lines"])
def test_ranks_that_no_job_has_are_not_believed(tells: str, ranks: str, knowledge: Knowledge) -> None:
    clues = [Clue("n1/rank_1.log", 1, 1e9, tells, {"ranks": ranks}, "x"), member(1, 4)]
    assert story_of(clues, knowledge).faults == []


@pytest.mark.parametrize("ranks", ["", ",x"])
def test_a_list_without_ranks_tells_of_no_logs(ranks: str, knowledge: Knowledge) -> None:
    clues = [Clue("n1/train.log", 1, 1e9, "lines", {"ranks": ranks}, "x"), member(1, 4)]
    assert story_of(clues, knowledge).who.logged == {1}


def member(rank: int, world: int) -> Clue:
    return Clue(f"n1/rank_{rank}.log", 1, 1e9, "member", {"rank": str(rank), "world": str(world)}, "x")


def test_a_job_of_very_many_absent_ranks_is_told_in_linear_time(knowledge: Knowledge) -> None:
    world = 40_000
    clues = [member(1, world), Clue("n1/rank_1.log", 2, 1e9, "connected", {"ranks": "[1]"}, "x")]
    assert len(story_of(clues, knowledge).faults) == world - 1


def test_ranks_without_logs_are_one_fault(knowledge: Knowledge) -> None:
    """As where the logs of one host of many were collected."""
    entry = "hccl-peer-sent-no-data-in-time"
    rows: list[Row] = [member(rank, 64) for rank in range(8)]
    rows += [Observation(f"n1/rank_{rank}.log", 9, 0, 1e9, entry, "certain", "x", {}, 1, 9, 1e9) for rank in range(8)]
    faults = story_of(rows, knowledge).faults
    assert [(fault.reason, len(fault.parties)) for fault in faults] == [("no-logs", 56)]


def test_hosts_that_only_waited_are_not_called_sound(knowledge: Knowledge) -> None:
    entry = "hccl-peer-sent-no-data-in-time"
    rows = [Observation(f"n{n}/app.log", 9, 0, 1e9, entry, "certain", "x", {}, 1, 9, 1e9) for n in range(3)]
    document = cluster_document(story_of(rows, knowledge), knowledge)
    assert not document["faults"]
    assert "only waited for others" in cluster_text(document, Page("en", False, 80))
    assert "等待他人" in cluster_text(document, Page("zh", False, 80))


def test_faults_beyond_those_that_are_shown_are_counted(knowledge: Knowledge) -> None:
    entries = ["disk-full", "hbm-multi-bit-ecc-in-use", "cann-environment-not-loaded", "aicore-exception"]
    rows = [
        Observation(f"n{n}/rank_{n}.log", 9, 0, 1e9 + n, entry, "certain", "x", {}, 1, 9, 1e9)
        for n, entry in enumerate([*entries, "npu-board-temperature-alarm"])
    ]
    document = cluster_document(story_of(rows, knowledge), knowledge)
    hidden = len(document["faults"]) - 4
    assert hidden > 0 and f"and {hidden} more" in cluster_text(document, Page("en", False, 80))


def test_an_archive_of_several_ranks_is_a_cluster_to_why(two_ranks: Path, run: Run, tmp_path: Path) -> None:
    packed = tmp_path / "job.tgz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(two_ranks, "job")
    assert run("why", str(packed))[1].startswith("FIRST FAULT  rank 0")


def test_a_picture_that_cannot_be_drawn_is_told_before_or_beside_the_answer(two_ranks: Path, run: Run) -> None:
    status, out, err = run("cluster", str(two_ranks), "--plot", str(two_ranks / "node0" / "x.svg" / ".." / "y.png"))
    assert (status, out) == (2, "") and ".svg or .html" in err
    (two_ranks / "file").write_text("")
    status, out, err = run("cluster", str(two_ranks), "--plot", str(two_ranks / "file" / "x.svg"))
    assert status == 2 and out.startswith("FIRST FAULT") and "is no folder" in err


def test_very_many_runs_without_a_fault_are_told_in_linear_time(knowledge: Knowledge) -> None:
    rows: list[Row] = [
        SourceSummary(f"n1/plog/plog-{n + 1}_20251024111652406.log", 9, 9, n * 9e3, n * 9e3 + 60, 0, "")
        for n in range(20_000)
    ]
    assert story_of(rows, knowledge).faults == []


@pytest.mark.parametrize("where", ["n1/plog/plog-{}_20251024111652406.log", "n1/app/train-{}.log"])
def test_very_many_runs_with_unsure_hints_only_are_told_in_linear_time(where: str, knowledge: Knowledge) -> None:
    rows: list[Row] = []
    for n in range(1, 5_001):
        plog = f"n1/plog/plog-{n}_20251024111652406.log"
        rows.append(SourceSummary(plog, 9, 9, 1e9 + n * 9e3, 1e9 + n * 9e3 + 60, 0, ""))
        rows.append(Observation(where.format(n), 3, 0, None, "disk-full", "possible", "x", {}, 1, 3, None))
    assert story_of(rows, knowledge).faults == []


def test_very_many_runs_that_only_waited_are_told_in_linear_time(knowledge: Knowledge) -> None:
    rows: list[Row] = []
    for n in range(1, 2_001):
        plog, start = f"n1/plog/plog-{n}_20251024111652406.log", 1e9 + n * 9e3
        rows.append(SourceSummary(plog, 9, 9, start, start + 60, 0, ""))
        rows.append(SourceSummary(f"n1/app/train-{n}.log", 9, 9, None, None, 0, ""))
        rows.append(Observation(plog, 3, 0, start, "hccl-notify-wait-timeout", "certain", "x", {}, 1, 3, start))
    assert story_of(rows, knowledge).faults == []


def test_very_many_faults_of_a_host_are_told_in_linear_time(knowledge: Knowledge) -> None:
    rows: list[Row] = [
        Observation("n1/a.log", n, 0, 1e9 + n, f"fault-{n}", "certain", "x", {}, 1, n, 1e9) for n in range(1, 10_001)
    ]
    rows += [
        Clue("n1/a.log", n, 1e9 + n, "accuses", {"server": f"n{n}", "device": "1", "why": "LOST"}, "x")
        for n in range(1, 20_001)
    ]
    assert story_of(rows, knowledge).faults


def test_ranks_that_all_others_miss_are_told_in_time(knowledge: Knowledge) -> None:
    world = 1_000
    missing = ",".join(map(str, range(world // 2, world)))
    rows: list[Row] = [member(rank, world) for rank in range(world // 2)]
    rows += [Clue(f"n1/rank_{rank}.log", 2, 1e9, "missing", {"ranks": missing}, "x") for rank in range(world // 2)]
    faults = story_of(rows, knowledge).faults
    assert [fault.parties[0].rank for fault in faults[:2]] == [500, 501]
    assert {len(fault.named_by) for fault in faults} == {world // 2}


def test_an_entry_that_no_knowledge_can_have_is_told_in_one_line(tmp_path: Path, run: Run) -> None:
    seen = Observation("a.log", 1, 0, 1e9, "quux", "certain", "x", {}, 1, 1, 1e9)
    path = tmp_path / "a.jsonl"
    path.write_text("".join(to_json_lines([seen])).replace("quux", "\\ud800"))
    status, _, err = run("merge", str(path))
    assert (status, err.count("\n")) == (2, 1)
    assert "left out: " in err and "a.jsonl:2: is no row of a scan (entry is no name)" in err


_PEAK = """
import sys
from npu_kb.cli import main
main(sys.argv[1:])
(peak,) = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(peak, file=sys.stderr)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="tells the peak of a process's memory")
@pytest.mark.parametrize(("logs", "form"), [(4_999, "json"), (70_000, "text")])
def test_very_many_long_chinese_texts_take_little_memory(logs: int, form: str, tmp_path: Path) -> None:
    """As many rows as are kept as they are, and more."""
    path, per_log = tmp_path / "a.jsonl", 10 if form == "json" else 1
    rows = (
        Observation(
            f"n{n % 99}/rank_{n // per_log}.log", 1, 0, 1e9, f"e{n % 10}", "certain",
            f"{n:06}" + chr(0x4E00 + n % 20_000) * 394, {}, 1, 1, 1e9,
        )
        for n in range(logs * per_log)
    )  # fmt: skip
    with path.open("w", encoding="utf-8") as file:
        file.writelines(to_json_lines(rows))
    Knowledge.load([])  # so that the run only looks up what is compiled
    run = [sys.executable, "-c", _PEAK, "merge", "--format", form, str(path)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert "left out" not in done.stderr
    assert int(done.stderr.split()[-1]) < 250_000


def test_a_server_with_an_escape_sequence_is_not_believed(knowledge: Knowledge) -> None:
    values = {"server": "\x1b[31mn2", "device": "1", "why": "Heartbeat Lost", "arrival": ""}
    rows: list[Row] = [member(1, 4), Clue("n1/rank_1.log", 2, 1e9, "accuses", values, "x")]
    assert "\x1b" not in timeline_svg(cluster_document(story_of(rows, knowledge), knowledge))
    assert story_of(rows, knowledge).faults == []


def waiting_rank(rank: int, waits_for: int = 5) -> str:
    """The plog of a rank of 8 that waits for another."""
    head = f"HCCL({4000 + rank},python3):2025-11-02-03"
    return (
        f"[EVENT] {head}:10:01.201.881 [op_base.cc:402] Entry-HcclCommInitRootInfo:ranks[8], rank[{rank}]\n"
        f"[ERROR] {head}:41:58.123.445 [task_exception_handler.cc:630][TaskExceptionHandler][Callback]Task run failed, "
        "para information is :base information is streamID:[12], taskID[3312], taskType[Notify Wait], "
        "tag[AllReduce_172.16.1.10%eth0_60000_0_1730510000].\n"
        f"[ERROR] {head}:41:58.123.449 [task_exception_handler.cc:652][TaskExceptionHandler][Callback]Task run failed, "
        f"para information is notify id:[0x51], stage:[ffffffff], remote rank:[{waits_for}].\n"
    )


@pytest.fixture
def seven_ranks() -> dict[int, str]:
    """The plogs of all ranks but the one that they wait for."""
    return {rank: waiting_rank(rank) for rank in range(8) if rank != 5}


def test_logs_joined_in_one_file_are_of_the_ranks_that_their_lines_name(
    seven_ranks: dict[int, str], run: Run, tmp_path: Path
) -> None:
    joined = tmp_path / "all.log"
    joined.write_text("".join(seven_ranks.values()))
    out = " ".join(run("cluster", str(joined))[1].split())
    assert out.startswith("FIRST FAULT rank 5") and "7 ranks wait for it" in out
    assert "1 rank or host from" in out
    assert "Ranks: 8 in the job, logs of 7" in out and "No logs of rank 5." in out and "hosts: 0" not in out
    assert "Without any error" not in out


def test_why_says_for_whom_the_ranks_of_a_paste_wait(seven_ranks: dict[int, str], run: Run) -> None:
    paste = "".join(seven_ranks.values())
    assert "7 ranks wait for rank 5 (line 3): its own logs" in run("why", "-", stdin=paste)[1]
    assert "7 ranks wait for rank 5" in run("why", "--format", "markdown", "-", stdin=paste)[1]
    first = json.loads(run("why", "--format", "json", "-", stdin=paste)[1])["matches"][0]
    assert first["waited_for"] == [{"party": "rank 5", "by": 7, "line": 3, "source": "-"}]
    assert "1 rank waits for rank 5" in run("why", "-", stdin=seven_ranks[0])[1]
    assert "wait for rank" not in run("why", "-", stdin=paste.replace("remote rank:[5]", ""))[1]


def test_why_tells_the_story_of_a_folder_in_which_lines_alone_name_the_ranks(
    seven_ranks: dict[int, str], run: Run, tmp_path: Path
) -> None:
    for rank, text in seven_ranks.items():
        (tmp_path / f"{'abcdefgh'[rank]}.log").write_text(text)
    assert run("why", str(tmp_path)) == run("cluster", str(tmp_path))
    assert run("why", str(tmp_path))[1].startswith("FIRST FAULT  rank 5")


@pytest.mark.parametrize(("apart", "one_fault"), [("22:03.511", True), ("24:00.000", False)])
def test_what_a_rank_tells_twice_at_once_is_one_fault_the_more_exact_first(
    apart: str, one_fault: bool, run: Run, tmp_path: Path
) -> None:
    head = "[ERROR] RUNTIME(50011,python3):2025-11-05-14"
    (tmp_path / "rank_11.log").write_text(
        f"{head}:22:03.511.260 [device_error_core_proc.cc:322] ProcessDavidStarsCoreErrorInfo: The error from device("
        "chipId:3, dieId:0), there is an aivec error exception, error code = 0x800000, vec error info: 0x7c1e2b64b5.\n"
        + f"{head}:22:03.600.000 [x.cc:1] dump\n"
        * 3
        + f"{head}:{apart}.311 [davinci_kernel_task.cc:1500] PrintErrorInfoForDavinciTask:Aicore kernel execute failed, "
        "device_id=3, stream_id=2, fault kernel_name=IndexPutV2_7d3_high_performance, hash=123.\n"
    )
    (tmp_path / "rank_12.log").write_text(waiting_rank(12, waits_for=11).replace("11-02-03", "11-05-15"))
    faults = json.loads(run("cluster", "--format", "json", str(tmp_path))[1])["faults"]
    told = [(fault["entry"], [same["entry"] for same in fault["beside"]]) for fault in faults]
    exact, general = "kernel-index-out-of-range", "aicore-ddr-address-out-of-range"
    assert told == ([(exact, [general])] if one_fault else [(general, []), (exact, [])])
    out = " ".join(run("why", str(tmp_path))[1].split())
    assert (f"[{exact}]" in out.split("Told as well, less exactly:")[0]) and ("independent" in out) is not one_fault


@pytest.mark.parametrize(("with_logs", "missing"), [({0: 5, 1: 5}, "rank 2-7"), ({0: 5, 1: 5, 5: None}, None)])
def test_a_rank_without_logs_for_which_others_wait_may_wait_too(
    with_logs: dict[int, int | None], missing: str | None, run: Run, tmp_path: Path
) -> None:
    for rank, waits_for in with_logs.items():
        text = waiting_rank(rank, waits_for or 0)
        (tmp_path / f"rank_{rank}.log").write_text(text if waits_for is not None else text.splitlines()[0])
    fault = json.loads(run("cluster", "--format", "json", str(tmp_path))[1])["faults"][0]
    assert (fault["parties"][0]["rank"], fault["reason"]) == (5, "waited-for")
    assert (fault["verdict"], fault["without_logs"]) == (("possible", True) if missing else ("likely", False))
    top = " ".join(run("cluster", str(tmp_path))[1].split()).split("What follows")[0]
    assert (f"Get these logs next: {missing}." in top) is bool(missing)
    assert ("it waits for nobody" in top) is not bool(missing)
