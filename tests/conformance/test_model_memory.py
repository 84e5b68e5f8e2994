# SPDX-License-Identifier: Apache-2.0
"""--model-memory-budget: models come into memory with their first request, and go for others."""

import json
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import budget_models
import explicit_models
import numpy as np
import pytest
import raw_http
import rollout_models
import tritonclient.grpc as grpc_client
import tritonclient.http as http_client
from budget_models import SIZE, add, budget, index, infer, numbers, resident
from sequences import batching, wait_for

NOT_IN_MEMORY = "not in memory: it is loaded when a request needs it"
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "stress"))


@pytest.fixture
def start(start_server, is_peer, test_plugins):
    """start(write, *flags): a server whose models are written by write(root, plugins)."""
    if is_peer:
        pytest.skip("Triton has no budget of memory")
    started = []

    def make(write, *flags, fit=2, **options):
        server = start_server("memory", lambda root: write(root, test_plugins), budget(fit), *flags,
                              **options)
        started.append(server)
        return server

    yield make
    for server in started:
        if server.process is not None:
            server.stop()
            server.process = None


def three(root, plugins):
    for name in ("a", "b", "c"):
        add(root, name, plugins)


def ok(answer):
    assert answer.status == 200, answer.body
    return answer.json


def state(server, model):
    entry = index(server)[model]
    return entry.get("state"), entry.get("reason")


def load(server, model, **parameters):
    return raw_http.request(server, "POST", f"/v2/repository/models/{model}/load",
                            json.dumps({"parameters": parameters}).encode())


def unload(server, model, dependents=False):
    body = json.dumps({"parameters": {"unload_dependents": dependents}}).encode()
    return raw_http.request(server, "POST", f"/v2/repository/models/{model}/unload", body)


def ready(server, model, reason=False):
    return raw_http.get(server, f"/v2/models/{model}/ready" + ("?reason=true" if reason else ""))


# ---- Requests ----

def test_the_first_request_loads_and_the_least_recently_used_model_goes(start):
    server = start(three)
    assert resident(server) == set()
    assert state(server, "a") == ("UNAVAILABLE", NOT_IN_MEMORY)
    assert all(ready(server, name).status == 200 for name in "abc")
    for name in ("a", "b"):
        assert ok(infer(server, name))["outputs"][0]["data"] == [1.5]
    # A model stays as long as its load took.
    end = time.monotonic() + 1
    while time.monotonic() < end:
        ok(infer(server, "a"))
    ok(infer(server, "c"))
    assert resident(server) == {"a", "c"}
    assert state(server, "b") == ("UNAVAILABLE", NOT_IN_MEMORY)
    assert ready(server, "b").status == 200
    assert ready(server, "b", reason=True).json["ready"] is True
    found, by_model = numbers(server)
    assert found["loads_total_ok"] == 3 and found["evictions_total"] == 1
    assert found["hits_total"] > 1 and found["waits_total"] == 3
    assert found["used_bytes"] == sum(by_model.values()) <= found["budget_bytes"]
    assert SIZE <= by_model["a"] <= SIZE * 1.1


@pytest.mark.parametrize("module", [http_client, grpc_client])
def test_official_clients_see_no_difference(start, module):
    server = start(three, fit=1)
    with module.InferenceServerClient(server.http if module is http_client
                                      else server.grpc) as client:
        for name in ("a", "b", "c", "a"):
            assert client.is_model_ready(name)
            found = client.get_model_metadata(name)
            inputs = found["inputs"] if module is http_client else found.inputs
            assert (inputs[0]["name"] if module is http_client else inputs[0].name) == "INPUT0"
            config = client.get_model_config(name)
            config = config if module is http_client else config.config
            assert (config["name"] if module is http_client else config.name) == name
            tensor = module.InferInput("INPUT0", [1], "FP32")
            tensor.set_data_from_numpy(np.array([2.5], dtype=np.float32))
            assert client.infer(name, [tensor]).as_numpy("OUTPUT0").tolist() == [2.5]
            assert client.get_inference_statistics(name)


