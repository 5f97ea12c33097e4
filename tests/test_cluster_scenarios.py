"""Forty planted failures of 8 to 1,024 ranks: small texts in the real formats, with the truth beside each."""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from npu_kb import Knowledge
from npu_kb.cluster.observation import Row, to_json_lines
from npu_kb.cluster.scan import scan
from npu_kb.cluster.timeline import story_of
from npu_kb.render.cluster import cluster_text
from npu_kb.render.cluster_document import cluster_document
from npu_kb.render.page import Page

Run = Callable[..., tuple[int, str, str]]

START = 1_761_275_800.0
"""2025-10-24 03:16:40 UTC"""
GROUP = "192.0.2.10%enp_60000_0_1761275812718970"


class Truth(NamedTuple):
    """What has to be told first."""

    party: str
    entry: str = ""
    reason: str | None = None
    second: str = ""
    """The party of a second, independent fault."""


class Job:
    """The logs of a training job: `tree` holds {path: lines with their times}."""

    def __init__(self, ranks: int, per_host: int = 8) -> None:
        self.ranks, self.per_host = ranks, per_host
        self.lines: dict[str, list[tuple[float, str]]] = defaultdict(list)
        self.skew: dict[str, float] = {}
        self.lost: set[int] = set()
        self.pids = {rank: 40_000 + rank for rank in range(ranks)}

    def host(self, rank: int) -> str:
        return f"node{rank // self.per_host}"

    def server(self, rank: int) -> str:
        return f"192.0.{2 + rank // self.per_host // 200}.{10 + rank // self.per_host % 200}"

    def device(self, rank: int) -> int:
        return rank % self.per_host

    def add(self, path: str, moment: float, text: str) -> None:
        self.lines[path].append((moment, text))

    def plog(self, rank: int, moment: float, text: str, level: str = "ERROR", module: str = "HCCL") -> None:
        kind = "debug" if level == "ERROR" else "run"
        pid = self.pids[rank]
        path = f"{self.host(rank)}/ascend/log/{kind}/plog/plog-{pid}_20251024111652406.log"
        self.add(path, moment, f"[{level}] {module}({pid},python):{{plog}} {text}")

    def train(self, rank: int, moment: float, text: str) -> None:
        self.add(f"{self.host(rank)}/train_log/rank_{rank}.log", moment, text)

    def dmesg(self, host: str, moment: float, text: str) -> None:
        self.add(f"{host}/dmesg", moment, f"[{{ctime}}] {text}")

    def device_log(self, rank: int, moment: float, text: str) -> None:
        device = self.device(rank)
        path = f"{self.host(rank)}/ascend/log/debug/device-{device}/device-{self.pids[rank]}_20251024111652406.log"
        self.add(path, moment, f"[ERROR] DRV({self.pids[rank]},null):{{plog}} {text}")

    def start(self, train: bool = True) -> Job:
        """Every rank sets up its communicator, and trains for ten minutes."""
        for rank in range(self.ranks):
            entry = f"nicDeploy[1] identifier[{GROUP}], deviceLogicId[{self.device(rank)}]"
            self.plog(
                rank,
                START + rank % 3,
                "[op_base.cc:1292] [1]Entry-HcclCommInitRootInfoInner:"
                f"ranks[{self.ranks}], rank[{rank}], rootinfo: host ip[192.0.2.10] port[60000] {entry}",
                "INFO",
            )
            done = f"rankNum[{self.ranks}], rank[{rank}], rootInfo identifier[{GROUP}], server[{self.server(rank)}]"
            self.plog(
                rank,
                START + 12 + rank % 10 / 100,
                "[op_base.cc:1370] [1][HCCL_TRACE]HcclCommInitRootInfo success,take time "
                f"[237063]us, {done}, logicDevId[{self.device(rank)}]",
                "INFO",
            )
            if train:
                self.train(rank, START + 20, "{python} [INFO] iteration 1/1000 | elapsed time per iteration 1012.1 ms")
                self.train(rank, START + 600 + rank % 7 / 10, "{python} [INFO] iteration 580/1000 | loss: 2.13")
        return self

    def timeout(self, rank: int, moment: float, remote: int | None = None, op: str = "AllReduce") -> None:
        head = "[task_exception_handler.cc:908] [1][TaskExecStage][Timeout][Host]Task run failed,"
        self.plog(
            rank,
            moment,
            f"{head} base information is streamID:[2], taskID[21], tag[{op}_{GROUP}], "
            "AlgType(level 0-1-2):[fullmesh-ring-NHR].",
        )
        self.plog(
            rank,
            moment,
            f"{head} groupRank information is group:[{GROUP}], user define information[], "
            f"rankSize[{self.ranks}], rankId[{rank}].",
        )
        known = "unknown" if remote is None else remote
        self.train(
            rank,
            moment + 0.5,
            f"EI0002: [PID: {self.pids[rank]}] {{plog}} The wait execution of the Notify register times out. "
            f"Reason: The Notify register has not received the Notify record from remote rank [{known}].",
        )

    def timeouts(self, moment: float, but: set[int] = frozenset(), **how: object) -> None:  # type: ignore[assignment]
        for rank in set(range(self.ranks)) - but:
            self.timeout(rank, moment + rank % 5 / 10, **how)  # type: ignore[arg-type]

    def accuse(self, ranks: range | list[int], moment: float, target: int, arrival: float, kind: str) -> None:
        reasons = {
            "Heartbeat Lost": "1. Process has exited, 2. Network Disconnected",
            "Stuck": "1.Host process is stuck",
        }
        for rank in ranks:
            if rank != target:
                self.plog(
                    rank,
                    moment,
                    "[task_exception_handler.cc:610] [1][TaskExecStage][HeartbeatAbnormal]Cluster Exception Location[IP/ID]:"
                    f"[{self.server(target)}/{self.device(target)}], Arrival Time:[{{at {arrival - moment}}}], "
                    f"Discoverer:[{self.server(rank)}/{self.device(rank)}], ExceptionType:[{kind} Occurred], "
                    f"Possible Reason:{reasons.get(kind, '1. Network Disconnected')}",
                )

    def tree(self) -> dict[str, str]:
        """{path: text} as it lies on the disk, by each host's own clock."""
        texts = {}
        for path, lines in self.lines.items():
            skew = self.skew.get(path.split("/")[0], 0.0)
            texts[path] = "".join(
                _stamped(text, moment + skew) + "\n" for moment, text in sorted(lines, key=lambda line: line[0])
            )
        gone = {f"plog-{self.pids[rank]}_" for rank in self.lost} | {f"rank_{rank}.log" for rank in self.lost}
        return {path: text for path, text in texts.items() if not any(name in path for name in gone)}


