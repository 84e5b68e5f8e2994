# SPDX-License-Identifier: Apache-2.0
"""Arrays in GPU memory for Python models that have no library for them. A model imports this module from
its folder, beside cuda_memory.py."""

import ctypes

import numpy as np
from cuda_memory import Cuda, Region
from nereid_pb import datatypes, dlpack

CUDA_DEVICE = 2
_cuda = None
#: The number of GpuArrays that were not freed.
alive = 0


def cuda():
    global _cuda
    _cuda = _cuda or Cuda()
    return _cuda


class _Content(np.ndarray):
    """What the capsule of a GpuArray keeps; its end frees the GPU memory."""

    def __del__(self):
        global alive
        if getattr(self, "region", None) is not None:
            self.region.free()
            alive -= 1


class GpuArray:
    """A copy of `values` on a GPU, which other libraries get by DLPack."""

    def __init__(self, values, device=0):
        global alive
        values = np.ascontiguousarray(values)
        self.device = device
        self._content = np.empty_like(values).view(_Content)
        self._content.region = Region(cuda(), max(values.nbytes, 1), device)
        self._content.region.write(values)
        #: The streams that readers have named.
        self.streams = []
        alive += 1

    def __dlpack_device__(self):
        return (CUDA_DEVICE, self.device)

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        capsule = self._content.__dlpack__()
        tensor = dlpack._managed(capsule).tensor
        tensor.data = self._content.region._address.value
        tensor.device.kind, tensor.device.number = CUDA_DEVICE, self.device
        return capsule


def read(tensor):
    """Returns the content of a tensor in GPU memory as an array in host memory."""
    assert tuple(tensor.__dlpack_device__()) == (CUDA_DEVICE, place(tensor))
    capsule = tensor.__dlpack__(stream=1)
    described = dlpack._managed(capsule).tensor
    shape = [described.shape[i] for i in range(described.rank)]
    assert shape == tensor.shape() and described.dtype.lanes == 1
    dtype = datatypes.DTYPES[tensor.triton_dtype()]
    assert described.dtype.bits == 8 * dtype.itemsize
    content = np.empty(shape, dtype)
    at = Region.__new__(Region)
    at.cuda, at.size, at.device = cuda(), content.nbytes, described.device.number
    at._copy(content.ctypes.data, described.data + described.byte_offset, content.nbytes)
    return content


def write(tensor, values):
    """Overwrites the content of a tensor in GPU memory."""
    capsule = tensor.to_dlpack()
    described = dlpack._managed(capsule).tensor
    at = Region.__new__(Region)
    at.cuda, at.size, at.device = cuda(), values.nbytes, described.device.number
    at._address = ctypes.c_uint64(described.data)
    at.write(values)


def place(tensor):
    """Returns the number of the GPU whose memory a tensor is in; -1 for host memory."""
    return -1 if tensor.is_cpu() else tensor.__dlpack_device__()[1]
