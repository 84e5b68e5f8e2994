# SPDX-License-Identifier: Apache-2.0
"""The processes below a server, and what they leave."""

import collections
import contextlib
import os
from pathlib import Path


def children(pid):
    """Returns the processes below `pid`, without those that have ended and were not waited for."""
    found = []
    for task in _tasks(pid):
        try:
            direct = [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
        for child in direct:
            if state(child) not in ("", "Z"):
                found += [child, *children(child)]
    return found


def zombies(pid):
    """Returns the children of `pid` that have ended and were not waited for."""
    return [int(child) for task in _tasks(pid)
            for child in _read(task / "children").split() if state(int(child)) == "Z"]


def state(pid):
    """Returns the state of a process (R, S, Z …), or "" if there is no such process."""
    text = _read(Path(f"/proc/{pid}/stat"))
    return text.rpartition(")")[2].split()[0] if text else ""


def command(pid):
    return _read(Path(f"/proc/{pid}/cmdline")).replace("\0", " ").strip()


def open_files(pid):
    """Returns how many files of each kind the process has open: sockets, pipes, paths …"""
    kinds = collections.Counter()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            kinds[os.readlink(entry).split(":[")[0]] += 1
    return kinds


def resident(pids):
    """Returns the resident memory of processes, in bytes."""
    return sum(int(_read(Path(f"/proc/{pid}/statm")).split()[1]) * 4096
               for pid in pids if _read(Path(f"/proc/{pid}/statm")))


def shared_memory():
    """Returns the names of all POSIX regions."""
    return {entry.name for entry in Path("/dev/shm").iterdir()}


def _tasks(pid):
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []


def _read(path):
    try:
        return path.read_text()
    except OSError:
        return ""
