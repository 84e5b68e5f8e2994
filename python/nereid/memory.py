# SPDX-License-Identifier: Apache-2.0
"""Where the bytes of tensors are: kinds of memory, devices, buffers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Union

from nereid import _core
from nereid.enums import DataType, MemoryType
from nereid.errors import InvalidArgumentError


class DLDeviceType(int):
    """A kind of device, with DLPack's numbers. Its members are class attributes."""

    kDLCPU: ClassVar[DLDeviceType]
    kDLCUDA: ClassVar[DLDeviceType]
    kDLCUDAHost: ClassVar[DLDeviceType]
    kDLOpenCL: ClassVar[DLDeviceType]
    kDLVulkan: ClassVar[DLDeviceType]
    kDLMetal: ClassVar[DLDeviceType]
    kDLVPI: ClassVar[DLDeviceType]
    kDLROCM: ClassVar[DLDeviceType]
    kDLROCMHost: ClassVar[DLDeviceType]
    kDLExtDev: ClassVar[DLDeviceType]
    kDLCUDAManaged: ClassVar[DLDeviceType]
    kDLOneAPI: ClassVar[DLDeviceType]
    kDLWebGPU: ClassVar[DLDeviceType]
    kDLHexagon: ClassVar[DLDeviceType]

    @property
    def value(self) -> int:
        """The number, as the ctypes type of the same name has it."""
        return int(self)


for _name, _number in {
    "kDLCPU": 1,
    "kDLCUDA": 2,
    "kDLCUDAHost": 3,
    "kDLOpenCL": 4,
    "kDLVulkan": 7,
    "kDLMetal": 8,
    "kDLVPI": 9,
    "kDLROCM": 10,
    "kDLROCMHost": 11,
    "kDLExtDev": 12,
    "kDLCUDAManaged": 13,
    "kDLOneAPI": 14,
    "kDLWebGPU": 15,
    "kDLHexagon": 16,
}.items():
    setattr(DLDeviceType, _name, DLDeviceType(_number))

#: A place for a tensor: a kind of memory, with the number of the device, or as text ("cpu",
#: "cpu_pinned", "gpu", "gpu:1").
DeviceLike = Union[MemoryType, tuple[MemoryType, int], tuple[DLDeviceType, int], str]

_DLPACK_OF_MEMORY = {MemoryType.CPU: 1, MemoryType.CPU_PINNED: 3, MemoryType.GPU: 2}
_MEMORY_OF_DLPACK = {number: memory for memory, number in _DLPACK_OF_MEMORY.items()}


def dlpack_device(memory_type: MemoryType, memory_type_id: int) -> tuple[int, int]:
    """Returns DLPack's device of a place."""
    return _DLPACK_OF_MEMORY[memory_type], memory_type_id


def memory_of_dlpack(device_type: int) -> MemoryType:
    """Returns the kind of memory of a device of DLPack."""
    memory_type = _MEMORY_OF_DLPACK.get(int(device_type))
    if memory_type is None:
        raise InvalidArgumentError(f"DLPack device type {int(device_type)} not supported")
    return memory_type


def _parse_text(text: str) -> tuple[MemoryType, int]:
    kind, _, number = text.partition(":")
    try:
        memory_type = MemoryType[kind.upper()]
    except KeyError:
        raise InvalidArgumentError(
            f"Unsupported Memory Type String. Can't convert {text} to Triton server memory type"
        ) from None
    try:
        return memory_type, int(number) if number else 0
    except ValueError:
        raise InvalidArgumentError(f"Invalid memory type string {text}") from None


def parse_device(device: DeviceLike) -> tuple[MemoryType, int]:
    """Returns a place as a kind of memory and the number of the device.

    Raises InvalidArgumentError for texts and types that name no place."""
    if isinstance(device, MemoryType):
        return device, 0
    if isinstance(device, str):
        return _parse_text(device)
    if isinstance(device, tuple) and len(device) == 2:
        kind, number = device
        if isinstance(kind, MemoryType):
            return kind, int(number)
        if isinstance(kind, DLDeviceType):
            return memory_of_dlpack(kind), int(number)
    raise InvalidArgumentError(f"Memory type {device} not supported")


def read_dlpack(owner: Any) -> tuple[DataType, tuple[int, ...], MemoryBuffer]:
    """Returns the type, the shape and the memory of an object with DLPack's protocol, without a
    copy. The memory belongs to the object until the result is deleted.

    Raises InvalidArgumentError for objects without the protocol, with elements that are not
    contiguous, and with types that the server does not have."""
    if not hasattr(owner, "__dlpack__") or not hasattr(owner, "__dlpack_device__"):
        raise InvalidArgumentError("Object does not support DLpack protocol")
    try:
        device_type, _ = owner.__dlpack_device__()
        on_gpu = int(device_type) == _DLPACK_OF_MEMORY[MemoryType.GPU]
        # 1 is the stream on which all work of the legacy default stream has been done.
        capsule = owner.__dlpack__(stream=1) if on_gpu else owner.__dlpack__()
        number, shape, address, size, device_type, device, keeper, contiguous = _core.import_dlpack(
            capsule
        )
    except Exception as error:
        raise InvalidArgumentError(f"Object does not support DLPack protocol: {error}") from error
    if not contiguous:
        raise InvalidArgumentError("Only contiguous memory is supported")
    if number == DataType.INVALID:
        raise InvalidArgumentError("The data type of the DLPack object is not supported")
    buffer = MemoryBuffer(address, memory_of_dlpack(device_type), device, size, (owner, keeper))
    return DataType(number), shape, buffer


@dataclass
class MemoryBuffer:
    """Bytes that an object owns.

    data_ptr: the address. memory_type, memory_type_id: where it is. size: bytes. owner: an object
    that keeps the memory; it is kept as long as the buffer."""

    data_ptr: int
    memory_type: MemoryType
    memory_type_id: int
    size: int
    owner: Any

    @staticmethod
    def from_dlpack(owner: Any) -> MemoryBuffer:
        """Returns the memory of an object with DLPack's protocol, without a copy."""
        return read_dlpack(owner)[2]