def _stamped(text: str, moment: float) -> str:
    parts = time.gmtime(moment)
    fraction = f"{int(moment % 1 * 1000):03d}"
    stamps = {
        "{plog}": time.strftime("%Y-%m-%d-%H:%M:%S", parts) + f".{fraction}.000",
        "{python}": time.strftime("%Y-%m-%d %H:%M:%S", parts) + f",{fraction}",
        "{ctime}": time.strftime("%a %b %d %H:%M:%S %Y", parts),
        "{iso}": time.strftime("%Y-%m-%dT%H:%M:%S", parts) + f".{fraction}Z",
        "{syslog}": time.strftime("%b %d %H:%M:%S", parts),
    }
    for name, stamp in stamps.items():
        text = text.replace(name, stamp)
    return re.sub(
        r"\{at (\S+)\}", lambda m: time.strftime("%a %b %d %H:%M:%S %Y", time.gmtime(moment + float(m[1]))), text
    )


SCENARIOS: dict[str, Callable[[], tuple[dict[str, str], Truth]]] = {}


def scenario(make: Callable[[], tuple[Job | dict[str, str], Truth]]) -> Callable[[], object]:
    def tree() -> tuple[dict[str, str], Truth]:
        job, truth = make()
        return (job.tree() if isinstance(job, Job) else job), truth

    SCENARIOS[make.__name__] = tree
    return make


END = START + 620
"""When the fault happens; the others time out half an hour later."""
WAVE = END + 1_836


