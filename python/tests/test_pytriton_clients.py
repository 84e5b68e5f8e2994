# SPDX-License-Identifier: Apache-2.0
"""Limits of the clients of nereid.pytriton: timeouts, full queues, models that are not there."""

import asyncio
import concurrent.futures
import contextlib
import threading

import numpy as np
import pytest

from nereid.pytriton import ModelConfig, Tensor, Triton, TritonConfig
from nereid.pytriton.client import (
    AsyncioDecoupledModelClient,
    AsyncioModelClient,
    DecoupledModelClient,
    FuturesModelClient,
    ModelClient,
    PyTritonClientError,
    PyTritonClientInferenceServerError,
    PyTritonClientModelUnavailableError,
    PyTritonClientQueueFullError,
    PyTritonClientTimeoutError,
)

pytest.importorskip("tritonclient.http.aio")
pytest.importorskip("tritonclient.grpc.aio")
InferenceServerException = pytest.importorskip("tritonclient.utils").InferenceServerException

FLOATS = Tensor(name="x", dtype=np.float32, shape=(-1,))
RESULT = Tensor(name="y", dtype=np.float32, shape=(-1,))
ONE = np.ones(1, np.float32)
LOCAL = {"http_address": "127.0.0.1", "grpc_address": "127.0.0.1"}


class Served:
    """A server whose functions answer when the gate is open."""

    def __init__(self):
        config = TritonConfig(http_port=0, grpc_port=0, allow_metrics=False, **LOCAL)
        self.gate = threading.Event()
        self.triton = Triton(config=config)
        self.triton.bind("waits", self.echo, [FLOATS], [RESULT])
        decoupled = ModelConfig(decoupled=True)
        self.triton.bind("waits_in_stream", self.stream, [FLOATS], [RESULT], config=decoupled)
        self.triton.run()
        self.http = f"http://127.0.0.1:{self.triton.frontends.http_port}"
        self.grpc = f"grpc://127.0.0.1:{self.triton.frontends.grpc_port}"

    def echo(self, requests):
        assert self.gate.wait(60)
        return [{"y": request["x"]} for request in requests]

    def stream(self, requests):
        yield [{"y": request["x"]} for request in requests]
        yield self.echo(requests)

    @contextlib.contextmanager
    def opens_at_last(self):
        """Opens the gate at the end, so that a client which waits for its futures can close."""
        try:
            yield
        finally:
            self.gate.set()

    def end(self):
        self.gate.set()
        self.triton.stop()


@pytest.fixture
def served():
    served = Served()
    yield served
    served.end()


@pytest.mark.parametrize(("scheme", "timeout_s"), [("http", 2.0), ("grpc", 0.05)])
def test_a_request_that_takes_too_long(served, scheme, timeout_s):
    url = getattr(served, scheme)
    with ModelClient(url, "waits", inference_timeout_s=timeout_s) as client:
        with pytest.raises(PyTritonClientTimeoutError):
            client.infer_sample(ONE)
    served.gate.set()
    with ModelClient(url, "waits", inference_timeout_s=60) as client:
        assert client.infer_sample(ONE)["y"].tolist() == [1]


def test_a_stream_that_takes_too_long(served):
    with DecoupledModelClient(served.grpc, "waits_in_stream", inference_timeout_s=3.0) as client:
        results = client.infer_sample(ONE)
        assert next(results)["y"].tolist() == [1]
        with pytest.raises(PyTritonClientTimeoutError, match="No response came in 3.0 s"):
            next(results)


def test_a_stream_that_is_not_read_to_its_end(served):
    with DecoupledModelClient(served.grpc, "waits_in_stream") as client:
        results = client.infer_sample(ONE)
        assert next(results)["y"].tolist() == [1]
        results.close()  # does not wait for the second response
        served.gate.set()
        assert [result["y"].tolist() for result in client.infer_sample(ONE * 2)] == [[2], [2]]


@pytest.mark.parametrize("scheme", ["http", "grpc"])
def test_an_asyncio_request_that_takes_too_long(served, scheme):
    async def main():
        url = getattr(served, scheme)
        async with AsyncioModelClient(url, "waits", inference_timeout_s=0.05) as client:
            with pytest.raises(PyTritonClientTimeoutError, match=r"No response came in 0.05 s"):
                await client.infer_sample(ONE)

    asyncio.run(main())


