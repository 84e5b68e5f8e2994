# SPDX-License-Identifier: Apache-2.0
"""GPU memory of a client, by CUDA's driver API: the fake driver's, or a real one's."""

import base64
import ctypes

HANDLE_SIZE = 64


class _Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * HANDLE_SIZE)]


class Cuda:
    """The driver in the library `path`."""

    def __init__(self, path="libcuda.so.1"):
        self._library = ctypes.CDLL(str(path))
        self._call("cuInit", 0)
        self._contexts = {}

    def _call(self, name, *arguments):
        result = getattr(self._library, name)(*arguments)
        assert result == 0, f"{name} returned {result}"

    def count(self):
        count = ctypes.c_int()
        self._call("cuDeviceGetCount", ctypes.byref(count))
        return count.value

    def enter(self, device):
        """Makes the device the current one of the thread."""
        if device not in self._contexts:
            handle, context = ctypes.c_int(), ctypes.c_void_p()
            self._call("cuDeviceGet", ctypes.byref(handle), device)
            self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
            self._contexts[device] = context
        self._call("cuCtxPushCurrent_v2", self._contexts[device])

    def leave(self):
        self._call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


class Region:
    """`size` bytes in the memory of a device."""

    def __init__(self, cuda, size, device=0):
        self.cuda, self.size, self.device = cuda, size, device
        self._address = ctypes.c_uint64()
        cuda.enter(device)
        cuda._call("cuMemAlloc_v2", ctypes.byref(self._address), ctypes.c_size_t(size))
        cuda.leave()

    def _copy(self, to, source, size):
        stream = ctypes.c_void_p()
        self.cuda.enter(self.device)
        self.cuda._call("cuStreamCreate", ctypes.byref(stream), 1)
        self.cuda._call("cuMemcpyAsync", ctypes.c_uint64(to), ctypes.c_uint64(source),
                        ctypes.c_size_t(size), stream)
        self.cuda._call("cuStreamSynchronize", stream)
        self.cuda._call("cuStreamDestroy_v2", stream)
        self.cuda.leave()

    def write(self, content, offset=0):
        """Writes bytes, or an array."""
        content = bytes(content)
        assert offset + len(content) <= self.size
        buffer = ctypes.create_string_buffer(content, len(content))
        self._copy(self._address.value + offset, ctypes.addressof(buffer), len(content))

    def read(self, size, offset=0):
        buffer = ctypes.create_string_buffer(size)
        self._copy(ctypes.addressof(buffer), self._address.value + offset, size)
        return buffer.raw

    @property
    def handle(self):
        """The bytes under which another process can open the memory."""
        handle = _Handle()
        self.cuda.enter(self.device)
        self.cuda._call("cuIpcGetMemHandle", ctypes.byref(handle), self._address)
        self.cuda.leave()
        return ctypes.string_at(ctypes.byref(handle), HANDLE_SIZE)

    @property
    def raw_handle(self):
        """The handle as tritonclient's functions take it."""
        return base64.b64encode(self.handle)

    def free(self):
        self.cuda.enter(self.device)
        self.cuda._call("cuMemFree_v2", self._address)
        self.cuda.leave()
