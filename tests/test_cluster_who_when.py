"""Who wrote a log and when: times of every format, names, clues, rank tables, clocks."""

from __future__ import annotations

import calendar
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_kb.cluster.clocks import Clocks
from npu_kb.cluster.clues import ClueReader, clues_in, rank_table_clues
from npu_kb.cluster.names import PathNames, is_cluster, names_of, names_of_all
from npu_kb.cluster.observation import Clue
from npu_kb.cluster.times import read_stamp, read_time, written
from npu_kb.cluster.who import Who

Run = Callable[..., tuple[int, str, str]]
NOW = 1_796_000_000.0
"""2026-11-30 00:53:20 UTC"""


def clues_of(source: str, lines: list[str]) -> list[Clue]:
    """What the lines of a log tell."""
    reader = ClueReader(source)
    for number, line in enumerate(lines, 1):
        reader.read(line, number, read_time(line))
    return reader.clues


@pytest.mark.parametrize(
    ("line", "moment"),
    [
        (
            "[ERROR] HCCL(21,python):2025-10-24-22:03:14.946.261 [task_exception_handler.cc:908]",
            "2025-10-24 22:03:14.946261",
        ),
        ("2026-11-29 10:00:00,123 INFO train.py:3 step 7", "2026-11-29 10:00:00.123"),
        ("INFO 11-29 10:00:00 [core.py:58] Initializing a V1 LLM engine", "2026-11-29 10:00:00"),
        ("2026-11-29T10:00:00.123456789Z stdout F hello", "2026-11-29 10:00:00.123456"),
        ("2026-11-29T10:00:00+08:00 node7 kernel: hello", "2026-11-29 02:00:00"),
        ("2026-11-29T10:00:00+0800 node7 kernel: hello", "2026-11-29 02:00:00"),
        ("[Sun Nov 29 10:00:00 2026] [ascend] [ERROR] hello", "2026-11-29 10:00:00"),
        ("Nov  9 10:00:00 node7 kernel: hello", "2026-11-09 10:00:00"),
        ("Dec 24 10:00:00 node7 kernel: a stamp without a year is never of the future", "2025-12-24 10:00:00"),
        ("E1129 10:00:00.123456 1 main.go:7] hello", "2026-11-29 10:00:00.123456"),
        ("[INFO]     2026/11/29 10:00:00.500000 1      device-plugin", "2026-11-29 10:00:00.5"),
        ("1796000000.25 node7 kernel: hello", "2026-11-30 00:53:20.25"),
        ('{"level": "error", "ts": 1796000000.5, "msg": "hello"}', "2026-11-30 00:53:20.5"),
        ("[rank7]:[E1229 13:22:34.138773119 compiler_depend.ts:1675] hello", "2025-12-29 13:22:34.138773"),
    ],
)
def test_times_of_every_format(line: str, moment: str) -> None:
    whole, _, fraction = moment.partition(".")
    seconds = read_time(line, NOW)
    assert seconds is not None
    assert time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds)) == whole
    assert abs(seconds % 1 - float(f"0.{fraction or 0}")) < 1e-5


@pytest.mark.parametrize(
    "line", ["", "[   12.345678] hns3: link up", "took 10:00:00 hours", "12345678901234", "99-99 10:00:00"]
)
def test_a_line_without_a_time_has_none(line: str) -> None:
    assert read_time(line, NOW) is None
    assert read_stamp(line) == {}


def test_29_february_without_a_year_is_of_the_last_leap_year() -> None:
    assert read_time("Feb 29 10:00:00 n1 kernel: x", NOW) == read_time("2024-02-29 10:00:00")
    assert read_time("02-29 10:00:00 x", calendar.timegm((2028, 2, 29, 11, 0, 0))) == read_time("2028-02-29 10:00:00")
    assert read_time("02-29 10:00:00 x", calendar.timegm((2098, 2, 1, 0, 0, 0))) == read_time("2096-02-29 10:00:00")


@pytest.mark.parametrize("zone", ["+99:99", "-1500", "+14:30", "+08:60"])
def test_no_zone_is_further_than_fourteen_hours(zone: str) -> None:
    line = f"2026-11-29T10:00:00{zone} x"
    assert read_time(line) == read_time("2026-11-29 10:00:00")
    assert read_stamp(line)["zone"] == "none"
    assert read_stamp("2026-11-29T10:00:00+1400 x")["zone"] == str(14 * 3_600)


@given(st.text(max_size=400))
def test_no_line_breaks_the_readers(line: str) -> None:
    read_time(line)
    read_stamp(line)
    clues_in(line)
    rank_table_clues("x.json", line)


