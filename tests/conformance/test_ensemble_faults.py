# SPDX-License-Identifier: Apache-2.0
"""Ensembles with a step that violates the rules, hangs, or is unloaded: each request ends once, and
the message names the step."""

import threading

import ensembles
import grpc
import grpc_raw
import models
import numpy as np
import pytest
import tritonclient.http as http_client
from clients import Transport
from config_models import put_plugin
from grpc_raw import infer_request, tensor
from tritonclient.grpc import service_pb2_grpc


def write(library):
    def write_models(root):
        repository = models.Repository(root)
        one = models.ONE_CPU_INSTANCE
        for name, fault in (("faulty", ""), ("faulty_hang", "hang")):
            repository.identity(name, [("INT32", [4])], batch=8, backend="faulty", extra=one +
                                f'parameters {{ key: "fault" value: {{ string_value: "{fault}" }} }}\n')
            put_plugin(root / name, library)
        for name in ("first", "last"):
            repository.identity(name, [("INT32", [4])], batch=8, extra=one)
        for name, middle in (("fails", "faulty"), ("hangs", "faulty_hang")):
            ensembles.write_ensemble(root, name, ensembles.chain("first", middle, "last"),
                                     ensembles.X, ensembles.Y, batch=8)
    return write_models


@pytest.fixture(scope="module")
def serving(start_server, is_peer, test_plugins):
    if is_peer:
        pytest.skip("what Triton does with such a backend is its own affair")
    return start_server("ensemble_faults", write(test_plugins / "libtriton_faulty.so"),
                        "--model-control-mode=explicit", "--load-model=*")


@pytest.fixture(params=["http", "grpc"])
def client(request, serving, loop):
    made = Transport(request.param, serving, loop)
    yield made
    made.close()


X = np.array([[1, 2, 3, 4]], np.int32)


def ask(client, model="fails", **parameters):
    return client.infer(model, [client.input("x", X)], parameters=parameters).array("y").tolist()


@pytest.mark.parametrize("fault", ["fail", "throw", "never"])
def test_the_step_is_named(client, fault):
    _, text = client.error(ask, client, fault=fault)
    assert text.startswith("in ensemble 'fails', ")
    assert "'faulty'" in text
    assert ask(client) == X.tolist()


def test_two_responses(client):
    assert ask(client, fault="twice") == X.tolist()  # the second comes after the final one
    assert ask(client) == X.tolist()


def test_a_client_that_gives_up_frees_the_step(serving, client):
    request = infer_request("hangs", [tensor("x", "INT32", [1, 4])], [X.tobytes()])
    with grpc_raw.channel(serving) as channel:
        future = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer.future(request)
        ended = threading.Event()
        future.add_done_callback(lambda _: ended.set())
        assert not ended.wait(0.2)  # it hangs
        future.cancel()
        assert future.code() == grpc.StatusCode.CANCELLED
    assert ask(client, "hangs", fault="plain") == X.tolist()  # its only instance is free


def test_a_member_is_unloaded_and_loaded_under_load(serving, client, loop):
    """Requests succeed or are refused with a message; the server and the members continue to work.
    """
    stop, wrong, right = threading.Event(), [], []

    def work():
        own = Transport("grpc", serving, loop)
        while not stop.is_set():
            try:
                right.append(ask(own) == X.tolist())
            except Exception as error:
                text = str(error)
                if "unknown model" not in text and "stopped accepting" not in text:
                    wrong.append(text)
        own.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    with http_client.InferenceServerClient(serving.http) as control:
        for _ in range(10):
            control.unload_model("last")
            control.load_model("last")
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert all(right)
    assert ask(client) == X.tolist()
