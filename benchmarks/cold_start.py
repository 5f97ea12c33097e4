"""How long `npu-kb why` takes from cold, as a multiple of `python -c pass` in the same run.

    python benchmarks/cold_start.py [--rounds 15]

Prints medians in milliseconds and their ratio for a three-line and a 500-line paste. Both run in turn, with compiled
.pyc files, so that a busy machine slows both alike.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PASTE = """\
Traceback (most recent call last):
  File "train.py", line 3, in <module>
ImportError: libhccl.so: cannot open shared object file: No such file or directory
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    long_paste = "".join(f"10:{n // 60:02d}:{n % 60:02d} step {n} loss 2.31 lr 1e-4\n" for n in range(497)) + PASTE
    why = [str(Path(sys.executable).with_name("npu-kb")), "why"]
    commands = {
        "python -c pass": ([sys.executable, "-c", "pass"], ""),
        "why, 3 lines": (why, PASTE),
        "why, 500 lines": (why, long_paste),
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds + 1):
            for name, (command, text) in commands.items():
                times[name].append(seconds(command, text, f"{folder}/own/store.db"))
    base = statistics.median(times["python -c pass"][1:])
    for name, values in times.items():
        median = statistics.median(values[1:])
        print(f"{name:16s} {1000 * median:7.1f} ms   {median / base:4.2f} x")


def seconds(command: list[str], text: str, store: str) -> float:
    """Wall time of one run that keeps its diagnosis in `store`."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {"NPU_KB_STORE": store}
    start = time.perf_counter()
    subprocess.run(
        command,
        input=text,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
        env=environment,
    )
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