def aicore(job: Job, rank: int, moment: float) -> None:
    job.plog(
        rank,
        moment,
        f"[davinci_kernel_task.cc:1143]1 PrintErrorInfo:Aicore kernel execute failed, device_id={job.device(rank)}, "
        "stream_id=2, report_stream_id=2, task_id=91, flip_num=0, fault kernel_name=Sort_1_high_precision, program id=3, hash=1.",
        module="RUNTIME",
    )
    job.train(
        rank,
        moment + 0.1,
        "{python} RuntimeError: npuSynchronizeDevice: NPU function error: AclrtSynchronizeDevice, error code is 507015",
    )


def hbm(job: Job, rank: int, moment: float) -> None:
    job.train(rank, moment, "{python} RuntimeError: HBM MULTI BIT ECC ERROR. The process exits for this inner error")
    job.train(
        rank,
        moment,
        f"[ERROR] {{python}} (PID:{job.pids[rank]}, Device:{job.device(rank)}, RankID:{rank}) ERR00100 PTA call acl api failed",
    )


@scenario
def one_rank_dies_of_an_ai_core_error() -> tuple[Job, Truth]:
    job = Job(8).start()
    aicore(job, 5, END)
    job.timeouts(WAVE, but={5})
    return job, Truth("rank 5", "aicore-exception")


@scenario
def hbm_error_and_heartbeat_lost() -> tuple[Job, Truth]:
    job = Job(64).start()
    hbm(job, 37, END)
    job.timeouts(WAVE, but={37})
    job.accuse(range(64), WAVE, 37, END + 30, "Heartbeat Lost")
    return job, Truth("rank 37", "hbm-multi-bit-ecc-in-use", "lost")


@scenario
def one_process_dies_without_a_word() -> tuple[Job, Truth]:
    job = Job(16).start()
    job.timeouts(WAVE, but={9})
    job.accuse(range(16), WAVE, 9, END + 30, "Heartbeat Lost")
    return job, Truth("rank 9", "hccl-heartbeat-lost", "lost")


@scenario
def one_process_is_stuck() -> tuple[Job, Truth]:
    job = Job(64).start()
    job.timeouts(WAVE, but={20})
    job.accuse(range(64), WAVE, 20, END + 900, "Stuck")
    return job, Truth("rank 20", "hccl-process-stuck", "stuck")


@scenario
def a_slow_rank_comes_last() -> tuple[Job, Truth]:
    job = Job(16).start()
    job.timeouts(WAVE, but={11})
    job.timeout(11, WAVE + 95)
    return job, Truth("rank 11", "", "late")


@scenario
def silent_rank_of_which_nobody_says_anything() -> tuple[Job, Truth]:
    job = Job(32).start()
    job.timeouts(WAVE, but={13})
    return job, Truth("rank 13", "", "silent")


@scenario
def link_flap_shows_as_error_cqe() -> tuple[Job, Truth]:
    job = Job(16).start()
    for rank in (1, 3):
        job.plog(
            rank,
            END,
            "[heartbeat.cc:1229] [21][TaskExecStage][HeartbeatAbnormal][ROCE CQE ERROR]cqe error status[12], time:[2025-09-15 08:38:12.776654]",
        )
    job.timeouts(WAVE, but={10})
    job.accuse([0, 1, 2, 3, 4], WAVE, 10, END, "Error cqe")
    return job, Truth("rank 10", "roce-error-cqe", "cqe")


@scenario
def link_down_stands_in_the_kernel_log() -> tuple[Job, Truth]:
    job = Job(24).start()
    job.add("node1/messages", END - 20, "{syslog} node1 kernel: [ascend] Event id=0x81078603, severity=1, device id=2")
    job.timeouts(WAVE, but={10})
    job.accuse(range(8), WAVE, 10, END + 5, "Error cqe")
    return job, Truth("rank 10", "npu-roce-port-link-down-event", "cqe")


@scenario
def two_faults_the_first_on_the_accused() -> tuple[Job, Truth]:
    job = Job(32).start()
    hbm(job, 3, END)
    job.train(
        26,
        END + 300,
        "{python} OSError: [Errno 28] No space left on device: '/data/ckpt/iter_0001000/model_optim_rng.pt'",
    )
    job.timeouts(WAVE, but={3, 26})
    job.accuse(range(32), WAVE, 3, END + 30, "Heartbeat Lost")
    return job, Truth("rank 3", "hbm-multi-bit-ecc-in-use", second="rank 26")


