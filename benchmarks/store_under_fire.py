"""Does the store keep what it acknowledged, when several programs write at once and any may be killed?

    python benchmarks/store_under_fire.py [--seconds 60] [--processes 8]

Each writer keeps diagnoses as `why` does and reports as `feedback` does, and notes the number of each row after it is
kept. A few times a second one of them is killed (SIGKILL) and replaced. In the end every noted row must be there, and
SQLite's integrity check clean; the exit status is 1 otherwise.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from npu_kb.diagnosis.model import Diagnosis
from npu_kb.findings.journal import Journal
from npu_kb.findings.schema import KEPT_DIAGNOSES
from npu_kb.findings.store import Store
from npu_kb.intake.logtext import LogText

Writer = subprocess.Popen[bytes]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--write", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        write()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "own" / "store.db"
        notes, kills = fire(store, options.processes, options.seconds)
        return verdict(store, notes, kills)


def write() -> None:
    """Keep one diagnosis and one report after the other, until killed."""
    diagnosis = Diagnosis([], [], [], {"cann": "8.0.0"}, [], LogText.of("ERROR nothing known"))
    for count in itertools.count():
        number = Journal().keep(diagnosis, [])
        if number is None:
            raise SystemExit("a diagnosis was not kept")
        os.write(1, f"diagnoses {number}\n".encode())
        with Store.open() as store:
            report = store.add_feedback(number, f"entry-{os.getpid()}-{count}", "wrong")
        os.write(1, f"feedback {report}\n".encode())


def fire(store: Path, processes: int, seconds: float) -> tuple[list[str], int]:
    """Let writers run and kill them; what they noted, and how many were killed."""
    files: list[Path] = []
    writers = [started(store, files) for _ in range(processes)]
    end = time.monotonic() + seconds
    kills = 0
    while time.monotonic() < end:
        time.sleep(random.uniform(0.05, 0.4))
        victim = random.randrange(processes)
        stop(writers[victim])
        writers[victim] = started(store, files)
        kills += 1
    for writer in writers:
        stop(writer)
    return [note for file in files for note in file.read_text().splitlines()], kills + processes


def started(store: Path, files: list[Path]) -> Writer:
    file = store.parent.parent / f"notes-{len(files)}"
    files.append(file)
    with file.open("wb") as output:
        environment = {**os.environ, "NPU_KB_STORE": str(store)}
        return subprocess.Popen([sys.executable, __file__, "--write"], stdout=output, env=environment)


def stop(writer: Writer) -> None:
    """Kill a writer; one that ended by itself failed."""
    if writer.poll() is not None:
        raise SystemExit(f"a writer ended with status {writer.returncode}")
    writer.kill()
    writer.wait()


def verdict(store: Path, notes: list[str], kills: int) -> int:
    """Print what was noted and what is lost; 0 if nothing is."""
    connection = sqlite3.connect(store)
    rows = {table: {n for (n,) in connection.execute(f"SELECT id FROM {table}")} for table in ("diagnoses", "feedback")}
    forgotten = max(rows["diagnoses"], default=0) - KEPT_DIAGNOSES
    noted = {table: {int(n) for name, n in map(str.split, notes) if name == table} for table in rows}
    lost = {"diagnoses": {n for n in noted["diagnoses"] - rows["diagnoses"] if n > forgotten}}
    lost["feedback"] = noted["feedback"] - rows["feedback"]
    ((integrity,),) = connection.execute("PRAGMA integrity_check")
    for table, numbers in noted.items():
        print(f"{table}: {len(numbers)} noted, {len(lost[table])} of them lost")
    print(f"{kills} writers killed; integrity check: {integrity}")
    return 0 if integrity == "ok" and not any(lost.values()) and all(noted.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
