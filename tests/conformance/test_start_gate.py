# SPDX-License-Identifier: Apache-2.0
"""The environment variables with which Triton's own test suites hold a model's scheduler until
enough requests are queued: TRITONSERVER_DELAY_SCHEDULER and TRITONSERVER_BACKLOG_DELAY_SCHEDULER.
"""

import time

import grpc_raw
import models
import pytest
from sequences import Player, Plugin, batching, pending, wait_for, write_witness
from test_batching import request
from test_statistics import batches, counted
from tritonclient.grpc import service_pb2_grpc

A_WHILE = 0.3  # much longer than the executions of the waiting requests take


@pytest.fixture(scope="module")
def plugin(request, test_plugins):
    peer = request.config.option.peer
    return Plugin(test_plugins / "libtriton_witness.so", peer and peer.resolve())


def test_the_dynamic_batcher_waits_for_so_many_once(start_server, connect):
    def write(root):
        models.Repository(root).identity(
            "m", [("INT32", [4])], batch=4,
            extra=models.ONE_CPU_INSTANCE + "dynamic_batching { }\n")

    server = start_server("dynamic_gate", write,
                          environment={"TRITONSERVER_DELAY_SCHEDULER": "3"})
    client = connect("http", server)
    with grpc_raw.channel(server) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        waiting = [stub.ModelInfer.future(request(i, "m"), timeout=60) for i in range(2)]
        wait_for(lambda: pending(server, "m") == 2)
        time.sleep(A_WHILE)
        assert not any(future.done() for future in waiting)
        for future in [*waiting, stub.ModelInfer.future(request(2, "m"), timeout=60)]:
            future.result()
        stub.ModelInfer(request(3, "m"), timeout=60)  # the gate stays open
    wait_for(lambda: batches(counted(client, "m")) == {3: 1, 1: 1})


def test_sequences_wait_for_slots_and_backlog(start_server, plugin):
    notes = {}

    def write(root):
        notes["m"] = write_witness(root, "m", plugin, batching(), batch=2)

    server = start_server("sequence_gate", write,
                          environment={"TRITONSERVER_DELAY_SCHEDULER": "4",
                                       "TRITONSERVER_BACKLOG_DELAY_SCHEDULER": "2"})
    with Player(server, "m", notes["m"]) as p:
        for name, sequence, value, flags in [("a0", 1, 10, "S"), ("a1", 1, 11, "E"),
                                             ("b0", 2, 20, "S"), ("b1", 2, 21, "E"),
                                             ("c0", 3, 30, "S")]:
            p.send(name, sequence, value, flags)
        time.sleep(A_WHILE)
        assert p.executions() == []
        p.send("c1", 3, 31, "E")
        p.finish()
        assert p.executions() == [[(1, 10, "S"), (2, 20, "S")], [(1, 11, "E"), (2, 21, "E")],
                                  [(3, 30, "S")], [(3, 31, "E")]]
        p.send("d0", 4, 40, "SE")  # the gate stays open
        p.finish()
