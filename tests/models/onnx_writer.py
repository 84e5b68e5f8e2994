# SPDX-License-Identifier: Apache-2.0
"""Writes small ONNX files with nothing but Python itself: ONNX is a protobuf message."""

import struct

FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL = range(1, 10)
FLOAT16, DOUBLE, UINT32, UINT64, BFLOAT16 = 10, 11, 12, 13, 16


def _varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _int(field, number):
    return _varint(field << 3) + _varint(number)


def _bytes(field, content):
    if isinstance(content, str):
        content = content.encode()
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _attribute(name, value):
    head = _bytes(1, name)
    if isinstance(value, int):
        return head + _int(3, value) + _int(20, 2)
    if isinstance(value, float):
        return head + _varint(2 << 3 | 5) + struct.pack("<f", value) + _int(20, 1)
    return head + b"".join(_int(8, v) for v in value) + _int(20, 7)


def node(op, inputs, outputs, domain="", **attributes):
    """One operator; attributes are ints, floats or lists of ints."""
    message = b"".join(_bytes(1, i) for i in inputs) + b"".join(_bytes(2, o) for o in outputs)
    message += _bytes(4, op)
    if domain:
        message += _bytes(7, domain)
    return message + b"".join(_bytes(5, _attribute(n, v)) for n, v in attributes.items())


def tensor(name, element_type, dims, raw):
    """A constant: `raw` is its little-endian content, or the list of texts of a STRING tensor."""
    message = b"".join(_int(1, d) for d in dims) + _int(2, element_type) + _bytes(8, name)
    if element_type == STRING:
        return message + b"".join(_bytes(6, text) for text in raw)
    return message + _bytes(9, raw)


def value(name, element_type, dims):
    """A graph input or output; a text in `dims` is the name of a variable dimension. Without `dims` it
    declares no shape."""
    kind = _int(1, element_type)
    if dims is not None:
        kind += _bytes(2, b"".join(
            _bytes(1, _bytes(2, d) if isinstance(d, str) else _int(1, d)) for d in dims))
    return _bytes(1, name) + _bytes(2, _bytes(1, kind))


def optional(name, element_type, dims):
    """A graph input of the type optional(tensor)."""
    shape = b"".join(
        _bytes(1, _bytes(2, d) if isinstance(d, str) else _int(1, d)) for d in dims)
    held = _bytes(1, _int(1, element_type) + _bytes(2, shape))
    return _bytes(1, name) + _bytes(2, _bytes(9, _bytes(1, held)))


def sequence(name, element_type):
    """A graph output that is a sequence of tensors."""
    item = _bytes(1, _int(1, element_type))
    return _bytes(1, name) + _bytes(2, _bytes(4, _bytes(1, item)))


def model(name, nodes, inputs, outputs, constants=(), opset=17, ir=8, domains=()):
    """`domains`: further ones than the standard's, each in version 1."""
    graph = b"".join(_bytes(1, n) for n in nodes) + _bytes(2, name)
    graph += b"".join(_bytes(5, c) for c in constants)
    graph += b"".join(_bytes(11, i) for i in inputs) + b"".join(_bytes(12, o) for o in outputs)
    return (_int(1, ir) + _bytes(2, "nereid") + _bytes(7, graph) +
            _bytes(8, _bytes(1, "") + _int(2, opset)) +
            b"".join(_bytes(8, _bytes(1, d) + _int(2, 1)) for d in domains))
