# SPDX-License-Identifier: Apache-2.0
"""The models of bench/on_a_gpu: each as an ONNX file and as a TorchScript file with the same
weights, for the CPU and for the GPU, and their results in numpy or PyTorch on the CPU."""

import numpy as np

MLP_DIMS = (64, 256, 10)
IMAGE = (3, 224, 224)
CLASSES = 1000


def mlp_weights():
    """Returns the layers of the small network: (weights, bias) each."""
    random = np.random.default_rng(1)
    return [((random.normal(size=(n, m)) / n ** 0.5).astype("f4"),
             random.normal(size=m).astype("f4"))
            for n, m in zip(MLP_DIMS, MLP_DIMS[1:])]


def mlp_result(x):
    first, second = mlp_weights()
    hidden = np.maximum(x.astype("f8") @ first[0] + first[1], 0)
    return hidden @ second[0] + second[1]


def conv_layers():
    """Returns the convolutions of the image network, which has the shape of a ResNet-34 without its
    shortcuts between stages: (output channels, kernel size, stride), in order, with pairs of 3x3
    convolutions as residual blocks."""
    layers = [(64, 7, 2)]
    for channels, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        if channels != 64:
            layers.append((channels, 1, 2))
        layers += [(channels, 3, 1)] * (2 * blocks)
    return layers


def conv_weights():
    """Returns (kernel, bias) of each convolution, and of the last, fully connected layer."""
    random = np.random.default_rng(2)
    weights = []
    before = IMAGE[0]
    for channels, size, _ in conv_layers():
        scale = (1.0 if size == 3 else 2.0) / (before * size * size)
        weights.append(((random.normal(size=(channels, before, size, size)) * scale ** 0.5)
                        .astype("f4"), (random.normal(size=channels) * 0.1).astype("f4")))
        before = channels
    weights.append(((random.normal(size=(before, CLASSES)) / before ** 0.5).astype("f4"),
                    random.normal(size=CLASSES).astype("f4")))
    return weights