@given(st.text(max_size=60))
def test_no_name_breaks_the_reader(name: str) -> None:
    names_of(name)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("node7/ascend/log/debug/plog/plog-1234_20251024111652406.log", PathNames("node7", None, None, 1234, "worker")),
        (
            "192.0.2.7/process_log/debug/device-3/device-1234_20251024111652406.log",
            PathNames("192.0.2.7", 3, None, 1234, "device"),
        ),
        ("worker-3/train_log/rank_12.log", PathNames("worker-3", None, 12, None, "worker")),
        ("msrun_log/worker_5.log", PathNames("", None, 5, None, "worker")),
        ("msrun_log/scheduler.log", PathNames("", None, None, None, "scheduler")),
        (
            "2026-11-29-10-00-00/slog/dev-os-2/debug/device-os/device-os_2026.log",
            PathNames("", 2, None, None, "device"),
        ),
        ("pods/ml_train-worker-1_0a1b2c3d-0000/main/0.log", PathNames("train-worker-1", None, None, None, "")),
        ("job/attempt_0/6/stderr.log", PathNames("job", 6, None, None, "worker")),
        ("node7:root/ascend/log/run/plog/plog-9_20251024111652406.log", PathNames("node7", None, None, 9, "worker")),
        ("node2/messages", PathNames("node2", None, None, None, "host")),
        ("logs/rank-0.log", PathNames("", None, 0, None, "worker")),
        (
            "all.tar.gz!node3/ascend/log/debug/plog/plog-7_20251024111652406.log",
            PathNames("node3", None, None, 7, "worker"),
        ),
        ("node7_debug-plog-1234_20251024111652406.log", PathNames("", None, None, 1234, "worker")),
        ("train.log", PathNames()),
    ],
)
def test_names_tell_who(source: str, names: PathNames) -> None:
    assert names_of(source) == names


@pytest.mark.parametrize(
    ("sources", "hosts"),
    [
        (
            ["a:/data/worker-9/plog/plog-1_20251024.log", "a:/data/worker-9/messages", "b:/data/worker-9/messages"],
            ["a", "a", "b"],
        ),
        (["/data/job-7/node1/messages", "/data/job-7/node2/messages"], ["node1", "node2"]),
        (["/data/node1/messages", "/data/node1/dmesg"], ["node1", "node1"]),
        (["here:/share/node1/messages", "here:/share/node2/messages"], ["node1", "node2"]),
    ],
)
def test_hosts_are_told_apart_by_what_differs(sources: list[str], hosts: list[str]) -> None:
    assert [names_of_all(sources)[source].host for source in sources] == hosts


@pytest.mark.parametrize(
    ("line", "clue"),
    [
        ('TopoDetect ERROR occur !!! fault_type[1], fault_info["Failed to connect agent[1,3,5,7,]"]', ("missing", {"ranks": "1,3,5,7,"})),
        ('within the timeout period. List of unconnected ranks: "[3,]".', ("missing", {"ranks": "3,"})),
        ("waits for execution. Waiting peer rank: 12; task information: x", ("waits", {"rank": "12"})),
        ("has not received the Notify record from remote rank: [3].", ("waits", {"rank": "3"})),
        ("crimer rank [192.0.2.9/2] status[LOST] by informer rank [192.0.2.8/3]", ("accuses", {"server": "192.0.2.9", "device": "2", "why": "LOST"})),
        ("tag [AllReduce_x], local_version [8.0.RC2], remote_version [8.0.RC3]", ("version", {"local": "8.0.RC2", "remote": "8.0.RC3"})),
        ("The local version is 8.2.RC1, while the remote version is 8.3.RC1.", ("version", {"local": "8.2.RC1", "remote": "8.3.RC1"})),
        ("are inconsistent between ranks, parameter count is 10 on the local rank and 20 on the remote rank.", ("differs", {"what": "count", "local": "10", "remote": "20"})),
        ("[ERROR] 2026-03-03-01:00:00 (PID:77, Device:5, RankID:-1) ERR00100", ("member", {"pid": "77", "device": "5"})),
    ],
)  # fmt: skip
def test_lines_tell_of_ranks(line: str, clue: tuple[str, dict[str, str]]) -> None:
    assert clues_in(line) == [clue]