@scenario
def two_faults_of_which_nobody_speaks() -> tuple[Job, Truth]:
    job = Job(16).start()
    job.train(
        12, END, "{python} OSError: [Errno 28] No space left on device: '/data/ckpt/iter_0001000/model_optim_rng.pt'"
    )
    aicore(job, 2, END + 60)
    job.timeouts(WAVE, but={12, 2})
    return job, Truth("rank 12", "disk-full", second="rank 2")


@scenario
def clock_30_seconds_ahead_on_the_faulty_host() -> tuple[Job, Truth]:
    job = Job(64).start()
    job.skew["node4"] = 30.0
    aicore(job, 35, END)
    job.train(50, END + 12, "{python} OSError: [Errno 28] No space left on device: '/data/ckpt/model_optim_rng.pt'")
    job.timeouts(WAVE, but={35, 50})
    return job, Truth("rank 35", "aicore-exception", second="rank 50")


@scenario
def clock_30_seconds_behind_on_another_host() -> tuple[Job, Truth]:
    job = Job(32).start()
    job.skew["node2"] = -30.0
    hbm(job, 1, END)
    job.train(17, END + 10, "{python} OSError: [Errno 28] No space left on device: '/data/ckpt/model_optim_rng.pt'")
    job.timeouts(WAVE, but={1, 17})
    return job, Truth("rank 1", "hbm-multi-bit-ecc-in-use", second="rank 17")


@scenario
def one_host_writes_in_another_time_zone() -> tuple[Job, Truth]:
    job = Job(24).start()
    job.skew["node1"] = 8 * 3600.0
    aicore(job, 9, END)
    job.train(20, END + 100, "{python} OSError: [Errno 28] No space left on device: '/data/ckpt/model_optim_rng.pt'")
    job.timeouts(WAVE, but={9, 20})
    return job, Truth("rank 9", "aicore-exception", second="rank 20")


@scenario
def logs_of_the_accused_rank_are_missing() -> tuple[Job, Truth]:
    job = Job(16).start()
    job.lost = {6}
    job.add("hccl.json", START, json.dumps(_rank_table(job)))
    job.timeouts(WAVE, but={6})
    job.accuse(range(16), WAVE, 6, END + 30, "Heartbeat Lost")
    return job, Truth("rank 6", "hccl-heartbeat-lost", "lost")


@scenario
def logs_of_the_awaited_rank_are_missing() -> tuple[Job, Truth]:
    job = Job(16).start()
    job.lost = {14}
    job.timeouts(WAVE, but={14}, remote=14)
    return job, Truth("rank 14", "", "waited-for")


@scenario
def logs_of_one_rank_are_missing_and_nobody_names_it() -> tuple[Job, Truth]:
    job = Job(16).start()
    job.lost = {4}
    for rank in set(range(16)) - {4}:
        job.timeout(rank, WAVE)
    return job, Truth("rank 4", "", "no-logs")


@scenario
def the_kernel_kills_a_process_for_memory() -> tuple[Job, Truth]:
    job = Job(32).start()
    job.dmesg(
        "node2",
        END,
        f"Out of memory: Killed process {job.pids[21]} (python) total-vm:412334444kB, anon-rss:380112233kB, UID:0 oom_score_adj:0",
    )
    job.timeouts(WAVE, but={21})
    job.accuse(range(32), WAVE, 21, END + 30, "Heartbeat Lost")
    return job, Truth("rank 21", "host-oom-killer", "lost")


@scenario
def a_container_exceeds_its_memory() -> tuple[Job, Truth]:
    job = Job(16).start()
    job.dmesg(
        "node1",
        END,
        f"Memory cgroup out of memory: Killed process {job.pids[8]} (python) total-vm:80231234kB, anon-rss:33423412kB",
    )
    job.timeouts(WAVE, but={8})
    return job, Truth("rank 8", "container-memory-limit-exceeded")


