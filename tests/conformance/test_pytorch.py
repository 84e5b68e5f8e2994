# SPDX-License-Identifier: Apache-2.0
"""TorchScript models: names, containers, types, batches, states and failures."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import pytorch_models
from clients import TRANSPORTS
from explicit_models import EXPLICIT
from pytorch_models import CASES, MODELS, TYPES, array, ask, parameter, play, put, put_file, same
from tritonclient.utils import InferenceServerException

IDS = itertools.count(1_000_000, 100)
# One configuration of one model for each type: `echo` answers in the type that it is given.
ECHOES = {name: f"echo_{name.lower()}" for name in TYPES}
UNSUPPORTED = ("UINT16", "UINT32", "UINT64")
# Loaded by the cases about them.
REFUSED = ("mixed", "no_forward", "number", "tensor_list", "wants_number")


def typed(data_type):
    return [("TYPE_FP32", f"TYPE_{data_type}")]


def write_all(root):
    for name in MODELS:
        if name not in REFUSED:
            put(root, name)
    for data_type, name in ECHOES.items():
        put(root, name, source="echo", replace=typed(data_type))


@pytest.fixture(scope="module")
def serving(start_server, pytorch_backend):
    return start_server("pytorch", write_all)


@pytest.fixture(scope="module")
def repository(start_server, pytorch_backend):
    """A server that loads what a test puts into its repository, and that must live through it."""
    return start_server("pytorch_loads", lambda root: root.mkdir(), *EXPLICIT)


@pytest.fixture(params=TRANSPORTS)
def client(request, serving, connect):
    return connect(request.param, serving)


@pytest.fixture
def http(serving, connect):
    return connect("http", serving)


@pytest.fixture
def loader(repository, connect):
    yield connect("http", repository)
    assert repository.alive(), repository.log_tail()


@pytest.mark.parametrize("model", [m for m in CASES if m not in ("echo", "accumulator", "keeps")])
def test_answers_are_those_of_pytorch(client, model):
    for _ in range(3):  # PyTorch watches the first execution and optimises the second
        play(client, model, CASES[model], next(IDS))


def test_what_a_module_keeps_outlives_the_request(http):
    """An attribute holds the input of the request before: the memory must be its own by then."""
    play(http, "keeps", CASES["keeps"], 0)
    before = np.array([3.0], "f4")
    for i in range(50):
        numbers = np.full(1000 + i, i, "f4")
        answer = http.infer("keeps", [http.input("x", numbers)])
        np.testing.assert_array_equal(answer.array("OUTPUT__0"), before)
        before = numbers


def test_controls_and_state(client):
    play(client, "accumulator", CASES["accumulator"], 0)


@pytest.mark.parametrize("data_type", TYPES)
def test_type_goes_in_and_out(client, data_type):
    cases = [c for c in CASES["echo"] if c["inputs"]["x"]["datatype"] == data_type]
    assert len(cases) == 2  # with elements, and without
    play(client, ECHOES[data_type], cases, 0)
