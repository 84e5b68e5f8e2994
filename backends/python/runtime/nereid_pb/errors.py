# SPDX-License-Identifier: Apache-2.0
"""TritonError, which is the content of a response, and TritonModelException, which is raised."""

from __future__ import annotations

import enum
import typing

from . import arguments


class ErrorCode(enum.IntEnum):
    """The code of an error. The numbers are those of this interface, not those of the C API."""

    UNKNOWN = 0
    INTERNAL = 1
    NOT_FOUND = 2
    INVALID_ARG = 3
    UNAVAILABLE = 4
    UNSUPPORTED = 5
    ALREADY_EXISTS = 6
    CANCELLED = 7


class TritonError:
    """The error that a response has in place of outputs."""

    __slots__ = ("_code", "_message")

    UNKNOWN: typing.ClassVar[ErrorCode] = ErrorCode.UNKNOWN
    INTERNAL: typing.ClassVar[ErrorCode] = ErrorCode.INTERNAL
    NOT_FOUND: typing.ClassVar[ErrorCode] = ErrorCode.NOT_FOUND
    INVALID_ARG: typing.ClassVar[ErrorCode] = ErrorCode.INVALID_ARG
    UNAVAILABLE: typing.ClassVar[ErrorCode] = ErrorCode.UNAVAILABLE
    UNSUPPORTED: typing.ClassVar[ErrorCode] = ErrorCode.UNSUPPORTED
    ALREADY_EXISTS: typing.ClassVar[ErrorCode] = ErrorCode.ALREADY_EXISTS
    CANCELLED: typing.ClassVar[ErrorCode] = ErrorCode.CANCELLED

    def __init__(self, message: str | bytes, code: ErrorCode = ErrorCode.INTERNAL) -> None:
        message = arguments.text("TritonError: the message", message)
        if not isinstance(code, ErrorCode):
            raise TypeError("TritonError: the code must be one of TritonError.INTERNAL, "
                            f"TritonError.NOT_FOUND …, not {code!r}")
        self._message = message
        self._code = code

    def code(self) -> ErrorCode:
        """Returns the code; int() gives its number."""
        return self._code

    def message(self) -> str:
        """Returns the text."""
        return self._message


class TritonModelException(Exception):
    """An error of a model, or of a call that the model made."""