def test_statistics_tell_the_measured_memory(start):
    server = start(three)
    infer(server, "a")
    (stats,) = ok(raw_http.get(server, "/v2/models/a/stats"))["model_stats"]
    (usage,) = stats["memory_usage"]
    assert usage["type"] == "CPU" and SIZE <= usage["byte_size"] <= SIZE * 1.1
    (absent,) = ok(raw_http.get(server, "/v2/models/b/stats"))["model_stats"]
    assert absent["version"] == "1" and absent["memory_usage"] == []


def test_metadata_of_an_evicted_model_loads_nothing(start):
    server = start(three, fit=1)
    ok(raw_http.get(server, "/v2/models/a"))
    assert resident(server) == {"a"}
    infer(server, "b")
    assert ok(raw_http.get(server, "/v2/models/a"))["versions"] == ["1"]
    assert ok(raw_http.get(server, "/v2/models/a/config"))["backend"] == "ballast"
    assert resident(server) == {"b"}


def test_generate_works_for_a_model_that_is_not_in_memory(start):
    server = start(three)
    answer = raw_http.request(server, "POST", "/v2/models/a/generate",
                              json.dumps({"INPUT0": 3.5}).encode())
    assert ok(answer)["OUTPUT0"] == 3.5


def test_unknown_models_and_versions_are_refused_without_a_load(start):
    server = start(three)
    assert infer(server, "nope").status in (400, 404)
    answer = infer(server, "a", version=7)
    assert answer.status != 200 and b"'a'" in answer.body
    assert ready(server, "nope").status == 400
    assert raw_http.get(server, "/v2/models/a/versions/7/ready").status == 400
    assert numbers(server)[0]["loads_total_ok"] == 0


# ---- Which models stay ----

@pytest.mark.parametrize("by", ["flag", "parameter"])
def test_a_pinned_model_is_loaded_at_start_and_stays(start, by):
    def write(root, plugins):
        three(root, plugins)
        if by == "parameter":
            add(root, "a", plugins, extra='parameters { key: "memory_pinned" value: '
                                          '{ string_value: "true" } }\n')

    server = start(write, *(["--pin-model=a"] if by == "flag" else []))
    assert resident(server) == {"a"}
    for name in ("b", "c", "b", "c"):
        ok(infer(server, name))
        assert resident(server) == {"a", name}


def test_a_model_stays_for_its_minimum_residence(start):
    server = start(three, "--model-min-residence-secs=2", fit=1)
    ok(infer(server, "a"))
    begun = time.monotonic()
    ok(infer(server, "b"))
    assert time.monotonic() - begun > 1.5


def test_a_busy_model_finishes_its_requests(start):
    server = start(three, fit=1)
    ok(infer(server, "a"))
    with ThreadPoolExecutor() as pool:
        busy = pool.submit(infer, server, "a", 1200)
        wait_for(lambda: numbers(server)[0]["hits_total"] == 1, "the request in flight")
        ok(infer(server, "b"))
        assert busy.done(), "the model was evicted under its request"
        assert ok(busy.result())["outputs"][0]["data"] == [1200]


def sum_document(value, **parameters):
    return {"parameters": {"sequence_id": 7, **parameters},
            "inputs": [raw_http.tensor("INPUT", "INT32", [1], [value])]}


def test_a_model_with_an_open_sequence_is_not_evicted(start):
    def write(root, plugins):
        three(root, plugins)
        rollout_models.add(root, "sums", "sequence", rollout_models.SUMS + batching(),
                           plugins / "libtriton_sequence.so", (1,))
        with open(root / "sums" / "1" / "ballast", "wb") as ballast:
            ballast.truncate(SIZE)

    server = start(write, fit=1)
    send = raw_http.infer
    assert ok(send(server, "sums", sum_document(1, sequence_start=True)))
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(infer, server, "a")
        wait_for(lambda: numbers(server)[0]["waiting_requests"] == 1, "the request that waits")
        answer = ok(send(server, "sums", sum_document(2)))
        assert answer["outputs"][0]["data"] == [3]
        assert resident(server) == {"sums"} and not waiting.done()
        answer = ok(send(server, "sums", sum_document(4, sequence_end=True)))
        assert answer["outputs"][0]["data"] == [7]
        ok(waiting.result())
    assert resident(server) == {"a"}


