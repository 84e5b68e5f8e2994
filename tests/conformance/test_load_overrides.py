# SPDX-License-Identifier: Apache-2.0
"""Loads with parameters, and changes while a model serves."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import raw_http
from explicit_models import (EXPLICIT, FAILED_RELOAD, configuration, edit, groups, index,
                             inferences, statistics, write)
from models import ONE_CPU_INSTANCE, Repository, sum_graph

MODELS = ("overridden", "updated", "staged", "bad", "reloaded", "busy")


def write_models(root):
    repo = Repository(root)
    for protocol in ("http", "grpc"):
        for name in MODELS:
            repo.identity(f"{name}_{protocol}", [("FP32", [4])], batch=8, extra=ONE_CPU_INSTANCE)
    repo.identity("raw", [("FP32", [4])], batch=8, extra=ONE_CPU_INSTANCE)


@pytest.fixture(scope="module")
def load_server(start_server):
    return start_server("overrides", write_models, *EXPLICIT)


@pytest.fixture(params=["http", "grpc"])
def client(request, load_server, connect):
    return connect(request.param, load_server)


def config_json(batch=8, count=1, **more):
    tensor = {"data_type": "TYPE_FP32", "dims": [4]}
    return json.dumps({"backend": "identity", "max_batch_size": batch,
                       "input": [{"name": "INPUT0", **tensor}],
                       "output": [{"name": "OUTPUT0", **tensor}],
                       "instance_group": [{"kind": "KIND_CPU", "count": count}], **more})


def infer(client, model, **kwargs):
    return client.infer(model, [client.input("INPUT0", np.zeros((1, 4), np.float32))], **kwargs)


POLL_FAILURE = "failed to load '{0}', failed to poll from model repository"


def test_a_config_stays_until_the_files_change(client, load_server):
    model = f"overridden_{client.protocol}"
    client.call("load_model", model)
    assert configuration(client, model)["max_batch_size"] == 8
    client.call("load_model", model, config=config_json(batch=4))
    assert configuration(client, model)["max_batch_size"] == 4
    infer(client, model)
    client.call("load_model", model)
    assert configuration(client, model)["max_batch_size"] == 4
    assert inferences(client, model) == {"1": 1}, "nothing was loaded"
    edit(load_server.repository / model / "config.pbtxt", ("max_batch_size: 8",
                                                           "max_batch_size: 2"))
    client.call("load_model", model)
    assert configuration(client, model)["max_batch_size"] == 2


@pytest.mark.parametrize("config", ["{nope", '{"nope": 1}', "[]", ""])
def test_a_bad_config_is_a_poll_failure_and_keeps_what_serves(client, config):
    model = f"bad_{client.protocol}"
    client.call("load_model", model)
    _, text = client.error(client.call, "load_model", model, config=config)
    assert text.startswith(POLL_FAILURE.format(model))
    infer(client, model)


@pytest.mark.parametrize("config, reason", [
    ("{nope", "Invalid config override: "), ('{"nope": 1}', "nope"), ("", "config override")])
def test_the_client_gets_the_reason_of_a_bad_config(client, config, reason):
    model = f"bad_{client.protocol}"
    text = client.expect("INVALID_ARG", reason, client.call, "load_model", model, config=config)
    assert text.startswith(POLL_FAILURE.format(model) + ": ")


def test_a_model_that_is_not_there_is_not_found(client):
    for options in ({}, {"config": config_json()}):
        client.expect("NOT_FOUND", POLL_FAILURE.format("nowhere")
                      + ": model not found in any model repository", client.call, "load_model",
                      "nowhere", **options)


def test_the_client_gets_the_reason_of_a_file_that_cannot_be_read(client, load_server):
    write(load_server.repository / "damaged" / "config.pbtxt", "no such field: 1")
    client.expect("INTERNAL", "config.pbtxt", client.call, "load_model", "damaged")
    client.expect("INTERNAL", '"no"', client.call, "load_model", "damaged")


def test_a_config_that_cannot_be_loaded_keeps_what_serves(client):
    model = f"bad_{client.protocol}"
    client.call("load_model", model)
    client.expect("INVALID_ARG", "unable to find backend library for backend 'absent'",
                  client.call, "load_model", model,
                  config=config_json().replace('"identity"', '"absent"'))
    infer(client, model)
    assert index(client, model) == [("1", "READY", FAILED_RELOAD)]


def test_a_config_needs_a_model(client):
    _, text = client.error(client.call, "load_model", "nowhere", config=config_json())
    assert text.startswith(POLL_FAILURE.format("nowhere"))


def test_files_are_a_model_of_their_own(client):
    model = f"files_{client.protocol}"
    graph = onnx_bytes()
    config = json.dumps({"backend": "onnxruntime", "max_batch_size": 4})
    client.call("load_model", model, config=config, files={"file:7/model.onnx": graph})
    ones = np.ones((1, 4), np.float32)
    answer = client.infer(model, [client.input("A", ones), client.input("B", ones)])
    assert (answer.array("SUM") == 2).all()
    assert answer.header["model_version"] == "7"
    assert index(client, model) == [], "the index lists directories"
    client.call("unload_model", model)
    client.expect("NOT_FOUND", f"Request for unknown model: '{model}' has no available versions",
                  client.infer, model, [client.input("A", ones), client.input("B", ones)])


def onnx_bytes():
    from onnx import helper
    model = helper.make_model(sum_graph(), opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model.SerializeToString()


def test_files_stand_in_for_the_directory_until_the_next_load(client):
    model = f"staged_{client.protocol}"
    client.call("load_model", model)
    client.call("load_model", model, config=config_json(batch=3), files={"file:3/x": b"x"})
    assert infer(client, model).header["model_version"] == "3"
    assert configuration(client, model)["max_batch_size"] == 3
    client.call("load_model", model)
    assert infer(client, model).header["model_version"] == "1"
    assert configuration(client, model)["max_batch_size"] == 8


@pytest.mark.parametrize("path", ["../../x", "1/../../x", ".."])
def test_paths_that_leave_the_directory_are_refused(client, path):
    _, text = client.error(client.call, "load_model", "outside", config=config_json(),
                           files={f"file:{path}": b"x"})
    assert text.startswith(POLL_FAILURE.format("outside"))


def test_the_client_gets_the_reason_of_a_bad_path(client):
    client.expect("INVALID_ARG", POLL_FAILURE.format("outside") + ": Invalid file parameter "
                  "'file:../x'", client.call, "load_model", "outside", config=config_json(),
                  files={"file:../x": b"x"})


def test_parameters_by_hand(load_server):
    def load(parameters):
        answer = raw_http.request(load_server, "POST", "/v2/repository/models/raw/load",
                                  json.dumps({"parameters": parameters}))
        return answer.status, answer.error if answer.body else ""

    assert load({"file:1/x": "aGk="})[1].startswith(POLL_FAILURE.format("raw")), "no config"
    assert load({"color": "red"}) == (400, "unrecognized load parameter 'color'.")
    assert load({"config": 5}) == (
        400, "Unable to parse 'config': attempt to access JSON non-string as string")
    assert load({"config": config_json()}) == (200, "")
    assert load({"config": config_json(), "file:1/x": "aGk="}) == (200, "")


TRAVERSAL = "invalid model name '{0}', model name must not contain path traversal characters"


@pytest.mark.parametrize("name", ["..", ".", "a/b", "../raw", "/etc"],
                         ids=["parent", "self", "below", "beside", "absolute"])
def test_names_stay_in_the_repository(load_server, connect, name):
    grpc = connect("grpc", load_server)
    grpc.expect("INVALID_ARG", TRAVERSAL.format(name), grpc.call, "load_model", name)
    grpc.expect("INVALID_ARG", TRAVERSAL.format(name), grpc.call, "unload_model", name)
    if "/" not in name:
        http = connect("http", load_server)
        http.expect("INVALID_ARG", TRAVERSAL.format(name), http.call, "load_model", name)


@pytest.mark.parametrize("name", ["", " "])
def test_names_are_not_empty(load_server, connect, name):
    grpc = connect("grpc", load_server)
    grpc.expect("INVALID_ARG", "Model name cannot be empty. Please enter a valid name to deploy.",
                grpc.call, "load_model", name)


def test_instances_change_while_the_model_serves(client, load_server):
    model = f"updated_{client.protocol}"
    config = load_server.repository / model / "config.pbtxt"
    client.call("load_model", model)
    infer(client, model)
    edit(config, ("count: 1", "count: 3"))
    client.call("load_model", model)
    assert groups(client, model) == [(f"{model}_0", 3)]
    assert inferences(client, model) == {"1": 1}, "the statistics stay"
    infer(client, model)
    edit(config, ("count: 3", "count: 1"))
    client.call("load_model", model)
    assert groups(client, model) == [(f"{model}_0", 1)]
    assert inferences(client, model) == {"1": 2}
    infer(client, model)
    write(config, config.read_text() + "version_policy { all { } }\n")
    client.call("load_model", model)
    assert inferences(client, model) == {"1": 3}, "nor does another policy reload"
    client.call("load_model", model, config=config_json(count=2))
    assert groups(client, model) == [(f"{model}_0", 2)]
    assert inferences(client, model) == {"1": 3}, "an override is no different from a file"


def test_anything_else_reloads(client, load_server):
    model = f"reloaded_{client.protocol}"
    folder = load_server.repository / model
    client.call("load_model", model)
    infer(client, model)
    write(folder / "note.txt", "unrelated")
    client.call("load_model", model)
    assert inferences(client, model) == {"1": 0}
    infer(client, model)
    edit(folder / "config.pbtxt", ("max_batch_size: 8", "max_batch_size: 4"))
    client.call("load_model", model)
    assert statistics(client, model) == {"1": (0, 0, [])}


def test_requests_are_answered_through_updates(client, load_server):
    """No request is lost or refused while instances are added and removed."""
    model = f"busy_{client.protocol}"
    config = load_server.repository / model / "config.pbtxt"
    client.call("load_model", model)
    request = {"inputs": [raw_http.tensor("INPUT0", "FP32", [1, 4], [0, 1, 2, 3])]}
    stop = threading.Event()

    def ask():
        answers = 0
        while not stop.is_set():
            answer = raw_http.infer(load_server, model, request)
            assert answer.status == 200, answer.body
            answers += 1
        return answers

    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask) for _ in range(4)]
        try:
            for count in (4, 2, 5, 1, 3):
                before = config.read_text()
                edit(config, (before, before.split("count:")[0] + f"count: {count} }}\n"))
                client.call("load_model", model)
        finally:
            stop.set()
        answers = sum(future.result() for future in asking)
    assert answers > 0
    assert inferences(client, model) == {"1": answers}
    assert groups(client, model) == [(f"{model}_0", 3)]
