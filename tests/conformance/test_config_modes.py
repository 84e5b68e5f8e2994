# SPDX-License-Identifier: Apache-2.0
"""The sources of a configuration, its errors, and the effects of its fields."""

import numpy as np
import pytest
import raw_http
from explicit_models import EXPLICIT, FAILED_MODEL, configuration, groups, index
from models import ONE_CPU_INSTANCE, Repository, sum_graph

ONNX = 'backend: "onnxruntime"\n' + ONE_CPU_INSTANCE
TENSORS = ('input { name: "A" data_type: TYPE_FP32 dims: [ 4 ] }\n'
           'input { name: "B" data_type: TYPE_FP32 dims: [ 4 ] }\n'
           'output { name: "SUM" data_type: TYPE_FP32 dims: [ 4 ] }\n')


def write_models(root):
    repo = Repository(root)
    repo.onnx("no_file", sum_graph())
    repo.onnx("no_tensors", sum_graph(), ONNX)
    repo.onnx("no_backend", sum_graph(), "max_batch_size: 4\n" + TENSORS)
    repo.identity("bad_dim", [("FP32", [0])], batch=4)
    repo.onnx("bad_scheduler", sum_graph(), ONNX + TENSORS + "max_batch_size: 4\n"
              "dynamic_batching { preferred_batch_size: [ 8 ] }\n")
    repo.onnx("bad_name", sum_graph(), 'name: "other"\n' + ONNX + TENSORS)
    repo.onnx("bad_field", sum_graph(), ONNX + TENSORS + "no_such_field: 1\n")
    repo.onnx("bad_group", sum_graph(), 'backend: "onnxruntime"\nmax_batch_size: 4\n' + TENSORS
              + "instance_group { kind: KIND_CPU gpus: [ 0 ] }\n")
    repo.onnx("bad_labels", sum_graph(), ONNX + "max_batch_size: 4\n"
              + TENSORS.replace('"SUM"', '"SUM" label_filename: "absent"'))
    repo.onnx("bad_backend", sum_graph(), 'backend: "absent"\n' + TENSORS)
    repo.identity("named", [("FP32", [4])], batch=8, extra=ONE_CPU_INSTANCE)
    (root / "named" / "configs").mkdir()
    text = (root / "named" / "config.pbtxt").read_text()
    (root / "named" / "configs" / "small.pbtxt").write_text(text.replace("size: 8", "size: 2"))
    repo.identity("unnamed", [("FP32", [4])], batch=8, extra=ONE_CPU_INSTANCE)
    repo.identity("groups", [("FP32", [4])], batch=8,
                  extra='instance_group { name: "gg" kind: KIND_CPU count: 2 }\n'
                        "instance_group { kind: KIND_MODEL count: 1 passive: true }\n")
    repo.identity("no_groups", [("FP32", [4])], batch=8)
    repo.identity("tagged", [("FP32", [4])], batch=8, extra=ONE_CPU_INSTANCE
                  + 'metric_tags { key: "team" value: "a \\"b\\"" }\n')
    repo.identity("for_gpus", [("FP32", [4])], batch=8, extra=ONE_CPU_INSTANCE
                  + "optimization { priority: PRIORITY_MAX cuda { graphs: true } }\n")


@pytest.fixture(scope="module")
def completing(start_server):
    return start_server("completing", write_models, *EXPLICIT, "--model-config-name=small",
                        "--host-policy=cpu,numa-node=0")


@pytest.fixture(scope="module", params=["--strict-model-config=true",
                                        "--disable-auto-complete-config"])
def strict_server(request, start_server):
    return start_server("strict", write_models, *EXPLICIT, request.param)


@pytest.fixture(params=["http", "grpc"])
def client(request, completing, connect):
    return connect(request.param, completing)


@pytest.fixture(params=["http", "grpc"])
def strict(request, strict_server, connect):
    return connect(request.param, strict_server)


