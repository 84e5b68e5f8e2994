#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Nereid on a Ray cluster of three nodes on this machine, and prints what happens:

1. the load doubles and halves: the replicas follow the queue;
2. a replica is killed under load: only its own requests in progress fail, its sequences get the
   documented error, the others go on;
3. the application is deployed again under load: no request fails;
4. gRPC, streams, refused operations, and replicas that load models on demand.

Needs the packages of requirements.txt and, in the same environment, the wheel of tools/build_wheel.sh,
whose plug-in finds onnxruntime there. Exits with 0 if all holds."""

import argparse
import os
import pathlib
import queue
import signal
import sys
import tempfile
import time

import load
import models
import numpy
import ray
import tritonclient.grpc
from ray import serve
from ray.cluster_utils import Cluster

import nereid.ray

SAYS_START = "must specify the START flag on the first request of the sequence"


def replica_processes():
    """Returns the processes of the replicas."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(b"ray::ServeReplica:models:nereid"):
                found.append(int(path.parent.name))
        except OSError:
            pass
    return found


def running_replicas():
    status = serve.status().applications["models"].deployments["nereid"]
    return status.replica_states.get("RUNNING", 0)


def wait_for(what, question, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if question():
            return
        time.sleep(0.5)
    sys.exit(f"{what}: not within {seconds} s")


def deploy(repository, **options):
    serve.run(nereid.ray.application(str(repository), cores=0.5, down_delay_s=10.0, **options),
              name="models", route_prefix="/")


def watch(seconds, seen):
    """Notes the number of replicas each second."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        seen.append(running_replicas())
        time.sleep(1)


def follow_the_queue(port, repository):
    deploy(repository, min_replicas=1, max_replicas=4, target_queue_ms=40.0)
    rows = []
    with load.SteadyLoad(port, rate=30) as requests:
        for rate, seconds in ((30, 25), (60, 60), (30, 75)):
            requests.rate = rate
            before, seen = requests.count, []
            watch(seconds, seen)
            rows.append((rate, (requests.count - before) / seconds, seen))
    print("\n1. the replicas follow the queue (one replica serves 50 requests/s)")
    for rate, served, seen in rows:
        print(f"   {rate} requests/s asked, {served:.1f} served: replicas each second "
              f"{','.join(map(str, seen))}")
    print(f"   {requests.count} requests, {len(requests.failures)} failed")
    assert not requests.failures, requests.failures[:3]
    assert max(rows[1][2]) > rows[0][2][0], "no replica was added"
    assert rows[2][2][-1] < max(rows[1][2]), "no replica has left"
    assert rows[1][1] > 50, "the replicas did not serve the doubled load"


def kill_a_replica(port, repository):
    deploy(repository, min_replicas=3, max_replicas=3)
    wait_for("three replicas", lambda: running_replicas() == 3, 120)
    with load.SteadyLoad(port, rate=60) as requests, load.Sequences(port) as sequences:
        time.sleep(10)
        assert not requests.failures and not sequences.errors
        os.kill(replica_processes()[0], signal.SIGKILL)
        time.sleep(5)
        soon = len(requests.failures), len(sequences.errors)
        wait_for("the replica comes back", lambda: running_replicas() == 3, 120)
        time.sleep(10)
    print("\n2. one of three replicas killed at 60 requests/s with 12 sequences")
    print(f"   {requests.count} requests, {len(requests.failures)} failed "
          f"({soon[0]} within 5 s): {sorted({status for status, _ in requests.failures})}")
    print(f"   {sequences.steps} steps of sequences, {len(sequences.wrong)} wrong sums, "
          f"{len(sequences.errors)} sequences ended by an error:")
    for text in sorted({error for _, _, error in sequences.errors}):
        print(f"     {text}")
    assert not sequences.wrong, sequences.wrong[:3]
    assert 0 < len(sequences.errors) < 12, "sequences of other replicas ended as well"
    assert any(SAYS_START in error for _, _, error in sequences.errors)
    assert len(requests.failures) == soon[0], "requests failed later as well"
    assert soon[0] <= 60, "more failed than one replica can have had"


def deploy_again(port, repository):
    with load.SteadyLoad(port, rate=60) as requests:
        time.sleep(5)
        before = set(replica_processes())
        deploy(repository, min_replicas=3, max_replicas=3, id="another")
        wait_for("new replicas", lambda: running_replicas() == 3
                 and not before & set(replica_processes()), 180)
        time.sleep(5)
    print(f"\n3. deployed again at 60 requests/s: {requests.count} requests, "
          f"{len(requests.failures)} failed")
    assert not requests.failures, requests.failures[:3]


def ask_over_grpc(port):
    client = tritonclient.grpc.InferenceServerClient(f"127.0.0.1:{port}")
    tensor = tritonclient.grpc.InferInput("INPUT0", [4], "FP32")
    tensor.set_data_from_numpy(numpy.arange(4, dtype=numpy.float32))
    answer = client.infer("slow", [tensor]).as_numpy("OUTPUT0")
    assert answer.tolist() == [0, 1, 2, 3], answer
    answers = queue.Queue()
    client.start_stream(lambda result, error: answers.put((result, error)))
    for _ in range(3):
        client.async_stream_infer("slow", [tensor])
    for _ in range(3):
        result, error = answers.get(timeout=30)
        assert error is None, error
        assert result.as_numpy("OUTPUT0").tolist() == [0, 1, 2, 3]
    client.stop_stream()
    for model, ask, says in (("nope", lambda: client.infer("nope", [tensor]), "nope"),
                             ("slow", lambda: client.load_model("slow"), "one replica only")):
        try:
            ask()
        except tritonclient.utils.InferenceServerException as error:
            assert says in str(error), error
        else:
            sys.exit(f"no error for {model}")


def load_on_demand(port, grpc_port, repository):
    deploy(repository, min_replicas=1, max_replicas=1, models_per_replica=1)
    connection = load.Connection(port)
    for _ in range(3):
        status, answer = connection.infer("slow", "INPUT0", "FP32", [4], [1, 2, 3, 4])
        assert status == 200, answer
        status, answer = connection.infer(
            "sums", "IN", "INT64", [1, 1], [5],
            {"sequence_id": 1, "sequence_start": True, "sequence_end": True})
        assert status == 200 and answer["outputs"][0]["data"] == [5], answer
    status, answer = connection.infer("nope", "INPUT0", "FP32", [4], [1, 2, 3, 4])
    assert status == 400 and "nope" in answer["error"], answer
    ask_over_grpc(grpc_port)
    print("\n4. gRPC, streams and refusals as over HTTP; one replica with room for one model served "
          "two in turn")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=18800)
    parser.add_argument("--grpc-port", type=int, default=18801)
    options = parser.parse_args()
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 4})
    for _ in range(2):
        cluster.add_node(num_cpus=2)
    ray.init(address=cluster.address, logging_level="warning", log_to_driver=False)
    try:
        with tempfile.TemporaryDirectory() as folder:
            repository = pathlib.Path(folder) / "models"
            models.write(repository)
            nereid.ray.start(http_port=options.port, grpc_port=options.grpc_port,
                             proxy_location="HeadOnly")
            follow_the_queue(options.port, repository)
            kill_a_replica(options.port, repository)
            deploy_again(options.port, repository)
            load_on_demand(options.port, options.grpc_port, repository)
    finally:
        serve.shutdown()
        ray.shutdown()
        cluster.shutdown()
    print("\npassed")


if __name__ == "__main__":
    main()
