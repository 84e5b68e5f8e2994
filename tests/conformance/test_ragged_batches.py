# SPDX-License-Identifier: Apache-2.0
"""Requests of different lengths in one batch, in every framework: the model gets their values one
after the other with each kind of `batch_input`, and its answers are the framework's own."""

import numpy as np
import pytest
import ragged_models
from clients import Transport
from explicit_models import EXPLICIT
from ragged_models import FRAMEWORKS, ragged_batches
from test_config_semantics import Executions, ask, at_once

LENGTHS = ragged_batches.LENGTHS


@pytest.fixture(scope="module")
def present(backends, is_peer):
    """The frameworks that the server has."""
    if is_peer:
        pytest.skip("the peer is installed without most of the frameworks")
    return [name for name, (backend, *_) in FRAMEWORKS.items()
            if (backends / backend / f"libtriton_{backend}.so").exists()]


@pytest.fixture(params=FRAMEWORKS)
def framework(request, present):
    if request.param not in present:
        pytest.skip(f"the server under test has no backend for {request.param}")
    return request.param


@pytest.fixture(scope="module")
def serving(start_server, present):
    return start_server("ragged_batches",
                        lambda root: ragged_models.write_serving(root, present))


@pytest.fixture(scope="module", params=["http", "grpc"])
def client(request, serving, loop):
    made = Transport(request.param, serving, loop)
    yield made
    made.close()


def rows(count):
    return [{"values": ragged_batches.request(i).reshape(1, -1)} for i in range(count)]


def test_requests_of_different_lengths_share_a_batch(client, framework):
    """The answers are those of the framework for this batch: what each request gets of the values,
    and where the batch inputs say that it lies."""
    for _ in range(3):  # a framework may optimize the second run
        with Executions(client, framework, 3) as seen:
            got = at_once(client, framework, rows(3))
        assert seen.sizes == {3: 1}
        begins = [int(answer.as_numpy("out_begin")[0][0]) for answer in got]
        order = tuple(sorted(range(3), key=lambda i: begins[i]))
        expected = ragged_models.answers(framework)[order]
        bounds = np.cumsum([0] + [LENGTHS[i] for i in order])
        for place, index in enumerate(order):
            for name in ragged_batches.COLUMNS:
                np.testing.assert_array_equal(got[index].as_numpy(name),
                                              expected[name][place:place + 1], name)
            np.testing.assert_array_equal(
                got[index].as_numpy("doubled"),
                expected["doubled"][bounds[place]:bounds[place + 1]].reshape(1, -1))


def test_one_request_and_no_values(client, framework):
    for values in (np.array([[4, 5]], np.float32), np.zeros((1, 0), np.float32)):
        answer = ask(client, f"{framework}_direct", values=values)
        assert answer.array("doubled").tolist() == (values * 2).tolist()
        count = values.shape[1]
        for name, number in {"sums": values.sum(), "out_count": count, "out_end": count,
                             "out_begin": 0, "out_shape": count, "out_flat": count,
                             "out_widest": count}.items():
            assert answer.array(name).tolist() == [[number]], name


def test_an_output_that_does_not_add_up_fails_alone(client, framework):
    got = at_once(client, f"{framework}_short", rows(3))
    for index, length in enumerate(LENGTHS):
        if length == 1:
            assert got[index].as_numpy("sums").tolist() == [[ragged_batches.request(index).sum()]]
        else:
            assert ("output 'sums' has 1 elements, but the 1 requests of the batch need "
                    f"{length}") in str(got[index])


def test_wrong_shapes_are_refused(client, framework):
    model = f"{framework}_direct"
    client.expect("INVALID_ARG", "unexpected shape for input 'values'", ask, client, model,
                  values=np.zeros((1, 2, 2), np.float32))
    assert ask(client, model, values=np.ones((1, 2), np.float32)).array("sums").tolist() == [[2]]


def test_wrong_configurations(start_server, connect, present):
    reasons = {}
    server = start_server("ragged_refused",
                          lambda root: reasons.update(ragged_models.refused(root, present)), *EXPLICIT)
    client = connect("http", server)
    assert len(reasons) > 20
    for name, reason in reasons.items():
        assert reason in str(client.error(client.call, "load_model", name)), name
