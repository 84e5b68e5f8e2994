# SPDX-License-Identifier: Apache-2.0
"""ONNX models with random weights and the structure of well-known networks. The time of a dense network
does not depend on the values of its weights. Needs onnx and numpy; the same files every time."""

import numpy as np
import onnx
from onnx import TensorProto, helper

OPSET = 17


class Network:
    """A graph that grows by one node at a time. Methods return the names of tensors."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.weights, self.count = [], [], 0

    def name(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def constant(self, values, dtype=np.float32):
        name = self.name("w")
        self.weights.append(onnx.numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def random_weight(self, *shape):
        fan_in = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
        values = self.random.standard_normal(shape, np.float32) / np.sqrt(np.float32(fan_in))
        return self.constant(values)

    def add(self, operator, *inputs, outputs=1, **attributes):
        names = [self.name(operator.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def linear(self, x, inputs, outputs):
        product = self.add("MatMul", x, self.random_weight(inputs, outputs))
        return self.add("Add", product, self.constant(np.zeros(outputs)))

    def layer_norm(self, x, width):
        return self.add("LayerNormalization", x, self.constant(np.ones(width)),
                        self.constant(np.zeros(width)), axis=-1, epsilon=1e-6)

    def gelu(self, x):
        erf = self.add("Erf", self.add("Div", x, self.constant(np.sqrt(2.0))))
        return self.add("Mul", self.add("Mul", x, self.add("Add", erf, self.constant(1.0))),
                        self.constant(0.5))

    def conv(self, x, inputs, outputs, kernel, stride=1, relu=True):
        pad = kernel // 2 if stride < kernel or kernel == 1 else 0
        y = self.add("Conv", x, self.random_weight(outputs, inputs, kernel, kernel),
                     self.constant(np.zeros(outputs)), kernel_shape=[kernel, kernel],
                     strides=[stride, stride], pads=[pad] * 4)
        return self.add("Relu", y) if relu else y

    def model(self, inputs, outputs, domains=()):
        """`inputs` and `outputs`: (name, type of the element, shape)."""
        graph = helper.make_graph(
            self.nodes, "network", [helper.make_tensor_value_info(*value) for value in inputs],
            [helper.make_tensor_value_info(*value) for value in outputs], self.weights)
        opsets = [helper.make_opsetid("", OPSET), *(helper.make_opsetid(*d) for d in domains)]
        model = helper.make_model(graph, opset_imports=opsets)
        model.ir_version = 8
        return model

    def named(self, tensor, name):
        self.nodes.append(helper.make_node("Identity", [tensor], [name]))


def attention(net, x, width, heads):
    def split(tensor):
        shape = net.constant([0, 0, heads, width // heads], np.int64)
        return net.add("Transpose", net.add("Reshape", tensor, shape), perm=[0, 2, 1, 3])
    query, key, value = (split(net.linear(x, width, width)) for _ in range(3))
    scores = net.add("MatMul", query, net.add("Transpose", key, perm=[0, 1, 3, 2]))
    scores = net.add("Div", scores, net.constant(np.sqrt(width / heads)))
    mixed = net.add("MatMul", net.add("Softmax", scores, axis=-1), value)
    joined = net.add("Reshape", net.add("Transpose", mixed, perm=[0, 2, 1, 3]),
                     net.constant([0, 0, width], np.int64))
    return net.linear(joined, width, width)


def encoder(net, x, width, heads, layers):
    """Transformer layers, with the normalization behind the sum as in BERT."""
    for _ in range(layers):
        x = net.layer_norm(net.add("Add", x, attention(net, x, width, heads)), width)
        inner = net.gelu(net.linear(x, width, 4 * width))
        x = net.layer_norm(net.add("Add", x, net.linear(inner, 4 * width, width)), width)
    return x


def bert(width=768, heads=12, layers=12, tokens=128, words=30522, seed=1):
    """input_ids, token_type_ids [batch, tokens] of INT64 -> last_hidden_state."""
    net = Network(seed)
    x = net.add("Add", net.add("Gather", net.random_weight(words, width), "input_ids"),
                net.add("Gather", net.random_weight(2, width), "token_type_ids"))
    x = net.layer_norm(net.add("Add", x, net.random_weight(tokens, width)), width)
    net.named(encoder(net, x, width, heads, layers), "last_hidden_state")
    ids = [(name, TensorProto.INT64, ["batch", tokens]) for name in ("input_ids", "token_type_ids")]
    return net.model(ids, [("last_hidden_state", TensorProto.FLOAT, ["batch", tokens, width])])


def vit(width=384, heads=6, layers=12, seed=2):
    """pixel_values [batch, 3, 224, 224] -> logits [batch, 1000]; ViT-S/16."""
    net = Network(seed)
    x = net.conv("pixel_values", 3, width, 16, stride=16, relu=False)
    x = net.add("Reshape", x, net.constant([0, width, 196], np.int64))
    x = net.add("Add", net.add("Transpose", x, perm=[0, 2, 1]), net.random_weight(196, width))
    x = encoder(net, x, width, heads, layers)
    x = net.add("ReduceMean", x, axes=[1], keepdims=0)
    net.named(net.linear(x, width, 1000), "logits")
    return net.model([("pixel_values", TensorProto.FLOAT, ["batch", 3, 224, 224])],
                     [("logits", TensorProto.FLOAT, ["batch", 1000])])


def resnet50(seed=3):
    """data [batch, 3, 224, 224] -> logits [batch, 1000]; normalizations are part of the weights."""
    net = Network(seed)
    x = net.conv("data", 3, 64, 7, stride=2)
    x = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = net.conv(x, channels, width, 1)
            y = net.conv(y, width, width, 3, stride=stride)
            y = net.conv(y, width, 4 * width, 1, relu=False)
            if block == 0:
                x = net.conv(x, channels, 4 * width, 1, stride=stride, relu=False)
            x = net.add("Relu", net.add("Add", x, y))
            channels = 4 * width
    x = net.add("Flatten", net.add("GlobalAveragePool", x))
    net.named(net.linear(x, channels, 1000), "logits")
    return net.model([("data", TensorProto.FLOAT, ["batch", 3, 224, 224])],
                     [("logits", TensorProto.FLOAT, ["batch", 1000])])


def lstm(inputs=80, hidden=512, layers=2, steps=100, seed=4):
    """audio [batch, steps, inputs] -> hidden [batch, steps, hidden]."""
    net = Network(seed)
    x = net.add("Transpose", "audio", perm=[1, 0, 2])
    for layer in range(layers):
        size = inputs if layer == 0 else hidden
        y = net.add("LSTM", x, net.random_weight(1, 4 * hidden, size),
                    net.random_weight(1, 4 * hidden, hidden), outputs=3, hidden_size=hidden)[0]
        x = net.add("Squeeze", y, net.constant([1], np.int64))
    net.named(net.add("Transpose", x, perm=[1, 0, 2]), "hidden")
    return net.model([("audio", TensorProto.FLOAT, ["batch", steps, inputs])],
                     [("hidden", TensorProto.FLOAT, ["batch", steps, hidden])])


def mlp(width=64, seed=5):
    """x [batch, width] -> y [batch, 10]: a request costs more than its computation."""
    net = Network(seed)
    hidden = net.add("Relu", net.linear("x", width, width))
    net.named(net.linear(hidden, width, 10), "y")
    return net.model([("x", TensorProto.FLOAT, ["batch", width])],
                     [("y", TensorProto.FLOAT, ["batch", 10])])


def complete_trees(random, trees, depth, features):
    """The structure of `trees` complete binary trees with random splits, as attributes of the
    operators TreeEnsemble*, and the ids of their leaves."""
    inner, nodes = 2 ** depth - 1, 2 ** (depth + 1) - 1
    ids = np.tile(np.arange(nodes), trees)
    is_inner = ids < inner
    attributes = {
        "nodes_treeids": np.repeat(np.arange(trees), nodes).tolist(),
        "nodes_nodeids": ids.tolist(),
        "nodes_featureids": np.where(is_inner, random.integers(features, size=ids.size), 0).tolist(),
        "nodes_values": np.where(is_inner, random.standard_normal(ids.size), 0).tolist(),
        "nodes_modes": ["BRANCH_LEQ" if split else "LEAF" for split in is_inner],
        "nodes_truenodeids": np.where(is_inner, 2 * ids + 1, 0).tolist(),
        "nodes_falsenodeids": np.where(is_inner, 2 * ids + 2, 0).tolist(),
    }
    return attributes, np.flatnonzero(~is_inner)


def forest(trees=100, depth=10, features=32, seed=6):
    """x [batch, features] -> value [batch, 1]: a forest for regression."""
    net = Network(seed)
    attributes, leaves = complete_trees(net.random, trees, depth, features)
    net.nodes.append(helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["value"], domain="ai.onnx.ml", n_targets=1,
        aggregate_function="AVERAGE", target_ids=[0] * leaves.size,
        target_treeids=[attributes["nodes_treeids"][leaf] for leaf in leaves],
        target_nodeids=[attributes["nodes_nodeids"][leaf] for leaf in leaves],
        target_weights=net.random.standard_normal(leaves.size).tolist(), **attributes))
    return net.model([("x", TensorProto.FLOAT, ["batch", features])],
                     [("value", TensorProto.FLOAT, ["batch", 1])], [("ai.onnx.ml", 3)])


def boosted_trees(trees=100, depth=6, features=24, labels=("no", "perhaps", "yes"), seed=7):
    """x [batch, features] -> label [batch] of strings, probabilities [batch, labels]: what gradient
    boosting gives, without the list of maps (zipmap)."""
    net = Network(seed)
    attributes, leaves = complete_trees(net.random, trees, depth, features)
    tree_of = [attributes["nodes_treeids"][leaf] for leaf in leaves]
    net.nodes.append(helper.make_node(
        "TreeEnsembleClassifier", ["x"], ["label", "probabilities"], domain="ai.onnx.ml",
        classlabels_strings=list(labels), post_transform="SOFTMAX",
        class_ids=[tree % len(labels) for tree in tree_of], class_treeids=tree_of,
        class_nodeids=[attributes["nodes_nodeids"][leaf] for leaf in leaves],
        class_weights=(net.random.standard_normal(leaves.size) / 10).tolist(), **attributes))
    return net.model([("x", TensorProto.FLOAT, ["batch", features])],
                     [("label", TensorProto.STRING, ["batch"]),
                      ("probabilities", TensorProto.FLOAT, ["batch", len(labels)])],
                     [("ai.onnx.ml", 3)])


def save(model, path):
    onnx.save(model, path)


def save_with_external_data(model, path):
    """The weights are in a file of their own, as exporters write them for large models."""
    onnx.save(model, path, save_as_external_data=True, all_tensors_to_one_file=True,
              location=path.name + ".data")


def save_int8(model, path):
    """The matrices are quantized to 8 bits, activations when the model runs."""
    # pylint: disable=import-outside-toplevel
    from onnxruntime.quantization import QuantType, quantize_dynamic
    whole = path.with_suffix(".fp32")
    onnx.save(model, whole)
    quantize_dynamic(str(whole), str(path), weight_type=QuantType.QInt8)
    whole.unlink()
