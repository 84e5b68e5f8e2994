# SPDX-License-Identifier: Apache-2.0
"""The queue of the dynamic batcher: the order of service, a full queue, timeouts."""

import threading
import time

import grpc
import grpc_raw
import numpy as np
from test_batching import request, together
from test_statistics import counted, counts, difference, wait_for_counts
from tritonclient.grpc import service_pb2_grpc


def order_of_answers(server, requests):
    """Sends all requests, in order, on one connection. Returns their ids in the order of the
    answers."""
    answered, everything = [], threading.Event()

    def note(i):
        answered.append(i)
        if len(answered) == len(requests):
            everything.set()

    with grpc_raw.channel(server) as channel:
        grpc.channel_ready_future(channel).result(60)  # on a new connection, calls can overtake each other
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        for message in requests:
            future = stub.ModelInfer.future(message, timeout=60)
            future.add_done_callback(lambda _, i=message.id: note(i))
        assert everything.wait(60)
    return [int(i) for i in answered]


def test_priority_levels_are_strict(server):
    """Full batches on one instance. Level 0 and an unknown level mean the default level."""
    levels = [1, 2, 1, 3, 0, 9, 2]
    requests = [request(i, "levels", 4, parameters={"priority": level})
                for i, level in enumerate(levels)]
    assert order_of_answers(server, requests) == [0, 2, 1, 4, 5, 6, 3]


def test_responses_keep_the_order_of_the_requests(server):
    """Two instances have different speeds; the answers of the fast one wait for those of the slow
    one."""
    requests = [request(i, "ordered", 4) for i in range(8)]
    assert order_of_answers(server, requests) == list(range(8))


def test_timeout_is_answered_while_the_instance_is_busy(server):
    """The first request runs for 400 ms. The others wait for at most 100 ms and are then answered.
    """
    assert order_of_answers(server, [request(i, "expiring", 4) for i in range(3)])[-1] == 0


def test_a_timeout_within_the_delay_is_kept(server, transports):
    """The delay is longer than the timeout: the request is refused at the timeout, although the
    instance is idle."""
    client = transports["http"]
    before = counted(client, "hasty")
    start = time.monotonic()
    (result,) = together(server, [request(1, "hasty")])
    took = time.monotonic() - start
    assert result.code().name == "UNAVAILABLE" and result.details() == "Request timeout expired"
    assert took >= 0.1
    assert counts(counted(client, "hasty"))["success"] == counts(before)["success"]


def test_with_the_parameter_a_batch_goes_before_a_request_of_it_times_out(server):
    """The batch runs 1 ms before the timeout. A busy machine can be later, but not each time: without the
    parameter no request is answered."""
    for _ in range(10):
        (result,) = together(server, [request(1, "before_timeout")])
        if not hasattr(result, "code"):
            break
        assert result.details() == "Request timeout expired"
    assert not hasattr(result, "code"), result
    assert result.outputs[0].shape == [1, 4]


def test_full_queue_refuses(server, transports):
    """One instance is busy for 400 ms, and the queue has room for one request: some of six requests
    are refused."""
    client = transports["http"]
    before = counted(client, "queued")
    results = together(server, [request(i, "queued", 4) for i in range(6)])
    refused = [r for r in results if hasattr(r, "code")]
    assert 1 <= len(refused) < 6
    for error in refused:
        assert error.code().name == "UNAVAILABLE"
        assert "Exceeds maximum queue size" in error.details()
    after = wait_for_counts(client, "queued", counts(before)["success"] + 6 - len(refused))
    assert difference(counts(before), counts(after))["success"] == 6 - len(refused)
    assert counts(after)["fail"] == counts(before)["fail"]  # a refusal is no failure


def test_queue_timeout_rejects(server, transports):
    client = transports["http"]
    before = counted(client, "expiring")
    results = together(server, [request(i, "expiring", 4) for i in range(3)])
    rejected = [r for r in results if hasattr(r, "code")]
    assert 1 <= len(rejected) < 3
    for error in rejected:
        assert error.code().name == "UNAVAILABLE"
        assert "Request timeout expired" in error.details()
    after = wait_for_counts(client, "expiring", counts(before)["success"] + 3 - len(rejected))
    assert counts(after)["fail"] - counts(before)["fail"] == len(rejected)


def test_http_status_of_a_full_queue(transports, server):
    client = transports["http_aio"]
    errors, answers = [], []

    def ask():
        made = [client.input("INPUT0", np.zeros((4, 4), np.int32))]
        try:
            answers.append(client.infer("queued", made))
        except Exception as error:  # checked below
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers and errors
    for error in errors:
        assert error.status() == "503"
        assert "Exceeds maximum queue size" in error.message()
