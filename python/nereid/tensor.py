# SPDX-License-Identifier: Apache-2.0
"""Tensors, and the objects that can be one: NumPy arrays, lists, objects with DLPack."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from nereid import _core
from nereid.enums import DataType, MemoryType
from nereid.errors import InvalidArgumentError, UnsupportedError
from nereid.memory import DeviceLike, MemoryBuffer, dlpack_device, parse_device, read_dlpack

_NUMPY_TYPES: dict[DataType, Any] = {
    DataType.BOOL: np.bool_,
    DataType.UINT8: np.uint8,
    DataType.UINT16: np.uint16,
    DataType.UINT32: np.uint32,
    DataType.UINT64: np.uint64,
    DataType.INT8: np.int8,
    DataType.INT16: np.int16,
    DataType.INT32: np.int32,
    DataType.INT64: np.int64,
    DataType.FP16: np.float16,
    DataType.FP32: np.float32,
    DataType.FP64: np.float64,
}
_DATA_TYPES = {np.dtype(numpy_type): data_type for data_type, numpy_type in _NUMPY_TYPES.items()}
_TEXT_KINDS = frozenset("SUO")


def data_type_of(dtype: np.dtype[Any]) -> DataType:
    """Returns the server's type of a NumPy type; text and objects are BYTES.

    Raises InvalidArgumentError for types that the server does not have."""
    if dtype.kind in _TEXT_KINDS:
        return DataType.BYTES
    if dtype.name == "bfloat16":  # of ml_dtypes
        return DataType.BF16
    data_type = _DATA_TYPES.get(dtype.newbyteorder("="))
    if data_type is None:
        raise InvalidArgumentError(f"NumPy type {dtype} not supported")
    return data_type


def numpy_type_of(data_type: DataType) -> Any:
    """Returns the NumPy type of a type of the server; np.object_ for BYTES.

    Raises InvalidArgumentError for BF16, which NumPy does not have."""
    if data_type is DataType.BYTES:
        return np.object_
    try:
        return _NUMPY_TYPES[data_type]
    except KeyError:
        raise InvalidArgumentError(f"NumPy has no type for {data_type}") from None


@dataclass
class Tensor:
    """A tensor: the type of its elements, its shape, and its bytes in memory.

    Elements are contiguous, the last dimension first. An element of BYTES is its length (4 bytes,
    of the machine's byte order) and its bytes. NumPy, PyTorch and others read a tensor without a
    copy by DLPack: ``numpy.from_dlpack(tensor)``, ``torch.from_dlpack(tensor)``."""

    data_type: DataType
    shape: Sequence[int]
    memory_buffer: MemoryBuffer

    @property
    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self.memory_buffer.data_ptr

    @property
    def memory_type(self) -> MemoryType:
        """The kind of memory."""
        return self.memory_buffer.memory_type

    @property
    def memory_type_id(self) -> int:
        """The number of the device."""
        return self.memory_buffer.memory_type_id

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.memory_buffer.size

    # ---- Conversions from other objects ----

    @staticmethod
    def from_dlpack(obj: Any) -> Tensor:
        """Returns a tensor in the memory of an object with DLPack's protocol, without a copy."""
        return Tensor(*read_dlpack(obj))

    @staticmethod
    def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
        """Returns a tensor of an array. Copies arrays that are not contiguous or not of the
        machine's byte order, and text."""
        data_type = data_type_of(array.dtype)
        if data_type is DataType.BYTES:
            return Tensor.from_bytes_array(array)
        kept = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
        buffer = MemoryBuffer(kept.ctypes.data, MemoryType.CPU, 0, kept.nbytes, kept)
        return Tensor(data_type, array.shape, buffer)

    @staticmethod
    def from_bytes_array(bytes_array: Any) -> Tensor:
        """Returns a BYTES tensor of an array or list of bytes, str or objects; str become UTF-8."""
        array = _text_array(bytes_array)
        if array.dtype.kind not in _TEXT_KINDS:
            raise InvalidArgumentError(
                f"Unsupported conversion from {type(bytes_array)} to Triton BYTES Tensor. "
                f"Got {array.dtype}"
            )
        address, size, owner = _core.pack_strings(array.ravel().tolist())
        buffer = MemoryBuffer(address, MemoryType.CPU, 0, size, owner)
        return Tensor(DataType.BYTES, array.shape, buffer)

    @staticmethod
    def from_string_array(string_array: Any) -> Tensor:
        """Returns a BYTES tensor of an array or list of str, as UTF-8."""
        return Tensor.from_bytes_array(string_array)

    # ---- Conversions to other objects ----

    def to_bytes_array(self) -> np.ndarray[Any, Any]:
        """Returns a BYTES tensor as an array of bytes objects."""
        if self.data_type != DataType.BYTES:
            raise InvalidArgumentError(
                f"Tensor has data type {self.data_type} not {DataType.BYTES}"
            )
        tensor = self.to_host()
        items = _core.unpack_strings(tensor.data_ptr, tensor.size)
        array = np.empty(len(items), dtype=np.object_)
        array[:] = items
        return array.reshape(tuple(self.shape))

    def to_string_array(self) -> np.ndarray[Any, Any]:
        """Returns a BYTES tensor, whose elements are UTF-8, as an array of str."""
        array = self.to_bytes_array()
        texts = [item.decode("utf-8") for item in array.ravel()]
        strings: np.ndarray[Any, Any] = np.array(texts, dtype=np.str_).reshape(array.shape)
        return strings

    def numpy(self) -> np.ndarray[Any, Any]:
        """Returns the tensor as an array: a view of its memory, or a copy for BYTES (an array of
        bytes objects) and from a GPU."""
        if self.data_type == DataType.BYTES:
            return self.to_bytes_array()
        return np.asarray(self.to_host())

    def to_host(self) -> Tensor:
        """Returns a tensor in memory of the CPU: this one if it is there."""
        return self.to_device(MemoryType.CPU)

    def to_device(self, device: DeviceLike) -> Tensor:
        """Returns a tensor at a place (see DeviceLike): this one if it is there, else a copy.
        Copies need CuPy; without it they raise UnsupportedError."""
        memory_type, number = parse_device(device)
        on_host = (MemoryType.CPU, MemoryType.CPU_PINNED)
        if (memory_type, number) == (self.memory_type, self.memory_type_id) or (
            memory_type == MemoryType.CPU and self.memory_type in on_host
        ):
            return self
        copied = _copy_by_cupy(self, memory_type, number)
        if copied is None:
            raise UnsupportedError(
                f"Conversion from {(self.memory_type, self.memory_type_id)} to "
                f"{(memory_type, number)} not supported."
            )
        return copied

    # ---- Protocols ----

    def __dlpack__(
        self,
        *,
        stream: Optional[int] = None,
        max_version: Optional[tuple[int, int]] = None,
        dl_device: Optional[tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any:
        device = dlpack_device(self.memory_type, self.memory_type_id)
        if copy or (dl_device is not None and tuple(dl_device) != device):
            raise BufferError("a tensor is exported where it is, without a copy")
        self._synchronize(stream)
        if self.data_type in (DataType.BYTES, DataType.INVALID):
            raise InvalidArgumentError(
                "Unsupported Triton server data type. "
                f"Can't convert {self.data_type} to DLPack type"
            )
        versioned = max_version is not None and tuple(max_version) >= (1, 0)
        return _core.export_dlpack(
            self.data_type, tuple(self.shape), self.data_ptr, *device, self, versioned
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack_device(self.memory_type, self.memory_type_id)

    @property
    def __array_struct__(self) -> Any:
        if self.memory_type == MemoryType.GPU:
            raise AttributeError("__array_struct__")
        return _core.export_array_struct(self.data_type, tuple(self.shape), self.data_ptr, True)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray[Any, Any]:
        # For the types without __array_struct__: BYTES, and BF16 if ml_dtypes is installed.
        if self.data_type == DataType.BYTES:
            array = self.to_bytes_array()
        else:
            array = _bfloat16_array(self.to_host())
        return array if dtype is None else array.astype(dtype)

    def _synchronize(self, stream: Optional[int]) -> None:
        """Makes a consumer's stream wait for the tensor."""
        if self.memory_type != MemoryType.GPU:
            if stream not in (None, 0):
                raise UnsupportedError(
                    "DLPack stream synchronization on memory type "
                    f"{self.memory_type} and stream {stream} not supported"
                )
            return
        cupy = _find_cupy()
        if cupy is None:
            raise UnsupportedError(
                "DLPack stream synchronization on memory type "
                f"{self.memory_type} and stream {stream} not supported"
            )
        if stream != -1:  # -1: the consumer waits itself
            with cupy.cuda.Device(self.memory_type_id):
                cupy.cuda.get_current_stream().synchronize()


def _text_array(values: Any) -> np.ndarray[Any, Any]:
    if isinstance(values, np.ndarray):
        return values
    if isinstance(values, (list, tuple)):
        array = np.array(values)
        # NumPy drops trailing zeros of bytes, so that only objects keep what was given.
        return np.array(values, dtype=np.object_) if array.dtype.kind == "S" else array
    return np.asarray(values)


def _bfloat16_array(tensor: Tensor) -> np.ndarray[Any, Any]:
    try:
        import ml_dtypes
    except ImportError:
        raise UnsupportedError(
            "NumPy has no type for BF16; install ml_dtypes, or use DLPack"
        ) from None
    bits = Tensor(DataType.UINT16, tensor.shape, tensor.memory_buffer)
    return np.asarray(bits).view(ml_dtypes.bfloat16)


def _find_cupy() -> Any:
    try:
        import cupy
    except ImportError:
        return None
    return cupy


def _copy_by_cupy(tensor: Tensor, memory_type: MemoryType, number: int) -> Optional[Tensor]:
    cupy = _find_cupy()
    if cupy is None or MemoryType.CPU_PINNED in (memory_type, tensor.memory_type):
        return None
    as_bytes = Tensor(DataType.UINT8, (tensor.size,), tensor.memory_buffer)
    if memory_type == MemoryType.CPU:
        copied = cupy.asnumpy(cupy.from_dlpack(as_bytes))
        buffer = MemoryBuffer(copied.ctypes.data, memory_type, 0, copied.nbytes, copied)
    else:
        with cupy.cuda.Device(number):
            on_gpu = tensor.memory_type == MemoryType.GPU
            copied = cupy.array(cupy.from_dlpack(as_bytes) if on_gpu else np.asarray(as_bytes))
            cupy.cuda.get_current_stream().synchronize()
        buffer = MemoryBuffer(copied.data.ptr, memory_type, number, copied.nbytes, copied)
    return Tensor(tensor.data_type, tensor.shape, buffer)


def tensor_from(value: Any) -> Tensor:
    """Returns a value of a request as a tensor: a Tensor, a NumPy array, a list or tuple, a number
    or a str, or an object with DLPack's protocol.

    Raises InvalidArgumentError for other objects."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray):
        return Tensor.from_numpy(value)
    if hasattr(value, "__dlpack__"):
        return Tensor.from_dlpack(value)
    if isinstance(value, (list, tuple, bool, int, float, str, bytes, np.generic)):
        try:
            return Tensor.from_numpy(_text_array(value))
        except ValueError as error:
            raise InvalidArgumentError(
                f"Conversion from {value!s} to tensor not supported."
            ) from error
    raise InvalidArgumentError(
        f"Input type {type(value)} not supported. Must be one of [Tensor, numpy.ndarray, list] or "
        "the type must support __dlpack__"
    )


def _describe(value: Any) -> _core.TensorTuple:
    """Returns what the extension needs of an input that it cannot read itself."""
    tensor = tensor_from(value)
    buffer = tensor.memory_buffer
    return (
        int(tensor.data_type),
        tuple(tensor.shape),
        buffer.data_ptr,
        buffer.size,
        int(buffer.memory_type),
        buffer.memory_type_id,
        buffer.owner,
    )


_core.set_converter(_describe)


def element_count(shape: Iterable[int]) -> int:
    """Returns the number of elements of a shape."""
    return math.prod(shape)