# ---- Bounds ----

def slow(root, plugins):
    three(root, plugins)
    add(root, "slow", plugins, slow_ms=2500)


def test_the_queue_is_bounded(start):
    server = start(slow, "--model-wait-queue-size=2")
    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(infer, server, "slow") for _ in range(2)]
        wait_for(lambda: numbers(server)[0]["waiting_requests"] == 2, "both requests that wait")
        answer = infer(server, "a")
        assert answer.status == 503
        assert "2 requests (--model-wait-queue-size)" in answer.json["error"]
        for request in waiting:
            ok(request.result())
    ok(infer(server, "a"))
    assert numbers(server)[0]["refusals_total"] == 1


def test_the_wait_is_bounded_and_the_load_goes_on(start):
    server = start(slow, "--model-wait-secs=1")
    answer = infer(server, "slow")
    assert answer.status == 503 and "'slow' was not in memory after 1 s" in answer.json["error"]
    wait_for(lambda: resident(server) == {"slow"}, "the load")
    ok(infer(server, "slow"))


def test_deadlines_and_timeouts_end_the_wait(start):
    server = start(slow)
    document = budget_models.document()
    document["parameters"] = {"timeout": 200_000}
    begun = time.monotonic()
    assert raw_http.infer(server, "slow", document).status == 503
    assert time.monotonic() - begun < 2
    with grpc_client.InferenceServerClient(server.grpc) as client:
        tensor = grpc_client.InferInput("INPUT0", [1], "FP32")
        tensor.set_data_from_numpy(np.array([2.5], dtype=np.float32))
        with pytest.raises(Exception, match="(?i)deadline"):
            client.infer("slow", [tensor], client_timeout=0.3)
    wait_for(lambda: numbers(server)[0]["waiting_requests"] == 0, "the end of the waits")


def test_a_client_that_goes_away_is_forgotten(start):
    server = start(slow)
    connection = server.http_connection(timeout=20)
    connection.request("POST", "/v2/models/slow/infer", json.dumps(budget_models.document()))
    wait_for(lambda: numbers(server)[0]["waiting_requests"] == 1, "the request that waits")
    # A reset: a client that only closes may still wait for the response.
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    wait_for(lambda: numbers(server)[0]["waiting_requests"] == 0, "the end of the wait", limit=2)
    with grpc_client.InferenceServerClient(server.grpc) as client:
        tensor = grpc_client.InferInput("INPUT0", [1], "FP32")
        tensor.set_data_from_numpy(np.array([2.5], dtype=np.float32))
        call = client.async_infer("slow", [tensor], lambda result, error: None)
        call.cancel()
    wait_for(lambda: resident(server) == {"slow"}, "the load")
    assert numbers(server)[0]["waiting_requests"] == 0


def test_a_model_larger_than_the_budget_is_refused_with_both_sizes(start):
    def write(root, plugins):
        three(root, plugins)
        add(root, "huge", plugins, size=4 * SIZE)

    server = start(write)
    answer = infer(server, "huge")
    assert answer.status == 503
    assert "--model-memory-budget is " in answer.json["error"]
    ok(infer(server, "a"))


def test_a_model_that_cannot_be_loaded_says_why_and_hinders_no_other(start):
    def write(root, plugins):
        three(root, plugins)
        add(root, "bad", plugins, fail="out of ink")

    server = start(write)
    for _ in range(2):
        answer = infer(server, "bad")
        assert answer.status == 503 and "out of ink" in answer.json["error"]
    assert ready(server, "bad").status == 400
    assert state(server, "bad")[0] == "UNAVAILABLE" and "out of ink" in state(server, "bad")[1]
    ok(infer(server, "a"))
    found = numbers(server)[0]
    assert found["loads_total_failed"] == 1, "the second request was answered without a load"
    (server.repository / "bad" / "1" / "fail").unlink()

    def is_served():
        return infer(server, "bad").status == 200
    wait_for(is_served, "the load of the mended model")