def refused_at_poll(client, model):
    client.expect("INTERNAL", f"failed to load '{model}', failed to poll from model repository",
                  client.call, "load_model", model)
    assert index(client, model) == [FAILED_MODEL]


def refused_at_load(client, model, reason):
    text = client.expect("INVALID_ARG", reason, client.call, "load_model", model)
    assert text.startswith(f"load failed for model '{model}': version 1 is at UNAVAILABLE state: ")
    assert index(client, model)[0][:2] == ("1", "UNAVAILABLE")
    assert reason in index(client, model)[0][2]


@pytest.mark.parametrize("model", ["bad_scheduler", "bad_name", "bad_field"])
def test_what_the_poll_refuses(client, model):
    refused_at_poll(client, model)


@pytest.mark.parametrize("model,reason", [
    ("bad_dim", "model input 'INPUT0' dimension must be integer >= 1, or -1 to indicate a variable-size "
                "dimension for bad_dim"),
    ("bad_group", "instance group bad_group_0 of model bad_group has kind KIND_CPU but specifies "
                  "one or more GPUs"),
    ("bad_labels", "absent"),
    ("bad_backend", "unable to find backend library for backend 'absent', try specifying runtime on "
                    "the model configuration."),
])
def test_what_the_load_refuses(client, model, reason):
    refused_at_load(client, model, reason)


def infer(client, model):
    ones = np.ones((1, 4), np.float32)
    answer = client.infer(model, [client.input("A", ones), client.input("B", ones)])
    assert (answer.array("SUM") == 2).all()


@pytest.mark.parametrize("model", ["no_file", "no_tensors", "no_backend"])
def test_the_backend_completes(client, model):
    client.call("load_model", model)
    config = configuration(client, model)
    assert [t["name"] for t in config["input"]] == ["A", "B"]
    assert config["max_batch_size"] == 4
    infer(client, model)


def test_strict_needs_a_file(strict):
    refused_at_poll(strict, "no_file")


def test_strict_needs_tensors(strict):
    strict.error(strict.call, "load_model", "no_tensors")
    assert not strict.call("is_model_ready", "no_tensors")


def test_strict_checks_tensors_at_the_poll(strict):
    refused_at_poll(strict, "bad_dim")


def test_strict_still_infers_the_backend(strict):
    strict.call("load_model", "no_backend")
    config = configuration(strict, "no_backend")
    assert (config["name"], config["backend"]) == ("no_backend", "onnxruntime")
    assert config["default_model_filename"] == "model.onnx"
    assert config["instance_group"][0]["name"] == "no_backend"
    infer(strict, "no_backend")


def test_the_named_configuration_is_preferred_where_it_exists(client, strict):
    client.call("load_model", "named")
    assert configuration(client, "named")["max_batch_size"] == 2
    client.call("load_model", "unnamed")
    assert configuration(client, "unnamed")["max_batch_size"] == 8
    strict.call("load_model", "named")
    assert configuration(strict, "named")["max_batch_size"] == 8


def test_instance_groups_have_names(client):
    client.call("load_model", "groups")
    assert groups(client, "groups") == [("gg", 2), ("groups_1", 1)]
    client.call("load_model", "no_groups")
    assert groups(client, "no_groups")[0][0] == "no_groups"


def test_metric_tags_are_labels(client, completing):
    client.call("load_model", "tagged")
    text = raw_http.get(completing, "/metrics", port=completing.metrics_port).body.decode()
    lines = [line for line in text.splitlines() if 'model="tagged"' in line]
    assert lines and all(r'_team="a \"b\""' in line for line in lines)


def test_settings_for_gpus_are_accepted(client, is_peer, completing):
    client.call("load_model", "for_gpus")
    if not is_peer:
        log = completing.log.read_text()
        assert "optimization.priority of for_gpus has no effect: only TensorRT models use it" in log
        assert "optimization.cuda of for_gpus has no effect: only TensorRT models use it" in log
