"""Which core a worker process is pinned to.

A worker's threads share one interpreter lock: on several cores they fight over it, and small requests cost twice the
CPU time. Pinned to one core they take turns. Only the worker pins itself, before it starts a thread; the gunicorn
master stays free, and so do the workers it forks later.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path


def choose_core(siblings: Iterable[int]) -> int | None:
    """The core for a new worker; None where pinning is not supported or there is only one core.

    The core with the fewest of this server's workers, so that they never share one while another is free; of equals
    the one with the fewest other processes pinned to it, so that two servers on one machine do not either; of those
    the one with the highest number, because core 0 is where most systems take their interrupts.

    :param siblings: the cores of this server's other workers (which may not have pinned themselves yet).
    """
    if not hasattr(os, "sched_setaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0), reverse=True)
    if len(cores) < 2:
        return None
    workers, strangers = Counter(siblings), Counter(_pinned_strangers())
    return min(cores, key=lambda core: (workers[core], strangers[core]))


def _pinned_strangers() -> list[int]:
    """The cores of processes that are pinned to one, without our own children and the kernel's threads."""
    found: list[int] = []
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    for pid in pids:
        try:
            cores = os.sched_getaffinity(pid)
            if len(cores) == 1 and Path(f"/proc/{pid}/cmdline").read_bytes() and _parent(pid) != os.getpid():
                found.extend(cores)
        except OSError:
            continue
    return found


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])


def pin(core: int) -> None:
    """Pin this process, and the threads it starts from now on, to ``core``.

    :raises OSError: the core is not ours to use.
    """
    os.sched_setaffinity(0, {core})
