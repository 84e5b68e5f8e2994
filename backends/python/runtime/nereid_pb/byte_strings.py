# SPDX-License-Identifier: Apache-2.0
"""The elements of BYTES tensors: each is a length (4 bytes, little-endian) and as many bytes."""

from __future__ import annotations

import struct
import typing

import numpy as np

from .errors import TritonModelException

_LENGTH = np.dtype("<u4")
_MAX_LENGTH = 0xFFFFFFFF
_PREFIX = 4
_read_length = struct.Struct("<I").unpack_from


def _as_bytes(value: typing.Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def encode(array: np.ndarray) -> bytes:
    """Returns the bytes of an array of byte strings or of objects, in C order.

    Objects that are not bytes are written as the UTF-8 text of str(). Raises TritonModelException
    if an element has 4 GiB or more.
    """
    values = array.ravel().tolist()
    if not values:
        return b""
    if len(values) == 1:
        only = _as_bytes(values[0])
        if len(only) <= _MAX_LENGTH:
            return len(only).to_bytes(_PREFIX, "little") + only
    if set(map(type, values)) != {bytes}:
        values = [_as_bytes(value) for value in values]
    lengths = list(map(len, values))
    if max(lengths) > _MAX_LENGTH:
        raise TritonModelException(
            f"An element of a BYTES tensor has {max(lengths)} bytes; at most {_MAX_LENGTH} are "
            "possible.")
    # Lengths and values alternate. Each step runs in C, or once for each different length.
    prefixes = {length: length.to_bytes(_PREFIX, "little") for length in set(lengths)}
    parts: list[bytes] = [b""] * (2 * len(values))
    parts[0::2] = map(prefixes.__getitem__, lengths)
    parts[1::2] = values
    return b"".join(parts)


def decode(data: typing.Any, count: int | None = None) -> np.ndarray:
    """Returns the elements as a one-dimensional array of bytes objects.

    `data` is an object with the buffer interface. `count` is the number of elements that the shape
    announces; None means as many as `data` holds. Raises TritonModelException if the last element
    is not complete, or if the number of elements is not `count`.
    """
    if not isinstance(data, bytes):
        data = bytes(data)  # slices of bytes are the elements, and those of other objects are not
    size = len(data)
    if count is not None and count > size // _PREFIX:
        # Checked before any memory is taken for `count` elements.
        raise TritonModelException("Invalid bytes tensor data: incomplete length field")
    values = _decode_equal(data, size, count) if size > 64 else None
    if values is None:
        values = _decode_each(data, size)
    if count is not None and len(values) != count:
        raise TritonModelException(
            f"Invalid bytes tensor data: expected {count} elements, found {len(values)}")
    array = np.empty(len(values), np.object_)
    array[:] = values
    return array


def _decode_equal(data: bytes, size: int, count: int | None) -> list[bytes] | None:
    """Decodes elements that all have the same length, without a step of Python for each of them.

    Returns None if the elements differ.
    """
    length = int.from_bytes(data[:_PREFIX], "little")
    stride = _PREFIX + length
    if length == 0 or size % stride != 0 or (count is not None and size // stride != count):
        return None
    element = np.dtype([("length", _LENGTH), ("value", f"V{length}")])
    table = np.frombuffer(data, element)
    if not (table["length"] == length).all():
        return None
    return typing.cast("list[bytes]", table["value"].tolist())


def _decode_each(data: bytes, size: int) -> list[bytes]:
    values: list[bytes] = []
    place = 0
    while place < size:
        start = place + _PREFIX
        if start > size:
            raise TritonModelException("Invalid bytes tensor data: incomplete length field")
        place = start + _read_length(data, place)[0]
        if place > size:
            raise TritonModelException(
                "Invalid bytes tensor data: string extends beyond buffer")
        values.append(data[start:place])
    return values


def serialize_byte_tensor(array: np.ndarray) -> typing.Any:
    """Returns the bytes of the elements; () for an array without elements; None for numbers."""
    if array.size == 0:
        return ()
    if array.dtype.kind not in "OS":
        return None
    return encode(array)


def deserialize_bytes_tensor(data: typing.Any) -> np.ndarray:
    """Returns the elements that `data` holds, as a one-dimensional array of bytes objects."""
    return decode(data)