@scenario
def a_device_is_lost() -> tuple[Job, Truth]:
    job = Job(32).start()
    job.add(
        "node1/messages",
        END,
        "{syslog} node1 kernel: [88211.1] [ascend] [ERROR] [drv_soft_fault] [heart_beat_judge 318] <kworker/2:1H:771> Heartbeat lost! (device=5; old_count=77; new_count=77; lost_count=4)",
    )
    job.timeouts(WAVE, but={13})
    job.accuse(range(32), WAVE, 13, END + 30, "Heartbeat Lost")
    return job, Truth("rank 13", "npu-device-heartbeat-lost", "lost")


@scenario
def a_pcie_link_goes_down() -> tuple[Job, Truth]:
    job = Job(16).start()
    job.train(7, END, "{python} [DRV] ioctl failed, drvRetCode=33 DRV_ERROR_BUS_DOWN")
    job.timeouts(WAVE, but={7})
    return job, Truth("rank 7", "npu-pcie-link-down")


@scenario
def one_rank_calls_another_collective() -> tuple[Job, Truth]:
    job = Job(8).start()
    job.timeouts(WAVE, but={2})
    job.timeout(2, WAVE, op="AllGather")
    return job, Truth("rank 2", "collectives-issued-differ-between-ranks", "collective")


@scenario
def one_rank_passes_another_count() -> tuple[Job, Truth]:
    job = Job(8).start(train=False)
    for rank in range(8):
        local, remote = (2048, 4096) if rank == 6 else (4096, 2048)
        job.train(
            rank,
            START + 60,
            f"EI0005: {{plog}} The arguments for collective communication are inconsistent between ranks:parameter count, local end {local}, remote end {remote}",
        )
    return job, Truth("rank 6", "hccl-arguments-inconsistent", "differs")


@scenario
def the_disk_of_one_node_is_full() -> tuple[Job, Truth]:
    job = Job(32).start()
    for rank in range(8, 16):
        job.train(
            rank,
            END + rank / 100,
            "{python} OSError: [Errno 28] No space left on device: '/data/ckpt/iter_0001000/model_optim_rng.pt'",
        )
    job.timeouts(WAVE, but=set(range(8, 16)))
    return job, Truth("rank 8", "disk-full")


@scenario
def one_node_has_another_cann() -> tuple[Job, Truth]:
    job = Job(24).start(train=False)
    for rank in range(24):
        local, remote = ("8.0.RC3", "8.0.RC2") if rank // 8 == 1 else ("8.0.RC2", "8.0.RC3")
        job.train(
            rank,
            START + 60,
            f"EI0008: {{plog}} The CANN versions are inconsistent: tag [AllReduce_x], local_version [{local}], remote_version [{remote}]",
        )
    return job, Truth("node1", "hccl-versions-differ-between-ranks", "version")


@scenario
def a_node_loses_its_power() -> tuple[Job, Truth]:
    job = Job(64).start()
    job.timeouts(WAVE, but=set(range(24, 32)))
    for target in range(24, 32):
        job.accuse(range(64) if target == 24 else [target - 8, target + 8], WAVE, target, END + 30, "Heartbeat Lost")
    for rank in range(24, 32):  # the dead accuse nobody
        job.lines = defaultdict(
            list,
            {
                path: [line for line in lines if f"plog-{job.pids[rank]}_" not in path or line[0] < END]
                for path, lines in job.lines.items()
            },
        )
    return job, Truth("node3", "hccl-heartbeat-lost", "lost")


@scenario
def a_node_falls_silent() -> tuple[Job, Truth]:
    job = Job(32).start()
    job.timeouts(WAVE, but=set(range(8, 16)))
    return job, Truth("node1", "", "silent")


@scenario
def a_container_starts_again() -> tuple[Job, Truth]:
    job = Job(16).start()
    job.timeouts(WAVE, but={5})
    job.pids[5] = 51_005
    job.plog(
        5,
        END + 100,
        "[op_base.cc:1292] [1]Entry-HcclCommInitRootInfoInner:ranks[16], rank[5], rootinfo: host ip[192.0.2.10] port[60000] nicDeploy[1] identifier[second], deviceLogicId[5]",
        "INFO",
    )
    return job, Truth("rank 5", "", "restarted")


