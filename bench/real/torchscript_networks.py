# SPDX-License-Identifier: Apache-2.0
"""TorchScript files with random weights, written without PyTorch: a zip archive with the code of
`forward`, a pickle of the module, which has no attributes, and a pickle of the constants, the
weights."""

import io
import pickle
import zipfile
from collections import OrderedDict

import numpy as np

CODE = """class Network(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  def forward(self: __torch__.network.Network,
    x: Tensor) -> Tensor:
{body}    return {result}
"""


def _global(module, name):
    """Returns a function that is pickled as `module.name`, without such a module."""
    def function():
        pass
    function.__module__, function.__qualname__, function.__name__ = module, name, name
    return function


REBUILD = _global("torch._utils", "_rebuild_tensor_v2")
FLOAT_STORAGE = _global("torch", "FloatStorage")


class _Tensor:
    def __init__(self, index, values):
        self.index, self.values = index, values

    def __reduce__(self):
        strides = tuple(step // 4 for step in self.values.strides)
        return REBUILD, (self, 0, self.values.shape, strides, False, OrderedDict())


class _Pickler(pickle._Pickler):  # the one in Python, whose save_global can be replaced
    """Writes globals by their names and a tensor's storage as a persistent id."""

    def __init__(self, file):
        super().__init__(file, protocol=2)
        self.inside = set()

    def persistent_id(self, obj):
        # The tensor itself is its first argument: there it stands for its storage.
        if isinstance(obj, _Tensor):
            if obj.index in self.inside:
                return ("storage", FLOAT_STORAGE, str(obj.index), "cpu", obj.values.size)
            self.inside.add(obj.index)
        return None

    def save_global(self, obj, name=None):
        self.write(pickle.GLOBAL + f"{obj.__module__}\n{obj.__name__}\n".encode())

    dispatch = {**pickle._Pickler.dispatch, type(REBUILD): save_global}


def _pickled(value):
    out = io.BytesIO()
    _Pickler(out).dump(value)
    return out.getvalue()


MODULE = (pickle.PROTO + b"\x02" + pickle.GLOBAL + b"__torch__.network\nNetwork\n"
          + pickle.EMPTY_TUPLE + pickle.NEWOBJ + pickle.EMPTY_DICT + pickle.MARK
          + pickle.BINUNICODE + b"\x08\0\0\0training" + pickle.NEWFALSE
          + pickle.BINUNICODE + b"\x16\0\0\0_is_full_backward_hook" + pickle.NONE
          + pickle.SETITEMS + pickle.BUILD + pickle.STOP)


class Code:
    """The lines of a `forward` and its weights."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.lines, self.weights = [], []

    def weight(self, *shape):
        fan_in = np.prod(shape[1:])
        values = self.random.standard_normal(shape, np.float32) / np.sqrt(np.float32(fan_in))
        self.weights.append(values)
        return f"CONSTANTS.c{len(self.weights) - 1}"

    def let(self, expression):
        name = f"v{len(self.lines)}"
        self.lines.append(f"    {name} = {expression}\n")
        return name

    def linear(self, x, inputs, outputs):
        return self.let(f"torch.linear({x}, {self.weight(outputs, inputs)}, None)")

    def file(self, result):
        code = CODE.format(body="".join(self.lines), result=result)
        tensors = tuple(_Tensor(i, values) for i, values in enumerate(self.weights))
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("model/data.pkl", MODULE)
            archive.writestr("model/code/__torch__/network.py", code)
            archive.writestr("model/constants.pkl", _pickled(tensors))
            for i, values in enumerate(self.weights):
                archive.writestr(f"model/constants/{i}", values.tobytes())
            archive.writestr("model/version", "3\n")
            archive.writestr("model/byteorder", "little")
        return out.getvalue()


def encoder(width=384, heads=6, layers=6, tokens=128, seed=8):
    """x [batch, tokens, width] -> a tensor of that shape: the layers of a small transformer."""
    code, x = Code(seed), "x"
    for _ in range(layers):
        def heads_of(tensor):
            shaped = f"torch.reshape({tensor}, [-1, {tokens}, {heads}, {width // heads}])"
            return code.let(f"torch.transpose({shaped}, 1, 2)")
        query, key, value = (heads_of(code.linear(x, width, width)) for _ in range(3))  # noqa: B023
        scores = code.let(f"torch.matmul({query}, torch.transpose({key}, 2, 3))")
        weights = code.let(f"torch.softmax(torch.div({scores}, {(width / heads) ** 0.5}), -1)")
        mixed = code.let(f"torch.transpose(torch.matmul({weights}, {value}), 1, 2)")
        joined = code.let(f"torch.reshape({mixed}, [-1, {tokens}, {width}])")
        x = code.let(f"torch.add({x}, {code.linear(joined, width, width)})")
        inner = code.let(f"torch.relu({code.linear(x, width, 4 * width)})")
        x = code.let(f"torch.add({x}, {code.linear(inner, 4 * width, width)})")
    return code.file(x)


def convolutions(channels=64, size=56, layers=8, seed=9):
    """x [batch, channels, size, size] -> a tensor of that shape."""
    code, x = Code(seed), "x"
    for _ in range(layers):
        weight = code.weight(channels, channels, 3, 3)
        y = code.let(f"torch.conv2d({x}, {weight}, None, [1, 1], [1, 1], [1, 1], 1)")
        x = code.let(f"torch.add({x}, torch.relu({y}))")
    return code.file(x)
