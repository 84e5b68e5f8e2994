# SPDX-License-Identifier: Apache-2.0
"""Memory of GPUs: the functions of CUDA's driver that tensors need, by ctypes.

The library libcuda.so.1 is opened when the first tensor in GPU memory is used. Streams are those of the
device's primary context, which PyTorch, CuPy and all others use as well. Copies run on the legacy default
stream, which waits for the work that the model has begun on blocking streams.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import threading
import typing

from .errors import TritonModelException

_UUID_SIZE = 16
_FILE = 1  # CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
_LEGACY_STREAM = None
# What cuMemGetInfo returns in a process whose context is not broken: success, no memory, not initialized,
# the end of the process, no current context.
_HARMLESS = (0, 2, 3, 4, 201)

_u64 = ctypes.c_uint64
_size = ctypes.c_size_t
_pointer = ctypes.c_void_p
_int = ctypes.c_int

_FUNCTIONS: dict[str, list[typing.Any]] = {
    "cuInit": [ctypes.c_uint],
    "cuGetErrorString": [_int, ctypes.POINTER(ctypes.c_char_p)],
    "cuDeviceGetCount": [ctypes.POINTER(_int)],
    "cuDeviceGet": [ctypes.POINTER(_int), _int],
    "cuDeviceGetUuid": [ctypes.c_char_p, _int],
    "cuDevicePrimaryCtxRetain": [ctypes.POINTER(_pointer), _int],
    "cuCtxPushCurrent_v2": [_pointer],
    "cuCtxPopCurrent_v2": [ctypes.POINTER(_pointer)],
    "cuMemcpyAsync": [_u64, _u64, _size, _pointer],
    "cuStreamSynchronize": [_pointer],
    "cuMemGetAllocationGranularity": [ctypes.POINTER(_size), ctypes.c_char_p, _int],
    "cuMemCreate": [ctypes.POINTER(_u64), _size, ctypes.c_char_p, _u64],
    "cuMemExportToShareableHandle": [ctypes.POINTER(_int), _u64, _int, _u64],
    "cuMemImportFromShareableHandle": [ctypes.POINTER(_u64), _pointer, _int],
    "cuMemRelease": [_u64],
    "cuMemAddressReserve": [ctypes.POINTER(_u64), _size, _size, _u64, _u64],
    "cuMemAddressFree": [_u64, _size],
    "cuMemMap": [_u64, _size, _size, _u64, _u64],
    "cuMemUnmap": [_u64, _size],
    "cuMemSetAccess": [_u64, _size, ctypes.c_char_p, _size],
}


class CudaError(TritonModelException):
    """The driver refused something, or there is none."""


class Driver:
    """The driver of this process. Thread-safe."""

    def __init__(self) -> None:
        """Opens and initializes the driver. Raises CudaError."""
        try:
            library = ctypes.CDLL("libcuda.so.1")
            self._functions = {name: getattr(library, name) for name in _FUNCTIONS}
        except (OSError, AttributeError) as error:
            raise CudaError(f"the model's process cannot use GPUs: {error}") from None
        for name, types in _FUNCTIONS.items():
            self._functions[name].argtypes = types
        self.call("cuInit", 0)
        count = _int()
        self.call("cuDeviceGetCount", ctypes.byref(count))
        self._uuids = [self._read_uuid(device) for device in range(count.value)]
        self._lock = threading.RLock()
        self._contexts: dict[int, ctypes.c_void_p] = {}

    def call(self, name: str, *arguments: typing.Any) -> None:
        """Calls a function of the driver. Raises CudaError if it fails."""
        result = self._functions[name](*arguments)
        if result != 0:
            reason = _error_text(self._functions["cuGetErrorString"], result)
            raise CudaError(f"CUDA: {reason} ({name}, error {result})")

    def _handle(self, device: int) -> int:
        handle = _int()
        self.call("cuDeviceGet", ctypes.byref(handle), device)
        return handle.value

    def _read_uuid(self, device: int) -> bytes:
        uuid = ctypes.create_string_buffer(_UUID_SIZE)
        self.call("cuDeviceGetUuid", uuid, self._handle(device))
        return uuid.raw

    def uuid(self, device: int) -> bytes:
        """Returns the UUID of a device, by which the server knows it. Raises CudaError."""
        if not 0 <= device < len(self._uuids):
            raise CudaError(f"the model's process has no GPU {device}")
        return self._uuids[device]

    def device(self, uuid: bytes) -> int:
        """Returns the number of a device in this process. Raises CudaError if it has none with the
        UUID: CUDA_VISIBLE_DEVICES can hide it."""
        if uuid not in self._uuids:
            raise CudaError("the model's process does not see the GPU that has the tensor")
        return self._uuids.index(uuid)

    @contextlib.contextmanager
    def current(self, device: int) -> typing.Iterator[None]:
        """Makes the device's primary context the current one of the thread."""
        with self._lock:
            context = self._contexts.get(device)
            if context is None:
                context = ctypes.c_void_p()
                self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._handle(device))
                self._contexts[device] = context
        self.call("cuCtxPushCurrent_v2", context)
        try:
            yield
        finally:
            self._functions["cuCtxPopCurrent_v2"](ctypes.byref(ctypes.c_void_p()))

    def copy(self, device: int, parts: typing.Iterable[tuple[int, int, int]]) -> None:
        """Copies (to, from, size) for all `parts` after the work that `device` has on its default
        stream, and waits for the copies. Raises CudaError, also for an earlier failure of the model."""
        with self.current(device):
            for to, source, size in parts:
                self.call("cuMemcpyAsync", to, source, size, _LEGACY_STREAM)
            self.call("cuStreamSynchronize", _LEGACY_STREAM)

    def read(self, device: int, address: int, size: int) -> bytearray:
        """Returns a copy of GPU memory in host memory."""
        content = bytearray(size)
        if size:
            host = ctypes.addressof(ctypes.c_char.from_buffer(content))
            self.copy(device, [(host, address, size)])
        return content