@scenario
def some_ranks_never_connect() -> tuple[Job, Truth]:
    job = Job(8)
    for rank in range(7):
        job.plog(
            rank,
            START,
            f"[op_base.cc:1292] [1]Entry-HcclCommInitRootInfoInner:ranks[8], rank[{rank}], rootinfo: host ip[192.0.2.10] port[60000] nicDeploy[1] identifier[{GROUP}], deviceLogicId[{rank}]",
            "INFO",
        )
        job.plog(
            rank,
            START + 120,
            '[topoinfo_exchange_base.cc:145] [1][InitGroupStage][RanktableDetect] TopoDetect ERROR occur !!! fault_type[1], fault_info["Failed to connect agent[7,]"]',
        )
    return job, Truth("rank 7", "hccl-root-info-ranks-missing", "absent")


@scenario
def the_root_lists_who_is_connected() -> tuple[Job, Truth]:
    job = Job(8)
    for rank in range(8):
        job.plog(
            rank,
            START,
            f"[op_base.cc:1292] [1]Entry-HcclCommInitRootInfoInner:ranks[8], rank[{rank}], rootinfo: host ip[192.0.2.10] port[60000] nicDeploy[1] identifier[{GROUP}], deviceLogicId[{rank}]",
            "INFO",
        )
    job.plog(
        0,
        START + 120,
        "[topoinfo_exchange_server.cc:314] [1][InitGroupStage][RanktableDetect]topo exchange server get socket timeout! timeout[120 s]",
    )
    job.plog(
        0,
        START + 120,
        "[topoinfo_exchange_server.cc:517] [1][InitGroupStage][DisplayConnectionedRank]connected rankinfo[LINE 0]: [0000000000000000],[0000000000000001],[0000000000000002],[0000000000000003],[0000000000000004],[0000000000000006],[0000000000000007];",
    )
    return job, Truth("rank 5", "hccl-root-info-ranks-missing", "absent")


@scenario
def a_whole_node_never_connects() -> tuple[Job, Truth]:
    job = Job(24)
    job.add("hccl.json", START, json.dumps(_rank_table(job)))
    for rank in range(24):
        job.plog(
            rank,
            START,
            f"[op_base.cc:1292] [1]Entry-HcclCommInitRootInfoInner:ranks[24], rank[{rank}], rootinfo: host ip[192.0.2.10] port[60000] nicDeploy[1] identifier[{GROUP}], deviceLogicId[{rank % 8}]",
            "INFO",
        )
        if rank < 16:
            job.plog(
                rank,
                START + 120,
                f'[topoinfo_exchange_base.cc:145] [1][InitGroupStage][RanktableDetect] TopoDetect ERROR occur !!! fault_type[1], fault_info["Failed to connect agent[{",".join(map(str, range(16, 24)))},]"]',
            )
    return job, Truth("node2", "hccl-root-info-ranks-missing", "absent")


@scenario
def links_time_out_in_a_chain() -> tuple[Job, Truth]:
    job = Job(8).start(train=False)
    for rank in range(8):
        if rank != 3:
            peer = (rank + 1) % 8
            job.plog(
                rank,
                START + 140,
                "[hccl_socket_manager.cc:797] [18][Wait][LinkEstablish]wait socket establish timeout, role[1] rank[1] timeout[120 s]",
            )
            job.plog(
                rank,
                START + 140,
                f"[hccl_socket_manager.cc:583] [18]   |  192.0.2.{100 + peer}({peer})   |  16666  |   192.0.2.{100 + rank}({rank})   |  3234403008  |  client  | time out |   DISABLE  | LinkInfo",
            )
    return job, Truth("rank 3", "", "waited-for")


@scenario
def connect_detection_names_the_peer() -> tuple[Job, Truth]:
    job = Job(16).start(train=False)
    for rank in range(16):
        if rank != 12:
            job.plog(
                rank,
                START + 140,
                "[hccl_socket_manager.cc:797] [18][Wait][LinkEstablish]wait socket establish timeout, role[1] rank[1] timeout[120 s]",
            )
            job.plog(
                rank,
                START + 180,
                f"[detect_connect_anomalies.cc:132] [18]This node (server {job.server(rank)}, device ID {job.device(rank)}) detects that srcRank (server {job.server(rank)}, device ID {job.device(rank)}) fails to connect to dstRank (server {job.server(12)}, device ID 4). Continue to analyze the fault based on the logs of srcRank and dstRank.",
            )
    return job, Truth("rank 12", "", "waited-for")


