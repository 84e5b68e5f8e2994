# SPDX-License-Identifier: Apache-2.0
"""TorchScript models of tests/data/pytorch on a server, and their cases: the results of PyTorch
itself.

A case is a request with its response and, in a sequence, its position; see make_models.py.
"""

import json
import re
import shutil
from pathlib import Path

import ml_dtypes
import numpy as np

DATA = Path(__file__).resolve().parents[1] / "data" / "pytorch"
CASES = {path.parent.name: json.loads(path.read_text()) for path in sorted(DATA.glob("*/cases.json"))}
MODELS = sorted(path.parent.name for path in DATA.glob("*/config.pbtxt"))
TYPES = {"BOOL": "?", "UINT8": "u1", "INT8": "i1", "INT16": "i2", "INT32": "i4", "INT64": "i8",
         "FP16": "f2", "FP32": "f4", "FP64": "f8", "BF16": ml_dtypes.bfloat16}


def array(tensor):
    """Returns a tensor of cases.json as a numpy array."""
    if tensor["datatype"] == "BYTES":
        texts = [text.encode() for text in tensor["data"]]
        return np.array(texts, np.object_).reshape(tensor["shape"])
    return np.array(tensor["data"]).astype(TYPES[tensor["datatype"]]).reshape(tensor["shape"])


def put(root, name, *, source=None, config=None, replace=(), add=""):
    """Writes the model `name`: the files of `source` with their configuration. The configuration is
    changed by `replace`, pairs of a regular expression and a text, and extended by `add`, or
    replaced as a whole."""
    folder = root / name
    shutil.copytree(DATA / (source or name), folder, ignore=shutil.ignore_patterns("cases.json"))
    text = config if config is not None else (folder / "config.pbtxt").read_text()
    for pattern, by in replace:
        text, count = re.subn(pattern, by, text)
        assert count, f"{name}: the configuration does not hold {pattern!r}"
    (folder / "config.pbtxt").write_text(text + add)
    return folder


def put_file(root, name, content, config='platform: "pytorch_libtorch"\n'):
    """Writes a model with any bytes as its file."""
    (root / name / "1").mkdir(parents=True)
    (root / name / "1" / "model.pt").write_bytes(content)
    (root / name / "config.pbtxt").write_text(config)


def parameter(name, value):
    return f'parameters {{ key: "{name}" value {{ string_value: "{value}" }} }}\n'


def same(answer, name, expected):
    """Returns whether an output equals the result of PyTorch in shape, type and values."""
    found, wanted = answer.array(name), array(expected)
    declared = answer.output(name)
    assert (declared["datatype"], [int(n) for n in declared["shape"]]) == (
        expected["datatype"], expected["shape"]), name
    assert found.shape == wanted.shape, name
    if expected["datatype"] in ("FP16", "FP32", "FP64", "BF16"):
        np.testing.assert_allclose(found.astype("f8"), wanted.astype("f8"), rtol=1e-5, atol=1e-6,
                                   err_msg=name)
    else:
        np.testing.assert_array_equal(found, wanted, err_msg=name)


def ask(client, model, inputs, **more):
    return client.infer(model, [client.input(name, array(tensor), tensor["datatype"])
                                for name, tensor in inputs.items()], **more)


def play(client, model, cases, first_id):
    """Sends the cases in order. The sequence of a case becomes first_id plus its number."""
    for case in cases:
        more = {}
        if "sequence" in case:
            more = {"sequence_id": first_id + case["sequence"], "sequence_start": case["start"],
                    "sequence_end": case["end"]}
        answer = ask(client, model, case["inputs"], **more)
        assert set(answer.names) == set(case["outputs"])
        for name, expected in case["outputs"].items():
            same(answer, name, expected)
