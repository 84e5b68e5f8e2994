# SPDX-License-Identifier: Apache-2.0
"""Server and model metadata, model configuration, repository index."""

import grpc_raw
import pytest
import raw_http
from models import DATATYPES, type_model


def test_server_metadata(client):
    metadata = client.json("get_server_metadata")
    assert metadata["name"] == "triton"
    assert metadata["version"].count(".") == 2
    assert [e for e in metadata["extensions"] if e != "generate"] == [
        "classification", "sequence", "model_repository", "model_repository(unload_dependents)",
        "schedule_policy", "model_configuration", "system_shared_memory", "cuda_shared_memory",
        "binary_tensor_data", "parameters", "statistics", "trace", "logging"]


def test_model_metadata(client):
    metadata = client.json("get_model_metadata", "mixed")
    assert metadata == {
        "name": "mixed",
        "versions": ["1"],
        "platform": "identity",
        "inputs": [
            {"name": "INPUT0", "datatype": "INT32", "shape": [-1]},
            {"name": "INPUT1", "datatype": "FP32", "shape": [2, -1]},
            {"name": "INPUT2", "datatype": "BYTES", "shape": [-1]},
        ],
        "outputs": [
            {"name": "OUTPUT0", "datatype": "INT32", "shape": [-1]},
            {"name": "OUTPUT1", "datatype": "FP32", "shape": [2, -1]},
            {"name": "OUTPUT2", "datatype": "BYTES", "shape": [-1]},
        ],
    }


def test_batching_model_shows_the_batch_dimension(client):
    metadata = client.json("get_model_metadata", "fixed")
    assert metadata["inputs"][0]["shape"] == [-1, 4]
    assert metadata["outputs"][0]["shape"] == [-1, 4]


def test_reshaped_model_shows_the_clients_shape(client):
    metadata = client.json("get_model_metadata", "scalar")
    assert metadata["inputs"][0]["shape"] == [-1, 1]


def test_metadata_of_a_model_without_configuration(client):
    metadata = client.json("get_model_metadata", "sum")
    assert metadata["platform"] == "onnxruntime_onnx"
    assert [i["name"] for i in metadata["inputs"]] == ["A", "B"]
    assert metadata["outputs"] == [
        {"name": "SUM", "datatype": "FP32", "shape": [-1, 4]}]


@pytest.mark.parametrize("model,versions", [
    ("versions", ["1", "3"]), ("latest", ["10"]), ("all_versions", ["1", "2"])])
def test_metadata_lists_the_versions_of_the_policy(client, model, versions):
    assert sorted(client.json("get_model_metadata", model)["versions"]) == versions


def test_metadata_of_one_version(client):
    assert client.json("get_model_metadata", "versions", "3")["versions"] == ["3"]


@pytest.mark.parametrize("datatype", DATATYPES)
def test_metadata_names_every_datatype(server, datatype):
    metadata = raw_http.get(server, f"/v2/models/{type_model(datatype, False)}").json
    assert metadata["inputs"] == [{"name": "INPUT0", "datatype": datatype, "shape": [-1]}]


@pytest.mark.parametrize("call", ["get_model_metadata", "get_model_config"])
def test_unknown_model(client, call):
    client.expect("NOT_FOUND", "Request for unknown model: 'no_such_model' is not found",
                  client.call, call, "no_such_model")


@pytest.mark.parametrize("call", ["get_model_metadata", "get_model_config"])
def test_unknown_version(client, call):
    client.expect("NOT_FOUND", "Request for unknown model: 'versions' version 2 is not found",
                  client.call, call, "versions", "2")


def test_configuration(client):
    config = client.json("get_model_config", "batched")
    if client.protocol == "grpc":
        config = config["config"]
    assert config["name"] == "batched"
    assert config["backend"] == "identity"
    assert config["max_batch_size"] == 4
    assert config["input"][0]["name"] == "INPUT0"
    assert config["input"][0]["data_type"] == "TYPE_INT32"
    assert config["input"][0]["dims"] == [4]
    batching = config["dynamic_batching"]
    assert batching["preferred_batch_size"] == [4]
    assert int(batching["max_queue_delay_microseconds"]) == 5000000
    group = config["instance_group"][0]
    assert (group["name"], group["kind"], group["count"]) == ("batched_0", "KIND_CPU", 1)


