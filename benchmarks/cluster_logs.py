"""Logs of a simulated cluster with a known truth, and how fast they are read beside grep, ripgrep and wc.

    python benchmarks/cluster_logs.py make FOLDER [--ranks 64] [--mb 32] [--hits 0] [--seed 1]
    python benchmarks/cluster_logs.py compare [FOLDER] [--mb 2000] [--rounds 3] [--patterns 10] [--gigabytes 10]

`make` writes FOLDER/nodeN/plog-PID_TIME.log for each rank and FOLDER/truth.json: the rank that failed first and when.
`compare` makes such logs, about three times `--mb` on the disk, with texts of the knowledge in 0.1% and in 5% of their
lines, and reads them in turn with `npu-kb scan`, `grep -F -f`, `rg -F -f`, `rg -f` and `wc -l`, all with the same
texts: those of the knowledge, and `--patterns` times as many. It prints medians from the start of each program to its
end (the logs are in the cache of the disk, the knowledge is compiled), peak memory of all processes of a program, and
the ratios that are wanted.
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
import threading
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
FIRST = "[device_error_proc.cc:1283]8231 HBM MULTI BIT ECC ERROR on device {device}: rank {rank} ends"
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
                file.write(_line("ERROR", "RUNTIME", 4000 + rank, stopped, FIRST.format(device=rank % 8, rank=rank)))
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
    """Peak memory of it and all its processes together, shared pages counted once."""


def measured(command: list[str]) -> Run:
    """Run a command with its output in a file (grep would stop early where nobody reads)."""
    peaks, ended = [0.0], threading.Event()

    def look(pid: int) -> None:
        while not ended.wait(0.3):  # looking takes time from the processes looked at
            peaks.append(sum(map(_megabytes, _with_children(pid))))

    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        looker = threading.Thread(target=look, args=[process.pid])
        looker.start()
        _, _, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        ended.set()
        looker.join()
        return Run(seconds, usage.ru_utime + usage.ru_stime, max(*peaks, usage.ru_maxrss / 1024))


def _with_children(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(each for child in children for each in _with_children(int(child)))]


def _megabytes(pid: int) -> float:
    try:
        return int(re.search(r"Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text())[1]) / 1024  # type: ignore[index]
    except (OSError, TypeError):
        return 0.0  # it has ended


def compare(options: argparse.Namespace) -> None:
    """Make the logs, run everything on them in turn, and print the table and how far the targets are met."""
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        work = Path(name)
        texts = texts_of(Knowledge.load([]))
        overlay = work / "kb"
        many = texts + more_knowledge(overlay, texts, options.patterns, random.Random(options.seed))
        size = options.mb * 1_000_000
        for share, folder in ((0.001, "few"), (0.05, "many")):
            ranks = max(2, options.mb // 32)
            make(work / folder, Cluster(ranks, size // ranks, share, 1, options.seed), texts)
        (work / "texts").write_text("\n".join(texts) + "\n", "utf-8")
        (work / "more-texts").write_text("\n".join(many) + "\n", "utf-8")
        (work / "regexes").write_text("\n".join(re.escape(text).replace(r"\ ", " ") for text in texts) + "\n", "utf-8")
        programs = commands(work, overlay)
        for program in ("npu-kb scan, 1 process", MORE_TEXTS):  # compiles the knowledge, not while the clock runs
            subprocess.run([*programs[program], "--include", "nothing"], capture_output=True, check=False)
        print(f"{options.mb} MB, {len(texts)} and {len(many)} texts, in 0.1% and 5% of lines; {options.rounds} rounds")
        rates = report(programs, options.mb, options.rounds)
        targets(rates)
        if options.gigabytes:
            memory(work, options.gigabytes * 1000 // options.mb)


MANY_HITS, MORE_TEXTS = "npu-kb scan, 1 process, 5% of lines", "npu-kb scan, 1 process, more texts"


def commands(work: Path, overlay: Path) -> dict[str, list[str]]:
    """What is compared."""
    few, many = (sorted(str(path) for path in (work / name).rglob("*.log")) for name in ("few", "many"))
    scan = [sys.executable, "-m", "npu_kb", "scan"]
    found = {
        "npu-kb scan, 1 process": [*scan, str(work / "few"), "--jobs", "1"],
        "npu-kb scan, 2 processes": [*scan, str(work / "few"), "--jobs", "2"],
        "npu-kb scan, 1 process, ahocorasick": [*scan, str(work / "few"), "--jobs", "1", "--engine", "ahocorasick"],
        MANY_HITS: [*scan, str(work / "many"), "--jobs", "1"],
        MORE_TEXTS: [*scan, str(work / "few"), "--jobs", "1", "--kb", str(overlay)],
        "wc -l": ["wc", "-l", *few],
    }
    if rg := shutil.which("rg", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}"):
        fixed = [rg, "-a", "-F", "-f", str(work / "texts")]
        found["rg -F -f, 1 thread"] = [*fixed, "-j1", *few]
        found["rg -F -f, 2 threads"] = [*fixed, "-j2", *few]
        found["rg -F -f, 1 thread, 5% of lines"] = [*fixed, "-j1", *many]
        found["rg -F -f, 1 thread, more texts"] = [rg, "-a", "-F", "-f", str(work / "more-texts"), "-j1", *few]
        limits = ["--regex-size-limit", "1G", "--dfa-size-limit", "1G"]
        found["rg -f, 1 thread"] = [rg, "-a", *limits, "-f", str(work / "regexes"), "-j1", *few]
    if grep := shutil.which("grep"):
        found["grep -F -f"] = ["env", "LC_ALL=C", grep, "-a", "-F", "-f", str(work / "texts"), *few]
    return found


def report(programs: dict[str, list[str]], megabytes: int, rounds: int) -> dict[str, float]:
    """Run the programs in turn and print a table of medians; the rates in MB/s."""
    runs: dict[str, list[Run]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, command in programs.items():
            runs[name].append(measured(command))
    print("| program | MB/s | times rg -F -f | MB for each CPU second | times rg -F -f | peak MB |")
    print("|---|---|---|---|---|---|")
    rates = {name: megabytes / statistics.median(run.seconds for run in all) for name, all in runs.items()}
    yields = {name: megabytes / statistics.median(run.processor_seconds for run in all) for name, all in runs.items()}
    base = "rg -F -f, 1 thread" if "rg -F -f, 1 thread" in runs else "wc -l"
    for name, rate in rates.items():
        share, of_processor = rate / rates[base], yields[name] / yields[base]
        peak = max(run.megabytes for run in runs[name])
        print(f"| {name} | {rate:.0f} | {share:.2f} | {yields[name]:.0f} | {of_processor:.2f} | {peak:.0f} |")
    return rates


def targets(rates: dict[str, float]) -> None:
    """Print the ratios that are wanted."""
    one = rates["npu-kb scan, 1 process"]
    print("\n| ratio of rates | is | wanted |\n|---|---|---|")
    if rg := rates.get("rg -F -f, 1 thread"):
        print(f"| one process to rg -F -f | {one / rg:.2f} | 1.20 |")
    print(f"| two processes to one | {rates['npu-kb scan, 2 processes'] / one:.2f} | 1.80 |")
    if rg:
        print(f"| two threads of rg to one, for what the machine allows | {rates['rg -F -f, 2 threads'] / rg:.2f} | |")
    print(f"| 5% of lines to 0.1% | {rates[MANY_HITS] / one:.2f} | 0.50 |")
    print(
        f"| time with more texts to time with those of the knowledge | {one / rates[MORE_TEXTS]:.2f} | 1.30 at most |"
    )


def memory(work: Path, times: int) -> None:
    """Print the peak memory of scans of the same logs under several names, which take no more room on the disk."""
    for number in range(times):
        for log in sorted((work / "few").rglob("*.log")):
            link = work / "large" / f"copy{number}" / log.relative_to(work / "few")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.hardlink_to(log)
    whole = work / "large" / "one.log"
    with whole.open("wb") as file:  # read by many processes, in parts
        for log in sorted((work / "many").rglob("*.log")):
            with log.open("rb") as part:
                shutil.copyfileobj(part, file)
    size = sum(path.stat().st_size for path in (work / "large").rglob("*.log")) / 1e9
    for jobs in ("1", "2"):
        run = measured([sys.executable, "-m", "npu_kb", "scan", str(work / "large"), "--jobs", jobs])
        print(f"{size:.0f} GB, {jobs} processes: {run.seconds:.0f} s, {run.megabytes:.0f} MB (wanted: 250 at most)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    for action in ("make", "compare"):
        sub = actions.add_parser(action)
        sub.add_argument("folder", nargs=None if action == "make" else "?", help="compare: where there is room")
        sub.add_argument("--mb", type=int, default=32 if action == "make" else 2000, help="of each rank, or in all")
        sub.add_argument("--seed", type=int, default=1)
        if action == "make":
            sub.add_argument("--hits", type=float, default=0.0, help="share of lines with a text of the knowledge")
            sub.add_argument("--ranks", type=int, default=64)
        else:
            sub.add_argument("--rounds", type=int, default=3)
            sub.add_argument("--patterns", type=int, default=10, help="times as many texts as the knowledge has")
            sub.add_argument("--gigabytes", type=int, default=10, help="read in the end, for the memory; 0: none")
    options = parser.parse_args()
    if options.action == "compare":
        compare(options)
    else:
        cluster = Cluster(options.ranks, options.mb * 1_000_000, options.hits, seed=options.seed)
        print(make(Path(options.folder), cluster, texts_of(Knowledge.load([]))))


if __name__ == "__main__":
    main()
