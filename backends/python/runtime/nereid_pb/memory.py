# SPDX-License-Identifier: Apache-2.0
"""PreferredMemory: where a model wants the outputs of a call."""

from __future__ import annotations

import enum

from . import arguments


class MemoryType(enum.IntEnum):
    """The kind of memory. The numbers are those of this interface, not those of the C API."""

    TRITONSERVER_MEMORY_GPU = 0
    TRITONSERVER_MEMORY_CPU = 1


TRITONSERVER_MEMORY_GPU = MemoryType.TRITONSERVER_MEMORY_GPU
TRITONSERVER_MEMORY_CPU = MemoryType.TRITONSERVER_MEMORY_CPU

# TRITONSERVER_MemoryType.
_IN_C = {TRITONSERVER_MEMORY_CPU: 0, TRITONSERVER_MEMORY_GPU: 2}


class PreferredMemory:
    """The memory in which a called model should write its outputs.

    With the GPU, outputs that the called model writes in CPU memory stay there; with the CPU, those that
    it writes on a GPU are copied. Without a preference outputs are where the called model has them.
    """

    __slots__ = ("_device_id", "_memory_type")

    def __init__(self, preferred_memory_type: MemoryType, preferred_device_id: int = 0) -> None:
        if not isinstance(preferred_memory_type, MemoryType):
            raise TypeError("PreferredMemory: the type must be TRITONSERVER_MEMORY_CPU or "
                            f"TRITONSERVER_MEMORY_GPU, not {preferred_memory_type!r}")
        self._memory_type = _IN_C[preferred_memory_type]
        self._device_id = arguments.integer(
            "PreferredMemory: the device", preferred_device_id, arguments.MIN_INT64, arguments.MAX_INT64)
