"""How long does `npu-kb import` take on an export of many rows, many of them hostile?

    python benchmarks/import_export.py [ROWS]

Imports a generated issue export and a generated CSV of ROWS (5000) rows, each twice into the same folder. Prints
wall and processor time and outcome of each run; exit status 1 if one ends in a traceback or the second adds a draft.
"""

from __future__ import annotations

import csv
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WORDS = [
    "pool",
    "lease",
    "epoch",
    "shard",
    "renew",
    "decode",
    "stale",
    "refused",
    "missing",
    "behind",
    "route",
    "cache",
]
BODY = "### Describe the bug\n\nIt stops.\n\n```text\nTraceback (most recent call last):\nKvError: {} of {}\n```"
HOSTILE_ROWS: list[Any] = [
    None,
    "a bare text",
    [1, [2, [3]]],
    {},
    {"title": {"en": "no text"}},
    {"title": "no address", "body": "x"},
    {"title": "bad body", "url": "https://github.com/o/r/issues/1", "body": {"a": [[[[{}]]]]}},
]
HOSTILE_BODIES = [
    "```\nKvError: \0 \x1b]0;owned\x07 \x1b[31m {} error {}\n```",
    "<script>alert(1)</script> <pre>KvError: {} {}</pre>",
    "🐛 " * 300 + "\nKvError: {} 💥 failed {}",
    "```\n" + "error x" * 15_000 + " {} {}\n```",
    "> " * 2_000 + "KvError: {} {}",
    "```\n" * 999 + "error {} {}",
    "| a |\n|---|\n" * 500 + "KvError: {} {}",
    "\ud800 KvError: half a character {} {}",
    "<!--" * 5_000 + " KvError: {} {}",
]


def issues(rows: int) -> Iterator[Any]:
    """Issues; every tenth is hostile in its text, every fiftieth in its shape; every twentieth is there twice."""
    for n in range(rows):
        words = " ".join(random.sample(WORDS, 5))
        body = HOSTILE_BODIES[n // 10 % len(HOSTILE_BODIES)] if n % 10 == 3 else BODY
        number = n - n % 20 if n % 20 == 19 else n
        address = f"https://github.com/example/kv/issues/{number}"
        ordinary = {"number": number, "title": f"[Bug]: {words}", "url": address, "body": body.format(words, n)}
        yield HOSTILE_ROWS[n // 50 % len(HOSTILE_ROWS)] if n % 50 == 7 else ordinary


def write_issues(path: Path, rows: int) -> None:
    """One JSON list, of which one row is nested too deeply and one is no JSON."""
    texts = [json.dumps(issue) for issue in issues(rows)]
    texts[rows // 3] = '{"title": ' + "[" * 100_000 + "]" * 100_000 + "}"
    texts[rows // 2] = '{"title": nope, "body": "x"}'
    path.write_text("[" + ",\n".join(texts) + "]", "utf-8")


def write_table(path: Path, rows: int) -> None:
    """The same as a CSV, with cells beyond what a CSV may hold."""
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        out = csv.writer(file)
        out.writerow(["title", "error", "cause", "解决方案"])
        for issue in issues(rows):
            fields = issue if isinstance(issue, dict) else {}
            body = str(fields.get("body") or "")
            out.writerow([fields.get("title") or "", body * 2 if len(body) > 100_000 else body, "", "重启"])


def run_twice(importer: str, file: Path) -> bool:
    """Import a file twice and print how it went; whether it went well."""
    out, good = file.with_suffix(""), True
    for run in (1, 2):
        start, used = time.perf_counter(), processor_seconds()
        command = [sys.executable, "-m", "npu_kb", "import", importer, str(file), "--out", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
        used = processor_seconds() - used
        size = f"{file.stat().st_size / 1e6:.1f} MB"
        print(f"{importer}, {size}, run {run}: {seconds:.1f} s, {used:.1f} s of processor, exit {done.returncode}")
        print("".join(f"    {line}\n" for line in done.stdout.splitlines()), end="")
        good &= "Traceback" not in done.stderr and done.returncode in (0, 1)
        good &= run == 1 or done.stdout.startswith("0 drafts\n")
    return good


def processor_seconds() -> float:
    """Time that ended child processes have used so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    random.seed(7)
    with tempfile.TemporaryDirectory() as folder:
        write_issues(Path(folder) / "issues.json", rows)
        write_table(Path(folder) / "table.csv", rows)
        good = [run_twice("github-issues", Path(folder) / "issues.json")]
        good.append(run_twice("spreadsheet", Path(folder) / "table.csv"))
    return 0 if all(good) else 1


if __name__ == "__main__":
    raise SystemExit(main())
