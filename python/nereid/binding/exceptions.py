# SPDX-License-Identifier: Apache-2.0
"""The exceptions of nereid.pytriton, with PyTriton's names."""

from __future__ import annotations


class PyTritonError(Exception):
    """The base class. message: the text."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message


class PyTritonValidationError(PyTritonError):
    """A value is wrong."""


class PyTritonInvalidOperationError(PyTritonError):
    """The operation is not possible in the present state."""


class PyTritonBadParameterError(PyTritonError):
    """A parameter is wrong."""


class PyTritonModelConfigError(PyTritonError):
    """A model configuration is wrong."""


class PyTritonUnrecoverableError(PyTritonError):
    """Raised by a function that cannot serve any more: the server stops."""


class PyTritonRuntimeError(PyTritonError):
    """Something failed while the server ran."""
