# SPDX-License-Identifier: Apache-2.0
import asyncio
import json

import numpy as np
import pytest
import triton_python_backend_utils as pb_utils
from nereid_pb.function_model import FP32, INT64, STRING, model

SCALE = """
@model(max_batch_size=8)
def scale(x: FP32[-1, 2], factor: FP32[1] = None) -> {"SCALED": FP32[-1], "COUNT": INT64[1]}:
    if x.size == 0:
        raise ValueError("nothing to scale")
    return {"SCALED": x * (2 if factor is None else factor), "COUNT": [x.size]}
"""
ONE = """
@model()
async def upper(text: STRING[1]) -> STRING[1]:
    return np.array([text[0].decode().upper()], np.object_)
"""


def load(code, future=""):
    scope = {"model": model, "FP32": FP32, "INT64": INT64, "STRING": STRING, "np": np,
             "__name__": "1.model"}
    exec(compile(future + code, "model.py", "exec"), scope)
    return scope["TritonPythonModel"]


def request(**arrays):
    tensors = [pb_utils.Tensor(name, array) for name, array in arrays.items()]
    return pb_utils.InferenceRequest._received(
        1, "", 0, 0, 0, b"", frozenset(), tensors, 0, False)


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_the_configuration_comes_from_the_annotations(future):
    config = pb_utils.ModelConfig(json.dumps({"name": "m"}))
    made = load(SCALE, future).auto_complete_config(config).as_dict()
    assert made == {
        "name": "m", "max_batch_size": 8, "dynamic_batching": {},
        "input": [{"name": "x", "data_type": "TYPE_FP32", "dims": [-1, 2]},
                  {"name": "factor", "data_type": "TYPE_FP32", "dims": [1], "optional": True}],
        "output": [{"name": "SCALED", "data_type": "TYPE_FP32", "dims": [-1]},
                   {"name": "COUNT", "data_type": "TYPE_INT64", "dims": [1]}]}


def test_the_function_is_called_for_each_request():
    responses = load(SCALE)().execute([
        request(x=np.ones((1, 2), np.float32)),
        request(x=np.ones((1, 2), np.float32), factor=np.array([[5]], np.float32))])
    scaled = [pb_utils.get_output_tensor_by_name(r, "SCALED").as_numpy() for r in responses]
    assert [s.tolist() for s in scaled] == [[[2, 2]], [[5, 5]]]
    assert scaled[0].dtype == np.float32
    assert pb_utils.get_output_tensor_by_name(responses[0], "COUNT").as_numpy().dtype == np.int64


def test_an_exception_is_the_error_of_its_request():
    bad, good = load(SCALE)().execute([
        request(x=np.ones((0, 2), np.float32)), request(x=np.ones((1, 2), np.float32))])
    assert bad.error().message() == "ValueError: nothing to scale" and not good.has_error()


def test_a_coroutine_with_one_output():
    (response,) = asyncio.run(load(ONE)().execute([request(text=np.array([b"abc"], np.object_))]))
    assert pb_utils.get_output_tensor_by_name(response, "OUT").as_numpy().tolist() == ["ABC"]


@pytest.mark.parametrize("code, text", [
    ("@model()\ndef f(x) -> FP32[1]:\n    return x", "the parameter 'x' needs an annotation"),
    ("@model()\ndef f(x: FP32[1]):\n    return x", "the result needs an annotation"),
    ("@model()\ndef f(x: float) -> FP32[1]:\n    return x", "such as FP32"),
    ("@model()\ndef f(x: FP32[0]) -> FP32[1]:\n    return x", "a dimension is a positive int or -1"),
])
def test_functions_that_are_no_models(code, text):
    with pytest.raises(TypeError, match=text):
        load(code)


def test_a_result_that_does_not_fit():
    made = load('@model()\ndef f(x: FP32[1]) -> {"A": FP32[1]}:\n    return {"B": x}')
    (response,) = made().execute([request(x=np.ones(1, np.float32))])
    assert "must return a dictionary with the keys ['A']" in response.error().message()
