"""Logs of a simulated cluster with a known truth, and how fast they are read beside grep, ripgrep and wc.

    python benchmarks/cluster_logs.py make FOLDER [--ranks 64] [--mb 32] [--hits 0.001] [--seed 1]
    python benchmarks/cluster_logs.py compare [--mb 2000] [--rounds 3] [--hits 0.001] [--patterns 1]

`make` writes FOLDER/nodeN/plog-PID_TIME.log for each rank and FOLDER/truth.json: the rank that failed first and when.
`compare` makes such logs and reads them with `npu-kb scan` and with `grep -F -f`, `rg -F -f`, `rg -f` and `wc -l` in
turn, all with the same texts: those of the knowledge, `--patterns` times as many. It prints medians in MB/s, from the
start of each program to its end, and what each needed of memory.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from npu_kb import Knowledge
from npu_kb.patterns import fixed_parts, required_run

START = 1_764_400_000
"""UTC seconds of the first line."""
MODULES = ["RUNTIME", "HCCL", "GE", "ASCENDCL", "DRV", "PROFILING", "TDT", "FE", "AICPU", "HCCP"]
NOISE = [
    "[task_info.cc:{a}]{b} UpdateTaskState: device_id={d}, stream_id={c}, task_id={b}, pos={a}, state=finished",
    "[stream.cc:{a}]{b} StreamCreate: stream_id={c} created, priority=0, flags=0x{h:x}, device={d}",
    "[npu_driver.cc:{a}]{b} MemAlloc: device_id={d}, size={c}, ptr=0x{h:012x}, module=RUNTIME",
    "[hccl_socket_manager.cc:{a}][{b}] create socket, local ip[192.0.2.{d}], port[{c}] status[CONNECTING]",
    "[op_base.cc:{a}][{b}] Entry-HcclAllReduce: tag[AllReduce_{h:x}], count[{c}], dataType[float16], op[sum]",
    "[model_v2_executor.cc:{a}]{b} ExecuteSync: model execute step {c} success, cost {a} us",
    "[kernel_launch.cc:{a}]{b} LaunchKernel: op MatMulV2_{c}, blockDim {d}, tilingKey {b}, args size {a}",
    "[memory_pool.cc:{a}]{b} Reserve: pool 0x{h:012x} used {c} free {b} fragment {d}",
]
_TEXTS_OF_A_RANK = 40
FIRST = "[hccp.cc:120][8231] LINK_ERROR_INFO: roce link down on device {device}, rank {rank} leaves"
FIRST_TEXT = "EI0006: Getting socket times out. Reason: Remote Rank did not send the data in time."


class Cluster(NamedTuple):
    """What to simulate."""

    ranks: int = 8
    bytes_per_rank: int = 100_000
    hits: float = 0.0
    """Share of lines that hold a text of the knowledge."""
    first_rank: int = 3
    """Fails first, and a minute later all others say that it did not send."""
    seed: int = 1


def make(folder: Path, cluster: Cluster, texts: list[str]) -> dict[str, object]:
    """Write the logs of all ranks and the truth; the same arguments write the same bytes."""
    stopped = START + 600.0
    for rank in range(cluster.ranks):
        random_ = random.Random(cluster.seed * 100_000 + rank)
        path = folder / f"node{rank // 8}" / f"plog-{4000 + rank}_20251129080000.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            size = 0
            for line in _lines(random_, cluster, rank, texts):
                size += file.write(line)
                if size >= cluster.bytes_per_rank:
                    break
            if rank == cluster.first_rank:
                file.write(_line("ERROR", "HCCP", 4000 + rank, stopped, FIRST.format(device=rank % 8, rank=rank)))
            else:
                file.write(_line("ERROR", "HCCL", 4000 + rank, stopped + 60 + rank / 100, FIRST_TEXT))
    truth: dict[str, object] = {"first_rank": cluster.first_rank, "time": stopped, "ranks": cluster.ranks}
    (folder / "truth.json").write_text(json.dumps(truth), "utf-8")
    return truth


def _lines(random_: random.Random, cluster: Cluster, rank: int, texts: list[str]) -> Iterator[str]:
    """Endless noise, with texts of the knowledge in it."""
    bodies = [_noise(random_) for _ in range(3000)]
    own = random_.sample(texts, min(_TEXTS_OF_A_RANK, len(texts)))
    number = 0
    while True:
        number += 1
        when = START + number * 0.001
        if own and random_.random() < cluster.hits:
            yield _line("ERROR", "RUNTIME", 4000 + rank, when, random_.choice(own))
        else:
            level = "INFO" if number % 50 else "WARNING"
            body = bodies[random_.randrange(3000)]
            yield _line(level, MODULES[number % len(MODULES)], 4000 + rank, when, f"{body} #{number}")


def _noise(random_: random.Random) -> str:
    a, b, c = random_.randrange(4000), random_.randrange(99999), random_.randrange(10**6)
    return random_.choice(NOISE).format(a=a, b=b, c=c, d=random_.randrange(8), h=random_.getrandbits(44))


def _line(level: str, module: str, pid: int, when: float, body: str) -> str:
    whole, rest = divmod(when, 1)
    stamp = time.strftime("%Y-%m-%d-%H:%M:%S", time.gmtime(whole))
    return f"[{level}] {module}({pid},python):{stamp}.{int(rest * 1000):03}.{int(rest * 1e6) % 1000:03} {body}\n"


def texts_of(knowledge: Knowledge) -> list[str]:
    """A text of each match block's each condition, as a log would print it."""
    found: dict[str, None] = {}
    for entry in knowledge.entries():
        for block in entry["match"]:
            for source in [*block["text"], *block["any"]]:
                found[max(fixed_parts(source), key=len).strip()] = None
            for source in block["regex"]:
                found[required_run(source).strip()] = None
    return [text for text in found if len(text) >= 8 and "\n" not in text]