def test_a_stop_refuses_the_requests_that_wait(start):
    server = start(slow)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(infer, server, "slow")
        wait_for(lambda: numbers(server)[0]["waiting_requests"] == 1, "the request that waits")
        server.stop()
        assert waiting.result().status == 503


def test_the_budget_is_not_for_namespaces(test_plugins, is_peer, request, tmp_path):
    if is_peer:
        pytest.skip("Triton has no budget of memory")
    three(tmp_path, test_plugins)
    option = request.config.option.server_command
    command = shlex.split(option) if option else [
        str(Path(__file__).resolve().parents[2] / "build" / "release" / "bin" / "nereid"), "serve"]
    done = subprocess.run([*command, f"--model-repository={tmp_path}", budget(2),
                           "--model-namespacing=true", "--http-port=0", "--grpc-port=0",
                           "--metrics-port=0"], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "--model-memory-budget cannot be used with --model-namespacing" in (
        done.stdout + done.stderr)


# ---- Ensembles and rollouts ----

def pair(root, plugins):
    three(root, plugins)
    folder = root / "whole"
    (folder / "1").mkdir(parents=True)
    (folder / "config.pbtxt").write_text(
        'name: "whole"\nplatform: "ensemble"\nmax_batch_size: 0\n' + budget_models.TENSORS
        + "ensemble_scheduling {\n"
        + "".join(f'step {{ model_name: "{name}" model_version: -1 '
                  f'input_map {{ key: "INPUT0" value: "{source}" }} '
                  f'output_map {{ key: "OUTPUT0" value: "{target}" }} }}\n'
                  for name, source, target in (("a", "INPUT0", "between"),
                                               ("b", "between", "OUTPUT0")))
        + "}\n")


def test_an_ensemble_is_in_memory_with_its_members(start):
    server = start(pair)
    ok(infer(server, "whole", 2.5))
    assert resident(server) == {"whole", "a", "b"}
    ok(infer(server, "c"))
    assert "c" in resident(server) and "whole" not in resident(server)
    assert ok(infer(server, "whole", 3.5))["outputs"][0]["data"] == [3.5]
    assert resident(server) == {"whole", "a", "b"}


def test_traffic_to_an_ensemble_and_its_members_has_no_failure(start):
    server = start(pair)
    failures = []

    def send(names):
        for i in range(60):
            answer = infer(server, names[i % len(names)], i)
            if answer.status != 200 or answer.json["outputs"][0]["data"] != [i]:
                failures.append(answer.body)

    threads = [threading.Thread(target=send, args=(names,))
               for names in ("ca", ("whole",), "bc", ("whole", "c"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a request is stuck"
    assert failures == []


def test_a_rollout_survives_evictions(start):
    def write(root, plugins):
        three(root, plugins)
        add(root, "two", plugins, size=SIZE // 2, versions=(1, 2),
            extra="version_policy { all { } }\n")

    server = start(write, fit=1)
    ok(infer(server, "two"))
    plan = {"labels": {"stable": 1, "canary": 2}, "split": {"weights": {"1": 10000}}}
    rollout_models.begin(server, "two", plan)
    for _ in range(2):
        ok(infer(server, "a"))
        assert resident(server) == {"a"}
        assert ok(infer(server, "two"))["model_version"] == "1"
        assert ok(infer(server, "two", version="canary"))["model_version"] == "2"


# ---- Control modes ----

EXPLICIT = "--model-control-mode=explicit"


def test_explicit_loads_make_models_known(start):
    server = start(three, EXPLICIT, fit=1)
    assert infer(server, "a").status != 200
    ok_load = load(server, "a")
    assert ok_load.status == 200, ok_load.body
    assert load(server, "b").status == 200
    assert resident(server) == {"b"}
    ok(infer(server, "a"))
    assert resident(server) == {"a"}
    assert infer(server, "c").status != 200
    assert unload(server, "a").status == 200
    assert infer(server, "a").status != 200
    assert ready(server, "a").status == 400
    assert unload(server, "b").status == 200
    assert infer(server, "b").status != 200
    assert load(server, "nope").status == 404


def test_overrides_come_back_with_their_model(start):
    server = start(three, EXPLICIT, fit=1)
    config = {"backend": "ballast", "max_batch_size": 0,
              "input": [{"name": "INPUT0", "data_type": "TYPE_FP32", "dims": [1]}],
              "output": [{"name": "OUTPUT0", "data_type": "TYPE_FP32", "dims": [1]}],
              "instance_group": [{"kind": "KIND_CPU", "count": 2}]}
    assert load(server, "a", config=json.dumps(config)).status == 200
    assert load(server, "b").status == 200
    ok(infer(server, "a"))
    assert resident(server) == {"a"}
    found = ok(raw_http.get(server, "/v2/models/a/config"))
    assert found["instance_group"][0]["count"] == 2


def test_a_failed_load_leaves_what_was_known(start):
    server = start(three, EXPLICIT)
    assert load(server, "a").status == 200
    answer = load(server, "a", config="{}")
    assert answer.status == 400, answer.body
    ok(infer(server, "a"))
    (server.repository / "b" / "1" / "fail").write_text("out of ink")
    answer = load(server, "b")
    assert answer.status == 400 and "out of ink" in answer.json["error"]
    assert infer(server, "b").status != 200


def test_an_unload_of_a_member_takes_its_ensemble(start):
    server = start(pair, EXPLICIT)
    assert load(server, "whole").status == 200
    ok(infer(server, "whole"))
    assert unload(server, "whole", dependents=True).status == 200
    wait_for(lambda: resident(server) == set(), "the unload")
    assert infer(server, "a").status != 200


def test_polls_load_only_models_in_memory(start):
    server = start(three, "--model-control-mode=poll", "--repository-poll-secs=1")
    ok(infer(server, "a"))
    explicit_models.edit(server.repository / "a" / "config.pbtxt", ("count: 1", "count: 2"))
    explicit_models.edit(server.repository / "b" / "config.pbtxt", ("count: 1", "count: 2"))

    def count(model):
        config = ok(raw_http.get(server, f"/v2/models/{model}/config"))
        return config["instance_group"][0]["count"]
    wait_for(lambda: count("a") == 2, "the poll", limit=20)
    assert resident(server) == {"a"}
    ok(infer(server, "b"))
    assert count("b") == 2
    explicit_models.remove(server.repository / "c")
    wait_for(lambda: infer(server, "c").status != 200, "the poll", limit=20)


def test_a_model_from_an_object_store(start_server, request, is_peer, test_plugins, tmp_path):
    if is_peer:
        pytest.skip("Triton has no budget of memory")
    pytest.importorskip("moto")
    import object_stores
    store = object_stores.S3()
    try:
        three(tmp_path / "models", test_plugins)
        for file in (tmp_path / "models").rglob("*"):
            if file.is_file():
                store.put(f"memory/{file.relative_to(tmp_path / 'models')}", file.read_bytes())
        server = start_server("memory_store", lambda root: root.mkdir(), budget(1),
                              f"--model-repository={store.url(store.port, 'memory')}",
                              f"--model-cache-directory={tmp_path / 'cache'}",
                              environment=store.environment(store.port))
        assert resident(server) == set()
        for name in ("a", "b", "a"):
            ok(infer(server, name))
            # The size is known only after the first load, which may exceed the budget. The model
            # goes first that has been in memory for as long as its load took.
            wait_for(lambda: len(resident(server)) == 1, "an eviction")
        server.stop()
    finally:
        store.close()
        shutil.rmtree(tmp_path / "models")


# ---- Many models ----

def test_many_models_of_which_few_fit(is_peer, backends, test_plugins):
    if is_peer:
        pytest.skip("Triton has no budget of memory")
    import residency
    options = residency.parse(["--minutes", "0.3", f"--build={backends.parent}"])
    assert residency.run(options) == []
