"""Scan with the workers of a Dask cluster, where the logs lie on storage that all of them share."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from npu_kb.errors import NpuKbError

_RETRIES = 5
"""How often a part of the work is given to another worker when its own was lost."""
_PATIENCE = "20s"


@contextmanager
def workers_of(address: str) -> Iterator[tuple[Executor, int]]:
    """The cluster's workers as an executor, and how many things they do at once.

    NpuKbError if dask.distributed is not installed, nothing answers at the address, or no worker is there.
    """
    try:
        from distributed import Client
    except ImportError:
        raise NpuKbError("dask.distributed is not installed; install npu-kb[cluster] here and on the workers") from None
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        mend = "give the address that `dask scheduler` prints"
        raise NpuKbError(f"{address}: no Dask scheduler answers ({type(error).__name__}); {mend}") from None
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise NpuKbError(f"{address}: the scheduler has no workers; start `dask worker {address}` on the hosts")
        yield client.get_executor(retries=_RETRIES), threads
