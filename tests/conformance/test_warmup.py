# SPDX-License-Identifier: Apache-2.0
"""model_warmup: the executions before a model is ready, and the errors."""

import numpy as np
import pytest
from explicit_models import EXPLICIT, index, statistics
from models import ONE_CPU_INSTANCE, Repository, sum_graph

TWO_CPU_INSTANCES = "instance_group { kind: KIND_CPU count: 2 }\n"


def sample(inputs, batch=1, count=0, name="s"):
    """`inputs` maps names to the settings of an input."""
    body = "".join(f'inputs {{ key: "{n}" value {{ {v} }} }} ' for n, v in inputs.items())
    return f'model_warmup {{ name: "{name}" batch_size: {batch} count: {count} {body}}}\n'


ZERO = {"INPUT0": "data_type: TYPE_FP32 dims: [ 4 ] zero_data: true"}


def of(settings, **others):
    return {"INPUT0": settings, **others}


# Name of a model -> the error of its load.
REFUSED = {
    "wrong_shape": (of("data_type: TYPE_FP32 dims: [ 5 ] zero_data: true"),
                    "unexpected shape for input 'INPUT0' for model 'wrong_shape'. "
                    "Expected [-1,4], got [1,5]"),
    "wrong_type": (of("data_type: TYPE_INT32 dims: [ 4 ] zero_data: true"),
                   "inference input 'INPUT0' data-type is 'INT32', but model 'wrong_type' expects "
                   "'FP32'"),
    "variable": (of("data_type: TYPE_FP32 dims: [ -1 ] zero_data: true"),
                 "warmup setting expects all variable-size dimensions are specified for input "
                 "'INPUT0'"),
    "no_data": (of("data_type: TYPE_FP32 dims: [ 4 ]"),
                "warmup setting expects input 'INPUT0' to have input_data_type set"),
    "no_file": (of('data_type: TYPE_FP32 dims: [ 4 ] input_data_file: "absent"'),
                "failed to open text file for read"),
    "short_file": (of('data_type: TYPE_FP32 dims: [ 4 ] input_data_file: "short"'),
                   "warmup setting expects 16 bytes, but the data provided from short"),
    "outside": (of('data_type: TYPE_FP32 dims: [ 4 ] input_data_file: "../config.pbtxt"'),
                "warmup file '../config.pbtxt' is outside the directory"),
    "no_input": ({}, "expected 1 inputs but got 0 inputs for model 'no_input'"),
}


def write_models(root):
    repo = Repository(root)
    repo.identity("counted", [("FP32", [4])], batch=8, extra=TWO_CPU_INSTANCES
                  + sample(ZERO, batch=3, count=2, name="a") + sample(ZERO, batch=1, name="b")
                  + sample(ZERO, batch=0, name="c"))
    repo.identity("flat", [("FP32", [4])], extra=ONE_CPU_INSTANCE + sample(ZERO, batch=3))
    repo.identity("passive", [("FP32", [4])], batch=8, extra=sample(ZERO)
                  + "instance_group { kind: KIND_CPU count: 1 passive: true }\n"
                  + "instance_group { kind: KIND_CPU count: 1 }\n")
    repo.identity("control", [("FP32", [4])], batch=8, extra=ONE_CPU_INSTANCE
                  + sample({**ZERO, "START": "data_type: TYPE_INT32 dims: [ 1 ] zero_data: true"},
                           batch=2))
    repo.identity("strings", [("BYTES", [2])], batch=8, extra=ONE_CPU_INSTANCE
                  + sample(of("data_type: TYPE_STRING dims: [ 2 ] random_data: true"))
                  + sample(of('data_type: TYPE_STRING dims: [ 2 ] input_data_file: "two"')))
    (root / "strings" / "warmup").mkdir()
    (root / "strings" / "warmup" / "two").write_bytes(b"\x01\x00\x00\x00a\x02\x00\x00\x00bc")
    repo.identity("file", [("FP32", [4])], batch=8, extra=ONE_CPU_INSTANCE
                  + sample(of('data_type: TYPE_FP32 dims: [ 4 ] input_data_file: "long"')))
    (root / "file" / "warmup").mkdir()
    (root / "file" / "warmup" / "long").write_bytes(bytes(20))
    numbers = {n: "data_type: TYPE_FP32 dims: [ 4 ] random_data: true" for n in ("A", "B")}
    repo.onnx("sum", sum_graph(), 'backend: "onnxruntime"\nmax_batch_size: 4\n'
              + ONE_CPU_INSTANCE + sample(numbers, batch=4, count=3))
    for name, (inputs, _) in REFUSED.items():
        repo.identity(name, [("FP32", [4])], batch=8, extra=ONE_CPU_INSTANCE + sample(inputs))
    (root / "short_file" / "warmup").mkdir()
    (root / "short_file" / "warmup" / "short").write_bytes(b"seven !")
    (root / "outside" / "warmup").mkdir()


@pytest.fixture(scope="module")
def warm_server(start_server):
    return start_server("warmup", write_models, *EXPLICIT)


@pytest.fixture(params=["http", "grpc"])
def warm(request, warm_server, connect):
    return connect(request.param, warm_server)


def loaded(client, model):
    """Returns the statistics of a model to which no client has sent a request."""
    client.call("unload_model", model)
    client.call("load_model", model)
    return statistics(client, model)["1"]


@pytest.mark.parametrize("model,expected", [
    ("counted", (14, 6, [1, 3])),
    ("flat", (3, 1, [3])),
    ("passive", (1, 1, [1])),
    ("control", (2, 1, [2])),
    ("strings", (2, 2, [1])),
    ("file", (1, 1, [1])),
    ("sum", (12, 3, [4])),
])
def test_warmup_is_in_the_statistics(warm, model, expected):
    assert loaded(warm, model) == expected


def test_a_warm_model_answers(warm):
    loaded(warm, "sum")
    ones = np.ones((2, 4), np.float32)
    answer = warm.infer("sum", [warm.input("A", ones), warm.input("B", ones)])
    assert (answer.array("SUM") == 2).all()


@pytest.mark.parametrize("model", REFUSED)
def test_a_failed_warmup_fails_the_load(warm, model):
    text = warm.expect("INVALID_ARG", REFUSED[model][1], warm.call, "load_model", model)
    assert text.startswith(f"load failed for model '{model}': version 1 is at UNAVAILABLE state: ")
    assert not warm.call("is_model_ready", model)
    assert index(warm, model)[0][:2] == ("1", "UNAVAILABLE")