@scenario
def a_ring_of_64_waits_for_one() -> tuple[Job, Truth]:
    job = Job(64).start()
    for rank in set(range(64)) - {44}:
        job.timeout(rank, WAVE + rank % 5 / 10, remote=(rank + 1) % 64)
    return job, Truth("rank 44", "", "waited-for")


@scenario
def one_of_1024_dies() -> tuple[Job, Truth]:
    job = Job(1024).start()
    aicore(job, 777, END)
    job.timeouts(WAVE, but={777})
    return job, Truth("rank 777", "aicore-exception")


@scenario
def one_of_1024_loses_its_heartbeat() -> tuple[Job, Truth]:
    job = Job(1024).start(train=False)
    job.timeouts(WAVE, but={513})
    job.accuse(range(1024), WAVE, 513, END + 30, "Heartbeat Lost")
    return job, Truth("rank 513", "hccl-heartbeat-lost", "lost")


@scenario
def a_ring_of_1024_waits_for_one() -> tuple[Job, Truth]:
    job = Job(1024).start(train=False)
    for rank in set(range(1024)) - {100}:
        job.timeout(rank, WAVE + rank % 5 / 10, remote=(rank - 1) % 1024)
    return job, Truth("rank 100", "", "waited-for")


@scenario
def a_process_ends_with_a_segmentation_fault() -> tuple[Job, Truth]:
    job = Job(16).start()
    job.train(15, END, "Fatal Python error: Segmentation fault")
    job.timeouts(WAVE, but={15})
    return job, Truth("rank 15", "process-segmentation-fault")


@scenario
def one_rank_has_no_memory_left() -> tuple[Job, Truth]:
    job = Job(16).start()
    job.train(
        10,
        END,
        "{python} RuntimeError: NPU out of memory. Tried to allocate 1.40 GiB (NPU 2; 32.00 GiB total capacity; 29.80 GiB already allocated; 29.80 GiB current active; 341.02 MiB free; 30.10 GiB reserved in total by PyTorch)",
    )
    job.timeouts(WAVE, but={10})
    return job, Truth("rank 10", "npu-out-of-memory-in-process")


@scenario
def one_console_log_of_all_ranks() -> tuple[dict[str, str], Truth]:
    lines = [f"[rank{rank}]: 2025-10-24 03:20:00,{rank:03d} INFO start" for rank in range(8)]
    lines += ["[rank6]: RuntimeError: HBM MULTI BIT ECC ERROR. The process exits for this inner error"]
    lines += ["[ERROR] 2025-10-24-03:30:00 (PID:77, Device:6, RankID:6) ERR00100 PTA call acl api failed"]
    lines += [
        f"[rank{rank}]:[E1024 03:50:00.1387 compiler_depend.ts:1675] [Rank {rank}] HCCL watchdog thread terminated with exception:"
        for rank in range(8)
        if rank != 6
    ]
    return {"torchrun.log": "\n".join(lines) + "\n"}, Truth("rank 6", "hbm-multi-bit-ecc-in-use")


@scenario
def the_device_log_alone_tells() -> tuple[Job, Truth]:
    job = Job(16).start()
    job.device_log(11, END, "[dsmi_event.c:77] Event id=0x80e01801, severity=3 HBM multi bit ecc")
    job.timeouts(WAVE, but={11})
    return job, Truth("rank 11", "hbm-multi-bit-ecc-in-use")


@scenario
def an_earlier_fault_that_its_rank_outlived() -> tuple[Job, Truth]:
    job = Job(16).start()
    job.train(2, START + 100, "{python} OSError: [Errno 28] No space left on device: '/data/ckpt/model_optim_rng.pt'")
    aicore(job, 5, END)
    job.timeouts(WAVE, but={5})
    return job, Truth("rank 5", "aicore-exception", second="rank 2")


