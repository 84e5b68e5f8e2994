# SPDX-License-Identifier: Apache-2.0
"""The rate limiter: models that share resources, and models that need more than exists."""

import http.client
import json
import threading
import time

import grpc_raw
import models
import pytest
import raw_http
from test_batching import request
from tritonclient.grpc import service_pb2, service_pb2_grpc

EXECUTION_COUNT = "--rate-limit=execution_count"
DELAY_MS = 200


def group(*resources, priority=0, count=1):
    listed = " ".join(
        f'resources {{ name: "{name}" count: {amount} {"global: true" if is_global else ""} }}'
        for name, amount, is_global in resources)
    return (f"instance_group {{ kind: KIND_CPU count: {count} "
            f"rate_limiter {{ {listed} priority: {priority} }} }}\n")


def write(delay_ms, groups):
    """Returns a function that writes identity models without batching, each with its instance
    group."""
    def write_to(root):
        repository = models.Repository(root)
        for name, extra in groups.items():
            repository.identity(name, [("INT32", [-1, 4])], extra=extra + models._delay(delay_ms))
    return write_to


FOUR_AND_SIX = {"four": group(("R", 4, False)), "six": group(("R", 6, False))}


def run_together(server, names):
    """Sends one request to each model, all at once. Returns the sorted seconds until each answer.
    """
    with grpc_raw.channel(server) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        # The first call includes the setup of the connection.
        stub.ServerLive(service_pb2.ServerLiveRequest(), timeout=10)
        start = time.monotonic()
        ended = {}
        done = [threading.Event() for _ in names]
        for i, name in enumerate(names):
            future = stub.ModelInfer.future(request(i, name), timeout=60)

            def answered(f, i=i):
                ended[i] = (time.monotonic() - start, f.exception())
                done[i].set()
            future.add_done_callback(answered)
        for event in done:
            assert event.wait(60)
    assert all(error is None for _, error in ended.values()), ended
    return sorted(seconds for seconds, _ in ended.values())


def test_models_that_ask_for_too_much_together_take_turns(start_server):
    """R has the capacity 6, the largest need of one instance: 4 and 6 do not fit together."""
    server = start_server("turns", write(DELAY_MS, FOUR_AND_SIX), EXECUTION_COUNT)
    first, second = run_together(server, ["four", "six"])
    assert first >= DELAY_MS / 1000
    assert second >= 2 * DELAY_MS / 1000


def test_explicit_capacity_lets_them_overlap(start_server):
    server = start_server("overlap", write(600, FOUR_AND_SIX), EXECUTION_COUNT,
                          "--rate-limit-resource=R:20")
    _, second = run_together(server, ["four", "six"])
    assert second < 2 * 0.6


def test_off_by_default(start_server):
    server = start_server("off", write(600, FOUR_AND_SIX), "--rate-limit-resource=R:1")
    _, second = run_together(server, ["four", "six"])
    assert second < 2 * 0.6


def test_instances_of_one_model_share_too(start_server):
    server = start_server("instances", write(DELAY_MS, {"m": group(("R", 1, True), count=3)}),
                          EXECUTION_COUNT)
    times = run_together(server, ["m"] * 3)
    assert times[-1] >= 3 * DELAY_MS / 1000


def test_a_model_that_waits_can_be_unloaded(start_server):
    """The first model in the queue is unloaded: it is served first, and the others continue."""
    groups = {name: group(("R", 1, True)) for name in ("a", "b", "c")}
    server = start_server("unload", write(DELAY_MS, groups), EXECUTION_COUNT,
                          "--model-control-mode=explicit", "--load-model=a", "--load-model=b",
                          "--load-model=c", wait_path="/v2/models/c/ready")
    unloader = threading.Timer(DELAY_MS / 2000, lambda: post(server, "b", "unload"))
    unloader.start()
    times = run_together(server, ["a", "b", "c"])
    unloader.join()
    assert times[-1] >= 3 * DELAY_MS / 1000
    assert len(run_together(server, ["a", "c"])) == 2


def post(server, name, operation):
    connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=60)
    try:
        connection.request("POST", f"/v2/repository/models/{name}/{operation}")
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def executions(server, name):
    return raw_http.get(server, f"/v2/models/{name}/stats").json["model_stats"][0]["execution_count"]


def test_twice_the_priority_is_half_the_executions(start_server):
    """Both models have more requests than they can serve, so the resource is never free."""
    groups = {"one": group(("R", 1, True), priority=1), "two": group(("R", 1, True), priority=2)}
    server = start_server("priorities", write(10, groups), EXECUTION_COUNT)
    with grpc_raw.channel(server) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        futures = {name: [stub.ModelInfer.future(request(i, name), timeout=60) for i in range(120)]
                   for name in groups}
        while not all(future.done() for future in futures["one"]):
            time.sleep(0.005)
            done = {name: executions(server, name) for name in groups}
            if 90 <= done["one"] < 120:
                break
        for future in futures["one"] + futures["two"]:
            future.result()
    assert 90 <= done["one"] < 120
    assert 1.8 <= done["one"] / done["two"] <= 2.2, done


LIMITED = ('Resource count for "{}" is limited to {} which will prevent scheduling of one or more '
           "model instances, the minimum required count is {}")
BOTH = ('Resource "{}" is present as both global and device-specific resource in the model '
        "configuration.")


@pytest.fixture(scope="module")
def limited(start_server):
    groups = {
        "three": group(("R", 3, False)), "four": group(("R", 4, False)),
        "other": group(("S", 1, False)), "both": group(("R", 2, True), ("R", 2, False)),
        "free": group(), "global": group(("R", 2, True)),
    }
    return start_server("limited", write(0, groups), EXECUTION_COUNT, "--rate-limit-resource=R:3",
                        "--model-control-mode=explicit", "--load-model=three",
                        wait_path="/v2/models/three/ready")


@pytest.mark.parametrize("name, text", [
    ("four", LIMITED.format("R", 3, 4)), ("other", LIMITED.format("S", 0, 1)),
    ("both", BOTH.format("R")), ("global", BOTH.format("R"))])
def test_what_cannot_be_scheduled_is_not_loaded(limited, name, text):
    status, body = post(limited, name, "load")
    assert status == 400
    error = json.loads(body)["error"]
    assert error.startswith(f"load failed for model '{name}': version 1 is at UNAVAILABLE state: "
                            f"Invalid argument: {text};")


def test_what_needs_nothing_is_loaded(limited):
    assert post(limited, "free", "load")[0] == 200
    assert len(run_together(limited, ["free", "three"])) == 2
