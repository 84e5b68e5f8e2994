# SPDX-License-Identifier: Apache-2.0
"""Tensor: a name, a data type, a shape, and bytes in C order."""

from __future__ import annotations

import math
import typing

import numpy as np

from . import arguments, byte_strings, datatypes, dlpack
from .errors import TritonModelException

_NUMBERS = datatypes._NUMBERS  # one look-up on the hot path
_BYTES = datatypes.BYTES
_BF16 = datatypes.BF16


class Tensor:
    """A tensor of a request or a response.

    A tensor that a model makes keeps the model's array: no copy is made until it is sent, except of
    arrays that are not in C order. The elements of BYTES tensors are encoded when the tensor is made.
    A tensor that was received decodes its bytes when as_numpy() is called for the first time; its
    array views memory that other readers do not share, so the model may write to it.
    """

    # _array: what as_numpy() returns; None until the first call, and for BF16.
    # _content: for a tensor that the model made, an array in C order, or bytes. None for a tensor that
    # was received, whose bytes are _buffer[_offset : _offset + _byte_size].
    __slots__ = ("_array", "_buffer", "_byte_size", "_content", "_data_type", "_name", "_offset",
                 "_shape")

    _name: str
    _data_type: int
    _shape: typing.Sequence[int]
    _array: np.ndarray | None
    _content: typing.Any
    _buffer: typing.Any
    _offset: int
    _byte_size: int

    def __init__(self, name: str | bytes, array: np.ndarray, /) -> None:
        name = arguments.text("Tensor(name, array): name", name)
        if not isinstance(array, np.ndarray):
            raise TypeError(f"Tensor(name, array): array must be a numpy.ndarray, not {type(array)}")
        data_type = _NUMBERS.get(array.dtype, 0)
        if not name:
            raise TritonModelException("Tensor name cannot be an empty string.")
        if data_type == 0 or data_type == _BYTES:
            self._init_strings(array)
        else:
            self._data_type = data_type
            self._content = array if array.flags.c_contiguous else np.ascontiguousarray(array)
        self._name = name
        self._shape = array.shape
        self._array = array

    def _init_strings(self, array: np.ndarray) -> None:
        if datatypes.number_of(array.dtype) != _BYTES:
            raise TritonModelException("NumPy dtype is not supported.")
        self._data_type = _BYTES
        self._content = byte_strings.encode(array)

    @staticmethod
    def _received(name: str, data_type: int, shape: tuple[int, ...], buffer: typing.Any, offset: int,
                  byte_size: int) -> Tensor:
        """Returns the tensor of a message, whose bytes are buffer[offset : offset + byte_size].

        `buffer` is a bytearray or an array of bytes; the tensor and its arrays keep it.
        """
        tensor = _new(Tensor)
        tensor._name = name
        tensor._data_type = data_type
        tensor._shape = shape
        tensor._array = None
        tensor._content = None
        tensor._buffer = buffer
        tensor._offset = offset
        tensor._byte_size = byte_size
        return tensor

    def _payload(self) -> typing.Any:
        """Returns the bytes of the tensor as an object with the buffer interface, in C order."""
        content = self._content
        return self._bytes() if content is None else content

    def _bytes(self) -> typing.Any:
        """Returns the bytes of a tensor that was received."""
        buffer = self._buffer
        if not isinstance(buffer, np.ndarray):
            buffer = memoryview(buffer)
        return buffer[self._offset:self._offset + self._byte_size]

    def name(self) -> str:
        """Returns the name."""
        return self._name

    def shape(self) -> list[int]:
        """Returns the size of each dimension."""
        return list(self._shape)

    def triton_dtype(self) -> int:
        """Returns the number of the data type (TRITONSERVER_DataType)."""
        return self._data_type

    def is_cpu(self) -> bool:
        """Returns whether the tensor is in the memory of the CPU, and not in that of a GPU."""
        return True

    def as_numpy(self) -> np.ndarray:
        """Returns the array: the model's own, or a view of the bytes that were received.

        BYTES tensors that were received give an array of bytes objects. Raises TritonModelException
        for BF16, which NumPy does not have, and for damaged BYTES.
        """
        array = self._array
        if array is None:
            array = self._array = self._decode()
        return array

    def _decode(self) -> np.ndarray:
        if self._data_type == _BYTES:
            return byte_strings.decode(self._bytes(), math.prod(self._shape)).reshape(self._shape)
        if self._data_type == _BF16:
            raise TritonModelException(
                "Tensor dtype is BF16 and cannot be converted to NumPy. Use to_dlpack() and "
                "from_dlpack() instead.")
        return self._view()

    def _view(self) -> np.ndarray:
        """Returns a view of the bytes of a tensor that was received. The elements of BF16 are 16-bit
        numbers. Raises TritonModelException if the bytes are not those of the shape."""
        shape, size = self._shape, self._byte_size
        dtype = datatypes.DTYPES[self._data_type]
        if math.prod(shape) * dtype.itemsize != size:
            raise TritonModelException(
                f"The tensor '{self._name}' has {size} bytes, which is not the size of its shape "
                f"{list(shape)} and its type {datatypes.NAMES[self._data_type]}.")
        if size == 0:
            return np.empty(shape, dtype)
        return np.ndarray(shape, dtype, self._buffer, self._offset)

    def _elements(self) -> np.ndarray:
        """Returns the array in C order. The elements of BF16 are 16-bit numbers."""
        if self._data_type == _BYTES:
            raise TritonModelException("DLPack does not have support for string tensors.")
        return self._view() if self._content is None else self._content

    def to_dlpack(self) -> typing.Any:
        """Returns a DLPack capsule that shares the memory of the tensor."""
        return dlpack.export(self._elements(), self._data_type)

    def __dlpack__(self, stream: typing.Any = None, *, max_version: typing.Any = None,
                   dl_device: typing.Any = None, copy: bool | None = None) -> typing.Any:
        """Returns a DLPack capsule, as to_dlpack() does. `max_version` is accepted: the capsule has
        the form that readers of every version accept."""
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"The tensor is in CPU memory, not on the device {dl_device}.")
        elements = self._elements()
        return dlpack.export(elements.copy() if copy else elements, self._data_type)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Returns the device of the memory: (1, 0), the CPU."""
        return (dlpack.CPU, 0)

    @staticmethod
    def from_dlpack(name: str | bytes, source: typing.Any) -> Tensor:
        """Returns a tensor that shares the memory of a DLPack capsule, or of an object with the
        methods __dlpack__ and __dlpack_device__. Raises TritonModelException: see dlpack.import_.
        """
        name = arguments.text("from_dlpack(name, source): name", name)
        if not name:
            raise TritonModelException("Tensor name cannot be an empty string.")
        found = dlpack.import_(source)
        if found.kind == dlpack.CUDA:
            from .gpu_tensor import GpuTensor  # which derives from this class
            return GpuTensor._imported(name, found)
        number, array = found.data_type, found.array()
        tensor = _new(Tensor)
        tensor._name = name
        tensor._data_type = number
        tensor._shape = array.shape
        tensor._content = array
        tensor._array = None if number == _BF16 else array
        return tensor


_new = object.__new__