def test_an_asyncio_stream_that_takes_too_long(served):
    async def main():
        client = AsyncioDecoupledModelClient(
            served.grpc, "waits_in_stream", inference_timeout_s=3.0
        )
        async with client:
            results = client.infer_sample(ONE)
            assert (await results.__anext__())["y"].tolist() == [1]
            with pytest.raises(PyTritonClientTimeoutError, match="No response came in 3.0 s"):
                await results.__anext__()

    asyncio.run(main())


def test_futures_that_take_too_long(served):
    with FuturesModelClient(served.grpc, "waits", inference_timeout_s=0.05) as client:
        future = client.infer_batch(ONE[np.newaxis])
        assert isinstance(future.exception(60), PyTritonClientTimeoutError)


def test_a_full_queue(served):
    limits = {"max_workers": 1, "max_queue_size": 2}
    with (
        FuturesModelClient(served.http, "waits", non_blocking=True, **limits) as client,
        served.opens_at_last(),
    ):
        futures = [client.infer_sample(ONE * i) for i in range(3)]
        left = threading.Semaphore(0)
        for future in futures:
            future.add_done_callback(lambda _: left.release())
        for _ in range(2):
            with pytest.raises(PyTritonClientQueueFullError, match="Queue is full"):
                client.infer_sample(ONE)
        served.gate.set()
        assert [future.result(60)["y"][0] for future in futures] == [0, 1, 2]
        assert left.acquire(timeout=60)  # this request's place is free
        batch = client.infer_batch(np.full((2, 1), 7, np.float32))
        assert batch.result(60)["y"].tolist() == [[7], [7]]


def test_a_full_queue_is_waited_for(served):
    limits = {"max_workers": 1, "max_queue_size": 1}
    with (
        concurrent.futures.ThreadPoolExecutor(1) as other_thread,
        FuturesModelClient(served.http, "waits", **limits) as client,
        served.opens_at_last(),
    ):
        futures = [client.infer_sample(ONE * i) for i in range(2)]
        late = other_thread.submit(client.infer_sample, ONE * 2)
        with pytest.raises(concurrent.futures.TimeoutError):
            late.result(0.05)
        served.gate.set()
        assert [future.result(60)["y"][0] for future in [*futures, late.result(60)]] == [0, 1, 2]


@pytest.mark.parametrize("scheme", ["http", "grpc"])
def test_a_model_that_is_unloaded(served, scheme):
    url = getattr(served, scheme)
    served.gate.set()
    with ModelClient(url, "waits", init_timeout_s=60) as client:
        assert client.infer_sample(ONE)["y"].tolist() == [1]
        served.triton.server.unload("waits")
        with pytest.raises(PyTritonClientInferenceServerError, match="waits"):
            client.infer_sample(ONE)
        with pytest.raises(PyTritonClientTimeoutError, match="the model waits"):
            client.wait_for_model(0.01)
    with ModelClient(url, "waits", ensure_model_is_ready=False) as client:
        with pytest.raises(InferenceServerException, match="waits"):
            client.infer_sample(ONE)
    with pytest.raises(PyTritonClientTimeoutError, match="the model waits"):
        ModelClient(url, "waits", lazy_init=False, init_timeout_s=0.01)
    with FuturesModelClient(url, "waits", init_timeout_s=0.01) as client:
        assert isinstance(client.infer_sample(ONE).exception(60), PyTritonClientTimeoutError)


def test_a_server_that_is_not_there(served):
    served.end()
    for url in (served.http, served.grpc):
        with ModelClient(url, "waits") as client:
            with pytest.raises(PyTritonClientTimeoutError, match="the server"):
                client.wait_for_server(0.01)


def test_classes_of_errors():
    for error in (
        PyTritonClientTimeoutError,
        PyTritonClientModelUnavailableError,
        PyTritonClientQueueFullError,
        PyTritonClientInferenceServerError,
    ):
        assert issubclass(error, PyTritonClientError) and error("text").message == "text"
