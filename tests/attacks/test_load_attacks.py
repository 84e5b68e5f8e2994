# SPDX-License-Identifier: Apache-2.0
"""Configurations whose numbers are limits and not sizes, and a system without further threads: a
load fails with its reason or takes the memory that it uses, and the server continues to serve. Also
models whose executions a client can make long."""

import json
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

import decoupled_models
import ensembles
import grpc_raw
import models
import pytest
import raw_http
from config_models import put_plugin
from raw_http import infer, tensor
from sequences import batching
from server_process import ServerProcess
from tritonclient.grpc import service_pb2_grpc

MOST = 2**31 - 1
GOOD = {"inputs": [tensor("INPUT0", "INT32", [1, 4], [1, 2, 3, 4])]}
WHOLE_SEQUENCE = GOOD | {"parameters": {"sequence_id": 7, "sequence_start": True,
                                        "sequence_end": True}}
SEQUENCES = batching(controls="")
UNUSED_USER = 54321


def instances(count, extra=""):
    return f"instance_group {{ kind: KIND_CPU count: {count} {extra} }}\n"


def write(root):
    repository = models.Repository(root)

    def add(name, extra, batch=4):
        repository.identity(name, [("INT32", [4])], batch=batch, extra=extra)

    repository.identity("bystander", [("INT32", [-1])])
    add("many_instances", instances(30_000))
    add("most_instances", instances(2_000_000_000))
    add("many_groups", instances(16_000) + instances(16_000))
    add("most_candidates", batching(f"oldest {{ max_candidate_sequences: {MOST} }}", controls=""))
    add("most_slots", batching(controls=""), batch=MOST)
    add("most_slots_waiting", batching(
        "direct { max_queue_delay_microseconds: 1000 minimum_slot_utilization: 0.5 }",
        controls=""), batch=MOST)
    add("most_batch", "dynamic_batching { }\n", batch=MOST)
    add("most_objective", "dynamic_batching { }\n" 'parameters { key: "latency_objective_us" '
        'value: { string_value: "100000" } }\n', batch=MOST)
    add("most_levels", "dynamic_batching { priority_levels: 18446744073709551615 "
        "default_priority_level: 18446744073709551615 default_queue_policy { max_queue_size: "
        "4294967295 } }\n")


@pytest.fixture(scope="module")
def hostile(start_server):
    return start_server("hostile", write, "--model-control-mode=explicit",
                        "--load-model=bystander")


def load(server, name):
    return raw_http.request(server, "POST", f"/v2/repository/models/{name}/load")


@pytest.mark.parametrize("name, count", [("many_instances", 30_000),
                                         ("most_instances", 2_000_000_000),
                                         ("many_groups", 16_000)])
def test_too_many_instances_are_refused(hostile, attack, name, count):
    with attack(hostile, peak_mib=100, worst_ms=500):
        answer = load(hostile, name)
    assert answer.status == 400
    assert f"has count {count}: a model may have 16384 instances at most" in answer.error


@pytest.mark.parametrize("name", ["most_candidates", "most_slots", "most_slots_waiting",
                                  "most_batch", "most_objective", "most_levels"])
def test_limits_take_no_memory(hostile, attack, name):
    with attack(hostile, peak_mib=100, worst_ms=500):
        assert load(hostile, name).status == 200
        for i in range(8):
            document = dict(GOOD)
            if "slots" in name or "candidates" in name:
                document["parameters"] = {"sequence_id": i + 1, "sequence_start": True}
            assert infer(hostile, name, document).status == 200
    assert raw_http.request(hostile, "POST", f"/v2/repository/models/{name}/unload").status == 200