def save_onnx(graph_name, nodes, weights, tensors, path):
    """Writes an ONNX file. `tensors` are the name and the dims of the input, then of the output."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    (given, given_dims), (wanted, wanted_dims) = tensors
    graph = helper.make_graph(
        nodes, graph_name,
        [helper.make_tensor_value_info(given, TensorProto.FLOAT, ["n", *given_dims])],
        [helper.make_tensor_value_info(wanted, TensorProto.FLOAT, ["n", *wanted_dims])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, path)


def mlp_onnx(path):
    from onnx import helper
    first, second = mlp_weights()
    nodes = [helper.make_node("Gemm", ["x", "w1", "b1"], ["h"]),
             helper.make_node("Relu", ["h"], ["r"]),
             helper.make_node("Gemm", ["r", "w2", "b2"], ["y"])]
    save_onnx("mlp", nodes, {"w1": first[0], "b1": first[1], "w2": second[0], "b2": second[1]},
              [("x", MLP_DIMS[:1]), ("y", MLP_DIMS[2:])], path)


def conv_onnx(path):
    from onnx import helper
    weights, nodes, current, residual = {}, [], "x", None
    for i, ((kernel, bias), (_, size, stride)) in enumerate(zip(conv_weights(), conv_layers())):
        weights[f"w{i}"], weights[f"b{i}"] = kernel, bias
        pad = size // 2
        nodes.append(helper.make_node("Conv", [current, f"w{i}", f"b{i}"], [f"c{i}"],
                                      pads=[pad] * 4, strides=[stride] * 2))
        added = f"c{i}"
        if size == 3 and residual is not None:  # the second convolution of a block
            nodes.append(helper.make_node("Add", [added, residual], [f"a{i}"]))
            added, residual = f"a{i}", None
        elif size == 3:
            residual = current
        nodes.append(helper.make_node("Relu", [added], [f"r{i}"]))
        current = f"r{i}"
        if i == 0:
            nodes.append(helper.make_node("MaxPool", [current], ["pooled"], kernel_shape=[3, 3],
                                          pads=[1] * 4, strides=[2, 2]))
            current = "pooled"
    weights["w"], weights["b"] = conv_weights()[-1]
    nodes += [helper.make_node("GlobalAveragePool", [current], ["average"]),
              helper.make_node("Flatten", ["average"], ["flat"]),
              helper.make_node("Gemm", ["flat", "w", "b"], ["y"])]
    save_onnx("conv", nodes, weights, [("x", IMAGE), ("y", (CLASSES,))], path)


def scale_onnx(path):
    from onnx import helper
    save_onnx("scale", [helper.make_node("Mul", ["x", "two"], ["y"])],
              {"two": np.array(2, "f4")}, [("x", (1024,)), ("y", (1024,))], path)


def torch_modules():
    """Returns the same networks as PyTorch modules on the CPU: mlp, conv."""
    import torch
    from torch import nn

    def layer(module, weight, bias):
        module.weight.data = torch.from_numpy(np.ascontiguousarray(weight))
        module.bias.data = torch.from_numpy(bias)
        return module

    class Block(nn.Module):
        def __init__(self, first, second):
            super().__init__()
            self.first, self.second = first, second

        def forward(self, x):
            return torch.relu(self.second(torch.relu(self.first(x))) + x)

    first, second = mlp_weights()
    mlp = nn.Sequential(layer(nn.Linear(*MLP_DIMS[:2]), first[0].T, first[1]), nn.ReLU(),
                        layer(nn.Linear(*MLP_DIMS[1:]), second[0].T, second[1]))
    parts, before, waiting = [], IMAGE[0], None
    weights = conv_weights()
    for i, ((kernel, bias), (channels, size, stride)) in enumerate(zip(weights, conv_layers())):
        conv = layer(nn.Conv2d(before, channels, size, stride, size // 2), kernel, bias)
        before = channels
        if size == 3 and waiting is not None:
            parts.append(Block(waiting, conv))
            waiting = None
        elif size == 3:
            waiting = conv
        else:
            parts += [conv, nn.ReLU()]
        if i == 0:
            parts.append(nn.MaxPool2d(3, 2, 1))
    parts += [nn.AdaptiveAvgPool2d(1), nn.Flatten(),
              layer(nn.Linear(before, CLASSES), weights[-1][0].T, weights[-1][1])]
    return mlp.eval(), nn.Sequential(*parts).eval()


def config(platform, given, wanted, kind, more=""):
    """Returns a configuration for one FP32 input and output, given as (name, dims)."""
    def tensor(field, name, dims):
        return (f'{field} [ {{ name: "{name}" data_type: TYPE_FP32 '
                f'dims: [ {", ".join(map(str, dims))} ] }} ]\n')
    return (f'platform: "{platform}"\nmax_batch_size: 64\n' + tensor("input", *given)
            + tensor("output", *wanted) + f"instance_group [ {{ kind: {kind} }} ]\n" + more)


ENSEMBLE = '''platform: "ensemble"
max_batch_size: 64
input [ { name: "x" data_type: TYPE_FP32 dims: [ 1024 ] } ]
output [ { name: "y" data_type: TYPE_FP32 dims: [ 1024 ] } ]
ensemble_scheduling { step [
  { model_name: "scale_onnx_gpu" model_version: -1
    input_map { key: "x" value: "x" } output_map { key: "y" value: "between" } },
  { model_name: "scale_onnx_gpu" model_version: -1
    input_map { key: "x" value: "between" } output_map { key: "y" value: "y" } } ] }
'''


# The search for the fastest algorithm would be repeated for each size of a batch.
HEURISTIC = 'parameters { key: "cudnn_conv_algo_search" value { string_value: "1" } }\n'


def write_repository(root, gpu_kind, with_torch):
    """Writes every model. `gpu_kind` is the kind of the models called *_gpu."""
    kinds = {"gpu": gpu_kind, "cpu": "KIND_CPU"}
    shapes = {"mlp": (MLP_DIMS[:1], MLP_DIMS[2:]), "conv": (IMAGE, (CLASSES,)),
              "scale": ((1024,), (1024,))}

    def put(name, file, save, text):
        folder = root / name
        (folder / "1").mkdir(parents=True)
        if save is not None:
            save(str(folder / "1" / file))
        (folder / "config.pbtxt").write_text(text)

    for place, kind in kinds.items():
        for model, save in (("mlp", mlp_onnx), ("conv", conv_onnx), ("scale", scale_onnx)):
            given, wanted = shapes[model]
            put(f"{model}_onnx_{place}", "model.onnx", save,
                config("onnxruntime_onnx", ("x", given), ("y", wanted), kind))
    put("conv_onnx_batched", "model.onnx", conv_onnx,
        config("onnxruntime_onnx", ("x", IMAGE), ("y", (CLASSES,)), gpu_kind,
               "dynamic_batching { max_queue_delay_microseconds: 2000 }\n" + HEURISTIC))
    put("twice", "", None, ENSEMBLE)
    if not with_torch:
        return
    import torch
    for model, module in zip(("mlp", "conv"), torch_modules()):
        given, wanted = shapes[model]
        traced = torch.jit.trace(module, torch.zeros(2, *given))
        for place, kind in kinds.items():
            put(f"{model}_torch_{place}", "model.pt", traced.save,
                config("pytorch_libtorch", ("x__0", given), ("y__0", wanted), kind))
    put("conv_torch_batched", "model.pt", traced.save,
        config("pytorch_libtorch", ("x__0", IMAGE), ("y__0", (CLASSES,)), gpu_kind,
               "dynamic_batching { max_queue_delay_microseconds: 2000 }\n"))
