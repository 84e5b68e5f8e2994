# SPDX-License-Identifier: Apache-2.0
"""Model repository agents: the checksum agent, and agents that do not exist."""

import hashlib

import numpy as np
import pytest
from explicit_models import EXPLICIT, FAILED_MODEL, FAILED_RELOAD, index, write
from models import ONE_CPU_INSTANCE, Repository, sum_graph

POLL_FAILURE = "failed to load '{0}', failed to poll from model repository"
CONFIG = f'backend: "onnxruntime"\nmax_batch_size: 4\n{ONE_CPU_INSTANCE}'


def agents(*entries):
    text = ""
    for name, parameters in entries:
        body = "".join(f'parameters {{ key: "{k}" value: "{v}" }} ' for k, v in parameters.items())
        text += f'agents {{ name: "{name}" {body}}} '
    return f"model_repository_agents {{ {text}}}\n"


def write_models(root):
    repo = Repository(root)
    repo.onnx("sum", sum_graph(), CONFIG)
    digest = hashlib.md5((root / "sum" / "1" / "model.onnx").read_bytes()).hexdigest()
    for name in ("checked_http", "checked_grpc"):
        repo.onnx(name, sum_graph(),
                  CONFIG + agents(("checksum", {"MD5:1/model.onnx": digest}), ("checksum", {})))
    repo.onnx("wrong", sum_graph(), CONFIG + agents(("checksum", {"MD5:1/model.onnx": "0" * 32})))
    repo.onnx("sha", sum_graph(), CONFIG + agents(("checksum", {"SHA1:1/model.onnx": digest})))
    repo.onnx("no_colon", sum_graph(), CONFIG + agents(("checksum", {"model.onnx": digest})))
    repo.onnx("no_agent", sum_graph(), CONFIG + agents(("absent", {})))


@pytest.fixture(scope="module")
def agent_server(start_server):
    return start_server("agents", write_models, *EXPLICIT)


@pytest.fixture(params=["http", "grpc"])
def client(request, agent_server, connect):
    return connect(request.param, agent_server)


def infer(client, model):
    ones = np.ones((1, 4), np.float32)
    answer = client.infer(model, [client.input("A", ones), client.input("B", ones)])
    assert (answer.array("SUM") == 2).all()


def test_right_files_load_and_changed_ones_do_not(client, agent_server):
    model = f"checked_{client.protocol}"
    client.call("load_model", model)
    infer(client, model)
    client.call("load_model", model)

    file = agent_server.repository / model / "1" / "model.onnx"
    good = file.read_bytes()
    write(file, good + b"x")
    client.expect("INTERNAL", POLL_FAILURE.format(model), client.call, "load_model", model)
    infer(client, model)
    assert index(client, model) == [("1", "READY", FAILED_RELOAD)], "what serves goes on"

    write(file, good)
    client.call("load_model", model)
    client.call("unload_model", model)
    client.call("load_model", model)
    infer(client, model)


@pytest.mark.parametrize("model,reason", [
    ("wrong", "Mismatched MD5 hash for file"),
    ("sha", "Unsupported checksum algorithm: SHA1"),
    ("no_colon", "failed to parse key: model.onnx"),
    ("no_agent", "unable to find 'libtritonrepoagent_absent.so' for repo agent 'absent', searched:"),
])
def test_a_refusal_is_a_poll_failure(client, agent_server, model, reason):
    client.expect("INTERNAL", POLL_FAILURE.format(model), client.call, "load_model", model)
    assert not client.call("is_model_ready", model)
    assert index(client, model) == [FAILED_MODEL]
    assert f"Poll failed for model directory '{model}': {reason}" in agent_server.log.read_text()


def test_the_client_gets_the_reason_of_a_refusal(client):
    client.expect("INTERNAL", POLL_FAILURE.format("wrong") + ": Mismatched MD5 hash for file",
                  client.call, "load_model", "wrong")


def test_agents_of_an_override_run_too(client):
    client.call("load_model", "sum")
    refused = ('{"backend": "onnxruntime", "model_repository_agents": {"agents": [{"name": '
               '"checksum", "parameters": {"MD5:1/model.onnx": "00"}}]}}')
    _, text = client.error(client.call, "load_model", "sum", config=refused)
    assert text.startswith(POLL_FAILURE.format("sum"))
    infer(client, "sum")
