# SPDX-License-Identifier: Apache-2.0
"""Logger: writes to the server's log."""

from __future__ import annotations

import enum
import os.path
import sys
import typing

from nereid_worker import host as hosts

from . import arguments


class LogLevel(enum.IntEnum):
    """The level of a line of the log."""

    INFO = 0
    WARNING = 1
    ERROR = 2
    VERBOSE = 3


def _write(level: LogLevel, message: typing.Any) -> None:
    """Writes a line with the file and the line of the caller's caller."""
    message = arguments.text("Logger: the message", message)
    if not isinstance(level, LogLevel):
        raise TypeError("Logger: the level must be Logger.INFO, Logger.WARNING, Logger.ERROR or "
                        f"Logger.VERBOSE, not {level!r}")
    caller = sys._getframe(2)  # the fast way to the caller
    file = os.path.basename(caller.f_code.co_filename)
    hosts.current().log(int(level), message, file, caller.f_lineno)


class Logger:
    """Writes lines to the server's log, on any thread. All functions are static."""

    INFO: typing.ClassVar[LogLevel] = LogLevel.INFO
    WARNING: typing.ClassVar[LogLevel] = LogLevel.WARNING
    ERROR: typing.ClassVar[LogLevel] = LogLevel.ERROR
    VERBOSE: typing.ClassVar[LogLevel] = LogLevel.VERBOSE

    def __init__(self) -> None:
        raise TypeError("Logger has no objects: call its functions, such as Logger.log_info()")

    @staticmethod
    def log(message: str | bytes, level: LogLevel = LogLevel.INFO) -> None:
        """Writes a line of the given level."""
        _write(level, message)

    @staticmethod
    def log_info(message: str | bytes) -> None:
        """Writes a line of the level INFO."""
        _write(LogLevel.INFO, message)

    @staticmethod
    def log_warn(message: str | bytes) -> None:
        """Writes a line of the level WARNING."""
        _write(LogLevel.WARNING, message)

    @staticmethod
    def log_error(message: str | bytes) -> None:
        """Writes a line of the level ERROR."""
        _write(LogLevel.ERROR, message)

    @staticmethod
    def log_verbose(message: str | bytes) -> None:
        """Writes a line of the level VERBOSE, which the server shows if it is started so."""
        _write(LogLevel.VERBOSE, message)
