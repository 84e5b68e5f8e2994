# SPDX-License-Identifier: Apache-2.0
"""The start of a worker: settles the process, says hello, and serves the model if the interpreter can."""

import ctypes
import os
import signal
import socket
import struct
import sys
from typing import Optional

_WORK = 3
_PR_SET_PDEATHSIG = 1
_MIN_PYTHON = (3, 9)
_HELLO = 32
_DONE = 33
_VERSION = 2


def main() -> None:
    """Runs the worker to its end. Does not return."""
    problem = _problem()
    if problem is not None:
        _refuse(problem)
    _settle()
    from nereid_worker.serve import serve
    serve()


def _settle() -> None:
    """Ties the process to the server, which alone ends it."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]


def _problem() -> Optional[str]:
    """Returns why this interpreter cannot run models, or None."""
    version = "Python " + sys.version.split(" ", maxsplit=1)[0] + " (" + sys.executable + ")"
    if sys.version_info < _MIN_PYTHON:
        return (version + " is too old to run Python models, which need Python 3.9 or newer. Put a "
                "newer python3 first in PATH, or name one in the model parameter 'python'.")
    try:
        import numpy
    except ImportError as error:
        return (version + " cannot run Python models: " + str(error) + ". Install numpy for it, put "
                "another python3 first in PATH, or name one in the model parameter 'python'.")
    numbers = numpy.__version__.split(".")
    if (int(numbers[0]), int(numbers[1])) < (1, 20):
        return (version + " has NumPy " + numpy.__version__ + ", but Python models need 1.20 or "
                "newer.")
    return None


def _refuse(problem: str) -> None:
    """Answers the first call with an error, in the form of protocol.py, which needs no import."""
    work = socket.socket(fileno=_WORK)
    work.send(struct.pack("<BBHIQ", _HELLO, 0, 0, 0, 0) + struct.pack("<I", _VERSION))
    text = problem.encode()
    work.send(struct.pack("<BBHIQ", _DONE, 0, 0, 0, 0)
              + struct.pack("<BBBBI", 0, 0, 0, 0, len(text)) + text)
    work.recv(1)
    os._exit(1)
