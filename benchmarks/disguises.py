"""Does an answer survive what terminals and launchers do to a log?

    python benchmarks/disguises.py CASES_DIR [--show]

Every *.log below CASES_DIR that is answered with a claim is put under each disguise, and must keep its first answer;
two logs joined must both be among the first three. Prints one row per disguise.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable
from pathlib import Path

from npu_kb import Knowledge, diagnose

HEALTHY = [
    " iteration {n}/ 5000 | consumed samples: {n} | elapsed time per iteration (ms): 812.4 | lm loss: 2.91",
    "INFO 11-02 10:{m:02d}:12 [metrics.py:455] Avg prompt throughput: 31.2 tokens/s, Running: {m} reqs",
    "[INFO] HCCL(123,python):2025-11-02-10:{m:02d}:12.000.001 [op_base.cc:1200] Entry-HcclAllReduce: count[{n}]",
    "10:{m:02d}:12 worker {m} epoch done, checkpoint written",
]


def healthy(count: int) -> str:
    """Lines of a run in which nothing is wrong."""
    return "".join(HEALTHY[n % len(HEALTHY)].format(n=n, m=n % 60) + "\n" for n in range(count))


def prefixed(*prefixes: str) -> Callable[[str], str]:
    """Each line behind one of the prefixes in turn."""
    return lambda text: "".join(f"{prefixes[i % len(prefixes)]}{line}\n" for i, line in enumerate(text.splitlines()))


def wrapped(width: int) -> Callable[[str], str]:
    """Lines cut hard at a width, as a terminal's copy does."""

    def cut(text: str) -> str:
        return "".join(
            line[at : at + width] + "\n" for line in text.splitlines() for at in range(0, max(len(line), 1), width)
        )

    return cut


def renumbered(text: str) -> str:
    """Other times, process ids and addresses."""
    text = re.sub(r"\b\d\d:\d\d:\d\d\b", "23:59:58", text)
    text = re.sub(r"\b(?:\d{1,3}\.){3}\d{1,3}\b", "172.16.9.77", text)
    return re.sub(r"(?i)(pid[=: \[]+)\d+", r"\g<1>987654", text)


DISGUISES: dict[str, Callable[[str], str | bytes]] = {
    "vllm worker prefix": prefixed("(EngineCore_DP0 pid=4242) ", "(Worker_TP1 pid=4243) "),
    "ray prefix": prefixed("(RayWorkerWrapper pid=991, ip=10.1.2.3) "),
    "rank prefix": prefixed("[rank3]: "),
    "torchrun prefix": prefixed("[default0]:"),
    "docker compose prefix": prefixed("serving-1  | "),
    "kubernetes prefix": prefixed("2025-11-02T10:00:00.123456789Z stderr F "),
    "journald prefix": prefixed("Nov 02 10:00:00 node-7 python[4711]: "),
    "ansi colours": lambda t: "".join(f"\x1b[0;31m{line}\x1b[0m\n" for line in t.splitlines()),
    "crlf": lambda t: t.replace("\n", "\r\n"),
    "wrap at 80": wrapped(80),
    "wrap at 120": wrapped(120),
    "markdown quote": prefixed("> "),
    "healthy lines around": lambda t: healthy(200) + t + "\n" + healthy(200),
    "gb18030": lambda t: ("故障日志\n" + t).encode("gb18030", "replace"),
    "other numbers": renumbered,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--show", action="store_true", help="name each answer that changed")
    options = parser.parse_args()
    knowledge = Knowledge.load()
    texts = {p: p.read_text("utf-8", "replace") for p in sorted(options.cases.rglob("*.log"))}
    first = {p: r[0] for p, t in texts.items() if (r := answers(t, knowledge))}
    print(f"{len(first)} of {len(texts)} logs are answered with a claim")
    for name, disguise in DISGUISES.items():
        changed = [(p, r) for p in first if (r := answers(disguise(texts[p]), knowledge))[:1] != [first[p]]]
        report(name, len(first), [f"{p.stem}: {first[p]} -> {r[:1]}" for p, r in changed], options.show)
    shuffled = list(first)
    random.Random(7).shuffle(shuffled)
    pairs = list(zip(first, shuffled, strict=True))
    bad = [
        (a, b) for a, b in pairs if not {first[a], first[b]} <= set(answers(texts[a] + "\n" + texts[b], knowledge)[:3])
    ]
    report("two joined", len(pairs), [f"{a.stem} + {b.stem}" for a, b in bad], options.show)


def answers(log: str | bytes, knowledge: Knowledge) -> list[str]:
    """Ids of the claims."""
    return [match.entry["id"] for match in diagnose(log, knowledge, suggest=False).claims]


def report(name: str, total: int, changed: list[str], show: bool) -> None:
    """One row, and what changed below it."""
    print(f"{name:24s} {total - len(changed)}/{total} = {100 * (total - len(changed)) / max(total, 1):.1f}%")
    for line in changed if show else []:
        print("   ", line)


if __name__ == "__main__":
    main()
