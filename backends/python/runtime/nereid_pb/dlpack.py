# SPDX-License-Identifier: Apache-2.0
"""DLPack capsules: tensors that other libraries share without a copy.

Source of the format: dlpack.h, version 0.8 (https://github.com/dmlc/dlpack). A capsule named
"dltensor" owns a DLManagedTensor. The reader renames it to "used_dltensor" and calls its deleter when
it no longer needs the memory.
"""

from __future__ import annotations

import ctypes
import math
import typing

import numpy as np

from . import datatypes
from .errors import TritonModelException

CPU = 1
CUDA = 2
CUDA_HOST = 3

# The number that the array API gives the legacy default stream of CUDA.
_LEGACY_STREAM = 1

_BFLOAT = 4
_BOOL = 6

# (code, bits) of a DLDataType -> number of the data type.
_NUMBERS = {
    (_BOOL, 8): 1,
    (1, 8): 2, (1, 16): 3, (1, 32): 4, (1, 64): 5,
    (0, 8): 6, (0, 16): 7, (0, 32): 8, (0, 64): 9,
    (2, 16): 10, (2, 32): 11, (2, 64): 12,
    (_BFLOAT, 16): datatypes.BF16,
}

_CODES = {number: key for key, number in _NUMBERS.items()}

# PyCapsule_SetName keeps the pointer, so the text must live as long as the process.
_NEW = b"dltensor"
_USED = ctypes.create_string_buffer(b"used_dltensor")


class _Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("number", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("rank", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),  # in elements; null: C order
        ("byte_offset", ctypes.c_uint64),
    ]


class _ManagedTensor(ctypes.Structure):
    pass


_Deleter = ctypes.PYFUNCTYPE(None, ctypes.POINTER(_ManagedTensor))
_ManagedTensor._fields_ = [
    ("tensor", _Tensor),
    ("context", ctypes.c_void_p),
    ("deleter", _Deleter),
]

# PYFUNCTYPE keeps the interpreter's lock during a call: deleters release Python objects.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi))
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)(
    ("PyCapsule_New", ctypes.pythonapi))
# With the address of a capsule that is being destroyed, to which no reference may be made.
_is_valid_at = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi))
_get_pointer_at = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))
_set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(
    ("PyCapsule_SetName", ctypes.pythonapi))


def _managed(capsule: typing.Any) -> _ManagedTensor:
    return _ManagedTensor.from_address(typing.cast(int, _get_pointer(capsule, _NEW)))


def export(array: np.ndarray, number: int) -> typing.Any:
    """Returns a capsule of an array in C order, whose elements have the data type `number`.

    BOOL and BF16 are exported as unsigned numbers, and their capsules get the type afterwards: old
    versions of NumPy export no BOOL, and none has BF16. Memory that must not be written is copied,
    because a capsule cannot say so. Raises TritonModelException with NumPy older than 1.22.
    """
    if not hasattr(array, "__dlpack__"):
        raise TritonModelException(
            f"DLPack needs NumPy 1.22 or newer; NumPy {np.__version__} is installed.")
    if not array.flags.writeable:
        array = array.copy()
    if number == datatypes.BOOL:
        array = array.view(np.uint8)
    capsule = array.__dlpack__()
    if number == datatypes.BOOL:
        _managed(capsule).tensor.dtype.code = _BOOL
    elif number == datatypes.BF16:
        _managed(capsule).tensor.dtype.code = _BFLOAT
    return capsule


# The exports of memory that another library may still use, by the address of their description. Each
# keeps its description, its shape and the owner of the memory.
_exports: dict[int, typing.Any] = {}


def _end_export(managed: int) -> None:
    _exports.pop(managed, None)


def _end_unused(capsule: int) -> None:
    """Ends the export of a capsule that nobody has used."""
    if _is_valid_at(capsule, _NEW):
        _exports.pop(typing.cast(int, _get_pointer_at(capsule, _NEW)), None)


# Readers may call a deleter on any thread, with and without the interpreter's lock: CFUNCTYPE takes it.
_deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_end_export)
_destructor = _Destructor(_end_unused)