_driver: typing.Any = None
# As Driver._lock reentrant, because SharedMemory.__del__ can run at any place.
_opening = threading.RLock()


def driver() -> Driver:
    """Returns the driver of this process. Raises CudaError if there is none."""
    global _driver
    with _opening:
        if _driver is None:
            try:
                _driver = Driver()
            except CudaError as error:
                _driver = error
    if isinstance(_driver, CudaError):
        raise CudaError(str(_driver))
    return typing.cast(Driver, _driver)


def failure() -> str:
    """Returns the driver's error if this process can use its GPU no more, else "".

    Some errors of a kernel (an illegal address, a failed assertion) break the context of the process for
    good: every later call returns them. Looks at the context that is current in the calling thread, as the
    CUDA runtime leaves it, and at those that copies have used. Opens and initializes nothing.
    """
    try:
        library = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return ""
    texts = [_context_failure(library)]
    if isinstance(_driver, Driver):
        for device in list(_driver._contexts):
            try:
                with _driver.current(device):
                    texts.append(_context_failure(library))
            except CudaError as error:
                texts.append(str(error))
    return next(filter(None, texts), "")


def _context_failure(library: ctypes.CDLL) -> str:
    unused = _size()
    result = library.cuMemGetInfo_v2(ctypes.byref(unused), ctypes.byref(unused))
    if result in _HARMLESS:
        return ""
    return f"{_error_text(library.cuGetErrorString, result)} (CUDA error {result})"


def _error_text(get_error_string: typing.Any, result: int) -> str:
    text = ctypes.c_char_p()
    get_error_string(result, ctypes.byref(text))
    return (text.value or b"unknown error").decode("utf-8", "replace")


def _properties(device: int) -> bytes:
    """CUmemAllocationProp: pinned memory of a device, shared by a file descriptor."""
    return struct.pack("<iiiiQ8x", 1, _FILE, 1, device, 0)


class SharedMemory:
    """Memory of a GPU that this process and the server have mapped.

    `device` is the GPU's number in this process; it and `address` are known after open().
    """

    __slots__ = ("__weakref__", "_file", "_lock", "address", "device", "size", "uuid")

    def __init__(self, uuid: bytes, size: int, file: int) -> None:
        """Takes over the file that stands for memory of the server."""
        self.uuid = uuid
        self.size = size
        self.device = -1
        self.address = 0
        self._file = file
        self._lock = threading.Lock()

    @staticmethod
    def create(device: int, size: int) -> tuple[SharedMemory, int]:
        """Returns new memory of at least `size` bytes, and the file that stands for it, which the
        caller closes. Raises CudaError if the GPU has too little memory."""
        cuda = driver()
        memory = SharedMemory(cuda.uuid(device), 0, -1)
        memory.device = device
        properties = _properties(device)
        unit, handle, file = _size(), _u64(), _int(-1)
        with cuda.current(device):
            cuda.call("cuMemGetAllocationGranularity", ctypes.byref(unit), properties, 0)
            memory.size = (size + unit.value - 1) // unit.value * unit.value
            cuda.call("cuMemCreate", ctypes.byref(handle), memory.size, properties, 0)
            try:
                cuda.call("cuMemExportToShareableHandle", ctypes.byref(file), handle, _FILE, 0)
                memory._map(handle)
            except CudaError:
                if file.value >= 0:
                    os.close(file.value)
                raise
            finally:
                cuda.call("cuMemRelease", handle)
        os.set_inheritable(file.value, False)
        return memory, file.value

    def open(self) -> SharedMemory:
        """Maps the memory if it is not mapped yet. Raises CudaError."""
        with self._lock:
            if self.address == 0:
                self._open()
        return self

    def _open(self) -> None:
        cuda = driver()
        self.device = cuda.device(self.uuid)
        handle = _u64()
        with cuda.current(self.device):
            cuda.call("cuMemImportFromShareableHandle", ctypes.byref(handle), self._file, _FILE)
            try:
                self._map(handle)
            finally:
                cuda.call("cuMemRelease", handle)
        self._close_file()

    def _map(self, handle: ctypes.c_uint64) -> None:
        cuda = driver()
        address = _u64()
        cuda.call("cuMemAddressReserve", ctypes.byref(address), self.size, 0, 0, 0)
        mapped = False
        try:
            cuda.call("cuMemMap", address, self.size, 0, handle, 0)
            mapped = True
            # CUmemAccessDesc: the device may read and write.
            cuda.call("cuMemSetAccess", address, self.size, struct.pack("<iii", 1, self.device, 3), 1)
        except CudaError:
            self._unmap(cuda, address.value, mapped)
            raise
        self.address = address.value

    def _unmap(self, cuda: Driver, address: int, mapped: bool) -> None:
        with contextlib.suppress(CudaError):
            if mapped:
                cuda.call("cuMemUnmap", address, self.size)
            cuda.call("cuMemAddressFree", address, self.size)

    def _close_file(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        self._close_file()
        if self.address:
            with contextlib.suppress(CudaError):
                cuda = driver()
                with cuda.current(self.device):
                    self._unmap(cuda, self.address, True)

    def __len__(self) -> int:
        return self.size
