# SPDX-License-Identifier: Apache-2.0
"""Repositories of the models in tests/data/tensorflow, and their cases as numpy arrays."""

import json
import shutil
from pathlib import Path

import ml_dtypes
import numpy as np
from models import DATATYPES
from tritonclient.utils import triton_to_np_dtype

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "tensorflow"
CASES = json.loads((DATA / "cases.json").read_text())


def array(tensor):
    """Returns a tensor of cases.json in tritonclient's form."""
    if tensor["datatype"] == "BYTES":
        values = np.empty(len(tensor["data"]), object)
        values[:] = [text.encode("latin-1") for text in tensor["data"]]
    else:
        dtype = ml_dtypes.bfloat16 if tensor["datatype"] == "BF16" else triton_to_np_dtype(
            tensor["datatype"])
        values = np.array(tensor["data"], dtype)
    return values.reshape(tensor["shape"])


def tensor(kind, name, datatype, dims, extra=""):
    """Returns one entry of `input` or `output`; `datatype` is the name on the wire."""
    return (f'{kind} {{ name: "{name}" data_type: {DATATYPES[datatype]} '
            f"dims: {list(dims)} {extra} }}\n")


def tensors(case, batch, **dims):
    """Returns the `input` and `output` entries of a case; `dims` overrides those of some tensors.
    """
    text = ""
    for kind in ("input", "output"):
        for name, value in CASES[case][0][f"{kind}s"].items():
            shape = value["shape"][1 if batch else 0:] or [1]
            text += tensor(kind, name, value["datatype"], dims.get(name, shape))
    return text


def parameters(**values):
    return "".join(f'parameters {{ key: "{k}" value {{ string_value: "{v}" }} }}\n'
                   for k, v in values.items())


def graphdef(root, name, source, config, batch=0, content=None):
    """Writes a model with graphs/SOURCE.graphdef, or with the given bytes."""
    folder = root / name
    (folder / "1").mkdir(parents=True)
    if content is None:
        content = (DATA / "graphs" / f"{source}.graphdef").read_bytes()
    (folder / "1" / "model.graphdef").write_bytes(content)
    (folder / "config.pbtxt").write_text(
        f'platform: "tensorflow_graphdef"\nmax_batch_size: {batch}\n{config}')
    return folder


def savedmodel(root, name, source, config=None):
    """Writes a model with savedmodels/SOURCE, without a configuration by default."""
    folder = root / name
    (folder / "1").mkdir(parents=True)
    shutil.copytree(DATA / "savedmodels" / source, folder / "1" / "model.savedmodel")
    if config is not None:
        (folder / "config.pbtxt").write_text('platform: "tensorflow_savedmodel"\n' + config)
    return folder


def check_case(client, model, case):
    """Sends every input of the case and compares the outputs with TensorFlow's."""
    inputs = [client.input(name, array(value), value["datatype"])
              for name, value in case["inputs"].items()]
    answer = client.infer(model, inputs, outputs=list(case["outputs"]))
    for name, value in case["outputs"].items():
        check_array(answer.array(name), array(value), name)
        assert answer.output(name)["datatype"] == value["datatype"]


def check_array(got, want, name=""):
    assert list(got.shape) == list(want.shape), name
    if want.dtype == ml_dtypes.bfloat16:
        got, want = got.astype(np.float32), want.astype(np.float32)
    if want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6, err_msg=name)
    else:
        np.testing.assert_array_equal(got, want, err_msg=name)
