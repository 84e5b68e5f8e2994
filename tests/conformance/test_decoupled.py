# SPDX-License-Identifier: Apache-2.0
"""Decoupled models: any number of responses to a request, from other threads, in any order."""

import queue
import threading
import time

import decoupled_models as decoupled
import grpc
import grpc_raw
import numpy as np
import pytest
import raw_http
import tritonclient.grpc as triton_grpc
from clients import Transport
from decoupled_models import fault, int_of, is_final, repeat, square
from grpc_raw import infer_request, tensor
from tritonclient.grpc import service_pb2 as pb
from tritonclient.grpc import service_pb2_grpc


@pytest.fixture(scope="module")
def serving(start_server, server_plugins):
    return start_server("decoupled", decoupled.write(server_plugins))


def values(responses):
    assert {r.error_message for r in responses} <= {""}
    return [int_of(r) for r in responses]


def until(condition, seconds=20):
    """Polls until the server has completed work that no answer announces."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def statistics(server, model):
    (found,) = raw_http.get(server, f"/v2/models/{model}/stats").json["model_stats"]
    return found


def counts(durations):
    return {name: duration["count"] for name, duration in durations.items()}


# ---- The stream ----


@pytest.mark.parametrize("count", [0, 1, 2, 16, 300])
def test_any_number_of_responses(serving, count):
    responses = grpc_raw.stream(serving, [repeat(range(10, 10 + count), request_id="r")])
    assert values(responses) == list(range(10, 10 + count))
    assert [int_of(r, 1) for r in responses] == list(range(count))
    assert {r.infer_response.id for r in responses} <= {"r"}
    assert not any(is_final(r) for r in responses)


def test_response_message(serving):
    (response,) = grpc_raw.stream(serving, [square(1, request_id="s")])
    expected = pb.ModelStreamInferResponse()
    inner = expected.infer_response
    inner.model_name, inner.model_version, inner.id = "square_int32", "1", "s"
    inner.parameters["triton_final_response"].bool_param = False
    inner.outputs.add(name="OUT", datatype="INT32", shape=[1])
    inner.raw_output_contents.append(np.array([1], np.int32).tobytes())
    assert response == expected


@pytest.mark.parametrize("count", [0, 2])
def test_empty_final_response_on_request(serving, count):
    responses = grpc_raw.stream(serving, [square(
        count, request_id="e", parameters={"triton_enable_empty_final_response": True})])
    assert [is_final(r) for r in responses] == [False] * count + [True]
    expected = pb.ModelInferResponse(model_name="square_int32", id="e")
    expected.parameters["triton_final_response"].bool_param = True
    assert responses[-1] == pb.ModelStreamInferResponse(infer_response=expected)


@pytest.mark.parametrize("empty_final", [False, True])
def test_final_flag_with_the_last_response(serving, empty_final):
    wish = {"triton_enable_empty_final_response": True} if empty_final else {}
    responses = grpc_raw.stream(serving, [repeat([1, 2, 3], model="repeat_last", parameters=wish)])
    assert values(responses) == [1, 2, 3]
    assert [is_final(r) for r in responses] == [False, False, True]


def test_a_quick_request_does_not_wait_for_a_slow_one(serving):
    slow, quick = repeat([1, 2], [0, 600], request_id="slow"), repeat([3, 4], request_id="quick")
    responses = grpc_raw.stream(serving, [slow, quick])
    ids = [r.infer_response.id for r in responses]
    assert ids[-1] == "slow" and sorted(ids) == ["quick", "quick", "slow", "slow"]


def test_decoupled_and_other_models_on_one_stream(serving):
    def other(i):
        return infer_request("plain", [tensor("INPUT0", "INT32", [1])],
                             [np.array([i], np.int32).tobytes()], request_id=f"p{i}")

    responses = grpc_raw.stream(serving, [other(0), square(3, request_id="s"), other(1), other(2)])
    by_id = [r.infer_response.id for r in responses]
    assert [i for i in by_id if i != "s"] == ["p0", "p1", "p2"]  # in order for each model
    assert by_id.count("s") == 3
    assert {r.infer_response.id: is_final(r) for r in responses} == {
        "p0": True, "p1": True, "p2": True, "s": False}


def test_the_instance_is_held_for_as_long_as_asked(serving):
    """With WAIT, Execute returns later; the responses do not wait for that."""
    begin = time.monotonic()
    responses = grpc_raw.stream(serving, [repeat([1], wait=300, request_id="a"),
                                          repeat([2], request_id="b")])
    assert [r.infer_response.id for r in responses] == ["a", "b"]
    assert time.monotonic() - begin >= 0.3


def test_errors_of_the_backend(serving):
    good, bad = square(2, request_id="good"), square(-1, request_id="bad")
    responses = grpc_raw.stream(serving, [bad, good])
    (error,) = [r for r in responses if r.infer_response.id == "bad"]
    assert error.error_message == "expected one element of IN that is at least 0"
    assert is_final(error) and not error.infer_response.outputs
    assert [int_of(r) for r in responses if r.infer_response.id == "good"] == [2, 2]


def test_errors_before_execution(serving):
    wrong = infer_request("square_int32", [], request_id="w")
    responses = grpc_raw.stream(serving, [wrong, square(1)])
    (error,) = [r for r in responses if r.error_message]
    assert "expected 1 inputs but got 0 inputs" in error.error_message
    assert error.infer_response == pb.ModelInferResponse(id="w")


def test_error_mode_ends_the_stream(serving):
    with pytest.raises(grpc.RpcError) as info:
        grpc_raw.stream(serving, [square(-1)], metadata=[("triton_grpc_error", "true")])
    assert info.value.code() is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.skipif("config.option.peer", reason="Triton 2.51 itself ends in every second run")
def test_many_requests_on_many_streams(serving):
    with grpc_raw.channel(serving) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        calls = [stub.ModelStreamInfer(iter([square(k, request_id=str(k)) for k in range(12)]),
                                       timeout=60) for _ in range(8)]
        for call in calls:
            ids = [r.infer_response.id for r in call]
            assert sorted(ids) == sorted(str(k) for k in range(12) for _ in range(k))


def test_unary_calls_are_refused(serving):
    assert grpc_raw.failure(serving, "ModelInfer", square(1)) == (
        "UNIMPLEMENTED", "ModelInfer RPC doesn't support models with decoupled transaction policy")
    answer = raw_http.infer(serving, "square_int32",
                            {"inputs": [raw_http.tensor("IN", "INT32", [1], [1])]})
    assert answer.status == 501
    assert answer.error == ("HTTP end point doesn't support models with decoupled transaction "
                            "policy")


def test_cancelled_streams_cancel_their_requests(serving):
    before = statistics(serving, "repeat_counted")
    with grpc_raw.channel(serving) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        call = stub.ModelStreamInfer(iter([repeat([1, 2], [0, 50_000], model="repeat_counted")]),
                                     timeout=60)
        assert int_of(next(call)) == 1
        call.cancel()
        with pytest.raises(grpc.RpcError):
            next(call)

    def cancelled(stats):
        return counts(stats["response_stats"].get("1", {})).get("cancel", 0)
    until(lambda: cancelled(statistics(serving, "repeat_counted")) == cancelled(before) + 1)


# ---- Statistics ----


def test_response_statistics(serving):
    """One request is one success, however many responses it has. Responses are counted by their
    position."""
    for value in (3, 1, 0, -1):
        grpc_raw.stream(serving, [square(value, model="square_counted")])
    expected = {
        "0": {"compute_infer": 4, "compute_output": 3, "success": 2, "fail": 1,
              "empty_response": 1, "cancel": 0},
        "1": {"compute_infer": 2, "compute_output": 1, "success": 1, "fail": 0,
              "empty_response": 1, "cancel": 0},
        "2": {"compute_infer": 1, "compute_output": 1, "success": 1, "fail": 0,
              "empty_response": 0, "cancel": 0},
        "3": {"compute_infer": 1, "compute_output": 0, "success": 0, "fail": 0,
              "empty_response": 1, "cancel": 0},
    }

    def responses(stats):
        return {key: counts(value) for key, value in stats["response_stats"].items()}
    until(lambda: responses(statistics(serving, "square_counted")) == expected)
    stats = statistics(serving, "square_counted")
    assert counts(stats["inference_stats"])["success"] == 3
    assert counts(stats["inference_stats"])["fail"] == 1
    assert stats["inference_count"] == 3
    for response in stats["response_stats"].values():
        assert all(set(duration) == {"count", "ns"} for duration in response.values())
    message = grpc_raw.call(serving, "ModelStatistics", name="square_counted")
    (over_grpc,) = message.model_stats
    assert {key: {field: getattr(value, field).count for field in expected["0"]}
            for key, value in over_grpc.response_stats.items()} == expected
    first = over_grpc.response_stats["0"]
    assert first.success.ns == stats["response_stats"]["0"]["success"]["ns"] > 0


def test_first_responses_in_the_histogram(start_server, server_plugins, is_peer):
    if is_peer:
        pytest.skip("2.51 has no such histogram")
    server = start_server("decoupled_histogram", decoupled.write(server_plugins),
                          "--metrics-config=histogram_latencies=true")
    for value in (3, 1, 0):
        grpc_raw.stream(server, [square(value, model="square_measured")])
    page = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    (count,) = [line.rsplit(" ", 1)[1] for line in page.splitlines()
                if line.startswith("nv_inference_first_response_histogram_ms_count")
                and 'model="square_measured"' in line]
    assert int(count) == 2  # a request without a response has no first response


# ---- The official clients ----


def test_official_client(serving):
    answers = queue.Queue()
    client = triton_grpc.InferenceServerClient(serving.grpc)
    client.start_stream(lambda result, error: answers.put((result, error)))
    for value in (3, 0, 2):
        tensor_in = triton_grpc.InferInput("IN", [1], "INT32")
        tensor_in.set_data_from_numpy(np.array([value], np.int32))
        client.async_stream_infer("square_int32", [tensor_in], request_id=str(value),
                                  enable_empty_final_response=True)
    finals, got = 0, []
    while finals < 3:
        result, error = answers.get(timeout=30)
        assert error is None
        response = result.get_response()
        if response.parameters["triton_final_response"].bool_param:
            finals += 1
            assert result.as_numpy("OUT") is None
        else:
            got.append((response.id, int(result.as_numpy("OUT")[0])))
    client.stop_stream()
    client.close()
    assert sorted(got) == [("2", 2), ("2", 2), ("3", 3), ("3", 3), ("3", 3)]


def test_official_client_that_cancels(serving):
    answers = queue.Queue()
    client = triton_grpc.InferenceServerClient(serving.grpc)
    client.start_stream(lambda result, error: answers.put((result, error)))
    inputs = [triton_grpc.InferInput("IN", [2], "INT32"),
              triton_grpc.InferInput("DELAY", [2], "UINT32"),
              triton_grpc.InferInput("WAIT", [1], "UINT32")]
    for made, array in zip(inputs, (np.array([1, 2], np.int32), np.array([0, 50_000], np.uint32),
                                    np.array([0], np.uint32))):
        made.set_data_from_numpy(array)
    client.async_stream_infer("repeat_int32", inputs)
    assert answers.get(timeout=30)[1] is None
    client.stop_stream(cancel_requests=True)
    assert answers.get(timeout=30)[1] is not None
    client.close()


def test_official_asyncio_client(serving, connect, loop):
    client = connect("grpc_aio", serving).client

    async def requests():
        for value in (2, 1):
            tensor_in = triton_grpc.InferInput("IN", [1], "INT32")
            tensor_in.set_data_from_numpy(np.array([value], np.int32))
            yield {"model_name": "square_int32", "inputs": [tensor_in], "request_id": str(value)}

    async def run():
        return [(result, error) async for result, error in client.stream_infer(requests())]

    got = loop.run(run())
    assert sorted(int(r.as_numpy("OUT")[0]) for r, _ in got) == [1, 2, 2]


# ---- Backends that break the rules ----


@pytest.fixture(scope="module")
def faulty(serving, is_peer):
    if is_peer:
        pytest.skip("what Triton does with such a backend is its own affair")
    yield serving
    assert values(grpc_raw.stream(serving, [square(2)])) == [2, 2]


def texts(responses):
    return [r.error_message for r in responses]


def test_responses_after_the_final_one_are_dropped(faulty):
    request = fault("after_final", 2)
    request.parameters["triton_enable_empty_final_response"].bool_param = True
    responses = grpc_raw.stream(faulty, [request])
    assert [is_final(r) for r in responses] == [False, False, True]


def test_a_final_response_that_never_comes(faulty):
    responses = grpc_raw.stream(faulty, [fault("never", 2)])
    assert texts(responses)[:2] == ["", ""]
    assert "released a request without sending its final response" in texts(responses)[2]
    assert [is_final(r) for r in responses] == [False, False, True]


def test_an_error_that_is_not_the_last_response(faulty):
    responses = grpc_raw.stream(faulty, [fault("error_middle", 1)])
    assert texts(responses) == ["", "as asked", ""]


def test_an_error_as_the_last_response(faulty):
    responses = grpc_raw.stream(faulty, [fault("error_last", 2)])
    assert texts(responses) == ["", "", "as asked"]
    assert is_final(responses[-1])


def test_several_threads_send_at_once(faulty):
    assert texts(grpc_raw.stream(faulty, [fault("threads", 200)])) == [""] * 800


@pytest.mark.parametrize("kind", ["gone", "deaf"])
def test_a_backend_that_sends_when_the_client_has_gone(faulty, kind):
    with grpc_raw.channel(faulty) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        call = stub.ModelStreamInfer(iter([fault(kind, 2000)]), timeout=60)
        next(call)
        call.cancel()


@pytest.mark.parametrize("count,code", [(0, "INTERNAL"), (2, "INTERNAL")])
def test_models_that_are_not_decoupled_have_one_response(faulty, count, code):
    request = fault("", count, model="faults_single")
    assert grpc_raw.failure(faulty, "ModelInfer", request) == (
        code, f"expected a single response, got {count}")


@pytest.mark.parametrize("name,count", [("", 1), ("", 3), ("error_last", 1), ("error_middle", 1)])
def test_a_stream_gets_the_first_response_of_such_a_model(faulty, name, count):
    answers = grpc_raw.stream(faulty, [fault(name, count, size=3, model="faults_single")])
    assert [answer.error_message for answer in answers] == [""]
    assert answers[0].infer_response.raw_output_contents[0] == b"\7" * 3


# ---- Clients that do not read ----


def resident(server) -> int:
    """Returns the resident memory of the server in bytes."""
    with open(f"/proc/{server.process.pid}/status") as status:
        (line,) = [line for line in status if line.startswith("VmRSS")]
    return int(line.split()[1]) * 1024


def bound(server) -> int:
    """Returns the maximum number of waiting bytes, of all queues on the way. A sanitizer needs
    additional memory."""
    with open(f"/proc/{server.process.pid}/maps") as maps:
        text = maps.read()
    return (200 << 20) * (4 if "libtsan" in text or "libasan" in text else 1)


def cpu_ticks(server) -> int:
    with open(f"/proc/{server.process.pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def wait_until_given_up(server):
    """Waits until the server has used no CPU time for longer than it waits for a slow reader."""
    idle_since, ticks = time.monotonic(), cpu_ticks(server)
    end = idle_since + 60
    while time.monotonic() < idle_since + 6.5:
        assert time.monotonic() < end
        time.sleep(0.25)
        if cpu_ticks(server) > ticks + 3:
            idle_since, ticks = time.monotonic(), cpu_ticks(server)


MANY = 600  # MiB: ten times the limit of waiting data


@pytest.fixture
def bounded(faulty):
    """Checks that memory stays bounded and that other clients are served during a case."""
    before, most, stop = resident(faulty), [0], threading.Event()

    def watch():
        while not stop.wait(0.05):
            most[0] = max(most[0], resident(faulty) - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    yield faulty
    stop.set()
    watcher.join()
    assert most[0] < bound(faulty)


def test_a_stream_that_is_not_read(bounded, loop):
    other = Transport("http", bounded, loop)
    with grpc_raw.channel(bounded) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        call = stub.ModelStreamInfer(iter([fault("deaf", MANY, 1 << 20)]), timeout=60)
        for i in range(20):  # while the backend's thread waits for the reader
            begin = time.monotonic()
            x = np.array([i], np.int32)
            assert other.infer("plain", [other.input("INPUT0", x)]).array("OUTPUT0") == [i]
            assert time.monotonic() - begin < 5
        assert values(grpc_raw.stream(bounded, [square(2)])) == [2, 2]
        wait_until_given_up(bounded)
        responses = list(call)
    other.close()
    assert 1 < len(responses) < MANY
    assert "client reads too slowly" in responses[-1].error_message
    assert is_final(responses[-1])
    assert set(texts(responses[:-1])) == {""}


def test_a_stream_that_is_read_has_everything(bounded):
    """The stream has more data than may wait at once: the backend is slowed down, and nothing is
    lost."""
    with grpc_raw.channel(bounded) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        call = stub.ModelStreamInfer(iter([fault("", 300, 1 << 20)]), timeout=60)
        assert sum(len(r.infer_response.raw_output_contents[0]) for r in call) == 300 << 20


def test_events_that_are_not_read(bounded):
    body = b'{"INPUT0":[%s],"fault":"deaf","count":%d}' % (b",".join([b"7"] * 100_000), 2000)
    with raw_http.Wire(bounded, timeout=30) as wire:
        wire.send(raw_http.head("POST", "/v2/models/faults/generate_stream",
                                f"Content-Length: {len(body)}") + body)
        assert values(grpc_raw.stream(bounded, [square(2)])) == [2, 2]
        wait_until_given_up(bounded)
        answer = wire.read_chunked()
    assert b"the client reads too slowly" in answer.body[-300:]
