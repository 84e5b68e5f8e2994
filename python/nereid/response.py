# SPDX-License-Identifier: Apache-2.0
"""A response of a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Optional

import numpy as np

from nereid import _core
from nereid.enums import DataType, MemoryType
from nereid.errors import Error, make_error
from nereid.memory import MemoryBuffer
from nereid.tensor import Tensor


class Outputs(Mapping[str, Tensor]):
    """The output tensors of a response by name. They stay valid after the response and the server
    are gone: each keeps its memory."""

    __slots__ = ("_owner", "_tuples")

    def __init__(self, tuples: tuple[_core.OutputTuple, ...], owner: object) -> None:
        self._tuples = {output[0]: output for output in tuples}
        self._owner = owner

    def __getitem__(self, name: str) -> Tensor:
        _, data_type, shape, address, size, memory_type, number = self._tuples[name]
        buffer = MemoryBuffer(address, MemoryType(memory_type), number, size, self._owner)
        return Tensor(DataType(data_type), shape, buffer)

    def described(self, name: str) -> _core.OutputTuple:
        """Returns what the extension says of an output."""
        return self._tuples[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tuples)

    def __len__(self) -> int:
        return len(self._tuples)

    def __repr__(self) -> str:
        return f"Outputs({', '.join(map(repr, self._tuples))})"


_WITHOUT_ARRAY_STRUCT = frozenset((int(DataType.BYTES), int(DataType.BF16)))


class _View:
    """The least that NumPy makes an array of. The array keeps it, and with it the memory."""

    __slots__ = ("__array_struct__", "_owner")

    def __init__(self, struct: object, owner: object) -> None:
        self.__array_struct__ = struct
        self._owner = owner


class Response:
    """A response. ``response["OUT"]`` is an output as a NumPy array, ``response.outputs["OUT"]`` is
    the tensor. An array is a view of the tensor's memory, except for BYTES.

    final: whether it is the last response of its request. error: of a response of a stream that
    failed, None otherwise."""

    __slots__ = ("_tuple", "outputs", "error")

    def __init__(self, response: _core.ResponseTuple) -> None:
        self._tuple = response
        self.outputs = Outputs(response[4], response[7])
        error = response[5]
        self.error: Optional[Error] = make_error(*error) if error is not None else None

    @property
    def model_name(self) -> Optional[str]:
        """The name of the model; None for a final response without content."""
        return self._tuple[0]

    @property
    def model_version(self) -> int:
        """The version of the model that answered."""
        return self._tuple[1]

    @property
    def request_id(self) -> str:
        """The id of the request, or an empty text."""
        return self._tuple[2] or ""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that the model added: str, int, bool or float."""
        return self._tuple[3] or {}

    @property
    def final(self) -> bool:
        """Whether no response of the request follows."""
        return bool(self._tuple[6])

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        _, data_type, shape, address, _, memory_type, _ = self.outputs.described(name)
        if memory_type == MemoryType.GPU or data_type in _WITHOUT_ARRAY_STRUCT:
            return self.outputs[name].numpy()
        struct = _core.export_array_struct(data_type, shape, address, True)
        return np.asarray(_View(struct, self._tuple[7]))

    def __contains__(self, name: object) -> bool:
        return name in self.outputs

    def numpy(self) -> dict[str, np.ndarray[Any, Any]]:
        """Returns all outputs as arrays, by name."""
        return {name: self[name] for name in self.outputs}

    def __repr__(self) -> str:
        return (
            f"Response(model_name={self.model_name!r}, model_version={self.model_version}, "
            f"outputs={list(self.outputs)}, final={self.final})"
        )


def has_content(response: _core.ResponseTuple) -> bool:
    """Returns whether a response is more than the sign that no more come."""
    return response[7] is not None
