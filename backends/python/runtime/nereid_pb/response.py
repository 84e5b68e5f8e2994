# SPDX-License-Identifier: Apache-2.0
"""InferenceResponse: outputs or an error, and parameters."""

from __future__ import annotations

import typing

from . import parameters as parameters_
from .errors import TritonError, TritonModelException
from .tensor import Tensor


class InferenceResponse:
    """A response of a model: one that it makes, or one that it receives from a call."""

    # _parameters: JSON text; b"" if there are none.
    __slots__ = ("_error", "_outputs", "_parameters")

    _outputs: list[Tensor]
    _error: TritonError | None
    _parameters: bytes

    def __init__(self, output_tensors: typing.Sequence[Tensor] = (),
                 error: TritonError | None = None,
                 parameters: dict[str, typing.Any] | None = None) -> None:
        if type(output_tensors) is not list:
            output_tensors = _as_list(output_tensors)
        for tensor in output_tensors:
            if type(tensor) is not Tensor:
                _check_output(tensor)
        if error is not None and not isinstance(error, TritonError):
            raise TypeError(f"InferenceResponse: error must be a TritonError, not {type(error)}")
        self._outputs = typing.cast("list[Tensor]", output_tensors)
        self._error = error
        self._parameters = b"" if parameters is None else parameters_.encode(parameters)

    def output_tensors(self) -> list[Tensor]:
        """Returns the outputs; empty if there is an error."""
        return self._outputs

    def has_error(self) -> bool:
        """Returns whether the response is an error."""
        return self._error is not None

    def error(self) -> TritonError | None:
        """Returns the error, or None."""
        return self._error

    def parameters(self) -> str:
        """Returns the parameters as JSON text."""
        return parameters_.decode(self._parameters)

    @staticmethod
    def _received(outputs: list[Tensor], error: TritonError | None, parameters: bytes
                  ) -> InferenceResponse:
        """Returns the response of a call. `parameters` is JSON text, or b"" if there are none."""
        response = _new(InferenceResponse)
        response._outputs = outputs
        response._error = error
        response._parameters = parameters
        return response


def _as_list(given: typing.Any) -> list[Tensor]:
    if isinstance(given, (str, bytes)) or not hasattr(given, "__getitem__"):
        raise TypeError("InferenceResponse: output_tensors must be a list of Tensor, not "
                        f"{type(given)}")
    return list(given)


def _check_output(tensor: typing.Any) -> None:
    if tensor is None:
        raise TritonModelException("Output tensor for inference response should not be empty.")
    if not isinstance(tensor, Tensor):
        raise TypeError("InferenceResponse: output_tensors must be a list of Tensor; it contains "
                        f"{type(tensor)}")


_new = object.__new__
