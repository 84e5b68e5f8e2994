# SPDX-License-Identifier: Apache-2.0
"""The shared memory of server and worker: segments that the server fills, and segments of the worker.

A segment is in host memory or in that of a GPU.
"""

import fcntl
import mmap
import os
import sys
import threading
import weakref
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
from nereid_pb.cuda import SharedMemory
from nereid_pb.gpu_tensor import SegmentUse

from .protocol import WORKER_SEGMENT

_LEAST = 64 << 10
# GPU memory is allocated in units of this size.
_LEAST_ON_GPU = 2 << 20
# Free segments of the worker above this sum are given back to the system.
_KEPT = 64 << 20
_ALIGNMENT = 64

_F_ADD_SEALS = getattr(fcntl, "F_ADD_SEALS", 1033)
_SIZE_SEALS = 0x1 | 0x2 | 0x4  # F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW


class ServerSegments:
    """The segments that the server has announced. Some are blocks of a larger one, the arena, in which
    the server receives inputs.

    Each time the server passes one, an array of bytes is made that stands for this use. When neither
    that array nor any view of it exists any more, the segment is in `released`, and the next message
    gives it back to the server.
    """

    __slots__ = ("_held", "_maps", "_uses", "released")

    def __init__(self) -> None:
        # With their addresses.
        self._maps: Dict[int, Tuple[Any, int]] = {}
        # By the id of the array: the reference whose callback releases the segment, the segment, and the
        # address of the memory.
        self._uses: Dict[int, Tuple[Any, int, int]] = {}
        # The arrays that were passed as outputs without a copy, until the server has read them.
        self._held: Dict[int, List[Any]] = {}
        self.released: List[int] = []

    def hold(self, segment: int, array: Any) -> None:
        """Keeps a use of the segment until the server says that it has read a message with it."""
        self._held.setdefault(segment, []).append(array)

    def let_go(self, segment: int) -> None:
        """Ends what one hold() began."""
        held = self._held.get(segment)
        if held:
            held.pop(0)
            if not held:
                self._held.pop(segment, None)

    def announce(self, segment: int, size: int, file: int, uuid: bytes = b"") -> None:
        """Maps a segment, or forgets it if `size` is 0. `uuid` names the GPU of one that is on a GPU;
        the driver maps it when a tensor in it is used."""
        if size == 0:
            self._maps.pop(segment, None)
            return
        if uuid:
            self._maps[segment] = SharedMemory(uuid, size, file), 0
            return
        try:
            memory = mmap.mmap(file, size)
            self._maps[segment] = memory, _address(np.frombuffer(memory, np.uint8))
        finally:
            os.close(file)

    def announce_block(self, segment: int, arena: int, offset: int, size: int) -> None:
        """Makes a part of the arena a segment."""
        memory = memoryview(self._maps[arena][0])[offset:offset + size]
        self._maps[segment] = memory, _address(np.frombuffer(memory, np.uint8))

    def use(self, segment: int) -> Any:
        """Returns the array that stands for one use of a segment, or the SegmentUse of one on a GPU."""
        memory, address = self._maps[segment]
        array: Any = (SegmentUse(memory) if type(memory) is SharedMemory
                      else np.frombuffer(memory, np.uint8))
        key = id(array)

        def release(_: Any) -> None:
            self._uses.pop(key, None)
            self.released.append(segment)

        self._uses[key] = (weakref.ref(array, release), segment, address)
        return array

    def find(self, array: Any) -> Optional[Tuple[int, int]]:
        """Returns segment and offset of an array that lies in a segment; None for any other."""
        base = array
        while isinstance(base, np.ndarray):
            use = self._uses.get(id(base))
            if use is not None and use[0]() is base:
                return use[1], _address(array) - use[2]
            base = base.base
        return None

    def size(self, segment: int) -> int:
        """Returns the size of a segment that is mapped; 0 if it is not."""
        found = self._maps.get(segment)
        return 0 if found is None else len(found[0])

    def take_released(self) -> List[int]:
        """Returns the segments that were released, and forgets them."""
        released = self.released
        if not released:
            return released
        taken = released[:]
        del released[:len(taken)]
        return taken


