# SPDX-License-Identifier: Apache-2.0
"""Memory for outputs, in the form of Triton 2.51."""

from __future__ import annotations

import abc
import importlib
import importlib.util
from typing import Any

import numpy as np

from nereid.enums import MemoryType
from nereid.memory import MemoryBuffer


class MemoryAllocator(abc.ABC):
    """An object that gives memory of one kind."""

    @abc.abstractmethod
    def allocate(self, size: int, memory_type: MemoryType, memory_type_id: int) -> MemoryBuffer:
        """Returns memory of `size` bytes."""


class _CPUAllocator(MemoryAllocator):
    def allocate(self, size: int, memory_type: MemoryType, memory_type_id: int) -> MemoryBuffer:
        array = np.empty(size, np.uint8)
        return MemoryBuffer(array.ctypes.data, MemoryType.CPU, 0, size, array)


class _GPUAllocator(MemoryAllocator):
    def allocate(self, size: int, memory_type: MemoryType, memory_type_id: int) -> MemoryBuffer:
        cupy: Any = importlib.import_module("cupy")
        with cupy.cuda.Device(memory_type_id):
            array = cupy.empty(size, cupy.uint8)
        return MemoryBuffer(array.data.ptr, MemoryType.GPU, memory_type_id, size, array)


#: The allocators by kind of memory. Outputs can be had in these kinds; on GPUs with CuPy.
default_memory_allocators: dict[MemoryType, MemoryAllocator] = {MemoryType.CPU: _CPUAllocator()}
if importlib.util.find_spec("cupy") is not None:
    default_memory_allocators[MemoryType.GPU] = _GPUAllocator()
