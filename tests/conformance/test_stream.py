# SPDX-License-Identifier: Apache-2.0
"""ModelStreamInfer: order, errors inside the stream, final flag, the official clients' streams."""

import queue

import grpc
import grpc_raw
import numpy as np
import pytest
import tritonclient.grpc as triton_grpc
from grpc_raw import infer_request, tensor
from models import type_model
from tritonclient.grpc import service_pb2 as pb
from tritonclient.grpc import service_pb2_grpc

MODEL = type_model("INT32", False)


def ints(*values) -> bytes:
    return np.array(values, np.int32).tobytes()


def request(i, model=MODEL, count=1, **kwargs):
    return infer_request(model, [tensor("INPUT0", "INT32", [count])], [ints(*[i] * count)],
                         request_id=str(i), **kwargs)


def test_answers_come_in_order(server):
    responses = grpc_raw.stream(server, [request(i) for i in range(100)])
    assert [r.infer_response.id for r in responses] == [str(i) for i in range(100)]
    assert [r.infer_response.raw_output_contents[0] for r in responses] == [
        ints(i) for i in range(100)]
    assert {r.error_message for r in responses} == {""}


def test_a_quick_model_waits_for_a_slow_one(server):
    responses = grpc_raw.stream(server, [request(0, "slow", 4), request(1), request(2)])
    assert [r.infer_response.id for r in responses] == ["0", "1", "2"]


def test_answer_message(server):
    (response,) = grpc_raw.stream(server, [request(3)])
    expected = pb.ModelStreamInferResponse()
    inner = expected.infer_response
    inner.model_name, inner.model_version, inner.id = MODEL, "1", "3"
    inner.parameters["triton_final_response"].bool_param = True
    inner.outputs.add(name="OUTPUT0", datatype="INT32", shape=[1])
    inner.raw_output_contents.append(ints(3))
    assert response == expected


def test_different_models_on_one_stream(server):
    responses = grpc_raw.stream(server, [request(0), request(1, "counted_flat", 4),
                                         request(2, type_model("INT32", False))])
    assert [r.infer_response.model_name for r in responses] == [MODEL, "counted_flat", MODEL]


@pytest.mark.parametrize("wrong,text", [
    (request(1, "no_such_model"), "Request for unknown model: 'no_such_model' is not found"),
    (infer_request(MODEL, [tensor("INPUT0", "FP32", [1])], [ints(1)], request_id="1"),
     "inference input 'INPUT0' data-type is 'FP32'"),
    (infer_request(MODEL, [], request_id="1"), "expected 1 inputs but got 0 inputs"),
    (request(1, version="x"), "failed to get model version from specified version string 'x'"),
    (request(1, parameters={"triton_x": 1}), "are reserved for Triton usage"),
], ids=["model", "datatype", "inputs", "version", "parameter"])
def test_error_inside_the_stream(server, wrong, text):
    responses = grpc_raw.stream(server, [request(0), wrong, request(2)])
    by_id = {r.infer_response.id: r for r in responses}
    assert sorted(by_id) == ["0", "1", "2"]
    assert text in by_id["1"].error_message
    assert not by_id["1"].infer_response.outputs
    for i in (0, 2):
        assert by_id[str(i)].error_message == ""
        assert by_id[str(i)].infer_response.raw_output_contents[0] == ints(i)


def test_error_carries_only_the_id(server):
    (response,) = grpc_raw.stream(server, [request(9, "no_such_model")])
    assert response.infer_response == pb.ModelInferResponse(id="9")


def test_errors_before_execution_do_not_end_the_stream_in_error_mode(server):
    responses = grpc_raw.stream(server, [request(0, "no_such_model"), request(1)],
                                metadata=[("triton_grpc_error", "true")])
    by_id = {r.infer_response.id: r for r in responses}
    assert by_id["0"].error_message
    assert by_id["1"].error_message == ""


def test_stream_without_requests(server):
    assert grpc_raw.stream(server, []) == []