def more_knowledge(folder: Path, texts: list[str], times: int, random_: random.Random) -> list[str]:
    """Write entries with invented texts until there are `times` as many; the texts."""
    words = sorted({word for text in texts for word in text.split() if word.isascii() and word.isalnum()})
    invented = [" ".join([*random_.sample(words, 3), str(number)]) for number in range(len(texts) * (times - 1))]
    names = ["alpha", "beta"]
    target = folder / "entries" / "cann"
    target.mkdir(parents=True)
    for start in range(0, len(invented), 500):
        blocks = "\n".join(f"  - text: {json.dumps(text)}" for text in invented[start : start + 500])
        name = f"invented-{names[0]}-{start}"
        (target / f"{name}.yaml").write_text(ENTRY.format(id=name, blocks=blocks, hit=json.dumps(invented[start])))
    return invented


ENTRY = """\
id: {id}
title: {{en: Invented, zh: 虚构}}
layer: cann
topic: env-setup
severity: fault
status: reported
symptom: {{en: Invented., zh: 虚构。}}
match:
{blocks}
cause: {{en: Invented., zh: 虚构。}}
fix:
  - {{en: None., zh: 无。, effect: read}}
verify: {{en: None., zh: 无。}}
samples: {{hit: [{hit}], miss: ["nothing"]}}
references:
  - {{source: written for a benchmark, read: 2026-11-29}}
"""


class Run(NamedTuple):
    """One run of a program."""

    seconds: float
    processor_seconds: float
    """Of all its processes; tells more than `seconds` on a machine that others use too."""
    megabytes: float
    """Peak memory of it and of each of its processes, the largest."""


