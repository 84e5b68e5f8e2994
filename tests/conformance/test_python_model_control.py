# SPDX-License-Identifier: Apache-2.0
"""load_model(), unload_model() and is_model_ready() of Python models."""

import json

import pytest
from python_server import copy_models, raised, snippet, wait_until

MODELS = ["snippets"]
LATER = ["to_load", "bad_initialize"]

FAILED = "Failed to process the request for model 'snippets_0', message: "


def gone(client, model):
    snippet(client, f"pb_utils.unload_model(model_name='{model}')")
    wait_until(lambda: not snippet(client, f"return pb_utils.is_model_ready('{model}')"),
               f"{model} is unloaded")


def test_a_model_is_loaded_and_unloaded(python_client):
    assert snippet(python_client, """
before = pb_utils.is_model_ready(model_name="to_load")
pb_utils.load_model(model_name="to_load")
response = pb_utils.InferenceRequest(
    model_name="to_load", requested_output_names=["OUT"],
    inputs=[pb_utils.Tensor("IN", np.array([4], np.int32))]).exec()
return [before, pb_utils.is_model_ready("to_load"), pb_utils.is_model_ready("to_load", "1"),
        pb_utils.is_model_ready("to_load", model_version="7"),
        response.output_tensors()[0].as_numpy().tolist()]""") == [False, True, True, False, [4]]
    gone(python_client, "to_load")


def test_a_model_is_loaded_with_a_configuration(python_client):
    config = json.dumps({"backend": "python", "max_batch_size": 3, "input": [
        {"name": "IN", "data_type": "TYPE_INT32", "dims": [1]}], "output": [
        {"name": "OUT", "data_type": "TYPE_INT32", "dims": [1]}]})
    assert snippet(python_client, f"pb_utils.load_model('to_load', config={config!r})") is None
    told = python_client.json("get_model_config", "to_load")
    assert told.get("config", told)["max_batch_size"] == 3
    gone(python_client, "to_load")


def test_a_model_is_loaded_with_files(python_client):
    """The files replace the folder of the model."""
    config = json.dumps({"backend": "python", "max_batch_size": 0, "input": [
        {"name": "IN", "data_type": "TYPE_INT32", "dims": [1]}], "output": [
        {"name": "OUT", "data_type": "TYPE_INT32", "dims": [1]}]})
    code = """
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([77], np.int32))])
                for _ in requests]
"""
    assert snippet(python_client, f"""
pb_utils.load_model("made", config={config!r}, files={{"file:1/model.py": {code!r}.encode()}})
return pb_utils.InferenceRequest(
    model_name="made", requested_output_names=["OUT"],
    inputs=[pb_utils.Tensor("IN", np.array([4], np.int32))]).exec().output_tensors()[
        0].as_numpy().tolist()""") == [77]
    gone(python_client, "made")


@pytest.mark.parametrize("code, text", [
    ("pb_utils.load_model('nope')", "Failed to load model: " + FAILED
     + "failed to load 'nope', failed to poll from model repository"),
    ("pb_utils.is_model_ready('snippets', 'x')", "Failed to check model readiness: " + FAILED
     + "failed to get model version from specified version string 'x' (details: stol), version "
     "should be an integral value > 0"),
    ("pb_utils.load_model('m', files=['x'])",
     "failed to load model 'm', files should be a dictionary of file paths and file contents"),
], ids=["load", "version", "files"])
def test_what_the_server_refuses(python_client, code, text):
    assert raised(python_client, code).startswith(f"TritonModelException: {text}")


def test_a_model_that_cannot_load(python_client):
    text = raised(python_client, "pb_utils.load_model('bad_initialize')")
    assert text.startswith("TritonModelException: Failed to load model: " + FAILED)
    assert "bad_initialize" in text


def test_a_model_that_does_not_exist_is_not_ready(python_client):
    assert snippet(python_client, "return pb_utils.is_model_ready('nope')") is False


def test_many_failures_do_no_harm(python_http):
    """100 failing calls: each raises its own exception, and the server serves on."""
    assert snippet(python_http, """
texts = set()
for i in range(50):
    for call in (lambda: pb_utils.load_model("nope"),
                 lambda: pb_utils.is_model_ready("snippets", "-2")):
        try:
            call()
            texts.add("no exception")
        except pb_utils.TritonModelException as error:
            texts.add(str(error).split(":")[0])
return sorted(texts)""") == ["Failed to check model readiness", "Failed to load model"]


def test_a_model_loads_another_in_initialize(start_python, connect):
    """The server loads a model by command, whose initialize() loads the next one."""
    def write(root):
        copy_models(root, "snippets", "to_load", "loader")
    server = start_python("loads", write, "--model-control-mode=explicit",
                          "--load-model=snippets")
    client = connect("http", server)
    client.call("load_model", "loader")
    assert snippet(client, "return pb_utils.is_model_ready('to_load')") is True
    server.stop()
