# SPDX-License-Identifier: Apache-2.0
"""The start of a worker: settles the process, says hello, and serves the model if the interpreter can.

This file and protocol.py have no syntax that an interpreter which is too old does not know.
"""

import ctypes
import os
import signal
import socket
import sys
from typing import Optional

from nereid_worker import protocol

_WORK = 3
_PR_SET_PDEATHSIG = 1
_MIN_PYTHON = (3, 9)
_OTHER = ("Another interpreter is used if its python3 is first in PATH, if it is named with "
          "--backend-config=python,interpreter=PATH, or in the model parameter 'python'.")


def main() -> None:
    """Runs the worker to its end. Does not return. With the argument `check`, prints why the interpreter
    cannot run models, if that is so, and ends."""
    problem = _problem()
    if sys.argv[1:] == ["check"]:
        print(problem or "", end="")
        sys.exit(0 if problem is None else 1)
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
        return (version + " is too old to run Python models, which need Python 3.9 or newer. "
                + _OTHER)
    try:
        import numpy
    except ImportError as error:
        return (version + " cannot run Python models: " + str(error) + ". Install numpy for it, or "
                "take another one. " + _OTHER)
    numbers = numpy.__version__.split(".")
    if (int(numbers[0]), int(numbers[1])) < (1, 20):
        return (version + " has NumPy " + numpy.__version__ + ", but Python models need 1.20 or "
                "newer: install numpy for it again. " + _OTHER)
    return None


def _refuse(problem: str) -> None:
    """Answers the first call with an error."""
    work = socket.socket(fileno=_WORK)
    work.send(protocol.HEADER.pack(protocol.HELLO, 0, 0, 0, 0)
              + protocol.U32.pack(protocol.VERSION))
    text = problem.encode()
    work.send(protocol.HEADER.pack(protocol.DONE, 0, 0, 0, 0)
              + protocol.DONE_BODY.pack(0, 0, 0, 0, len(text)) + text)
    work.recv(1)
    os._exit(1)
