# SPDX-License-Identifier: Apache-2.0
"""Times that a client or a configuration chooses: very long ones, and many of which each one is
earlier than the last. They must cost an idle server neither a CPU nor memory."""

import contextlib
import os
import time
from pathlib import Path

import grpc
import grpc_raw
import models
import pytest
import raw_http
from conftest import memory_of, settled_memory
from grpc_raw import parameter
from raw_http import tensor
from sequences import batching, pending, wait_for
from test_batching import request
from tritonclient.grpc import service_pb2_grpc

LONG = 10_000_000_000_000_000  # microseconds, in nanoseconds more than 63 bits and fewer than 64
NEVER = 2**64 - 1
YEAR = 365 * 24 * 3600 * 1_000_000  # microseconds
BURST = 8_000
ROUNDS = 3
LEFT_MIB = 3.0  # 300 bytes for each request of all rounds are 7 MiB
IDLE_SECONDS = 1.0
IDLE_TICKS = 10  # a thread that never waits takes a hundred


def write(root):
    repository = models.Repository(root)

    def add(name, extra, batch):
        repository.identity(name, [("INT32", [4])], batch=batch, extra=extra)

    repository.identity("bystander", [("INT32", [-1])])
    add("sequences", models.ONE_CPU_INSTANCE + batching(controls="", idle=YEAR), 1)
    add("idle_sequences", models.ONE_CPU_INSTANCE + batching(controls="", idle=LONG), 1)
    add("delayed", f"dynamic_batching {{ max_queue_delay_microseconds: {LONG} }}\n", 8)
    add("limited", f"dynamic_batching {{ max_queue_delay_microseconds: {NEVER} "
        f"default_queue_policy {{ default_timeout_microseconds: {LONG} }} }}\n", 8)
    add("burst", f"dynamic_batching {{ max_queue_delay_microseconds: {NEVER} "
        f"default_queue_policy {{ default_timeout_microseconds: {YEAR} "
        "allow_timeout_override: true } }\n", 2**20)


@pytest.fixture(scope="module")
def patient(start_server):
    return start_server("patient", write)


def cpu_ticks(server) -> int:
    """Returns the CPU time that the server has used, in clock ticks."""
    text = Path(f"/proc/{server.process.pid}/stat").read_text()
    fields = text[text.rindex(")") + 2:].split()
    return int(fields[11]) + int(fields[12])


def check_idle(server, scale):
    """The server has nothing to do but to wait: it must not use a CPU."""
    before = cpu_ticks(server)
    time.sleep(IDLE_SECONDS)
    used = cpu_ticks(server) - before
    per_second = os.sysconf("SC_CLK_TCK")
    assert used <= IDLE_TICKS * per_second / 100 * scale, f"{used} ticks in {IDLE_SECONDS} s"


@contextlib.contextmanager
def waiting(server, model, **parameters):
    """Sends a request that stays in the server, and cancels it at the end."""
    message = request(1, model)
    for name, value in parameters.items():
        message.parameters[name].CopyFrom(parameter(value))
    with grpc_raw.channel(server) as channel:
        call = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer.future(message)
        wait_for(lambda: pending(server, model) == 1, "a waiting request")
        yield
        assert not call.done()
        call.cancel()
    wait_for(lambda: pending(server, model) == 0, "the end of the waiting request")


@pytest.mark.parametrize("model", ["delayed", "limited"])
def test_a_wait_of_three_hundred_years(patient, scale, model):
    with waiting(patient, model):
        check_idle(patient, scale)
    check_idle(patient, scale)


def sequence(server, model, number, **flags):
    body = {"inputs": [tensor("INPUT0", "INT32", [1, 4], [1, 2, 3, 4])],
            "parameters": {"sequence_id": number, **flags}}
    return raw_http.infer(server, model, body)


def test_a_sequence_that_waits_for_a_slot(patient, scale):
    assert sequence(patient, "sequences", 1, sequence_start=True).status == 200
    with waiting(patient, "sequences", sequence_id=2, sequence_start=True, timeout=LONG):
        check_idle(patient, scale)
    assert sequence(patient, "sequences", 1, sequence_end=True).status == 200
    check_idle(patient, scale)


def test_a_sequence_that_may_be_idle_for_ever(patient, scale):
    assert sequence(patient, "idle_sequences", 1, sequence_start=True).status == 200
    check_idle(patient, scale)
    assert sequence(patient, "idle_sequences", 1, sequence_end=True).status == 200


def burst(server, channel):
    """Sends requests of which each one may wait for a shorter time than the last, and cancels all.
    """
    def requests():
        for i in range(BURST):
            message = request(i, "burst")
            message.parameters["timeout"].CopyFrom(parameter(YEAR - (i + 1) * 1_000_000))
            yield message
        wait_for(lambda: pending(server, "burst") == BURST, "the whole burst", limit=120)
        call.cancel()

    call = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelStreamInfer(requests())
    with contextlib.suppress(grpc.RpcError):  # it ends with the cancellation
        next(call)
    wait_for(lambda: pending(server, "burst") == 0, "the end of the burst", limit=120)


def test_a_burst_of_falling_deadlines(patient, attack, scale):
    # One connection has one event loop: the heap that a thread keeps is not a part of the figure.
    with grpc_raw.channel(patient) as channel:
        with attack(patient, peak_mib=200, worst_ms=2000):
            burst(patient, channel)
        before = settled_memory(patient)
        with attack(patient, peak_mib=200, worst_ms=2000):
            for _ in range(ROUNDS):
                burst(patient, channel)
        left = settled_memory(patient) - before
    assert left <= LEFT_MIB * scale, f"{left:.1f} MiB are left, of {memory_of(patient, 'VmRSS'):.0f}"
    check_idle(patient, scale)