@pytest.fixture
def few_threads(command, backends):
    """Starts a server that may have this number of threads, as a user without other processes."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs a user of its own, which only root can be")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        # The user must be able to read the build folder.
        probe = subprocess.run(as_unused_user(64, command[0], "--help"), capture_output=True)
        if probe.returncode != 0:
            pytest.skip("another user cannot run this build")
        flags = [f"--backend-directory={backends}"]
        started = []

        def start(threads, write, *more):
            write(Path(folder) / "models")
            server = ServerProcess(as_unused_user(threads, *command), Path(folder) / "models",
                                   Path(folder) / "server.log", [*flags, *more])
            started.append(server)
            return server

        yield start
        for server in started:
            server.kill()


def as_unused_user(threads, *command):
    return ["setpriv", f"--reuid={UNUSED_USER}", f"--regid={UNUSED_USER}", "--clear-groups",
            "bash", "-c", f'ulimit -u {threads}; exec "$@"', "limited",
            str(Path(command[0]).resolve()), *command[1:]]


def write_many(root):
    repository = models.Repository(root)
    for i in range(40):
        repository.identity(f"plain{i}", [("INT32", [4])], batch=4, extra=instances(1))
        repository.identity(f"m{i}", [("INT32", [4])], batch=4, extra=instances(1) + SEQUENCES)
    repository.identity("ten", [("INT32", [4])], batch=4, extra=instances(10) + SEQUENCES)


def test_without_threads_a_request_fails_and_the_server_serves(few_threads):
    server = few_threads(24, write_many, "--model-control-mode=explicit", "--http-thread-count=1")
    server.start("/v2/health/live")
    served = []
    for i in range(40):
        assert load(server, f"plain{i}").status == 200
        answer = infer(server, f"plain{i}", GOOD)
        if answer.status == 200:
            served.append(f"plain{i}")
        else:
            assert answer.status == 503
            assert "has not executed the request: cannot start the thread" in answer.error
    assert served and len(served) < 40
    for name in served:
        assert infer(server, name, GOOD).status == 200
    server.stop()


# The threads of instances for sequences start with the load.
def test_without_threads_a_load_fails_and_the_server_serves(few_threads):
    server = few_threads(24, write_many, "--model-control-mode=explicit", "--http-thread-count=1")
    server.start("/v2/health/live")
    loaded, refused = [], []
    for i in range(40):
        answer = load(server, f"m{i}")
        if answer.status == 200:
            loaded.append(f"m{i}")
        else:
            refused.append(f"m{i}")
            assert answer.status == 400
            assert "cannot start the thread" in answer.error, answer.error
    assert loaded and refused
    for name in loaded:
        assert infer(server, name, WHOLE_SEQUENCE).status == 200
    # A load that failed half-way has released its threads: a smaller model can be loaded.
    for name in loaded[-3:]:
        raw_http.request(server, "POST", f"/v2/repository/models/{name}/unload")
    assert "cannot start the thread" in load(server, "ten").error
    for _ in range(100):
        if load(server, refused[0]).status == 200:
            break
    assert infer(server, refused[0], WHOLE_SEQUENCE).status == 200
    server.stop()


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 5, 6])
def test_without_threads_the_start_ends_with_a_message(few_threads, threads):
    server = few_threads(threads, write_many, "--model-control-mode=explicit")
    server._spawn()
    code = server.process.wait(60)
    assert code == 1, server.log_tail()
    assert "cannot start the thread" in server.log_tail()


def write_too_many(root):
    repository = models.Repository(root)
    repository.identity("one", [("INT32", [4])], batch=4, extra=instances(1))
    repository.identity("hundred", [("INT32", [4])], batch=4, extra=instances(100) + SEQUENCES)


def test_the_index_names_the_reason(few_threads):
    # One after the other: the large model must not have the threads that the small one needs.
    server = few_threads(24, write_too_many, "--http-thread-count=1", "--exit-on-error=false",
                         "--model-load-thread-count=1")
    server.start("/v2/health/live")
    answer = raw_http.request(server, "POST", "/v2/repository/index")
    states = {entry["name"]: entry for entry in json.loads(answer.body)}
    assert states["hundred"]["state"] == "UNAVAILABLE"
    assert "cannot start the thread" in states["hundred"]["reason"]
    assert infer(server, "one", GOOD).status == 200
    server.stop()


def slow(server, model, ms):
    document = {"inputs": [tensor("INPUT0", "UINT8", [1], [7])],
                "parameters": {"fault": "inside", "sleep": ms}}
    return infer(server, model, document)


def test_a_model_that_has_surprised_runs_on_no_event_loop(server, attack):
    """Executions are short until the client makes one long; the next ones do not run on a loop."""
    for _ in range(200):
        assert slow(server, "many_responses", 0).status == 200
    assert slow(server, "many_responses", 400).status == 200  # no loop for 8 s
    with attack(server, peak_mib=50, worst_ms=400):
        for _ in range(100):
            assert slow(server, "many_responses", 0).status == 200
        asking = [threading.Thread(target=slow, args=(server, "many_responses", 1500))
                  for _ in range(2)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()


def write_fan(plugins):
    def write_models(root):
        repository = models.Repository(root)
        repository.identity("bystander", [("INT32", [-1])])
        repository.identity("bytes", [("UINT8", [-1])])
        repository.identity("many", [("UINT8", [-1])], backend="decoupled_faults",
                            extra=decoupled_models.DECOUPLED + models.ONE_CPU_INSTANCE)
        put_plugin(root / "many", plugins / "libtriton_decoupled_faults.so")
        ensembles.write_ensemble(
            root, "fan", [ensembles.step("many", {"INPUT0": "x"}, {"OUTPUT0": "t"}),
                          ensembles.step("bytes", {"INPUT0": "t"}, {"OUTPUT0": "y"})],
            {"x": ("UINT8", [-1])}, {"y": ("UINT8", [-1])}, limit=0)
    return write_models


def test_an_ensemble_of_many_responses(start_server, test_plugins, attack):
    """The work grows with the number of responses, not with its square, and no loop does all of it.
    """
    server = start_server("fan", write_fan(test_plugins))
    count = 50_000
    request = grpc_raw.infer_request("fan", [grpc_raw.tensor("x", "UINT8", [1])], [b"7"],
                                     parameters={"count": count})
    with attack(server, peak_mib=500, worst_ms=500), grpc_raw.channel(server) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        answers = sum(1 for _ in stub.ModelStreamInfer(iter([request]), timeout=120))
    assert answers == count