def measured(command: list[str]) -> Run:
    """Run a command with its output in a file (grep would stop early where nobody reads)."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        return Run(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def commands(folder: Path, work: Path, overlay: Path | None, slow: bool) -> dict[str, list[str]]:
    """What is compared."""
    files = sorted(str(path) for path in folder.rglob("*.log"))
    kb = ["--kb", str(overlay)] if overlay else []
    scan = [sys.executable, "-m", "npu_kb", "scan", str(folder), *kb]
    found = {
        "npu-kb scan, 1 process": [*scan, "--jobs", "1"],
        "npu-kb scan, 2 processes": [*scan, "--jobs", "2"],
        "npu-kb scan, 1 process, ahocorasick": [*scan, "--jobs", "1", "--engine", "ahocorasick"],
        "wc -l": ["wc", "-l", *files],
    }
    if grep := shutil.which("grep"):
        found["grep -F -f"] = ["env", "LC_ALL=C", grep, "-a", "-F", "-f", str(work / "texts"), *files]
    if rg := shutil.which("rg", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}"):
        found["rg -F -f, 1 thread"] = [rg, "-j1", "-a", "-F", "-f", str(work / "texts"), *files]
        if slow:
            found["rg -f, 1 thread"] = [rg, "-j1", "-a", "--no-unicode", "-f", str(work / "regexes"), files[0]]
    return found


def compare(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        work = Path(name)
        texts = texts_of(Knowledge.load([]))
        overlay = None
        if options.patterns > 1:
            overlay = work / "kb"
            texts += more_knowledge(overlay, texts, options.patterns, random.Random(options.seed))
            Knowledge.load([overlay])  # compiled once, and not while the clock runs
        (work / "texts").write_text("\n".join(texts) + "\n", "utf-8")
        (work / "regexes").write_text("\n".join(re.escape(text).replace(r"\ ", " ") for text in texts) + "\n", "utf-8")
        ranks = max(2, options.mb // 32)
        cluster = Cluster(ranks, options.mb * 1_000_000 // ranks, options.hits, 1, options.seed)
        make(work / "logs", cluster, texts)
        report(commands(work / "logs", work, overlay, options.rg_f), work / "logs", options.rounds, len(texts))


def report(programs: dict[str, list[str]], logs: Path, rounds: int, texts: int) -> None:
    """Run the programs in turn and print a table of medians."""
    size = sum(path.stat().st_size for path in logs.rglob("*.log")) / 1e6
    runs: dict[str, list[Run]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, command in programs.items():
            runs[name].append(measured(command))
    print(f"{size:.0f} MB, {texts} texts, medians of {rounds}")
    print("| program | MB/s | times rg -F -f | MB for each CPU second | times rg -F -f | peak MB |")
    print("|---|---|---|---|---|---|")
    rates = {name: size / statistics.median(run.seconds for run in of_name) for name, of_name in runs.items()}
    yields = {
        name: size / statistics.median(run.processor_seconds for run in of_name) for name, of_name in runs.items()
    }
    base = "rg -F -f, 1 thread" if "rg -F -f, 1 thread" in runs else "wc -l"
    for name, rate in rates.items():
        share, of_processor = rate / rates[base], yields[name] / yields[base]
        peak = max(run.megabytes for run in runs[name])
        print(f"| {name} | {rate:.0f} | {share:.2f} | {yields[name]:.0f} | {of_processor:.2f} | {peak:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    for action in ("make", "compare"):
        sub = actions.add_parser(action)
        sub.add_argument("folder", nargs=None if action == "make" else "?", help="compare: where there is room")
        sub.add_argument("--mb", type=int, default=32 if action == "make" else 2000, help="of each rank, or in all")
        sub.add_argument("--hits", type=float, default=0.001)
        sub.add_argument("--seed", type=int, default=1)
        if action == "make":
            sub.add_argument("--ranks", type=int, default=64)
        else:
            sub.add_argument("--rounds", type=int, default=3)
            sub.add_argument("--patterns", type=int, default=1, help="times as many texts as the knowledge has")
            sub.add_argument("--rg-f", action="store_true", help="run `rg -f` too, on the first file: minutes")
    options = parser.parse_args()
    if options.action == "compare":
        compare(options)
    else:
        cluster = Cluster(options.ranks, options.mb * 1_000_000, options.hits, seed=options.seed)
        print(make(Path(options.folder), cluster, texts_of(Knowledge.load([]))))


if __name__ == "__main__":
    main()