class OutputSegments:
    """The segments in which the worker passes outputs. Each belongs to one message until the server
    says that it has read it. May be used on any thread."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        # With the number of the GPU; -1 for host memory.
        self._segments: Dict[int, Tuple[Any, int]] = {}
        self._free: List[int] = []
        self._total = 0
        self._next = WORKER_SEGMENT
        # Those that the server is to forget.
        self.dropped: List[int] = []

    def take(self, size: int, device: int = -1) -> Tuple[int, Any, int]:
        """Returns a segment of at least `size` bytes on a GPU, or in host memory: its id, its memory, and
        its file if the server does not know it yet, else -1. The caller closes the file after it has
        passed it.

        Raises MemoryError if the limit is reached, and CudaError if the GPU has too little memory.
        """
        least = _LEAST if device < 0 else _LEAST_ON_GPU
        with self._lock:
            for position, segment in enumerate(self._free):
                memory, its_device = self._segments[segment]
                if device == its_device and size <= len(memory) <= 4 * max(size, least):
                    del self._free[position]
                    return segment, memory, -1
            return self._make(size, device)

    def _make(self, size: int, device: int) -> Tuple[int, Any, int]:
        capacity = _rounded(size)
        if self._total + capacity > self._limit:
            self._drop_free()
        if self._total + capacity > self._limit:
            raise MemoryError(
                f"the outputs need {size} bytes of shared memory, but {self._total} of the limit of "
                f"{self._limit} bytes are in use; set the model parameter 'shared_memory_limit_bytes'")
        memory, file = _host_memory(capacity) if device < 0 else SharedMemory.create(device, capacity)
        segment = self._next
        self._next += 1
        self._segments[segment] = (memory, device)
        self._total += len(memory)
        return segment, memory, file

    def give_back(self, segments: Any) -> None:
        """Takes segments that the server has read."""
        with self._lock:
            for segment in segments:
                if segment in self._segments:
                    self._free.append(segment)
            kept = sum(len(self._segments[segment][0]) for segment in self._free)
            while kept > _KEPT:
                kept -= self._drop(self._free.pop(0))

    def _drop_free(self) -> None:
        while self._free:
            self._drop(self._free.pop())

    def _drop(self, segment: int) -> int:
        size = len(self._segments.pop(segment)[0])
        self._total -= size
        self.dropped.append(segment)
        return size

    def take_dropped(self) -> List[int]:
        """Returns the segments that the server is to forget."""
        with self._lock:
            dropped, self.dropped = self.dropped, []
            return dropped


def are_kept(arrays: List[np.ndarray]) -> bool:
    """Returns whether anything but the list refers to one of the arrays, or to another view of the use
    of a segment in which all of them lie. The owner of that reference could change the content."""
    root = arrays[0]
    while isinstance(root.base, np.ndarray):
        root = root.base
    # How often the list refers to each array. Each array refers to the root.
    counts: Dict[int, int] = {}
    for number in map(id, arrays):
        counts[number] = counts.get(number, 0) + 1
    if sys.getrefcount(root) - _REFERENCES_OF_LOCAL > len(counts):
        return True
    for i in range(len(arrays)):
        if sys.getrefcount(arrays[i]) - _REFERENCES_OF_CALL > counts[id(arrays[i])]:
            return True
    return False


def _count_references() -> Tuple[int, int]:
    """Returns what getrefcount() returns for an object that only a local variable refers to, and how
    much that is more than the elements of a list; versions of Python differ."""
    local = object()
    elements = [object()]
    return sys.getrefcount(local), sys.getrefcount(elements[0]) - 1


_REFERENCES_OF_LOCAL, _REFERENCES_OF_CALL = _count_references()


def _host_memory(size: int) -> Tuple[mmap.mmap, int]:
    """Returns new memory and its file, whose size is sealed."""
    file = os.memfd_create("nereid_python", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        # Reserves the memory: a write to a page that the system cannot provide ends the process.
        os.posix_fallocate(file, 0, size)
        fcntl.fcntl(file, _F_ADD_SEALS, _SIZE_SEALS)
        return mmap.mmap(file, size), file
    except BaseException:
        os.close(file)
        raise


def aligned(size: int) -> int:
    """Returns `size` rounded up to where the next tensor may begin."""
    return (size + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT


def _rounded(size: int) -> int:
    if size <= _LEAST:
        return _LEAST
    step = (1 << (size.bit_length() - 1)) // 8
    return (size + step - 1) // step * step


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]
