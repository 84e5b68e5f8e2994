# SPDX-License-Identifier: Apache-2.0
"""The messages between a proxy model and the process that has its functions, over a stream socket.

A message is the size of its head (4 bytes, little-endian), the head, which is a JSON object, and
the bytes of its arrays. The head's "arrays" has a list [type, shape, byte size] for each array. The
type is NumPy's text for a number, or BYTES: then each element is its length (4 bytes) and its
bytes."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import numpy as np

Array = Any  # numpy.ndarray; its type arguments differ between the versions of NumPy
Message = tuple[dict[str, Any], list[Array]]

_SIZE = struct.Struct("<I")
_MAX_HEAD = 64 << 20
# Memory for received bytes is taken in steps: as much as has come, or this.
_FIRST_STEP = 1 << 20
_TYPES = frozenset(
    np.dtype(kind).newbyteorder("<").str
    for kind in ("?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8")
)
_BYTES = "BYTES"


class WireError(Exception):
    """The peer has sent something that is no message."""


def send(connection: Any, head: dict[str, Any], arrays: list[Array]) -> None:
    """Sends a message. Raises ValueError for arrays of types that the format does not have."""
    entries = []
    pieces = []
    for array in arrays:
        kind, data = _packed(np.asarray(array))
        entries.append([kind, list(np.shape(array)), len(data)])
        pieces.append(data)
    text = json.dumps({**head, "arrays": entries}).encode()
    if len(text) > _MAX_HEAD:
        raise ValueError(
            f"the parameters and names of a message have {len(text)} bytes, more than {_MAX_HEAD}"
        )
    connection.sendall(_SIZE.pack(len(text)) + text)
    for data in pieces:
        connection.sendall(data)


def receive(connection: Any) -> Message | None:
    """Returns the next message, whose arrays may be written to; None after the last one.

    Raises WireError, also if the connection ends within a message."""
    prefix = _receive(connection, _SIZE.size, may_end=True)
    if not prefix:
        return None
    (size,) = _SIZE.unpack(prefix)
    if size > _MAX_HEAD:
        raise WireError(f"the head of a message has {size} bytes")
    try:
        head = json.loads(_receive(connection, size))
        arrays = [_read(connection, *entry) for entry in head.pop("arrays")]
    except (AttributeError, KeyError, MemoryError, OverflowError, TypeError, ValueError) as error:
        raise WireError(f"a message is damaged: {error}") from error
    return head, arrays


def _packed(array: Array) -> tuple[str, Any]:
    if array.dtype.kind in "SUO":
        pieces = []
        for item in array.ravel():
            data = item.encode() if isinstance(item, str) else bytes(item)
            pieces.append(_SIZE.pack(len(data)))
            pieces.append(data)
        return _BYTES, b"".join(pieces)
    kind = array.dtype.newbyteorder("<").str
    if kind not in _TYPES:
        raise ValueError(f"arrays of type {array.dtype} cannot be sent")
    flat: Any = np.ascontiguousarray(array, kind).reshape(-1).view(np.uint8)
    return kind, memoryview(flat)


def _read(connection: Any, kind: Any, shape: Any, size: Any) -> Array:
    if any(type(number) is not int or number < 0 for number in (*shape, size)):
        raise WireError("a shape or a size is not a list of numbers")
    count = math.prod(shape)
    if kind == _BYTES:
        return _unpacked(_receive(connection, size), count).reshape(shape)
    if kind not in _TYPES or size != count * np.dtype(kind).itemsize:
        raise WireError(f"an array of type {kind} and shape {shape} has {size} bytes")
    return np.frombuffer(_receive(connection, size), kind).reshape(shape)


def _unpacked(data: bytearray, count: int) -> Array:
    """Returns the `count` elements of BYTES."""
    items = []
    at = 0
    while at < len(data):
        begin = at + _SIZE.size
        if begin > len(data):
            raise WireError("an element of BYTES has no length")
        at = begin + _SIZE.unpack_from(data, begin - _SIZE.size)[0]
        if at > len(data):
            raise WireError("an element of BYTES is longer than its array")
        items.append(bytes(data[begin:at]))
    if len(items) != count:
        raise WireError(f"an array of {count} elements has {len(items)}")
    array = np.empty(count, np.object_)
    array[:] = items
    return array


def _receive(connection: Any, size: int, may_end: bool = False) -> bytearray:
    """Returns the next `size` bytes; nothing if the connection has ended and may have."""
    data = bytearray()
    filled = 0
    while filled < size:
        if filled == len(data):
            data.extend(bytes(min(size - filled, max(_FIRST_STEP, filled))))
        with memoryview(data) as view:
            got = connection.recv_into(view[filled:])
        if got == 0:
            if may_end and filled == 0:
                return bytearray()
            raise WireError("the connection has ended within a message")
        filled += got
    return data
