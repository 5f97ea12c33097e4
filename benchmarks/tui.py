"""How long the TUI takes to show its first frame with the full knowledge, and a search result after a keystroke.

    python benchmarks/tui.py [--rounds 7] [--log FILE]

The first frame is that of a whole process in a terminal of 80 by 24: from its start until the list of entries stands on
the screen. Keystrokes are typed in this process, each until its result is on the screen. With --log, the time until
that log can be read, until it is diagnosed, and the most memory this process ever had.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pty
import resource
import select
import shutil
import signal
import statistics
import struct
import sys
import tempfile
import time
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

from npu_kb import Knowledge, locations
from npu_kb.knowledge.fulltext import open_index

QUERIES = ["hccl timeout", "507018", "多机训练很慢", "libhccl.so cannot open", "alocate memery faild", "device lost"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        shutil.copytree(locations.builtin_kb_directory(), f"{home}/kb")
        os.environ.update(NPU_KB_CACHE=f"{home}/cache", XDG_STATE_HOME=f"{home}/state", NPU_KB_STORE="off")
        locations.builtin_kb_directory = lambda: f"{home}/kb"  # type: ignore[assignment]
        open_index(Knowledge.load())
        frames = [first_frame(f"{home}/kb") for _ in range(options.rounds)]
        print(
            f"first frame        median {1000 * statistics.median(frames):6.0f} ms  most {1000 * max(frames):6.0f} ms"
        )
        keys = asyncio.run(keystrokes())
        print(f"keystroke          median {1000 * statistics.median(keys):6.1f} ms  most {1000 * max(keys):6.1f} ms")
        if options.log:
            asyncio.run(big_log(options.log))


def first_frame(kb: str) -> float:
    """Seconds from the start of the process until the list of entries is on the screen."""
    start = time.perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        code = (
            f"import sys; from npu_kb import locations; locations.builtin_kb_directory = lambda: {kb!r}\n"
            "from npu_kb.cli import main; sys.argv = ['npu-kb', 'tui']; main()"
        )
        os.environ["TERM"] = "xterm-256color"
        os.execv(sys.executable, [sys.executable, "-c", code])
    ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    shown = b""
    while b"hardware" not in shown and time.perf_counter() - start < 30:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65_536)
    taken = time.perf_counter() - start
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(terminal)
    return taken


async def keystrokes() -> list[float]:
    """Seconds from each keystroke of the queries until the last part of its result is on the screen."""
    from textual.screen import Screen
    from textual.widgets import Input

    from npu_kb.tui.app import KnowledgeApp

    class Watched(KnowledgeApp):
        shown_at = 0.0

        def _display(self, screen: Screen[object], renderable: object) -> None:
            super()._display(screen, renderable)  # type: ignore[arg-type]
            self.shown_at = time.perf_counter()

    app, taken = Watched(Knowledge.load), []
    async with app.run_test(size=(80, 24)) as pilot:
        while app.catalog.index is None:
            await pilot.pause(0.1)
        line = app.screen.query_one("#search", Input)
        for query in QUERIES:
            for end in range(1, len(query) + 1):
                start = time.perf_counter()
                line.value = query[:end]
                await pilot.pause()
                taken.append(app.shown_at - start)
    return taken


async def big_log(path: Path) -> None:
    """Print how long a log takes to be readable and diagnosed, and the memory for it."""
    from npu_kb.tui.app import KnowledgeApp
    from npu_kb.tui.widgets.log_view import LogView

    start = time.perf_counter()
    app = KnowledgeApp(Knowledge.load, files=[str(path)])
    readable = 0.0
    async with app.run_test(size=(80, 24)) as pilot:
        while app.session.diagnosis is None:
            await pilot.pause(0.05)
            if not readable and app.screen.query(LogView) and app.screen.query_one(LogView).row_count() > 20:
                readable = time.perf_counter() - start
    print(f"{path.stat().st_size / 1e6:,.0f} MB log: readable after {readable:.2f} s, "
          f"diagnosed after {time.perf_counter() - start:.1f} s, "
          f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:,.0f} MB")  # fmt: skip


if __name__ == "__main__":
    main()