def test_configuration_of_a_policy(client):
    config = client.json("get_model_config", "versions")
    config = config.get("config", config)
    assert [int(v) for v in config["version_policy"]["specific"]["versions"]] == [1, 3]


def test_configuration_completed_by_the_backend(client):
    config = client.json("get_model_config", "sum")
    config = config.get("config", config)
    assert config["platform"] == "onnxruntime_onnx"
    assert config["backend"] == "onnxruntime"
    assert config["max_batch_size"] == 4
    assert [(i["name"], i["data_type"], i["dims"]) for i in config["input"]] == [
        ("A", "TYPE_FP32", [4]), ("B", "TYPE_FP32", [4])]
    assert config["dynamic_batching"]["preferred_batch_size"] == [4]
    assert config["default_model_filename"] == "model.onnx"


def test_configuration_over_http_prints_every_scalar(server):
    response = raw_http.get(server, "/v2/models/fixed/config")
    assert response.headers["content-type"] == "application/json"
    config = response.json
    config["runtime"] = ""
    assert config == {
        "name": "fixed",
        "platform": "",
        "backend": "identity",
        "runtime": "",
        "version_policy": {"latest": {"num_versions": 1}},
        "max_batch_size": 8,
        "input": [{
            "name": "INPUT0", "data_type": "TYPE_FP32", "format": "FORMAT_NONE", "dims": [4],
            "is_shape_tensor": False, "allow_ragged_batch": False, "optional": False,
            "is_non_linear_format_io": False}],
        "output": [{
            "name": "OUTPUT0", "data_type": "TYPE_FP32", "dims": [4], "label_filename": "",
            "is_shape_tensor": False, "is_non_linear_format_io": False}],
        "batch_input": [],
        "batch_output": [],
        "optimization": {
            "priority": "PRIORITY_DEFAULT", "input_pinned_memory": {"enable": True},
            "output_pinned_memory": {"enable": True}, "gather_kernel_buffer_threshold": 0,
            "eager_batching": False},
        "instance_group": [{
            "name": "fixed", "kind": "KIND_CPU", "count": 1, "gpus": [], "secondary_devices": [],
            "profile": [], "passive": False, "host_policy": ""}],
        "default_model_filename": "",
        "cc_model_filenames": {},
        "metric_tags": {},
        "parameters": {},
        "model_warmup": [],
    }


def test_repository_index(client):
    index = client.json("get_model_repository_index")
    entries = index["models"] if client.protocol == "grpc" else index
    states = {(e["name"], e["version"]): e["state"] for e in entries}
    for key in (("fixed", "1"), ("latest", "10"), ("versions", "1"), ("versions", "3"),
                ("sum", "1")):
        assert states[key] == "READY"
    assert ("versions", "2") not in states
    assert ("latest", "1") not in states


@pytest.mark.parametrize("body", [None, b"", b"{}", b'{"ready":false}'])
def test_index_body_may_be_empty(server, body):
    response = raw_http.request(server, "POST", "/v2/repository/index", body)
    assert response.status == 200
    assert {"name": "fixed", "version": "1", "state": "READY"} in response.json


def test_index_with_a_broken_model(second):
    entries = raw_http.request(second, "POST", "/v2/repository/index").json
    by_name = {e["name"]: e for e in entries}
    assert by_name["good"] == {"name": "good", "version": "1", "state": "READY"}
    assert by_name["broken"]["state"] == "UNAVAILABLE"
    assert "absent" in by_name["broken"]["reason"]
    assert by_name["broken"]["version"] == "1"


def test_index_of_ready_models_only(second):
    entries = raw_http.request(second, "POST", "/v2/repository/index", b'{"ready":true}').json
    assert sorted(e["name"] for e in entries) == ["good", "mymodel"]


def test_grpc_index_of_a_named_repository_is_refused(server):
    code, text = grpc_raw.failure(server, "RepositoryIndex", repository_name="elsewhere")
    assert (code, text) == ("UNIMPLEMENTED", "'repository_name' specification is not supported")
