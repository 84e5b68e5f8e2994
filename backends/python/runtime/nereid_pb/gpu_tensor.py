# SPDX-License-Identifier: Apache-2.0
"""GpuTensor: a tensor in the memory of a GPU."""

from __future__ import annotations

import math
import typing

import numpy as np

from . import cuda, datatypes, dlpack
from .errors import TritonModelException
from .tensor import Tensor


class SegmentUse:
    """One use of a segment on a GPU by a message of the server. The segment is used again when neither
    this object nor a tensor that refers to it exists any more."""

    __slots__ = ("__weakref__", "memory")

    def __init__(self, memory: cuda.SharedMemory) -> None:
        self.memory = memory


class GpuTensor(Tensor):
    """A tensor in GPU memory: of another library, or one that was received.

    The memory of one that was received is opened when the model first uses it, so that a failure of the
    driver is an error of the model's call.
    """

    # _source: the SegmentUse of a tensor that was received, which begins at _offset; else what keeps the
    # memory of another library, and _address and _device are set.
    __slots__ = ("_address", "_device", "_source")

    _address: int
    _device: int
    _source: typing.Any

    @staticmethod
    def _received_on_gpu(name: str, data_type: int, shape: tuple[int, ...], use: SegmentUse,
                         offset: int, byte_size: int) -> GpuTensor:
        """Returns the tensor of a message, whose content is `byte_size` bytes from `offset` on."""
        tensor = _make(name, data_type, shape, byte_size, use)
        tensor._offset = offset
        tensor._address = 0
        tensor._device = -1
        return tensor

    @staticmethod
    def _imported(name: str, found: dlpack.Imported) -> GpuTensor:
        """Returns a tensor that shares the memory of another library."""
        size = math.prod(found.shape) * datatypes.DTYPES[found.data_type].itemsize
        tensor = _make(name, found.data_type, tuple(found.shape), size, found.owner)
        tensor._offset = 0
        tensor._address = found.address
        tensor._device = found.device
        return tensor

    def _locate(self) -> tuple[int, int]:
        """Returns the device and the address. Raises CudaError."""
        if self._address == 0 and isinstance(self._source, SegmentUse):
            memory = self._source.memory.open()
            self._device = memory.device
            self._address = memory.address + self._offset
        return self._device, self._address

    @property
    def nbytes(self) -> int:
        """The size of the content in bytes."""
        return self._byte_size

    def _payload(self) -> GpuTensor:
        """Returns the tensor itself: its content has no buffer of the host."""
        return self

    def _to_host(self) -> bytearray:
        """Returns a copy of the content. Raises CudaError."""
        device, address = self._locate()
        return cuda.driver().read(device, address, self._byte_size)

    def is_cpu(self) -> bool:
        """Returns False."""
        return False

    def as_numpy(self) -> np.ndarray:
        """Raises TritonModelException: the array would be in host memory."""
        raise TritonModelException("Tensor is stored in GPU and cannot be converted to NumPy.")

    def to_dlpack(self) -> typing.Any:
        """Returns a DLPack capsule that shares the memory. Its content is complete."""
        device, address = self._locate()
        return dlpack.export_memory(address, device, self._data_type, self._shape, self)

    def __dlpack__(self, stream: typing.Any = None, *, max_version: typing.Any = None,
                   dl_device: typing.Any = None, copy: bool | None = None) -> typing.Any:
        """Returns a DLPack capsule, as to_dlpack() does, for a reader on any stream."""
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"The tensor is in GPU memory, not on the device {dl_device}.")
        if copy:
            raise BufferError("A tensor in GPU memory is not copied by its export.")
        return self.to_dlpack()

    def __dlpack_device__(self) -> tuple[int, int]:
        """Returns the device of the memory: 2, which is CUDA, and its number in this process."""
        return (dlpack.CUDA, self._locate()[0])


def _make(name: str, data_type: int, shape: tuple[int, ...], byte_size: int,
          source: typing.Any) -> GpuTensor:
    tensor = object.__new__(GpuTensor)
    tensor._name = name
    tensor._data_type = data_type
    tensor._shape = shape
    tensor._array = None
    tensor._content = None
    tensor._buffer = None
    tensor._byte_size = byte_size
    tensor._source = source
    return tensor
