# SPDX-License-Identifier: Apache-2.0
"""Ensembles of all kinds, one case for each configuration (ensemble_cases.py): which ones load, why
others do not, and what they answer."""

import grpc_raw
import numpy as np
import pytest
from ensemble_cases import CASES, write
from test_response_cache import cache_flags
from tritonclient.utils import triton_to_np_dtype


def test_there_are_enough_of_them():
    assert len(CASES) >= 70
    assert sum(bool(case.loads) for case in CASES.values()) >= 30


@pytest.fixture(scope="module")
def serving(start_server, server_plugins, request):
    return start_server("ensemble_cases", write(server_plugins),
                        "--model-control-mode=explicit", *cache_flags(request, "size=1048576"),
                        wait_path="/v2/health/live")


@pytest.fixture(scope="module")
def client(serving, connect):
    return connect("http", serving)


def array(values, datatype):
    return np.array(values, np.object_ if datatype == "BYTES" else triton_to_np_dtype(datatype))


def readable(found):
    texts = found.dtype == np.object_
    return np.vectorize(bytes.decode, otypes=[object])(found).tolist() if texts else found.tolist()


def stream(serving, case, ask):
    inputs, raw = [], []
    for name, values in ask.inputs.items():
        datatype = ask.types.get(name, "INT32")
        inputs.append(grpc_raw.tensor(name, datatype, list(np.shape(values))))
        raw.append(array(values, datatype).tobytes())
    responses = grpc_raw.stream(serving, [grpc_raw.infer_request(case.name, inputs, raw)])
    if ask.fails:
        (response,) = responses
        assert ask.fails in response.error_message
        return
    assert {r.error_message for r in responses} <= {""}
    found = [np.frombuffer(r.infer_response.raw_output_contents[0], np.int32).tolist()
             for r in responses]
    assert found == ask.stream


def check(serving, client, case, ask):
    if ask.stream is not None:
        stream(serving, case, ask)
        return
    inputs = [client.input(name, array(values, ask.types.get(name, "INT32")))
              for name, values in ask.inputs.items()]

    def send():
        return client.infer(case.name, inputs, outputs=ask.outputs, **ask.options)

    if ask.fails:
        _, text = client.error(send)
        assert ask.fails in text
        return
    answer = send()
    assert {name: readable(answer.array(name)) for name in answer.names} == ask.wants


def reason(serving, name, text):
    """Returns why a model is not loaded. Triton writes errors of the file itself to the log only.
    """
    if not text.endswith("failed to poll from model repository"):
        return text
    log = serving.log.read_text(errors="replace").splitlines()
    return "\n".join(line for line in log if f"'{name}'" in line)


@pytest.mark.parametrize("name", CASES)
def test_configuration(serving, client, name):
    case = CASES[name]
    if case.loads:
        _, text = client.error(client.call, "load_model", name)
        assert case.loads in reason(serving, name, text)
        assert not client.call("is_model_ready", name)
        return
    client.call("load_model", name)
    for ask in case.asks:
        check(serving, client, case, ask)
