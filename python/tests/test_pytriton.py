# SPDX-License-Identifier: Apache-2.0
"""The class Triton of nereid.pytriton, and its clients."""

import asyncio
import threading

import numpy as np
import pytest

import nereid
from nereid.pytriton import (
    ModelConfig,
    Tensor,
    Triton,
    TritonConfig,
    TritonLifecyclePolicy,
    TritonSecurityConfig,
)
from nereid.pytriton.client import (
    AsyncioDecoupledModelClient,
    AsyncioModelClient,
    DecoupledModelClient,
    FuturesModelClient,
    ModelClient,
    PyTritonClientClosedError,
    PyTritonClientInferenceServerError,
    PyTritonClientInvalidUrlError,
    PyTritonClientModelDoesntSupportBatchingError,
    PyTritonClientTimeoutError,
    PyTritonClientValueError,
)
from nereid.pytriton.decorators import (
    batch,
    sample,
)
from nereid.pytriton.exceptions import (
    PyTritonInvalidOperationError,
    PyTritonUnrecoverableError,
    PyTritonValidationError,
)

FLOATS = Tensor(name="x", dtype=np.float32, shape=(-1,))
RESULT = Tensor(name="y", dtype=np.float32, shape=(-1,))
ONES = np.ones((2, 3), np.float32)


LOCAL = {"http_address": "127.0.0.1", "grpc_address": "127.0.0.1", "metrics_address": "127.0.0.1"}


@pytest.fixture
def triton_of_functions():
    config = TritonConfig(http_port=0, grpc_port=0, metrics_port=0, **LOCAL)
    with Triton(config=config) as triton:

        @batch
        def add(a, b):
            return {"sum": a + b}

        tensors = [Tensor(name=name, dtype=np.float32, shape=(-1,)) for name in "ab"]
        triton.bind("add", add, tensors, [Tensor(name="sum", dtype=np.float32, shape=(-1,))])

        def count(requests):
            for i in range(3):
                yield [{"y": request["x"] + i} for request in requests]

        triton.bind("count", count, [FLOATS], [RESULT], config=ModelConfig(decoupled=True))
        triton.bind(
            "single",
            sample(lambda x: {"y": x}),
            [FLOATS],
            [RESULT],
            config=ModelConfig(batching=False),
        )
        yield triton


def test_clients(triton_of_functions):
    pytest.importorskip("tritonclient.http")
    frontends = triton_of_functions.frontends
    for url in (
        f"http://127.0.0.1:{frontends.http_port}",
        f"127.0.0.1:{frontends.http_port}",
        f"grpc://127.0.0.1:{frontends.grpc_port}",
    ):
        with ModelClient(url, "add", lazy_init=False) as client:
            client.wait_for_server(10)
            assert client.is_batching_supported and client.model_config["name"] == "add"
            assert client.infer_sample(ONES[0], ONES[0])["sum"].tolist() == [2, 2, 2]
            assert client.infer_batch(a=ONES, b=ONES)["sum"].shape == (2, 3)
            with pytest.raises(PyTritonClientValueError, match="Provide input data"):
                client.infer_sample()
            with pytest.raises(PyTritonClientValueError, match="either positional"):
                client.infer_sample(ONES, b=ONES)
            with pytest.raises(PyTritonClientInferenceServerError):
                client.infer_batch(a=ONES)
        with pytest.raises(PyTritonClientClosedError):
            client.infer_batch(a=ONES, b=ONES)
        with ModelClient(url, "single") as client:
            assert client.infer_sample(ONES[0])["y"].tolist() == [1, 1, 1]
            with pytest.raises(
                PyTritonClientModelDoesntSupportBatchingError, match="use infer_sample method"
            ):
                client.infer_batch(ONES)
        with ModelClient(url, "count") as client:
            with pytest.raises(PyTritonClientInferenceServerError, match="DecoupledModelClient"):
                client.infer_batch(ONES)
        with ModelClient(url, "none", init_timeout_s=0.01) as client:
            with pytest.raises(PyTritonClientTimeoutError):
                client.infer_sample(ONES)
    with DecoupledModelClient(url, "count") as client:
        results = [result["y"][0] for result in client.infer_sample(ONES[0])]
        assert results == [1, 2, 3]
    with FuturesModelClient(f"http://127.0.0.1:{frontends.http_port}", "add") as client:
        futures = [client.infer_sample(ONES[0] * i, ONES[0]) for i in range(20)]
        assert [future.result()["sum"][0] for future in futures] == [i + 1 for i in range(20)]


def test_management_needs_the_token():
    triton = Triton(
        config=TritonConfig(http_port=0, grpc_port=0, allow_metrics=False),
        triton_lifecycle_policy=TritonLifecyclePolicy(launch_triton_on_startup=False),
    )
    token = triton.get_access_token()
    assert token and len(token) > 20 and token not in repr(TritonSecurityConfig(token))
    with triton:
        assert not triton.is_alive()
        triton.run()
        frontends = triton.frontends
        for url in (
            f"http://127.0.0.1:{frontends.http_port}",
            f"grpc://127.0.0.1:{frontends.grpc_port}",
        ):
            with ModelClient(url, "none") as client, pytest.raises(Exception, match="restricted"):
                client.unload_model()
            with ModelClient(url, "none", access_token=token) as client:
                try:
                    client.unload_model()
                except Exception as error:  # of a model that is not there, or not in explicit mode
                    assert "restricted" not in str(error)


