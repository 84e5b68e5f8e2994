# SPDX-License-Identifier: Apache-2.0
"""One model of each platform, with the results that its own framework computed.

The base model of a platform batches, and has one FP32 input and one FP32 output of one dimension.
The data in tests/data/PLATFORM was made by the framework itself; for ONNX it is computed by the
reference implementation of the onnx package.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import models
import numpy as np
import onnx
from config_models import io
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Platform:
    """`write(root, name)` puts the files of the base model."""

    backend: str
    line: str  # the line of the configuration that names the platform
    given: str
    wanted: str
    dims: tuple  # dims of input and output, without the batch
    write: Callable
    case: Callable  # () -> (input, output) with the batch
    library: str  # a part of the name of its backend library
    more: str = ""  # of the configuration

    def config(self, *, batch=8, given="", wanted="", dims=None):
        """`dims` are the dims of the clients, if they differ from the model's."""
        dims = dims or tuple([d] for d in self.dims)
        return (f"{self.line}\nmax_batch_size: {batch}\n{self.more}"
                + io("input", self.given, "FP32", dims[0], given)
                + io("output", self.wanted, "FP32", dims[1], wanted))

    def put(self, root, name, config):
        """Writes the base model with the given configuration, or without one if it is None."""
        folder = self.write(root, name)
        if config is not None:
            (folder / "config.pbtxt").write_text(config)
        else:
            (folder / "config.pbtxt").unlink(missing_ok=True)
        return folder

    def ask(self, client, model, array, **more):
        return client.infer(model, [client.input(self.given, array)], [self.wanted],
                            **more).array(self.wanted)


def _version(root, name):
    (root / name / "1").mkdir(parents=True)
    return root / name


# ---- ONNX

def _mlp():
    rng = np.random.default_rng(7)
    weights = [helper.make_tensor(n, TensorProto.FLOAT, s, rng.normal(size=s).astype("f4").ravel())
               for n, s in (("w", (4, 8)), ("v", (8, 3)))]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["r"]),
         helper.make_node("MatMul", ["r", "v"], ["z"]), helper.make_node("Softmax", ["z"], ["y"])],
        "mlp", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 3])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


def _write_onnx(root, name):
    folder = _version(root, name)
    onnx.save(_mlp(), folder / "1" / "model.onnx")
    return folder


def _onnx_case():
    x = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
    return x, ReferenceEvaluator(_mlp()).run(None, {"x": x})[0]


# ---- TensorFlow

def _write_graphdef(root, name):
    import tensorflow_models as tfm
    return tfm.graphdef(root, name, "matmul", "")


def _write_savedmodel(root, name):
    import tensorflow_models as tfm
    return tfm.savedmodel(root, name, "linear")


def _tensorflow_case(model, given, wanted):
    def case():
        import tensorflow_models as tfm
        (found,) = [c for c in tfm.CASES[model] if c["inputs"][given]["shape"][0] == 3]
        return tfm.array(found["inputs"][given]), tfm.array(found["outputs"][wanted])
    return case


# ---- PyTorch

def _write_torchscript(root, name):
    import pytorch_models
    return pytorch_models.put(root, name, source="dense")


def _torchscript_case():
    import pytorch_models
    (case,) = pytorch_models.CASES["dense"]
    return (pytorch_models.array(case["inputs"]["x"]),
            pytorch_models.array(case["outputs"]["OUTPUT__0"]))


# ---- Caffe2

def caffe2_folder(case):
    return ROOT / "tests" / "data" / "caffe2" / case


def _write_netdef(root, name):
    folder = _version(root, name)
    for file in ("init_model.netdef", "model.netdef"):
        shutil.copy(caffe2_folder("init_computed") / file, folder / "1")
    return folder


def _netdef_case():
    folder = caffe2_folder("init_computed")
    return np.load(folder / "inputs" / "X.npy"), np.load(folder / "outputs" / "Y.npy")


# ---- custom

LIBRARIES = None  # tests/plugins of the build; available() sets it


