# SPDX-License-Identifier: Apache-2.0
"""Version policies with ONNX models whose versions give different results, and version directories
that are added and removed while the server runs."""

import numpy as np
import pytest
from explicit_models import (EXPLICIT, FAILED_RELOAD, edit, index, inferences, remove,
                             wait_for_index, write)
from models import ONE_CPU_INSTANCE, Repository
from onnx import TensorProto, helper

CONFIG = f'backend: "onnxruntime"\nmax_batch_size: 8\n{ONE_CPU_INSTANCE}'


def version_model(version):
    """OUT = IN + version."""
    shape = ["batch", 2]
    graph = helper.make_graph(
        [helper.make_node("Add", ["IN", "v"], ["OUT"])], "version",
        [helper.make_tensor_value_info("IN", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("OUT", TensorProto.FLOAT, shape)],
        [helper.make_tensor("v", TensorProto.FLOAT, [1], [float(version)])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model.SerializeToString()


def add_version(server, name, version, content=None):
    write(server.repository / name / str(version) / "model.onnx",
          version_model(version) if content is None else content)


def write_models(root):
    for name, policy, versions in POLICIES:
        (root / name).mkdir(parents=True)
        (root / name / "config.pbtxt").write_text(CONFIG + policy)
        for version in versions:
            folder = root / name / version
            folder.mkdir()
            (folder / "model.onnx").write_bytes(version_model(int(version)))


POLICIES = [
    ("default", "", ["1", "2", "10"]),
    ("latest_two", "version_policy { latest { num_versions: 2 } }\n", ["1", "2", "010", "10"]),
    ("latest_none", "version_policy { latest { num_versions: 1 } }\n", []),
    ("every", "version_policy { all { } }\n", ["0", "3", "1"]),
    ("named", "version_policy { specific { versions: [ 3, 1, 7 ] } }\n", ["1", "2", "3"]),
    ("absent", "version_policy { specific { versions: [ 7 ] } }\n", ["1"]),
    ("changing_http", "", ["1"]),
    ("changing_grpc", "", ["1"]),
    ("broken_http", "version_policy { all { } }\n", ["1"]),
    ("broken_grpc", "version_policy { all { } }\n", ["1"]),
]


@pytest.fixture(scope="module")
def versions_server(start_server):
    return start_server("versions", write_models, *EXPLICIT)


@pytest.fixture(params=["http", "grpc"])
def client(request, versions_server, connect):
    return connect(request.param, versions_server)


def answers(client, model, version=""):
    """Returns the version that answers."""
    result = client.infer(model, [client.input("IN", np.zeros((1, 2), np.float32))],
                          model_version=version)
    value = int(result.array("OUT")[0][0])
    assert result.header["model_version"] == str(value)
    return value


@pytest.mark.parametrize("model,served", [
    ("default", [10]), ("latest_two", [2, 10]), ("every", [0, 1, 3]), ("named", [1, 3])])
def test_the_policy_selects(client, model, served):
    client.call("load_model", model)
    assert sorted(int(v) for v in client.json("get_model_metadata", model)["versions"]) == served
    assert answers(client, model) == max(served)
    for version in served:
        assert answers(client, model, str(version)) == version
    assert index(client, model) == [(str(v), "READY", "") for v in served]
    client.expect("NOT_FOUND", f"Request for unknown model: '{model}' version 4 is not found",
                  answers, client, model, "4")


@pytest.mark.parametrize("model", ["absent", "latest_none"])
def test_nothing_selected_is_a_failure(client, model):
    text = client.expect("INVALID_ARG", "", client.call, "load_model", model)
    assert text.rstrip("\n") == (f"load failed for model '{model}': at least one version must be "
                                 f"available under the version policy of model '{model}'")
    assert not client.call("is_model_ready", model)


def test_a_model_without_a_version_is_known(client, is_peer):
    client.error(client.call, "load_model", "latest_none")
    reason = "at least one version must be available under the version policy of model 'latest_none'"
    # Triton does not list it.
    assert index(client, "latest_none") == ([] if is_peer else [("", "UNAVAILABLE", reason)])
    assert not client.call("is_server_ready")
    client.expect("NOT_FOUND", "Request for unknown model: 'latest_none' has no available versions",
                  answers, client, "latest_none")
    client.expect("NOT_FOUND", "Request for unknown model: 'latest_none' version 1 is not found",
                  answers, client, "latest_none", "1")


def test_directories_that_are_no_versions_are_told(client, versions_server):
    client.call("load_model", "latest_two")
    (versions_server.repository / "every" / "abc").mkdir(exist_ok=True)
    client.call("load_model", "every")
    log = versions_server.log.read_text()
    assert ("ignore version directory '010' which contains leading zeros in its directory name"
            in log)
    assert "ignore version directory 'abc' which fails to convert to integral number" in log


def test_versions_come_and_go(client, versions_server):
    model = f"changing_{client.protocol}"
    client.call("load_model", model)
    assert answers(client, model) == 1

    add_version(versions_server, model, 2)
    assert answers(client, model) == 1, "nothing changes before the load"
    client.call("load_model", model)
    assert answers(client, model) == 2
    wait_for_index(client, model, [("1", "UNAVAILABLE", "unloaded"), ("2", "READY", "")])

    config = versions_server.repository / model / "config.pbtxt"
    write(config, CONFIG + "version_policy { latest { num_versions: 2 } }\n")
    client.call("load_model", model)
    assert [answers(client, model, v) for v in ("1", "2")] == [1, 2]
    assert inferences(client, model) == {"1": 1, "2": 2}, "version 2 was not loaded anew"

    remove(versions_server.repository / model / "2")
    client.call("load_model", model)
    assert answers(client, model) == 1
    wait_for_index(client, model, [("1", "READY", ""), ("2", "UNAVAILABLE", "unloaded")])

    add_version(versions_server, model, 1, version_model(1))
    client.call("load_model", model)
    assert inferences(client, model) == {"1": 0}, "the file was written anew"


def test_all_selected_versions_or_none(client, versions_server):
    model = f"broken_{client.protocol}"
    client.call("load_model", model)
    add_version(versions_server, model, 2, b"no model")
    add_version(versions_server, model, 3)
    text = client.expect("INVALID_ARG", "version 2 is at UNAVAILABLE state", client.call,
                         "load_model", model)
    assert "version 3" not in text
    assert answers(client, model) == 1
    reason = index(client, model)[1][2]
    assert reason in text
    wait_for_index(client, model, [("1", "READY", FAILED_RELOAD), ("2", "UNAVAILABLE", reason),
                                   ("3", "UNAVAILABLE", "unloaded")])
    assert not client.call("is_server_ready"), "version 2 is wanted and does not serve"

    add_version(versions_server, model, 2)
    client.call("load_model", model)
    assert [answers(client, model, v) for v in ("1", "2", "3")] == [1, 2, 3]


def test_a_policy_of_none_of_what_is_there_keeps_what_serves(client, versions_server):
    client.call("load_model", "named")
    config = versions_server.repository / "named" / "config.pbtxt"
    edit(config, ("[ 3, 1, 7 ]", "[ 9 ]"))
    client.expect("INVALID_ARG", "at least one version must be available", client.call,
                  "load_model", "named")
    assert answers(client, "named") == 3
    edit(config, ("[ 9 ]", "[ 3, 1, 7 ]"))
    client.call("load_model", "named")
    assert answers(client, "named") == 3