TABLE_1_2 = {
    "version": "1.0",
    "server_count": "2",
    "server_list": [
        {
            "server_id": f"192.0.2.{n}",
            "device": [{"device_id": str(d), "device_ip": "198.51.100.1", "rank_id": str(2 * n + d)} for d in (0, 1)],
        }
        for n in (0, 1)
    ],
    "status": "completed",
}
TABLE_1_0 = {
    "status": "completed",
    "group_list": [
        {
            "group_name": "worker",
            "instance_list": [
                {
                    "pod_name": f"worker-{n}",
                    "server_id": f"192.0.2.{n}",
                    "rank_id": str(n),
                    "devices": [{"device_id": "4", "device_ip": "198.51.100.1"}],
                }
                for n in (0, 1)
            ],
        }
    ],
}


def test_a_rank_table_tells_ranks_without_logs() -> None:
    who = Who(["node9/train_log/rank_3.log"], rank_table_clues("hccl.json", json.dumps(TABLE_1_2)))
    assert (who.world, who.logged) == (4, {3})
    assert who.at("192.0.2.1", 1).name == "rank 3"
    assert who.ranks[3].host == "node9"


def test_a_rank_table_of_the_older_form() -> None:
    clues = rank_table_clues("hccl.json", json.dumps(TABLE_1_0))
    assert [(c.values["rank"], c.values["device"], c.values["server"]) for c in clues] == [
        ("0", "4", "192.0.2.0"),
        ("1", "4", "192.0.2.1"),
    ]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"server_list": 7}', '{"server_list": [{"device": [{}]}]}', "[" * 5000]
)
def test_what_is_no_rank_table_tells_nothing(text: str) -> None:
    assert rank_table_clues("hccl.json", text) == []


def test_debug_and_device_logs_share_the_rank_that_a_run_log_tells() -> None:
    run = "n1/ascend/log/run/plog/plog-5_20251024111652406.log"
    debug = "n1/ascend/log/debug/plog/plog-5_20251024111652406.log"
    device = "n1/ascend/log/debug/device-2/device-5_20251024111652406.log"
    clues = clues_of(run, ["rankNum[16], rank[10], rootInfo identifier[g], server[192.0.2.1%eth0], logicDevId[2]"])
    who = Who([run, debug, device], clues)
    assert {who.parties[source].rank for source in (run, debug, device)} == {10}
    assert who.at("192.0.2.1", 2).rank == 10


def test_ranks_of_smaller_groups_are_not_taken_for_ranks_of_the_job() -> None:
    source = "n1/ascend/log/run/plog/plog-5_20251024111652406.log"
    lines = ["rankNum[4], rank[1], rootInfo identifier[tp]", "rankNum[16], rank[13], rootInfo identifier[all]"]
    who = Who([source], clues_of(source, lines))
    assert who.parties[source].rank == 13
    assert who.rank(1, "tp").rank == 13


def test_clocks_are_compared_where_ranks_leave_a_barrier_together() -> None:
    clues = []
    for rank, stamp in enumerate(["03:00:00", "03:00:00", "03:00:30", "02:59:59"]):
        line = f"2025-10-24 {stamp} HcclCommInitRootInfo success, rankNum[4], rank[{rank}], rootInfo identifier[g]"
        clues += clues_of(f"node{rank}/rank_{rank}.log", [line])
    clocks = Clocks(Who([f"node{rank}/rank_{rank}.log" for rank in range(4)], clues), clues)
    assert [(d.host, d.seconds) for d in clocks.differences] == [("node2", 30.0)]
    assert clocks.true_time("node2/rank_2.log", 1000.0) == 970.0
    assert clocks.true_time("node0/rank_0.log", None) is None


@pytest.mark.parametrize(
    ("dated", "undated", "moment"),
    [
        ("2026-01-01 00:20:00 hello", "Dec 31 23:58:10 n2 python: hello", "2025-12-31 23:58:10"),
        ("2025-12-31 23:58:10 hello", "Jan  1 00:00:10 n2 python: hello", "2026-01-01 00:00:10"),
        ("2025-10-24 03:00:00 hello", "Oct 24 03:00:10 n2 python: hello", "2025-10-24 03:00:10"),
    ],
)
def test_a_time_without_a_year_is_near_those_with_one(dated: str, undated: str, moment: str) -> None:
    sources = ["n1/rank_0.log", "n2/messages"]
    clues = [*clues_of(sources[0], [dated]), *clues_of(sources[1], [undated])]
    clocks = Clocks(Who(sources, clues), clues)
    assert clocks.true_time(sources[1], read_time(undated)) == read_time(moment)


def test_logs_without_a_zone_are_read_in_the_zone_that_the_host_names() -> None:
    sources = ["n1/messages", "n1/rank_0.log"]
    clues = [
        *clues_of("n1/messages", ["2026-11-29T10:00:00+0800 n1 kernel: hello"]),
        *clues_of("n1/rank_0.log", ["2026-11-29 10:00:00 hello"]),
    ]
    clocks = Clocks(Who(sources, clues), clues)
    there, here = read_time("2026-11-29T10:00:00+0800"), read_time("2026-11-29 10:00:00")
    assert clocks.true_time("n1/messages", there) == clocks.true_time("n1/rank_0.log", here)


