# SPDX-License-Identifier: Apache-2.0
"""The exceptions of the package. All of them derive from Error; each has the code that the C API,
HTTP and gRPC have for the same error."""

from __future__ import annotations

from nereid import _core


class Error(Exception):
    """An error of the server: its base class."""


class UnknownError(Error):
    """An error without a known cause."""


class InternalError(Error):
    """An error of the server, a backend or a model."""


class NotFoundError(Error):
    """The model, version, file or metric does not exist."""


class InvalidArgumentError(Error):
    """An argument, a request or a setting is wrong."""


class UnavailableError(Error):
    """The model or the server cannot answer at present, or a limit is reached."""


class UnsupportedError(Error):
    """The operation or the conversion is not supported."""


class AlreadyExistsError(Error):
    """The object exists already."""


class CancelledError(Error):
    """The request was cancelled."""


class ForkedError(Error):
    """The process was forked after a server had started. The server's threads exist in the parent
    only, so nothing of it works here."""


#: By the values of the codes of the C API; last the error of a forked process.
_BY_CODE: tuple[type[Error], ...] = (
    UnknownError,
    InternalError,
    NotFoundError,
    InvalidArgumentError,
    UnavailableError,
    UnsupportedError,
    AlreadyExistsError,
    CancelledError,
    ForkedError,
)
_core.set_error_classes(_BY_CODE)


def make_error(code: int, message: str) -> Error:
    """Returns the exception of a code of the C API."""
    return (_BY_CODE[code] if 0 <= code < len(_BY_CODE) else UnknownError)(message)
