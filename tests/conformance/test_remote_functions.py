# SPDX-License-Identifier: Apache-2.0
"""Functions of this process as models of the server under test (nereid.pytriton.RemoteTriton)."""

import os
import sys
import threading

import numpy as np
import pytest
import raw_http
from python_server import copy_models, wait_until
from server_process import ServerFailed

ONES = np.ones((2, 3), np.float32)


@pytest.fixture(scope="module")
def pytriton(backends):
    package = backends.parent / "python" / "package"
    if not (package / "nereid" / "_core.abi3.so").exists():
        pytest.skip("the Python package is not built")
    sys.path.insert(0, str(package))
    import nereid.pytriton
    import nereid.pytriton.exceptions

    yield nereid.pytriton
    sys.path.remove(str(package))


@pytest.fixture(scope="module")
def remote_server(start_python, python_kind):
    server = start_python("remote_functions", lambda root: copy_models(root, "types"),
                          "--model-control-mode=explicit")
    yield server
    try:
        server.stop()
    except ServerFailed:
        if python_kind == "nereid":
            raise
        server.process = None


@pytest.fixture(params=["http", "grpc"])
def url(request, remote_server):
    port = remote_server.http_port if request.param == "http" else remote_server.grpc_port
    return f"{request.param}://127.0.0.1:{port}"


def tensor(pytriton, name, dtype=np.float32):
    return pytriton.Tensor(name=name, dtype=dtype, shape=(-1,))


def bind(remote, pytriton, name, function, **more):
    remote.bind(name, function, [tensor(pytriton, "x")], [tensor(pytriton, "y")], **more)


def test_functions_of_several_forms(pytriton, remote_server, url):
    from nereid.pytriton.client import ModelClient
    from nereid.pytriton.decorators import batch

    threads = set()

    @batch
    def add(a, b):
        threads.add(threading.get_ident())
        return {"sum": a + b}

    def upper(requests):
        assert all(request.parameters == {"kind": "x"} for request in requests)
        return [{"upper": np.char.upper(np.char.decode(request["text"].astype(bytes)))}
                for request in requests]

    with pytriton.RemoteTriton(url) as remote:
        remote.bind("add", [add, add], [tensor(pytriton, "a"), tensor(pytriton, "b")],
                    [tensor(pytriton, "sum")], config=pytriton.ModelConfig(max_batch_size=16))
        remote.bind("upper", upper, [tensor(pytriton, "text", bytes)],
                    [tensor(pytriton, "upper", bytes)])
        assert remote.is_alive() and remote.is_connected()
        with ModelClient(url, "add") as client:
            assert client.model_config["instance_group"][0]["count"] == 2
            assert client.infer_batch(ONES, ONES)["sum"].tolist() == [[2] * 3] * 2
            assert client.infer_sample(a=ONES[0], b=ONES[0])["sum"].tolist() == [2] * 3
        with ModelClient(url, "upper") as client:
            text = np.array([["a\u00e4".encode(), b"c"]], np.object_)
            result = client.infer_batch(text, parameters={"kind": "x"})["upper"]
            assert [item.decode() for item in result[0]] == ["A\u00c4", "C"]
        with pytest.raises(pytriton.exceptions.PyTritonInvalidOperationError, match="twice"):
            bind(remote, pytriton, "add", upper)
    assert threads and threading.get_ident() not in threads
    assert not remote.is_alive() and not remote.stop()
    wait_until(lambda: not raw_http.get(remote_server, "/v2/models/add/ready").status == 200,
               "the model is unloaded", 30)


def test_errors_of_a_function(pytriton, remote_server, url):
    from nereid.pytriton.client import ModelClient, PyTritonClientInferenceServerError

    def broken(requests):
        if requests[0]["x"][0, 0] == 1:
            raise RuntimeError("the reason")
        return [{"y": request["x"]} for request in requests]

    with pytriton.RemoteTriton(url) as remote:
        bind(remote, pytriton, "broken", broken)
        with ModelClient(url, "broken") as client:
            with pytest.raises(PyTritonClientInferenceServerError, match="the reason"):
                client.infer_batch(ONES)
            assert client.infer_batch(ONES * 2)["y"].tolist() == [[2] * 3] * 2


def test_a_generator_is_a_decoupled_model(pytriton, remote_server):
    from nereid.pytriton.client import DecoupledModelClient, PyTritonClientInferenceServerError

    def count(requests):
        for i in range(3):
            yield [{"y": request["x"] + i} for request in requests]
        if requests[0]["x"][0, 0] == 2:
            raise RuntimeError("the reason")

    url = f"grpc://127.0.0.1:{remote_server.grpc_port}"
    with pytriton.RemoteTriton(url) as remote:
        bind(remote, pytriton, "count", count, config=pytriton.ModelConfig(decoupled=True))
        with DecoupledModelClient(url, "count") as client:
            assert [result["y"][0] for result in client.infer_sample(ONES[0])] == [1, 2, 3]
        with DecoupledModelClient(url, "count") as client:
            with pytest.raises(PyTritonClientInferenceServerError, match="the reason"):
                list(client.infer_sample(ONES[0] * 2))


def test_an_unrecoverable_error_ends_the_functions(pytriton, remote_server, url):
    from nereid.pytriton.client import ModelClient, PyTritonClientInferenceServerError

    def ends(requests):
        raise pytriton.exceptions.PyTritonUnrecoverableError("the end")

    remote = pytriton.RemoteTriton(url)
    bind(remote, pytriton, "ends", ends)
    remote.connect()
    with ModelClient(url, "ends") as client:
        with pytest.raises(PyTritonClientInferenceServerError, match="the end"):
            client.infer_batch(ONES)
    remote.serve(monitoring_period_s=0.01)
    assert not remote.is_connected()
    assert raw_http.get(remote_server, "/v2/models/ends/ready").status != 200  # all is done


def test_the_workspace(pytriton, remote_server, tmp_path):
    url = f"127.0.0.1:{remote_server.http_port}"
    folder = tmp_path / "workspace"
    with pytriton.RemoteTriton(url, workspace=folder) as remote:
        bind(remote, pytriton, "placed", lambda requests: [])
        assert [path.name for path in folder.glob("*/*")] == ["placed.1"]
        (inside,) = folder.iterdir()
        assert inside.stat().st_mode & 0o77 == 0
    assert not inside.exists()
    with pytest.raises(Exception, match="shorter workspace"):
        with pytriton.RemoteTriton(url, workspace=tmp_path / ("w" * 120)) as remote:
            bind(remote, pytriton, "placed", lambda requests: [])


def test_a_load_that_fails(pytriton, remote_server, url):
    remote = pytriton.RemoteTriton(url)
    bind(remote, pytriton, "right", lambda requests: [])
    bind(remote, pytriton, "wrong", lambda requests: [])
    # The function's socket is gone when the proxy connects.
    model = remote._models["wrong"]
    start = model.start

    def start_without_socket(path, *more):
        start(path, *more)
        os.unlink(path)

    model.start = start_without_socket
    with pytest.raises(Exception, match="the same path"):
        remote.connect()
    assert raw_http.get(remote_server, "/v2/models/right/ready").status == 200
    assert remote.stop()
    wait_until(lambda: raw_http.get(remote_server, "/v2/models/right/ready").status != 200,
               "the other model is unloaded, too", 30)