@pytest.mark.parametrize(
    ("sources", "several"),
    [
        (["a/train.log"], False),
        (["ascend/log/debug/plog/plog-1_20251024111652406.log"], False),
        (["node1/messages", "node2/messages"], True),
        (["rank_0.log", "rank_1.log", "rank_2.log"], True),
        ([], False),
    ],
)
def test_a_cluster_is_told_from_its_names(sources: list[str], several: bool) -> None:
    assert is_cluster(sources) is several


FAULT = "RuntimeError: HBM MULTI BIT ECC ERROR. The process exits for this inner error"


@pytest.mark.parametrize(
    "lines",
    [
        ["2025-10-24T11:00:00+0800 start", f"2025-10-24 11:10:00 {FAULT}"],
        ["2025-10-24 11:00:00 start", f"2025-10-24 11:10:00 {FAULT}", "2025-10-24T11:20:00+08:00 end"],
        ["2025-10-24 11:00:00 start", f"2025-10-24T11:10:00+0800 {FAULT}", "2025-10-24 11:20:00 end"],
        ["2025-10-23 22:00:00 start", f"2025-10-23 22:10:00 {FAULT}", "2025-10-23T22:20:00-05:00 end"],
        ["2025-10-24T03:00:00Z start", f"2025-10-24 03:10:00 {FAULT}"],
    ],
)
def test_lines_without_a_zone_are_in_the_one_that_other_lines_of_their_log_name(
    lines: list[str], run: Run, tmp_path: Path
) -> None:
    (tmp_path / "rank_0.log").write_text("\n".join(lines) + "\n")
    wait = "EI0002: The wait execution of the Notify register times out."
    (tmp_path / "rank_1.log").write_text(f"2025-10-24T11:30:00+0800 {wait}\n")
    told = json.loads(run("cluster", str(tmp_path), "--format", "json")[1])["timeline"]
    assert [(event["party"], written(event["time"])) for event in told] == [
        ("rank 0", "2025-10-24 03:10:00.000"),
        ("rank 1", "2025-10-24 03:30:00.000"),
    ]


def test_the_moment_that_a_line_names_beside_its_own_time_is_in_the_zone_of_its_log() -> None:
    source = "n1/rank_0.log"
    clues = clues_of(source, ["2025-10-24T11:00:00+0800 start"])
    clocks = Clocks(Who([source], clues), clues)
    assert clocks.true_time(source, read_time("Fri Oct 24 11:00:00 2025")) == read_time("2025-10-24 03:00:00")


@pytest.mark.parametrize("folder", ["node1", "node1/ascend/log/debug/plog", "logs"])
def test_processes_of_which_no_rank_is_known_stay_apart(folder: str, run: Run, tmp_path: Path) -> None:
    """As where run/plog was not collected: one has the fault, the others wait for half an hour."""
    for pid in range(101, 109):
        moment, told = ("03:30", "EI0002: The wait execution of the Notify register times out.")
        if pid == 104:
            moment, told = "03:00", FAULT
        log = tmp_path / folder / f"plog-{pid}_20251024111652406.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        lines = [("INFO", "02:50", "start"), ("ERROR", moment, told), ("INFO", "03:40", "end")]
        log.write_text(
            "".join(f"[{a}] HCCL({pid},python):2025-10-24-{b}:00.000.000 [x.cc:1] {c}\n" for a, b, c in lines)
        )
    status, out, _ = run("cluster", str(tmp_path))
    assert status == 0 and "process 104  2025-10-24" in out.splitlines()[0]
    assert "The job went on" not in out and "     7 ranks or hosts" in out
    told_of = re.findall(r" process (\d+)  ", run("cluster", str(tmp_path), "--timeline")[1])
    assert told_of == ["104", "101", "102", "103", "105", "106", "107", "108"]


def test_a_process_is_on_the_device_that_its_device_log_tells() -> None:
    plog, other, device = (f"node1/{name}_20251024111652406.log" for name in ("plog-5", "plog-6", "device-2/device-5"))
    who = Who([plog, other, device, "node1/messages", "node2/messages"], [])
    assert [who.parties[source].name for source in (plog, device, other)] == ["node1 device 2"] * 2 + [
        "node1 process 6"
    ]
    assert who.parties[plog].without_process == who.parties[device].without_process
    assert who.writer("node1/messages", "Killed process 6 (python)") == who.parties[other]
