# SPDX-License-Identifier: Apache-2.0
"""nereid migrate: what it makes of the configurations of other servers loads and answers."""

import json
import shutil
import subprocess
from pathlib import Path

import command_line
import models
import numpy as np
import pytest
import raw_http
from onnx import TensorProto, helper

DATA = Path(__file__).resolve().parents[1] / "data"


@pytest.fixture(scope="module")
def migrate(request, is_peer):
    if is_peer:
        pytest.skip("the repositories use labels, which Triton does not have")
    program = command_line.program(request.config)

    def run(configuration, repository, *flags, code=0):
        done = subprocess.run([program, "migrate", configuration, "-o", repository, *flags],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done.stdout + done.stderr
        checked = subprocess.run([program, "check", repository, "--backend-directory="],
                                 capture_output=True, text=True, timeout=60)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        return done.stdout
    return run


def ask(server, path, name, datatype, values):
    answer = raw_http.infer(server, path, {"inputs": [
        raw_http.tensor(name, datatype, list(np.shape(values)), np.ravel(values).tolist())]})
    assert answer.status == 200, answer.body
    return {o["name"]: np.reshape(o["data"], o["shape"]) for o in answer.json["outputs"]}


def test_tensorflow_serving(migrate, start_server, require_backends, tmp_path):
    require_backends("tensorflow")
    for version in ("1", "2"):
        shutil.copytree(DATA / "tensorflow/savedmodels/linear", tmp_path / "served/linear" / version)
    configuration = tmp_path / "models.config"
    configuration.write_text("""
        model_config_list { config {
          name: "linear" base_path: "/models/linear" model_platform: "tensorflow"
          model_version_policy { all { } }
          version_labels { key: "stable" value: 1 } } }""")
    server = start_server("migrated-tensorflow", lambda root: migrate(
        configuration, root, "--path", f"/models={tmp_path}/served"))
    # Any number of rows, as with TensorFlow Serving.
    for rows in (1, 3, 9):
        values = np.ones((rows, 4), np.float32)
        assert ask(server, "linear", "input_1", "FP32", values)["dense_1"].shape == (rows, 2)
    plan = (server.repository / "linear" / "rollout.json").read_text()
    path = "/v2/repository/models/linear/rollout"
    with raw_http.Wire(server) as wire:
        wire.send(raw_http.head("PUT", path, f"Content-Length: {len(plan)}") + plan.encode())
        assert wire.read().status == 200
    assert raw_http.get(server, "/v2/models/linear/versions/stable/ready").status == 200


def test_openvino_model_server(migrate, start_server, require_backends, tmp_path):
    require_backends("openvino")
    shutil.copytree(DATA / "openvino/mlp", tmp_path / "mlp/1")
    graph = helper.make_graph(
        [helper.make_node("Add", ["a", "a"], ["b"])], "doubled",
        [helper.make_tensor_value_info("a", TensorProto.FLOAT, ["rows", 3])],
        [helper.make_tensor_value_info("b", TensorProto.FLOAT, ["rows", 3])])
    models.Repository(tmp_path).onnx("doubled", graph)
    (tmp_path / "doubled" / "config.pbtxt").unlink(missing_ok=True)

    def node(name, model, takes, source, gives):
        return {"name": name, "model_name": model, "type": "DL model",
                "inputs": [{takes: {"node_name": source[0], "data_item": source[1]}}],
                "outputs": [{"data_item": gives, "alias": "result"}]}

    configuration = tmp_path / "config.json"
    configuration.write_text(json.dumps({
        "model_config_list": [
            {"config": {"name": "mlp", "base_path": "mlp", "nireq": 2,
                        "plugin_config": {"PERFORMANCE_HINT": "LATENCY"}}},
            {"config": {"name": "two_rows", "base_path": "mlp", "shape": "(2,4)"}},
            {"config": {"name": "doubled", "base_path": "doubled"}}],
        "pipeline_config_list": [{
            "name": "both", "inputs": ["in"],
            "nodes": [node("first", "mlp", "x", ("request", "in"), "y"),
                      node("second", "doubled", "a", ("first", "result"), "b")],
            "outputs": [{"out": {"node_name": "second", "data_item": "result"}}]}]}))
    server = start_server("migrated-openvino", lambda root: migrate(configuration, root))
    # OpenVINO may compute in BF16, and differently for other shapes.
    values = np.arange(12, dtype=np.float32).reshape(3, 4) / 8
    once = ask(server, "mlp", "x", "FP32", values)["y"]
    assert once.shape == (3, 3)
    assert np.allclose(ask(server, "both", "in", "FP32", values)["out"], 2 * once, atol=0.02)
    assert np.allclose(ask(server, "two_rows", "x", "FP32", values[:2])["y"], once[:2], atol=0.02)