def _rank_table(job: Job) -> dict[str, object]:
    servers: dict[str, list[dict[str, str]]] = defaultdict(list)
    for rank in range(job.ranks):
        servers[job.server(rank)].append(
            {"device_id": str(job.device(rank)), "device_ip": "198.51.100.1", "rank_id": str(rank)}
        )
    table = [{"server_id": server, "device": devices} for server, devices in servers.items()]
    return {"version": "1.0", "status": "completed", "server_count": str(len(table)), "server_list": table}


def write(tree: dict[str, str], folder: Path) -> str:
    """The folder with the tree in it."""
    for path, text in tree.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return str(folder)


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path) -> dict[str, list[Row]]:
    """{scenario: its rows}: the trees of all scenarios in one scan."""
    folder = tmp_path_factory.mktemp("scenarios")
    for name, make in SCENARIOS.items():
        write(make()[0], folder / name)
    rows: dict[str, list[Row]] = {name: [] for name in SCENARIOS}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NPU_KB_CACHE", str(shared_cache))
        for row in scan([str(folder)], [], jobs=1):
            name, source = os.path.relpath(row.source, folder).split("/", 1)
            rows[name].append(row._replace(source=source))
    return rows


def test_there_are_forty_scenarios() -> None:
    assert len(SCENARIOS) >= 40


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_first_fault_and_its_rank_are_told(name: str, knowledge: Knowledge, scanned: dict[str, list[Row]]) -> None:
    truth = SCENARIOS[name]()[1]
    story = story_of(scanned[name], knowledge)
    first = story.faults[0]
    assert (first.parties[0].name, first.entry) == (truth.party, truth.entry)
    assert truth.reason is None or first.reason == truth.reason
    if truth.second:
        assert truth.second in [party.name for fault in story.faults[1:] for party in fault.parties]


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_answer_fits_on_a_screen_in_both_languages(
    name: str, knowledge: Knowledge, scanned: dict[str, list[Row]]
) -> None:
    document = cluster_document(story_of(scanned[name], knowledge), knowledge)
    for lang in ("en", "zh"):
        lines = cluster_text(document, Page(lang, False, 100)).splitlines()
        assert SCENARIOS[name]()[1].party in lines[0]
        assert len(lines) <= 60
    assert json.loads(json.dumps(document)) == document


@pytest.mark.parametrize(
    "name", ["clock_30_seconds_ahead_on_the_faulty_host", "a_node_loses_its_power", "one_node_has_another_cann"]
)
def test_scans_of_hosts_merge_in_any_order_and_twice(
    name: str, run: Run, tmp_path: Path, knowledge: Knowledge, scanned: dict[str, list[Row]]
) -> None:
    hosts: dict[str, list[Row]] = defaultdict(list)
    for row in scanned[name]:
        host, below = row.source.split("/", 1)
        hosts[host].append(row._replace(source=below))
    scans = [tmp_path / f"{host}.jsonl" for host in hosts]
    for path, (host, rows) in zip(scans, hosts.items(), strict=True):
        path.write_text("".join(to_json_lines(rows, host)))
    names = [str(path) for path in scans]
    once = run("merge", *names, "--format", "json")
    shuffled = random.Random(name).sample(names + names, 2 * len(names))
    assert run("merge", *shuffled, "--format", "json") == once
    in_one_place = cluster_document(story_of(scanned[name], knowledge), knowledge)
    assert [_told(fault) for fault in json.loads(once[1])["faults"]] == [
        _told(fault) for fault in in_one_place["faults"]
    ]


def _told(fault: dict[str, Any]) -> tuple[object, ...]:
    return fault["entry"], fault["reason"], fault["time"], [party["party"] for party in fault["parties"]]


@pytest.mark.parametrize("seed", range(10))
def test_the_order_and_the_number_of_the_rows_change_nothing(
    seed: int, knowledge: Knowledge, scanned: dict[str, list[Row]]
) -> None:
    rows, chance = scanned["two_faults_the_first_on_the_accused"], random.Random(seed)
    mixed = chance.sample(rows, len(rows)) + chance.sample(rows, chance.randrange(len(rows)))
    assert cluster_document(story_of(mixed, knowledge), knowledge) == cluster_document(
        story_of(rows, knowledge), knowledge
    )