def _write_custom(root, name):
    folder = _version(root, name)
    shutil.copy(LIBRARIES / "libcustom_echo.so", folder / "1" / "libcustom.so")
    return folder


def _custom_case():
    x = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
    return x, x


# ---- OpenVINO

def _write_openvino(root, name):
    import openvino_models
    return openvino_models.copy(root, name, "mlp")


def _openvino_case():
    import openvino_models as ovm
    (case,) = ovm.ANSWERS["mlp"]
    return ovm.array(case["inputs"]["x"]), ovm.array(case["outputs"]["y"])


def parameter(key, value):
    return f'parameters {{ key: "{key}" value: {{ string_value: "{value}" }} }}\n'


# By default, processors with BF16 compute FP32 in BF16.
F32 = parameter("INFERENCE_PRECISION_HINT", "f32")

PLATFORMS = {
    "onnx": Platform("onnxruntime", 'platform: "onnxruntime_onnx"', "x", "y", (4, 3), _write_onnx,
                     _onnx_case, "libonnxruntime"),
    "graphdef": Platform("tensorflow", 'platform: "tensorflow_graphdef"', "x", "scores", (4, 3),
                         _write_graphdef, _tensorflow_case("matmul", "x", "scores"),
                         "libtensorflow_cc"),
    "savedmodel": Platform("tensorflow", 'platform: "tensorflow_savedmodel"', "input_1", "dense_1",
                           (4, 2), _write_savedmodel,
                           _tensorflow_case("linear", "input_1", "dense_1"), "libtensorflow_cc"),
    "torchscript": Platform("pytorch", 'platform: "pytorch_libtorch"', "x", "OUTPUT__0", (16, 16),
                            _write_torchscript, _torchscript_case, "libtorch_cpu"),
    "netdef": Platform("caffe2", 'platform: "caffe2_netdef"', "X", "Y", (4, 5), _write_netdef,
                       _netdef_case, "libtriton_caffe2"),
    "custom": Platform("custom", 'platform: "custom"', "INPUT0", "OUTPUT0", (4, 4), _write_custom,
                       _custom_case, "libtriton_custom"),
    "openvino": Platform("openvino", 'backend: "openvino"', "x", "y", (4, 3), _write_openvino,
                         _openvino_case, "libopenvino", F32),
}


def available(plugins, backends=None):
    """Returns the platforms whose backends are built and whose reference data exists. `plugins` is
    the folder tests/plugins of a build; the backends are beside it by default."""
    global LIBRARIES
    LIBRARIES = plugins
    backends = backends or plugins.parents[1] / "backends"

    def is_there(platform):
        library = backends / platform.backend / f"libtriton_{platform.backend}.so"
        try:
            return library.exists() and platform.case() is not None
        except (ImportError, FileNotFoundError):
            return False

    return [name for name, platform in PLATFORMS.items() if is_there(platform)]


def close(got, want, what=""):
    assert got.shape == want.shape, what
    if want.dtype.kind in "fV":  # ml_dtypes has the kind V
        np.testing.assert_allclose(got.astype("f8"), want.astype("f8"), 1e-5, 1e-6, err_msg=what)
    else:
        np.testing.assert_array_equal(got, want, err_msg=what)


def onnx_identity(root, name, datatype):
    """Returns an identity of x[batch,3] in one type."""
    kind = {"BOOL": "BOOL", "FP16": "FLOAT16", "FP32": "FLOAT", "FP64": "DOUBLE", "BYTES": "STRING",
            "BF16": "BFLOAT16"}.get(datatype, datatype)
    number = getattr(TensorProto, kind)
    shape = ["batch", 3]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "identity",
                              [helper.make_tensor_value_info("x", number, shape)],
                              [helper.make_tensor_value_info("y", number, shape)])
    folder = _version(root, name)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, folder / "1" / "model.onnx")
    return folder


def tensor(kind, name, datatype, dims, extra=""):
    """Returns one entry of `input` or `output`; `datatype` is the name on the wire."""
    return io(kind, name, models.DATATYPES[datatype].removeprefix("TYPE_"), dims, extra)