def test_a_token_and_categories_of_ones_own():
    security = TritonSecurityConfig("secret", ["statistics"])
    assert security.flags()["http_restricted_api"] == "statistics:triton-access-token=secret"
    assert TritonSecurityConfig(restricted_endpoints=[]).flags() == {}
    with pytest.raises(PyTritonValidationError, match="cannot be empty"):
        TritonSecurityConfig("")


def test_the_asyncio_client_of_a_decoupled_model(triton_of_functions):
    pytest.importorskip("tritonclient.grpc.aio")
    frontends = triton_of_functions.frontends
    url = f"grpc://127.0.0.1:{frontends.grpc_port}"

    async def main():
        async with AsyncioDecoupledModelClient(url, "count") as client:
            results = [result["y"][0] async for result in client.infer_sample(ONES[0])]
            assert results == [1, 2, 3]
            batches = [result["y"].shape async for result in client.infer_batch(ONES)]
            assert batches == [(2, 3)] * 3
            async for result in client.infer_sample(ONES[0]):
                assert result["y"][0] == 1
                break  # cancels the rest
            with pytest.raises(PyTritonClientValueError, match="Provide input data"):
                async for _ in client.infer_sample():
                    pass
        with pytest.raises(PyTritonClientClosedError):
            async for _ in client.infer_sample(ONES[0]):
                pass
        http = f"http://127.0.0.1:{frontends.http_port}"
        async with AsyncioDecoupledModelClient(http, "count") as client:
            with pytest.raises(PyTritonClientValueError, match="grpc://"):
                async for _ in client.infer_sample(ONES[0]):
                    pass

    asyncio.run(main())


def test_asyncio_clients(triton_of_functions):
    pytest.importorskip("tritonclient.http.aio")
    frontends = triton_of_functions.frontends

    async def main(url):
        async with AsyncioModelClient(url, "add") as client:
            results = await asyncio.gather(
                *[client.infer_sample(ONES[0] * i, ONES[0]) for i in range(5)]
            )
            assert [result["sum"][0] for result in results] == [1, 2, 3, 4, 5]
            assert (await client.infer_batch(a=ONES, b=ONES))["sum"].shape == (2, 3)
            with pytest.raises(PyTritonClientInferenceServerError):
                await client.infer_batch(a=ONES)
        with pytest.raises(PyTritonClientClosedError):
            await client.infer_batch(a=ONES, b=ONES)

    asyncio.run(main(f"http://127.0.0.1:{frontends.http_port}"))
    asyncio.run(main(f"grpc://127.0.0.1:{frontends.grpc_port}"))


def test_wrong_urls():
    pytest.importorskip("tritonclient.http")
    with pytest.raises(PyTritonClientInvalidUrlError):
        ModelClient("ftp://x", "add")


def test_life_of_triton(triton_of_functions):
    assert triton_of_functions.is_alive() and triton_of_functions.is_connected()
    with pytest.raises(PyTritonInvalidOperationError):
        triton_of_functions.run()
    assert triton_of_functions.stop()
    assert not triton_of_functions.stop() and not triton_of_functions.is_alive()


def test_serve_ends_with_an_unrecoverable_error():
    def function(requests):
        raise PyTritonUnrecoverableError("broken")

    triton = Triton(
        config=TritonConfig(http_port=0, allow_grpc=False, allow_metrics=False, **LOCAL)
    )
    triton.bind("broken", function, [FLOATS], [RESULT])
    triton.run()
    with pytest.raises(nereid.InternalError, match="broken"):
        triton.server.model("broken").infer({"x": ONES})
    triton.serve(monitoring_period_s=0.01)
    assert not triton.is_alive()


def test_serve_waits_for_a_stop_on_another_thread(triton_of_functions, monkeypatch):
    stopping, go_on = threading.Event(), threading.Event()
    stop_server = triton_of_functions.server.stop

    def slowly():
        stopping.set()
        assert go_on.wait(60)
        stop_server()

    monkeypatch.setattr(triton_of_functions.server, "stop", slowly)
    stops = threading.Thread(target=triton_of_functions.stop)
    stops.start()
    assert stopping.wait(60)
    assert not triton_of_functions.stop()  # at once: a function may call it
    waits = threading.Thread(target=triton_of_functions._stop_or_wait)
    waits.start()
    waits.join(0.05)
    assert waits.is_alive()
    go_on.set()
    for thread in (stops, waits):
        thread.join(60)
        assert not thread.is_alive()


def test_triton_config(monkeypatch):
    with pytest.raises(PyTritonValidationError, match="`http` or `grpc` endpoint has to be"):
        TritonConfig(allow_http=False, allow_grpc=False)
    monkeypatch.setenv("PYTRITON_TRITON_CONFIG_HTTP_PORT", "9")
    monkeypatch.setenv("PYTRITON_TRITON_CONFIG_ALLOW_METRICS", "false")
    monkeypatch.setenv("PYTRITON_TRITON_CONFIG_CACHE_CONFIG_1", "local,size=1048576")
    config = TritonConfig.from_env()
    assert (config.http_port, config.allow_metrics) == (9, False)
    assert config.cache_config == ["local,size=1048576"]
    with pytest.warns(UserWarning, match="unknown"):
        assert TritonConfig.from_dict({"unknown": 1, "id": "x"}).to_dict() == {"id": "x"}