def test_answers_come_while_the_stream_is_open(server):
    """Each request is answered before the next one is sent: the answers do not wait for the
    half-close."""
    pending = queue.Queue()
    with grpc_raw.channel(server) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        call = stub.ModelStreamInfer(iter(pending.get, None), timeout=60)
        for i in range(10):
            pending.put(request(i))
            assert next(call).infer_response.id == str(i)
        pending.put(None)
        with pytest.raises(StopIteration):
            next(call)
        assert call.code() is grpc.StatusCode.OK


def test_many_streams_at_once(server):
    with grpc_raw.channel(server) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        calls = [stub.ModelStreamInfer(iter([request(i * 10 + k) for k in range(10)]), timeout=60)
                 for i in range(10)]
        for i, call in enumerate(calls):
            assert [r.infer_response.id for r in call] == [str(i * 10 + k) for k in range(10)]


def test_cancelled_stream_leaves_the_server_well(server):
    with grpc_raw.channel(server) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        call = stub.ModelStreamInfer(iter([request(i, "slow", 4) for i in range(3)]), timeout=60)
        call.cancel()
        with pytest.raises(grpc.RpcError):
            list(call)
    assert len(grpc_raw.stream(server, [request(1)])) == 1


def test_deadline_ends_the_stream(server):
    with pytest.raises(grpc.RpcError) as info:
        grpc_raw.stream(server, [request(0, "slow", 4)], timeout=0.1)
    assert info.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


def test_decoupled_model_answers_in_a_stream(server):
    responses = grpc_raw.stream(server, [request(5, "decoupled", 4)])
    assert responses[0].error_message == ""
    assert responses[0].infer_response.raw_output_contents[0] == ints(5, 5, 5, 5)


@pytest.mark.parametrize("compression", [grpc.Compression.Gzip, grpc.Compression.Deflate])
def test_compressed_stream(server, compression):
    with grpc_raw.channel(server) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        call = stub.ModelStreamInfer(iter([request(i, count=500) for i in range(5)]), timeout=60,
                                     compression=compression)
        assert [r.infer_response.raw_output_contents[0] for r in call] == [
            ints(*[i] * 500) for i in range(5)]


def test_large_messages_in_a_stream(server):
    values = np.arange(1 << 18, dtype=np.int32).tobytes()
    made = infer_request(MODEL, [tensor("INPUT0", "INT32", [1 << 18])], [values])
    responses = grpc_raw.stream(server, [made] * 8)
    assert [r.infer_response.raw_output_contents[0] == values for r in responses] == [True] * 8


def test_official_clients_stream(server):
    answers = queue.Queue()
    client = triton_grpc.InferenceServerClient(server.grpc)
    client.start_stream(lambda result, error: answers.put((result, error)))
    for i in range(20):
        tensor_in = triton_grpc.InferInput("INPUT0", [1], "INT32")
        tensor_in.set_data_from_numpy(np.array([i], np.int32))
        model = MODEL if i != 7 else "no_such_model"
        client.async_stream_infer(model, [tensor_in], request_id=str(i))
    got = [answers.get(timeout=30) for _ in range(20)]
    client.stop_stream()
    client.close()
    values = sorted(int(r.as_numpy("OUTPUT0")[0]) for r, e in got if e is None)
    assert values == [i for i in range(20) if i != 7]
    (error,) = [e for _, e in got if e is not None]
    assert "Request for unknown model: 'no_such_model' is not found" in error.message()


def test_official_asyncio_clients_stream(transports, loop):
    client = transports["grpc_aio"].client

    async def requests():
        for i in range(10):
            tensor_in = triton_grpc.InferInput("INPUT0", [1], "INT32")
            tensor_in.set_data_from_numpy(np.array([i], np.int32))
            yield {"model_name": MODEL, "inputs": [tensor_in], "request_id": str(i)}

    async def run():
        return [(result, error) async for result, error in client.stream_infer(requests())]

    got = loop.run(run())
    assert [r.get_response().id for r, _ in got] == [str(i) for i in range(10)]
    assert [int(r.as_numpy("OUTPUT0")[0]) for r, _ in got] == list(range(10))
