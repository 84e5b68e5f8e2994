# SPDX-License-Identifier: Apache-2.0
"""The module tritonfrontend."""

import json
import queue
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest
from inputs import repeat

import tritonfrontend
import tritonserver

KINDS = [tritonfrontend.KServeHttp, tritonfrontend.KServeGrpc, tritonfrontend.Metrics]


def listening(kind, server, port=0):
    """Returns a front end that does not run yet."""
    return kind(server, kind.Options(address="127.0.0.1", port=port))


def port_of(service):
    return service._frontends.port(KINDS.index(type(service)))


def test_options():
    http = tritonfrontend.KServeHttp.Options()
    assert (http.address, http.port, http.thread_count) == ("0.0.0.0", 8000, 8)
    assert (http.reuse_port, http.header_forward_pattern) == (False, "")
    grpc = tritonfrontend.KServeGrpc.Options()
    assert (grpc.port, grpc.keepalive_time_ms, grpc.infer_thread_count) == (8001, 7200000, 2)
    level = tritonfrontend.KServeGrpc.Grpc_compression_level
    assert [member.name for member in level] == ["NONE", "LOW", "MED", "HIGH", "COUNT"]
    metrics = tritonfrontend.Metrics.Options()
    assert (metrics.port, metrics.thread_count) == (8002, 1)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (tritonfrontend.KServeHttp, {"port": 65536}),
        (tritonfrontend.KServeHttp, {"port": -1}),
        (tritonfrontend.KServeHttp, {"thread_count": 0}),
        (tritonfrontend.KServeHttp, {"address": 1}),
        (tritonfrontend.KServeGrpc, {"port": "x"}),
        (tritonfrontend.KServeGrpc, {"infer_compression_level": 9}),
        (tritonfrontend.Metrics, {"thread_count": 0}),
    ],
)
def test_wrong_values(kind, values):
    with pytest.raises(ValueError) as failure:
        kind.Options(**values)
    assert type(failure.value).__name__ == "ValidationError"


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (tritonfrontend.KServeHttp, "v2/health/ready"),
        (tritonfrontend.Metrics, "metrics"),
    ],
)
def test_http(triton, kind, path):
    with listening(kind, triton) as service:
        url = f"http://127.0.0.1:{port_of(service)}/{path}"
        assert urllib.request.urlopen(url).status == 200
        with pytest.raises(tritonserver.AlreadyExistsError, match="server is already running."):
            service.start()
    service.start()
    service.stop()
    service.stop()


def test_grpc(triton):
    client = pytest.importorskip("tritonclient.grpc")
    with listening(tritonfrontend.KServeGrpc, triton) as service:
        with client.InferenceServerClient(f"127.0.0.1:{port_of(service)}") as channel:
            assert channel.is_server_ready()


def test_wrong_options(triton):
    with pytest.raises(
        tritonserver.InvalidArgumentError,
        match="Incorrect type for options. options argument must be of type KServeHttp.Options",
    ):
        tritonfrontend.KServeHttp(triton, {"port": 1})


def test_a_request_after_the_stop_of_the_server(repository):
    server = tritonserver.Server(model_repository=str(repository)).start()
    service = listening(tritonfrontend.KServeHttp, server)
    service.start()
    port = port_of(service)
    server.stop()
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/health/ready")
    service.stop()


@pytest.mark.parametrize("kind", KINDS)
def test_the_server_class_of_triton_24_10(triton, kind):
    with kind.Server(triton, kind.Options(address="127.0.0.1", port=0)) as service:
        assert isinstance(service, kind)
        assert port_of(service) > 0
    with pytest.raises(tritonserver.InvalidArgumentError, match=f"type {kind.__name__}.Options"):
        kind.Server(triton, {"port": 1})


@pytest.mark.parametrize("kind", KINDS)
def test_start_and_stop(triton, kind):
    service = listening(kind, triton)
    for _ in range(2):
        service.start()
        with pytest.raises(tritonserver.AlreadyExistsError, match="server is already running."):
            service.start()
        service.stop()
        service.stop()
    with pytest.raises(KeyError, match="raised inside"), service:
        raise KeyError("raised inside")
    service.start()  # the end of the with statement has stopped it
    service.stop()


@pytest.mark.parametrize(("kind", "name"), list(zip(KINDS, ("HTTP", "GRPC", "Metrics"))), ids=str)
def test_a_port_in_use(triton, kind, name):
    with listening(kind, triton) as first:
        second = listening(kind, triton, port_of(first))
        message = f"failed to start {name} service: .*:{port_of(first)}' already in use"
        for _ in range(2):
            with pytest.raises(tritonserver.UnavailableError, match=message):
                second.start()
        second.stop()


def test_http_stops_while_a_response_is_sent(triton):
    service = listening(tritonfrontend.KServeHttp, triton)
    service.start()
    url = f"http://127.0.0.1:{port_of(service)}/v2/"
    inputs = {name: array.tolist() for name, array in repeat(list(range(8)), delay_ms=50).items()}
    request = urllib.request.Request(
        url + "models/repeat/generate_stream",
        json.dumps(inputs).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        events = [response.readline()]  # the model executes
        stopping = threading.Thread(target=service.stop)
        stopping.start()
        events += [line for line in response if line.strip()]
        stopping.join(60)
        assert not stopping.is_alive()
    outputs = [json.loads(event.removeprefix(b"data:"))["OUT"] for event in events]
    assert outputs == list(range(8))
    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(url + "health/live")
    assert triton.live()


def test_grpc_stops_while_a_stream_is_open(triton):
    grpc = pytest.importorskip("tritonclient.grpc")
    service = listening(tritonfrontend.KServeGrpc, triton)
    service.start()
    tensors = []
    for name, array in repeat(list(range(8)), delay_ms=50).items():
        tensors.append(grpc.InferInput(name, array.shape, f"{array.dtype}".upper()))
        tensors[-1].set_data_from_numpy(array)
    answers = queue.SimpleQueue()
    with grpc.InferenceServerClient(f"127.0.0.1:{port_of(service)}") as client:
        client.start_stream(lambda result, error: answers.put((result, error)))
        client.async_stream_infer("repeat", tensors)
        received = [answers.get(timeout=60)]  # the model executes
        service.stop()
        while received[-1][1] is None:
            received.append(answers.get(timeout=60))
    *results, (_, error) = received
    assert [result.as_numpy("OUT")[0] for result, _ in results] == list(range(8))
    assert "Server is stopping" in str(error)
    assert triton.live()


@pytest.mark.parametrize("kind", KINDS[:2])
def test_the_server_stops_while_requests_run(repository, kind):
    options = {
        "model_control_mode": tritonserver.ModelControlMode.EXPLICIT,
        "startup_models": ["repeat"],
    }
    server = tritonserver.Server(model_repository=str(repository), **options).start()
    with listening(kind, server):
        responses = server.model("repeat").infer(inputs=repeat(list(range(8)), delay_ms=50))
        first = next(responses)
        server.stop()
        outputs = [r.outputs["OUT"] for r in [first, *responses] if r.outputs]
        assert [np.from_dlpack(output)[0] for output in outputs] == list(range(8))
