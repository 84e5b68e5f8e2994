# SPDX-License-Identifier: Apache-2.0
"""The dynamic batcher, tested through the protocols. No case waits for a delay to pass."""

import threading

import grpc_raw
import numpy as np
from grpc_raw import infer_request, tensor
from test_statistics import batches, counted, counts, difference, wait_for_counts
from tritonclient.grpc import service_pb2_grpc


def request(i, model, batch=1, **kwargs):
    data = np.full((batch, 4), i, np.int32)
    return infer_request(model, [tensor("INPUT0", "INT32", [batch, 4])], [data.tobytes()],
                         request_id=str(i), **kwargs)


def together(server, requests):
    """Sends all requests at once on one connection. Returns each result or its error."""
    with grpc_raw.channel(server) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        futures = [stub.ModelInfer.future(r, timeout=60) for r in requests]
        return [f.exception() or f.result() for f in futures]


def test_requests_fill_the_preferred_size(server, transports):
    client = transports["http"]
    before = counted(client, "batched")
    results = together(server, [request(i, "batched") for i in range(4)])
    for i, result in enumerate(results):
        assert result.id == str(i)
        assert result.outputs[0].shape == [1, 4]
        assert result.raw_output_contents[0] == np.full(4, i, np.int32).tobytes()
    after = wait_for_counts(client, "batched", counts(before)["success"] + 4)
    assert after["inference_count"] - before["inference_count"] == 4
    assert after["execution_count"] - before["execution_count"] == 1
    assert difference(batches(before), batches(after)) == {4: 1}


def test_requests_of_several_sizes_fill_one_batch(server, transports):
    client = transports["http"]
    before = counted(client, "batched")
    results = together(server, [request(1, "batched", 1), request(2, "batched", 2),
                                request(3, "batched", 1)])
    assert [list(r.outputs[0].shape) for r in results] == [[1, 4], [2, 4], [1, 4]]
    assert results[1].raw_output_contents[0] == np.full(8, 2, np.int32).tobytes()
    after = wait_for_counts(client, "batched", counts(before)["success"] + 3)
    assert difference(batches(before), batches(after)) == {4: 1}


def test_full_batch_in_one_request_waits_for_nobody(server, transports):
    client = transports["http"]
    before = counted(client, "batched")
    (result,) = together(server, [request(7, "batched", 4)])
    assert result.outputs[0].shape == [4, 4]
    after = wait_for_counts(client, "batched", counts(before)["success"] + 1)
    assert difference(batches(before), batches(after)) == {4: 1}


def test_both_protocols_share_a_batch(server, transports):
    client = transports["http"]
    before = counted(client, "batched")
    results = []

    def ask(transport):
        tensor_in = transport.input("INPUT0", np.ones((2, 4), np.int32))
        results.append(transport.infer("batched", [tensor_in]))

    # The synchronous HTTP client may be used only by the thread that made it, the asyncio client
    # only on its loop.
    threads = [threading.Thread(target=ask, args=(transports[n],)) for n in ("grpc", "http_aio")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2
    after = wait_for_counts(client, "batched", counts(before)["success"] + 2)
    assert difference(batches(before), batches(after)) == {4: 1}
