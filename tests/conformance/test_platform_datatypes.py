# SPDX-License-Identifier: Apache-2.0
"""The table of data types and platforms, cell by cell: a supported type is accepted and returned;
an unsupported type is a load error that names the tensor or its type.

TABLE is the table of the model configuration's documentation. BEYOND are types that the table does
not list for a platform and that work here. "graphdef" is the column of TensorFlow.
"""

import shutil

import numpy as np
import platform_models
import pytest
from explicit_models import EXPLICIT
from models import DATATYPES
from platform_models import PLATFORMS, caffe2_folder, onnx_identity, tensor
from test_datatypes import same, sample

EVERYWHERE = ("BOOL", "INT8", "INT32", "FP16", "FP32")
MOST = EVERYWHERE + ("UINT8", "UINT16", "INT16", "INT64", "FP64")
TABLE = {
    "tensorrt": EVERYWHERE,
    "graphdef": MOST + ("UINT32", "UINT64", "BYTES"),
    "netdef": MOST,
    "onnx": MOST + ("UINT32", "UINT64", "BYTES"),
    # The table's column has no FP16; kHalf is there.
    "torchscript": ("BOOL", "UINT8", "INT8", "INT16", "INT32", "INT64", "FP32", "FP64"),
}
BEYOND = {
    "graphdef": ("BF16",),
    "onnx": ("BF16",),
    "torchscript": ("FP16", "BF16", "BYTES"),
}
# Not in the table: their backends support all types.
ALL = ("custom", "openvino")
CARRIED = {name: set(TABLE.get(name, DATATYPES)) | set(BEYOND.get(name, ()))
           for name in (*TABLE, *ALL) if name != "tensorrt"}
CELLS = [(name, datatype) for name in CARRIED for datatype in DATATYPES]


def xy(datatype, given="x", wanted="y", dims=(3,), out=None):
    return (tensor("input", given, datatype, dims)
            + tensor("output", wanted, datatype, out or dims))


def write_onnx(root, name, datatype):
    return onnx_identity(root, name, datatype), xy(datatype), ("x", "y")


def write_graphdef(root, name, datatype):
    import tensorflow_models as tfm
    names = (f"in_{datatype}", f"out_{datatype}")
    return tfm.graphdef(root, name, "types", ""), xy(datatype, *names, dims=(-1,)), names


def write_netdef(root, name, datatype):
    kind = datatype.lower() if datatype in CARRIED["netdef"] else "int32"
    folder = root / name
    (folder / "1").mkdir(parents=True)
    for file in ("init_model.netdef", "model.netdef"):
        shutil.copy(caffe2_folder(f"type_copy_{kind}") / file, folder / "1")
    return folder, xy(datatype, "X", "Y", dims=(6,)), ("X", "Y")


def write_torchscript(root, name, datatype):
    import pytorch_models
    source, names = ("texts", ("texts", "OUTPUT__0")) if datatype == "BYTES" else (
        "echo", ("x", "OUTPUT__0"))
    folder = pytorch_models.put(root, name, source=source)
    return folder, xy(datatype, *names, dims=(-1,)), names


def write_custom(root, name, datatype):
    folder = PLATFORMS["custom"].write(root, name)
    return folder, xy(datatype, "INPUT0", "OUTPUT0"), ("INPUT0", "OUTPUT0")


def write_openvino(root, name, datatype):
    import openvino_models
    folder = openvino_models.copy(root, name, f"type_{datatype.lower()}")
    return folder, xy(datatype, out=(6,)), ("x", "y")


WRITE = {"onnx": write_onnx, "graphdef": write_graphdef, "netdef": write_netdef,
         "torchscript": write_torchscript, "custom": write_custom, "openvino": write_openvino}


def put(root, platform, datatype):
    """Writes the model. Returns the names of its input and its output."""
    name = f"{platform}_{datatype.lower()}"
    folder, tensors, names = WRITE[platform](root, name, datatype)
    # TorchScript's texts have one dimension, and the batch would be a second.
    batch = 0 if platform == "torchscript" else 8
    (folder / "config.pbtxt").write_text(
        f"{PLATFORMS[platform].line}\nmax_batch_size: {batch}\n{tensors}")
    return names


@pytest.fixture(scope="module")
def serving(start_server, built_platforms):
    return start_server("datatypes", lambda root: root.mkdir(), *EXPLICIT)


@pytest.fixture(params=["http", "grpc"])
def client(request, serving, connect):
    return connect(request.param, serving)


def expected(platform, array):
    """Returns the result of the platform's model for the values."""
    if platform == "torchscript" and array.dtype == np.object_:
        return np.array([b"<" + text + b">" for text in array], np.object_)
    if platform == "torchscript":
        return np.logical_not(array) if array.dtype == np.bool_ else array + array
    if platform == "openvino":
        return np.concatenate([array, array], axis=1)
    return array


@pytest.mark.parametrize("platform,datatype", CELLS, ids=[f"{p}-{d}" for p, d in CELLS])
def test_cell(serving, client, built_platforms, platform, datatype):
    if platform not in built_platforms:
        pytest.skip(f"the backend or the reference data of {platform} is not there")
    name = f"{platform}_{datatype.lower()}"
    shutil.rmtree(serving.repository / name, ignore_errors=True)
    given, wanted = put(serving.repository, platform, datatype)
    if datatype not in CARRIED[platform]:
        _, text = client.error(client.call, "load_model", name)
        assert f"'{name}'" in text
        assert f"'{given}'" in text
        assert DATATYPES[datatype] in text or datatype in text
        return
    client.call("load_model", name)
    array = sample(datatype)
    if platform == "torchscript":
        if datatype != "BYTES" and datatype != "BOOL":
            array = np.array([0, 1, 2, 3, 60, 7], dtype=array.dtype)  # twice each value fits
        else:
            array = array[:6]
    elif platform == "netdef":
        array = array.reshape(1, 6)
    elif platform == "openvino" and datatype not in ("BOOL", "BYTES"):
        # Some of its kernels for wide integers compute with narrower ones.
        array = np.array([0, 1, 2, 3, 60, 7], dtype=array.dtype).reshape(2, 3)
    else:
        array = array.reshape(2, 3)
    answer = client.infer(name, [client.input(given, array, datatype)], [wanted])
    assert answer.output(wanted)["datatype"] == datatype
    same(answer.array(wanted), expected(platform, array))
    client.call("unload_model", name)


def test_the_cells_are_all_of_the_table():
    """Every platform of the table is tested, except TensorRT, which backend_tensorrt_test covers.
    """
    assert {p for p, _ in CELLS} == (set(TABLE) - {"tensorrt"}) | set(ALL)
    assert len(CELLS) == len(DATATYPES) * len(CARRIED)
    assert platform_models.PLATFORMS.keys() >= CARRIED.keys()
