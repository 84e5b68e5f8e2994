# SPDX-License-Identifier: Apache-2.0
"""Memory for outputs, in the form of Triton 2.51."""

from __future__ import annotations

import abc

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


#: The allocators by kind of memory.
default_memory_allocators: dict[MemoryType, MemoryAllocator] = {MemoryType.CPU: _CPUAllocator()}
