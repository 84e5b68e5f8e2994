# SPDX-License-Identifier: Apache-2.0
"""Writes small Caffe2 nets with nothing but Python itself: a NetDef is a protobuf message."""

import math
import struct

from onnx_writer import _bytes, _int, _varint


def _float(field, number):
    return _varint(field << 3 | 5) + struct.pack("<f", number)


def _argument(name, value):
    """Whole numbers become `i` or `ints`, floats `f` or `floats`, texts `s`."""
    head = _bytes(1, name)
    if isinstance(value, float):
        return head + _float(2, value)
    if isinstance(value, int):
        return head + _int(3, value)
    if isinstance(value, str):
        return head + _bytes(4, value)
    return head + b"".join(_float(5, v) if isinstance(v, float) else _int(6, v) for v in value)


def op(kind, inputs, outputs, **arguments):
    """One operator."""
    return (b"".join(_bytes(1, name) for name in inputs)
            + b"".join(_bytes(2, name) for name in outputs) + _bytes(4, kind)
            + b"".join(_bytes(5, _argument(*item)) for item in arguments.items()))


def given(name, values, shape):
    """The operator of an init net that fills a blob with numbers."""
    assert math.prod(shape) == len(values)
    return op("GivenTensorFill", [], [name], shape=list(shape), values=[float(v) for v in values])


def net(ops, inputs=(), outputs=()):
    """A serialized NetDef."""
    return (_bytes(1, "net") + b"".join(_bytes(2, operator) for operator in ops)
            + b"".join(_bytes(7, name) for name in inputs)
            + b"".join(_bytes(8, name) for name in outputs))


def save(folder, init, ops, inputs, outputs):
    """Both files of a version's folder; `init` are the operators of the init net."""
    folder.mkdir(parents=True)
    (folder / "init_model.netdef").write_bytes(net(init))
    (folder / "model.netdef").write_bytes(net(ops, inputs, outputs))
