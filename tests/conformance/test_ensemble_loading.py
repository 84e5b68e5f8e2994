# SPDX-License-Identifier: Apache-2.0
"""Loading and unloading of ensembles: members are loaded first; an ensemble without one of its
members is not available."""

import concurrent.futures
import time

import ensembles
import models
import numpy as np
import pytest
import tritonclient.http as http_client
from tritonclient.utils import InferenceServerException


def write(root):
    repository = models.Repository(root)
    for name in ("a", "b", "shared"):
        repository.identity(name, [("INT32", [4])], batch=8, extra=models.ONE_CPU_INSTANCE)
    repository.broken("broken")
    repository.identity("slow", [("INT32", [4])], batch=8, extra=models.ONE_CPU_INSTANCE + (
        'parameters { key: "creation_delay_sec" value: { string_value: "1" } }\n'))
    four = dict(batch=8)
    ensembles.write_ensemble(root, "inner", ensembles.chain("a", "b"), ensembles.X, ensembles.Y,
                             **four)
    ensembles.write_ensemble(root, "late", ensembles.chain("a", "slow"), ensembles.X, ensembles.Y,
                             **four)
    ensembles.write_ensemble(root, "outer", [
        ensembles.step("inner", {"x": "x"}, {"y": "t"}),
        ensembles.step("shared", {"INPUT0": "t"}, {"OUTPUT0": "y"})],
        ensembles.X, ensembles.Y, **four)
    wrong = {
        "absent_member": ensembles.chain("a", "nowhere"),
        "failed_member": ensembles.chain("a", "broken"),
        "absent_version": [ensembles.step("a", {"INPUT0": "x"}, {"OUTPUT0": "y"}, version=7)],
        "absent_output": [ensembles.step("a", {"INPUT0": "x"}, {"OUTPUT9": "y"})],
        "absent_input": [ensembles.step("a", {"INPUT9": "x"}, {"OUTPUT0": "y"})],
    }
    for name, steps in wrong.items():
        ensembles.write_ensemble(root, name, steps, ensembles.X, ensembles.Y, **four)
    ensembles.write_ensemble(root, "too_large", ensembles.chain("a"), ensembles.X, ensembles.Y,
                             batch=64)
    ensembles.write_ensemble(root, "other_type", ensembles.chain("a"), ensembles.X,
                             {"y": ("FP32", [4])}, **four)
    ensembles.write_ensemble(root, "other_shape", ensembles.chain("a"), ensembles.X,
                             {"y": ("INT32", [5])}, **four)
    for name, other in (("round", "about"), ("about", "round")):
        ensembles.write_ensemble(root, name, [ensembles.step(other, {"x": "x"}, {"y": "y"})],
                                 ensembles.X, ensembles.Y, **four)


@pytest.fixture
def loading_server(start_server):
    return start_server("ensemble_loading", write, "--model-control-mode=explicit",
                        wait_path="/v2/health/live")


@pytest.fixture
def client(loading_server):
    with http_client.InferenceServerClient(loading_server.http) as made:
        yield made


def ready(client):
    index = client.get_model_repository_index()
    return sorted(m["name"] for m in index if m.get("state") == "READY")


def works(client, model):
    x = np.arange(4, dtype=np.int32).reshape(1, 4)
    tensor = http_client.InferInput("x", [1, 4], "INT32")
    tensor.set_data_from_numpy(x)
    return client.infer(model, [tensor]).as_numpy("y").tolist() == x.tolist()


def test_members_load_with_the_ensemble(client):
    client.load_model("outer")
    assert ready(client) == ["a", "b", "inner", "outer", "shared"]
    assert works(client, "outer")


def test_a_member_takes_its_ensembles_with_it_and_brings_them_back(client):
    client.load_model("outer")
    client.unload_model("a")
    assert ready(client) == ["b", "shared"]
    client.load_model("a")
    assert ready(client) == ["a", "b", "inner", "outer", "shared"]
    assert works(client, "outer")


def test_an_ensemble_leaves_its_members(client):
    client.load_model("outer")
    client.unload_model("outer")
    assert ready(client) == ["a", "b", "inner", "shared"]


def test_members_that_nobody_needs_go_with_it(client):
    client.load_model("shared")
    client.load_model("outer")
    client.unload_model("outer", unload_dependents=True)
    assert ready(client) == ["shared"]


def test_a_load_that_changes_nothing_makes_no_member_wanted(client):
    client.load_model("outer")
    client.load_model("shared")
    client.unload_model("outer")
    client.load_model("outer")
    client.unload_model("outer", unload_dependents=True)
    assert ready(client) == []


def test_an_unload_of_a_member_waits_for_the_load_of_its_ensemble(loading_server, client):
    """The member is ready one second before its ensemble."""
    def load():
        with http_client.InferenceServerClient(loading_server.http, network_timeout=60) as own:
            own.load_model("late")

    with concurrent.futures.ThreadPoolExecutor() as pool:
        loading = pool.submit(load)
        while "a" not in ready(client):
            time.sleep(0.01)
        client.unload_model("a")
        loading.result()
    assert ready(client) == ["slow"]
    client.load_model("a")
    assert ready(client) == ["a", "late", "slow"]


def test_an_ensemble_that_was_unloaded_stays_so(client):
    client.load_model("inner")
    client.unload_model("inner")
    client.unload_model("a")
    client.load_model("a")
    assert ready(client) == ["a", "b"]


@pytest.mark.parametrize("model, text", [
    ("absent_member", "contains models that are not available or ambiguous: nowhere"),
    ("failed_member", "ensemble 'failed_member' depends on 'broken' which has no loaded version."),
    ("absent_version", "ensemble 'absent_version' depends on 'a' whose required version 7 is not "
                       "loaded."),
    ("absent_output", "in ensemble absent_output, ensemble tensor y is mapped from non-existing "
                      "output OUTPUT9 in model a"),
    ("absent_input", "in ensemble absent_input, ensemble tensor x is mapping to non-existing input "
                     "INPUT9 in model a"),
    ("too_large", "ensemble too_large allows maximum batch size 64, but it contains model a which "
                  "only allows maximum batch size to be 8"),
    ("other_type", "in ensemble other_type, ensemble tensor y: inconsistent data type: TYPE_FP32 "
                   "is inferred from model other_type while TYPE_INT32 is inferred from model a"),
    ("other_shape", "in ensemble other_shape, ensemble tensor y: inconsistent shape: [-1,5] is "
                    "inferred from model other_shape while [-1,4] is inferred from model a"),
    ("round", "circular dependency between ensembles: round -> ... -> about -> round"),
])
def test_what_does_not_fit_is_named(client, model, text):
    with pytest.raises(InferenceServerException) as caught:
        client.load_model(model)
    assert f"load failed for model '{model}': " in caught.value.message()
    assert text in caught.value.message()
    assert model not in ready(client)


def test_an_absent_member_is_logged_once(loading_server, client):
    with pytest.raises(InferenceServerException):
        client.load_model("absent_member")
    lines = [line for line in loading_server.log.read_text(errors="replace").splitlines()
             if "model 'nowhere'" in line]
    assert len(lines) <= 1, lines
