# SPDX-License-Identifier: Apache-2.0
"""Makes a virtual environment of a requirements.txt: requirements.py FILE CACHE MOST SECONDS.

The environment is CACHE/KEY, where KEY is a hash of the requirements, of the files that they include
and of the interpreter that runs this program. The environment sees the packages of the interpreter;
those of the requirements come before them. Its folder is written to stdout in a line `folder: ...`,
the lines of pip before it. The reason of a failure is written to stderr, with exit code 1.

CACHE/KEY.lock is locked while the environment is made, and shared by the processes that use it. The
file `complete` is written at the end: an environment without it was interrupted, and is made again.
Afterwards the environments that were used least recently are removed, until MOST are left; those in
use stay.
"""

import contextlib
import ctypes
import fcntl
import hashlib
import os
import shutil
import signal
import site
import stat
import subprocess
import sys
import venv
from typing import IO, Iterator, List, Optional, Set

_MAX_FILE = 1 << 20
_PR_SET_PDEATHSIG = 1
_INCLUDES = ("-r", "-c", "--requirement", "--constraint")
# Lines of pip that a message has at most.
_MAX_LINES = 20


class Refused(Exception):
    """The environment cannot be made; the text says why."""


def read_all(path: str, seen: Set[str]) -> bytes:
    """Returns the requirements and those of the files that they include."""
    path = os.path.realpath(path)
    if path in seen:
        return b""
    seen.add(path)
    with open(path, "rb") as file:
        content = file.read(_MAX_FILE + 1)
    if len(content) > _MAX_FILE:
        raise Refused(f"{path} is larger than {_MAX_FILE} bytes")
    included = b""
    for line in content.decode("utf-8-sig", "replace").splitlines():
        words = line.replace("=", " ").split()
        if len(words) >= 2 and words[0] in _INCLUDES:
            with contextlib.suppress(OSError):  # pip says which file is missing
                included += read_all(os.path.join(os.path.dirname(path), words[1]), seen)
    return content + b"\0" + included


def key_of(path: str) -> str:
    """Returns the name of the environment."""
    digest = hashlib.sha256(read_all(path, set()))
    for part in (sys.version, os.path.realpath(sys.executable), sys.prefix):
        digest.update(b"\0" + part.encode("utf-8", "replace"))
    return digest.hexdigest()[:32]


def open_cache(folder: str) -> None:
    """Makes the folder. Refuses one that other users can write: its files are programs."""
    os.makedirs(folder, 0o700, exist_ok=True)
    status = os.stat(folder)
    if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Refused(f"the folder {folder} of Python environments belongs to another user, or others "
                      "may write to it; change that, or set requirements-directory of the backend")


@contextlib.contextmanager
def locked(path: str, operation: int) -> Iterator[None]:
    """Holds the lock of a file, which another process may remove meanwhile."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, operation)
            if os.path.exists(path) and os.path.samestat(os.fstat(descriptor), os.stat(path)):
                yield
                return
        finally:
            os.close(descriptor)


def die_with_parent() -> None:
    """Ends this process when the thread that has started it ends."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def run(command: List[str], seconds: float, folder: Optional[str] = None) -> None:
    """Runs a command and passes its output on. Raises Refused with its last errors."""
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True,
                          preexec_fn=die_with_parent) as process:
        assert process.stdout is not None
        signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
        signal.setitimer(signal.ITIMER_REAL, seconds)
        lines = pass_on(process.stdout)
        code = process.wait()
        late = signal.getitimer(signal.ITIMER_REAL)[0] == 0
        signal.setitimer(signal.ITIMER_REAL, 0)
    if late:
        raise Refused(f"pip did not end within {seconds:g} s; set requirements-timeout-seconds of the "
                      "backend, or install the packages beforehand")
    if code != 0:
        errors = [line for line in lines if line.startswith("ERROR:")] or lines[-5:]
        raise Refused(" ".join(errors) or f"pip ended with code {code}")


def pass_on(output: IO[bytes]) -> List[str]:
    """Writes the lines to stdout and returns the last ones."""
    lines: List[str] = []
    for raw in output:
        line = raw.decode("utf-8", "replace").rstrip()
        if line:
            print(line, flush=True)
            lines = [*lines[-_MAX_LINES:], line]
    return lines


def make(requirements: str, folder: str, seconds: float) -> None:
    """Makes the environment in a folder that may have an unfinished one."""
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, system_site_packages=True, symlinks=True)
    python = os.path.join(folder, "bin", "python3")
    if sys.prefix != sys.base_prefix:
        # The parent is a virtual environment, whose packages are not those of the system.
        own = subprocess.run([python, "-c", "import site; print(site.getsitepackages()[0])"],
                             capture_output=True, check=True, text=True).stdout.strip()
        with open(os.path.join(own, "_nereid_parent.pth"), "w", encoding="utf-8") as file:
            file.write("\n".join(site.getsitepackages()) + "\n")
    if subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode != 0:
        run([python, "-m", "ensurepip"], seconds)
    run([python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input",
         "--progress-bar=off", "-r", os.path.abspath(requirements)],
        seconds, os.path.dirname(os.path.abspath(requirements)))


def remove_unused(cache: str, most: int) -> None:
    """Removes environments above `most`, the least recently used first, but none in use."""
    def last_use(name: str) -> float:
        with contextlib.suppress(OSError):
            return os.stat(os.path.join(cache, name, "complete")).st_mtime
        return 0.0

    names = sorted((name for name in os.listdir(cache) if not name.endswith(".lock")), key=last_use)
    for name in names[:max(0, len(names) - most)]:
        lock = os.path.join(cache, name + ".lock")
        with contextlib.suppress(BlockingIOError):
            with locked(lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
                shutil.rmtree(os.path.join(cache, name), ignore_errors=True)
                os.remove(lock)


def provide(requirements: str, cache: str, most: int, seconds: float) -> str:
    """Returns the folder of the environment, which is made if there is none."""
    open_cache(cache)
    key = key_of(requirements)
    folder = os.path.join(cache, key)
    complete = os.path.join(folder, "complete")
    with locked(os.path.join(cache, key + ".lock"), fcntl.LOCK_EX):
        if not os.path.exists(complete):
            make(requirements, folder, seconds)
        with open(complete, "w", encoding="utf-8"):
            pass  # its time says when the environment was used
        os.utime(complete)
    remove_unused(cache, most)
    return folder


def main() -> int:
    """Runs the program."""
    die_with_parent()
    requirements, cache, most, seconds = sys.argv[1:5]
    try:
        print("folder: " + provide(requirements, cache, int(most), float(seconds)), flush=True)
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    except (OSError, subprocess.SubprocessError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