def export_memory(address: int, device: int, number: int, shape: typing.Sequence[int],
                  owner: typing.Any) -> typing.Any:
    """Returns a capsule of memory on a GPU, with elements of the data type `number` in C order. `owner` is
    kept until the reader of the capsule needs the memory no longer."""
    managed = _ManagedTensor()
    dims = (ctypes.c_int64 * len(shape))(*shape)
    tensor = managed.tensor
    tensor.data = address
    tensor.device.kind = CUDA
    tensor.device.number = device
    tensor.rank = len(shape)
    tensor.dtype.code, tensor.dtype.bits = _CODES[number]
    tensor.dtype.lanes = 1
    tensor.shape = dims
    managed.deleter = ctypes.cast(_deleter, _Deleter)
    place = ctypes.addressof(managed)
    _exports[place] = (managed, dims, owner)
    return _new_capsule(place, _NEW, _destructor)


class _Owner:
    """Calls the deleter of a tensor when the last array on its memory is gone."""

    __slots__ = ("_managed",)

    def __init__(self, managed: _ManagedTensor) -> None:
        self._managed = managed

    def __del__(self) -> None:
        # The field of a null pointer is a falsy function.
        if self._managed.deleter:
            self._managed.deleter(ctypes.byref(self._managed))


def _is_contiguous(shape: list[int], strides: list[int]) -> bool:
    """Returns whether the strides are those of C order. Dimensions of 1 may have any stride."""
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def _capsule_of(source: typing.Any) -> typing.Any:
    """Returns the capsule `source`, or the one of an object with the two methods of DLPack."""
    if type(source).__name__ == "PyCapsule":
        return source
    if hasattr(source, "__dlpack__") and hasattr(source, "__dlpack_device__"):
        kind = int(source.__dlpack_device__()[0])
        _check_device(kind)
        # The content must be complete on the stream on which it is read: cuda.py.
        return source.__dlpack__(stream=_LEGACY_STREAM) if kind == CUDA else source.__dlpack__()
    raise TritonModelException(
        "Provided tensor is not supported. Tensor must be a DLPack capsule or have `__dlpack__` and "
        "`__dlpack_device__` attributes")


def _check_device(kind: int) -> None:
    if kind not in (CPU, CUDA, CUDA_HOST):
        raise TritonModelException(
            f"DLDevice type {kind} is not support by Python backend.")


class Imported(typing.NamedTuple):
    """A tensor of another library."""

    data_type: int
    shape: list[int]
    #: CPU, CUDA or CUDA_HOST.
    kind: int
    #: The number of the GPU.
    device: int
    address: int
    #: Keeps the memory.
    owner: typing.Any

    def array(self) -> np.ndarray:
        """Returns an array that views memory of the host. The elements of BF16 are 16-bit numbers."""
        dtype = datatypes.DTYPES[self.data_type]
        size = math.prod(self.shape) * dtype.itemsize
        if size == 0:
            return np.empty(self.shape, dtype)
        memory: typing.Any = (ctypes.c_char * size).from_address(self.address)
        memory.owner = self.owner  # the array keeps `memory`, which keeps the owner
        return np.ndarray(self.shape, dtype, memory)


def import_(source: typing.Any) -> Imported:
    """Takes over a tensor of another library without a copy.

    `source` is a capsule, or an object with __dlpack__ and __dlpack_device__. The capsule cannot be used
    again. Raises TritonModelException for tensors that are not in C order, on other devices than the CPU
    and CUDA's, or of types that Triton does not have; the capsule is then unchanged.
    """
    capsule = _capsule_of(source)
    if not _is_valid(capsule, _NEW):
        raise TritonModelException(
            "The DLPack capsule has been used already, or is not named \"dltensor\".")
    managed = _managed(capsule)
    tensor = managed.tensor
    _check_device(tensor.device.kind)
    number = _NUMBERS.get((tensor.dtype.code, tensor.dtype.bits), 0)
    if number == 0 or tensor.dtype.lanes != 1:
        raise TritonModelException(
            f"The DLPack data type (code {tensor.dtype.code}, {tensor.dtype.bits} bits, "
            f"{tensor.dtype.lanes} lanes) is not supported.")
    shape = [tensor.shape[i] for i in range(tensor.rank)]
    if tensor.strides and 0 not in shape and not _is_contiguous(
            shape, [tensor.strides[i] for i in range(tensor.rank)]):
        raise TritonModelException(
            "DLPack tensor is not contiguous. Only contiguous DLPack tensors that are stored in "
            "C-Order are supported.")
    _set_name(capsule, ctypes.addressof(_USED))
    return Imported(number, shape, tensor.device.kind, tensor.device.number,
                    (tensor.data or 0) + tensor.byte_offset, _Owner(managed))
