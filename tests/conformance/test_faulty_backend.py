# SPDX-License-Identifier: Apache-2.0
"""A backend that violates the rules (tests/plugins/faulty.cc): every request gets exactly one
answer, and the server continues to serve."""

import threading

import grpc
import grpc_raw
import models
import numpy as np
import pytest
from clients import Transport
from config_models import put_plugin
from grpc_raw import infer_request, tensor
from test_config_semantics import at_once
from tritonclient.grpc import service_pb2_grpc

def write(library):
    def write_models(root):
        repository = models.Repository(root)
        for name, fault in (("faulty", ""), ("faulty_half", "fail_half"), ("faulty_late", "late"),
                            ("faulty_hang", "hang"), ("faulty_detach", "detach")):
            extra = models.ONE_CPU_INSTANCE + (
                "dynamic_batching { preferred_batch_size: [ 4 ] "
                "max_queue_delay_microseconds: 5000000 }\n" if fault == "fail_half" else "")
            extra += f'parameters {{ key: "fault" value: {{ string_value: "{fault}" }} }}\n'
            repository.identity(name, [("INT32", [-1])], batch=4, extra=extra, backend="faulty")
            put_plugin(root / name, library)
    return write_models


@pytest.fixture(scope="module")
def serving(start_server, is_peer, test_plugins):
    if is_peer:
        pytest.skip("what Triton does with such a backend is its own affair")
    return start_server("faulty", write(test_plugins / "libtriton_faulty.so"))


@pytest.fixture(scope="module", params=["http", "grpc"])
def client(request, serving, loop):
    made = Transport(request.param, serving, loop)
    yield made
    made.close()


def ask(client, model="faulty", **parameters):
    x = np.array([[1, 2]], np.int32)
    answer = client.infer(model, [client.input("INPUT0", x)], parameters=parameters)
    return answer.array("OUTPUT0").tolist()


@pytest.fixture(autouse=True)
def still_serving(client):
    """Checks that the instance serves the next request after a case."""
    yield
    assert ask(client) == [[1, 2]]


def test_an_error(client):
    client.expect("INTERNAL", "failed by the faulty backend", ask, client, fault="fail")


def test_no_response(client):
    status, text = client.error(ask, client, fault="never")
    assert status in (500, "INTERNAL"), text


def test_two_responses(client):
    assert ask(client, fault="twice") == [[1, 2]]


def test_an_exception(client):
    client.expect("INTERNAL", "thrown by the faulty backend", ask, client, fault="throw")


def test_a_late_release(client):
    assert ask(client, "faulty_late") == [[1, 2]]
    assert ask(client, "faulty_late") == [[1, 2]]


def test_half_of_a_batch_fails(client):
    answers = at_once(client, "faulty_half",
                      [{"INPUT0": np.array([[i]], np.int32)} for i in range(4)])
    failed = [a for a in answers if isinstance(a, Exception)]
    assert len(failed) == 2
    assert all("failed by the faulty backend" in str(e) for e in failed)
    assert sum(len(a.as_numpy("OUTPUT0")) for a in answers if a not in failed) == 2


@pytest.mark.parametrize("model", ["faulty_hang", "faulty_detach"])
def test_a_client_that_gives_up(serving, client, model):
    """The backend hangs for a minute unless it learns that the client does not wait any more."""
    if client.protocol == "http":
        pytest.skip("a request over HTTP is not cancelled by its client")
    request = infer_request(model, [tensor("INPUT0", "INT32", [1, 1])], [b"\0\0\0\0"])
    with grpc_raw.channel(serving) as channel:
        future = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer.future(request)
        ended = threading.Event()
        future.add_done_callback(lambda _: ended.set())
        assert not ended.wait(0.2)  # it hangs
        future.cancel()
        assert future.code() == grpc.StatusCode.CANCELLED
    assert ask(client, model, fault="plain") == [[1, 2]]  # its only instance is free
