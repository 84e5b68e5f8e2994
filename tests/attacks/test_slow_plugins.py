# SPDX-License-Identifier: Apache-2.0
"""Plug-ins that are slow to say whether they are ready delay nobody but those who ask them."""

import concurrent.futures
import json
import threading
import time

import grpc_raw
import models
import pytest
import raw_http
from config_models import put_plugin
from grpc_health.v1 import health_pb2, health_pb2_grpc
from server_process import free_ports

CONNECTIONS = 6  # of others, over each protocol: each loop gets some
ASKERS = 4  # of each kind; less than the threads that ask plug-ins
DOCUMENTS = ["/v2", "/v2/health/live", "/v2/health/live?reason=true", "/v2/models/bystander",
             "/v2/models/bystander/config", "/v2/models/stats", "/v2/logging"]
CALLS = [("ServerLive", {}), ("ServerMetadata", {}), ("ModelMetadata", {"name": "bystander"}),
         ("ModelConfig", {"name": "bystander"}), ("ModelStatistics", {}), ("LogSettings", {}),
         ("RepositoryIndex", {})]
BODY = {"inputs": [raw_http.tensor("INPUT0", "INT32", [2], [1, -2])]}


@pytest.fixture
def slow(start_server, test_plugins, tmp_path):
    """A server with the model "slow", the file that holds its plug-in, and SageMaker's port, at
    which the model "archived" with the same plug-in is loaded."""
    gate = tmp_path / "gate"
    archives = tmp_path / "archives"

    def write_slow(root, name):
        extra = f'parameters {{ key: "gate" value {{ string_value: "{gate}" }} }}\n'
        models.Repository(root).identity(name, [("INT32", [-1])], backend="slow_ready",
                                         extra=extra + models.ONE_CPU_INSTANCE)
        put_plugin(root / name, test_plugins / "libtriton_slow_ready.so")

    def write(root):
        models.Repository(root).identity("bystander", [("INT32", [-1])])
        write_slow(root, "slow")

    write_slow(archives / "one", "archived")
    (port,) = free_ports(1)
    server = start_server(
        "slow_ready", write, "--model-control-mode=explicit", "--load-model=bystander",
        "--load-model=slow", "--http-thread-count=1", "--grpc-infer-thread-count=2", f"--model-repository={archives}",
        "--allow-sagemaker=true", f"--sagemaker-port={port}", "--sagemaker-thread-count=1")
    body = json.dumps({"model_name": "archived", "url": str(archives / "one")})
    assert raw_http.request(server, "POST", "/models", body, port=port).status == 200
    yield server, gate, port
    gate.unlink(missing_ok=True)


def wait_until(condition):
    end = time.monotonic() + 50
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def times_asked(gate) -> int:
    record = gate.with_name(gate.name + ".asked")
    return len(record.read_text().splitlines()) if record.exists() else 0


def serve_others(server):
    """Others get their answers, on all loops and from all pools that ask no plug-in."""
    for path in DOCUMENTS:
        assert raw_http.get(server, path).status == 200, path
    for method, fields in CALLS:
        grpc_raw.call(server, method, **fields)
    message = grpc_raw.infer_request("slow", [grpc_raw.tensor("INPUT0", "INT32", [1])], [bytes(4)])
    for _ in range(CONNECTIONS):
        assert raw_http.infer(server, "slow", BODY).status == 200
        grpc_raw.call(server, "ModelInfer", message)


def test_watches(slow):
    """A Watch asks the plug-ins of all models once a second; twenty ask no more than one."""
    server, gate, _ = slow
    with grpc_raw.channel(server) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        calls = [stub.Watch(health_pb2.HealthCheckRequest(service=""), timeout=60)
                 for _ in range(20)]
        for call in calls:
            assert next(call).status == health_pb2.HealthCheckResponse.SERVING
        gate.touch()
        wait_until(lambda: times_asked(gate) > 0)
        serve_others(server)
        assert times_asked(gate) == 1
        more = [stub.Watch(health_pb2.HealthCheckRequest(service=""), timeout=60)
                for _ in range(20)]
        serve_others(server)
        assert times_asked(gate) == 1
        gate.unlink()
        for call in more:
            assert next(call).status == health_pb2.HealthCheckResponse.SERVING
        for call in [*calls, *more]:
            call.cancel()


@pytest.mark.parametrize("path", [
    "/v2/health/ready?reason=true", "/v2/models/slow/ready?reason=true", "/v2/health/ready",
    "/v2/models/slow/ready", "/v1/models/slow", "/v2/models/slow/trace/setting"])
def test_who_asks_the_plugin_waits_alone(slow, path):
    server, gate, _ = slow
    gate.touch()
    with concurrent.futures.ThreadPoolExecutor(ASKERS) as pool:
        asking = [pool.submit(raw_http.get, server, path) for _ in range(ASKERS)]
        wait_until(lambda: times_asked(gate) >= ASKERS)
        serve_others(server)
        assert not any(one.done() for one in asking)
        gate.unlink()
        assert {one.result().status for one in asking} == {200}


@pytest.mark.parametrize("method,fields", [
    ("ServerReady", {}), ("ModelReady", {"name": "slow"}), ("TraceSetting", {"model_name": "slow"})])
def test_who_asks_the_plugin_over_grpc_waits_alone(slow, method, fields):
    server, gate, _ = slow
    gate.touch()
    with concurrent.futures.ThreadPoolExecutor(ASKERS) as pool:
        asking = [pool.submit(grpc_raw.call, server, method, **fields) for _ in range(ASKERS)]
        wait_until(lambda: times_asked(gate) >= ASKERS)
        serve_others(server)
        assert not any(one.done() for one in asking)
        gate.unlink()
        for one in asking:
            one.result()


def test_sagemaker_asks_no_plugin(slow):
    """What SageMaker asks about its models is whether they are in memory."""
    server, gate, port = slow
    gate.touch()
    ping = threading.Thread(target=raw_http.request, args=(server, "GET", "/ping"),
                            kwargs={"port": port})
    ping.start()
    wait_until(lambda: times_asked(gate) == 1)
    for _ in range(3):
        assert raw_http.request(server, "GET", "/models", port=port).status == 200
        one = raw_http.request(server, "GET", "/models/archived", port=port)
        assert one.json["modelName"] == "archived"
        answer = raw_http.request(server, "POST", "/models/archived/invoke", json.dumps(BODY),
                                  port=port)
        assert answer.status == 200, answer.body
    serve_others(server)
    assert ping.is_alive()
    assert times_asked(gate) == 1
    gate.unlink()
    ping.join()
