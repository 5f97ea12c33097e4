"""Many commands and file reads at once, each within its time; what hangs or prints without end is left behind."""

from __future__ import annotations

import errno
import os
import selectors
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from threading import Event, Lock, current_thread, main_thread
from typing import NamedTuple, NoReturn, TypeVar

from npu_kb.environment.snapshot import Missing

_WORKERS = 16
_MOST_BYTES = 400_000
_REAPING_SECONDS = 0.2
_SECONDS, _HASTY_SECONDS = 4.0, 1.0
"""For one command; and where the whole machine hangs."""
_SILENCES, _HASTY_SILENCES = 2, 1
"""So often a program may give no answer; it is not asked again."""
_SILENT_PROGRAMS = 5
"""From so many on it is the machine that hangs, and not what they ask."""
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ASKING_SECONDS = 0.1
"""Between two questions whether the answer is still wanted."""
_QUIET = {"LC_ALL": "C", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PYTHONDONTWRITEBYTECODE": "1"}


Cancelled = Callable[[], bool]
"""Asked now and then: whether nobody wants the answer any more."""


class Stopped(Exception):
    """Nobody wants the answer any more."""


class Output(NamedTuple):
    """What a command or file gave, and what is missing of it."""

    source: str
    data: bytes
    missing: Missing | None = None


class Patience:
    """How long programs are waited for in this run, and which are not asked again as they often gave no answer."""

    def __init__(self) -> None:
        self._silences, self._asked = Counter[str](), Counter[str]()
        self._counting = Lock()

    def ask(self, program: str, source: str, run: Callable[[float], Output]) -> Output:
        """What the program gives within the seconds that `run` gets; nothing, at once, where asking is no use."""
        with self._counting:
            hangs = len(+self._silences) >= _SILENT_PROGRAMS
            silences, most = self._silences[program], _HASTY_SILENCES if hangs else _SILENCES
            if silences and silences + self._asked[program] >= most:  # those asked at once fall silent at once
                return missing(source, "no answer")
            self._asked[program] += 1
        output = run(_HASTY_SECONDS if hangs else _SECONDS)
        with self._counting:
            self._asked[program] -= 1
            self._silences[program] += bool(output.missing and output.missing.why == "no answer")
        return output


T = TypeVar("T")
_running: set[subprocess.Popen[bytes]] = set()
"""The commands of all threads; each is in a session of its own, where Ctrl-C does not reach it."""
_starting = Lock()
"""Held while a command starts and is entered, so that none is missed when all are ended."""
_ending = Event()
"""Set when all are ended: no other one starts."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP end this process as Ctrl-C does, once: a second one would leave commands running.

    So further ones stay ignored from then on. What was ignored before (nohup) stays so; in another thread than the
    main one nothing changes.
    """
    if current_thread() is not main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in _ENDS}
    before = {number: handler for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is _interrupt:  # or the process is on its way out
                signal.signal(number, handler)


def _interrupt(*_: object) -> NoReturn:
    for number in _ENDS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def never() -> bool:
    """The answer is wanted to the end."""
    return False


def together(tasks: Mapping[str, Callable[[], T]], deadline: float, cancelled: Cancelled = never) -> dict[str, T]:
    """What the tasks return, in their order, without those that are not done at the deadline (of time.monotonic).

    A thread that hangs in the kernel (a dead network disk) is left behind and not waited for. Whatever ends the
    waiting early, such as Ctrl-C, ends the commands; Stopped once `cancelled` says so.
    """
    pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="npu-kb-env")
    _ending.clear()
    try:
        futures = {name: pool.submit(task) for name, task in tasks.items()}
        _await(futures.values(), deadline, cancelled)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        with _starting:
            _ending.set()
            for process in list(_running):
                _kill(process)
        raise
    pool.shutdown(wait=False, cancel_futures=True)
    return {name: future.result() for name, future in futures.items() if future.done() and not future.cancelled()}


def _await(futures: Iterable[Future[T]], deadline: float, cancelled: Cancelled) -> None:
    pending = set(futures)
    while pending and (left := deadline - time.monotonic()) > 0:
        if cancelled():
            raise Stopped
        pending = wait(pending, min(left, _ASKING_SECONDS)).not_done


def command(
    source: str, arguments: list[str], deadline: float, seconds: float, most_bytes: int = _MOST_BYTES
) -> Output:
    """Run a program without a shell and read what it prints, for at most so many seconds and bytes."""
    until = min(time.monotonic() + seconds, deadline)
    try:
        with _starting:
            process = _started(arguments)
    except OSError as error:
        return _unreadable(source, error)
    try:
        data, why = _read(process, until, most_bytes)
    finally:
        _end(process)
        _running.discard(process)
    if why:
        return missing(source, why, data)
    return missing(source, "failed", data) if process.returncode else Output(source, data)


def _started(arguments: list[str]) -> subprocess.Popen[bytes]:
    if _ending.is_set():
        raise InterruptedError(errno.EINTR, os.strerror(errno.EINTR))
    process = subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        cwd="/",
        env={**os.environ, **_QUIET},
    )
    _running.add(process)
    return process


def _read(process: subprocess.Popen[bytes], until: float, most_bytes: int) -> tuple[bytes, str]:
    """All that it prints, and why that is not the whole."""
    pipe = process.stdout
    assert pipe is not None
    data = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while (left := until - time.monotonic()) > 0 and selector.select(left):
            chunk = os.read(pipe.fileno(), 65_536)
            data += chunk
            if not chunk:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.0, until - time.monotonic()))
                    return data, ""
                break
            if len(data) > most_bytes:
                return data[:most_bytes], "too long"
    return data, "no answer"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop it and what it started; one that the kernel holds is left behind."""
    _kill(process)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_REAPING_SECONDS)
    if process.stdout:
        process.stdout.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def reading(source: str, read: Callable[[], bytes]) -> Output:
    """What a reader of a file returns, or why it cannot."""
    try:
        return Output(source, read())
    except OSError as error:
        return _unreadable(source, error)


def _unreadable(source: str, error: OSError) -> Output:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return missing(source, "not found")
    if error.errno in (errno.EACCES, errno.EPERM):
        return missing(source, "no permission")
    return Output(source, b"", Missing(what=source, why="failed", detail=error.strerror or ""))


def missing(source: str, why: str, data: bytes = b"") -> Output:
    """With the last line that the command printed as detail."""
    from npu_kb.intake.clean import decode, printable

    printed = decode(data[-2000:]).strip().splitlines() if why == "failed" else []
    detail = printable(printed[-1]).strip()[:200] if printed else ""
    return Output(source, data, Missing(what=source, why=why, detail=detail))
