# SPDX-License-Identifier: Apache-2.0
"""Triton's own Python backend, unchanged from the wheel, with models of python_models/.

Skipped unless tools/install/python_backend.sh has put it into build/python_backend (./test does)
and tools/peer/fetch_triton.sh has made build/peer.
"""

import concurrent.futures
import json
import re
import threading
import time

import grpc_raw
import numpy as np
import python_backend
import pytest
import raw_http
import tritonclient.grpc as grpc_client
from python_server import metrics, wait_until


@pytest.fixture(scope="module")
def python(start_python):
    """The server with the models of python_models/."""
    server = start_python("python", python_backend.write_models, *python_backend.flags())
    yield server
    server.stop()


@pytest.fixture(params=["http", "grpc"])
def client(request, python, connect):
    return connect(request.param, python)


@pytest.fixture
def grpc(python, connect):
    return connect("grpc", python)


def texts(*values):
    return np.array([v.encode() if isinstance(v, str) else v for v in values], np.object_)


def ask(client, how):
    """Returns the answer of the model that calls others."""
    answer = client.infer("caller", [client.input("HOW", texts(how))])
    return json.loads(answer.array("TEXT")[0])


def about(client, outputs=None, **request):
    answer = client.infer("about", [client.input("IN", texts(""))], outputs, **request)
    return json.loads(answer.array("ABOUT")[0])


def fault(client, how):
    return client.infer("faults", [client.input("HOW", texts(how).reshape(1, 1))])


def stream(server, model, count):
    """Returns the values and the errors that a decoupled model streams."""
    request = grpc_raw.infer_request(
        model, [grpc_raw.tensor("COUNT", "INT32", [1])], [np.array([count], np.int32).tobytes()])
    values, errors = [], []
    for reply in grpc_raw.stream(server, [request]):
        if reply.error_message:
            errors.append(reply.error_message)
        for raw in reply.infer_response.raw_output_contents:
            values.append(int(np.frombuffer(raw, np.int32)[0]))
    return values, errors


# Tensors


@pytest.mark.parametrize("values", [
    np.array([True, False]), np.array([0, 255], np.uint8), np.array([65535], np.uint16),
    np.array([2**32 - 1], np.uint32), np.array([2**64 - 1], np.uint64),
    np.array([-128, 127], np.int8), np.array([-32768], np.int16), np.array([-2**31], np.int32),
    np.array([-2**63], np.int64), np.array([0.5, -np.inf], np.float16),
    np.array([1e-40, 3.5], np.float32), np.array([1e300, np.pi]),
], ids=lambda v: str(v.dtype))
def test_every_datatype_comes_back(client, values):
    datatype = client.input("X", values).datatype()
    answer = client.infer("types", [client.input(f"IN_{datatype}", values)],
                          [f"OUT_{datatype}"])
    assert answer.array(f"OUT_{datatype}").tolist() == values.tolist()


@pytest.mark.parametrize("values", [
    ["abc"], ["Grüße, 世界", ""], [""], [b"\x00\xff\xfe", b"\x00"], ["x" * 100_000],
], ids=["ascii", "non_ascii", "empty", "bytes", "long"])
def test_strings_come_back(client, values):
    sent = texts(*values)
    answer = client.infer("types", [client.input("IN_BYTES", sent)], ["OUT_BYTES"])
    assert answer.array("OUT_BYTES").tolist() == sent.tolist()


def test_a_tensor_without_elements_comes_back(client):
    answer = client.infer("types", [client.input("IN_FP32", np.zeros(0, np.float32))],
                          ["OUT_FP32"])
    assert answer.array("OUT_FP32").shape == (0,)


def test_a_large_tensor_comes_back(client):
    sent = np.arange(2_000_000, dtype=np.float32)
    answer = client.infer("types", [client.input("IN_FP32", sent)], ["OUT_FP32"])
    assert (answer.array("OUT_FP32") == sent).all()


def test_bf16_is_no_numpy_type(python):
    """The backend supports BF16 only through DLPack."""
    message = grpc_raw.infer_request("types", [grpc_raw.tensor("IN_BF16", "BF16", [1])],
                                     [b"\x80\x3f"], outputs=["OUT_BF16"])
    status, text = grpc_raw.failure(python, "ModelInfer", message)
    assert status == "INTERNAL"
    assert "bf16" in text.lower()


# Configuration


def test_a_model_completes_its_configuration(client):
    config = client.json("get_model_config", "completed")
    config = config.get("config", config)
    assert config["max_batch_size"] == 8
    assert [i["name"] for i in config["input"]] == ["IN"]
    assert [o["name"] for o in config["output"]] == ["SUM", "TOGETHER"]
    assert "dynamic_batching" in config
    answer = client.infer("completed", [client.input("IN", np.array([[1, 2, 3], [4, 5, 6]],
                                                                    np.int32))])
    assert answer.array("SUM").tolist() == [[6], [15]]


def test_requests_come_together(grpc):
    """Four requests to a model with the preferred batch size four are one call of execute."""
    def one(_):
        answer = grpc.infer("batched", [grpc.input("IN", np.array([[1]], np.int32))])
        return answer.array("TOGETHER")[0, 0]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(one, range(4))) == [4, 4, 4, 4]


def test_every_instance_works(python):
    """Four requests at once reach four instances, each in its own process."""
    body = {"inputs": [raw_http.tensor("MS", "INT32", [1], [300])]}
    def one(_):
        return raw_http.infer(python, "crew", body).json["outputs"][0]["data"][0]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(one, range(4))) == [f"hands_{i}" for i in range(4)]


def test_warm_up_ran_before_the_first_request(client):
    answer = client.infer("warmed", [client.input("IN", np.zeros((1, 3), np.float32))])
    assert answer.array("CALLS")[0, 0] >= 1


def test_the_script_of_an_environment_runs(client, python_kind):
    if python_kind == "nereid":
        pytest.skip("no script runs; test_python_flags.py has the cases of Nereid's own backend")
    answer = client.infer("elsewhere", [client.input("NAME", texts("NEREID_PLACE"))])
    assert answer.array("VALUE")[0] == b"an environment of its own"


def test_a_model_knows_itself(client, python):
    told = about(client)["model"]
    assert told["name"] == "about" and told["version"] == "1"
    assert told["kind"] == "CPU" and told["device"] == "0" and told["instance"] == "crew_0"
    assert told["repository"] == str(python.repository / "about")
    assert told["directory"] == str(python.repository / "about" / "1")
    assert told["colour"] == "grün" and told["inputs"] == ["IN"]


# The request


def test_a_request_as_the_model_sees_it(client):
    told = about(client, request_id="r-ä", timeout=77_000_000, sequence_id=12,
                 sequence_start=True, sequence_end=True,
                 parameters={"text": "x", "number": 3, "flag": True})
    assert told["id"] == "r-ä" and told["correlation_id"] == 12 and told["flags"] == 3
    assert told["timeout"] == 77_000_000
    for key, value in {"text": "x", "number": 3, "flag": True}.items():
        assert told["parameters"][key] == value
    assert told["cancelled"] is False
    assert told["input"] == {"name": "IN", "cpu": True, "shape": [1]}
    assert told["absent"] is True


def test_a_correlation_id_may_be_a_text(client):
    assert about(client, sequence_id="käse", sequence_start=True)["correlation_id"] == "käse"


def test_the_model_knows_which_outputs_are_wanted(client):
    assert about(client)["wanted"] == ["ABOUT", "SECOND"]
    assert about(client, ["ABOUT"])["wanted"] == ["ABOUT"]


# Errors


@pytest.mark.parametrize("code", ["UNKNOWN", "INTERNAL", "NOT_FOUND", "INVALID_ARG",
                                  "UNAVAILABLE", "UNSUPPORTED"])
def test_an_error_of_a_response_keeps_its_code(client, code):
    client.expect(code, f"said {code}", fault, client, code)


def test_an_error_without_a_code_is_internal(client):
    client.expect("INTERNAL", "plain ärror", fault, client, "error")


@pytest.mark.parametrize("how, text", [
    ("raise", "ValueError: a Gruß from execute"),
    ("too_few", "Number of InferenceResponse objects do not match"),
    ("no_response", "Expected an 'InferenceResponse' object in the execute function return list"),
])
def test_an_execution_that_fails_answers_with_the_reason(client, how, text):
    client.expect("INTERNAL", text, fault, client, how)
    assert fault(client, "fine").array("OUT").tolist() == [[1, 2]]


def test_an_execution_without_responses_is_answered_for(client):
    client.expect("INTERNAL", "without sending its final response", fault, client, "nothing")


@pytest.mark.parametrize("how, values", [("shape", [[1, 2, 3]]), ("rank", [1, 2]),
                                         ("batch", [[1, 2], [3, 4]])])
def test_shapes_are_the_models_own(client, how, values):
    assert fault(client, how).array("OUT").tolist() == values


def test_outputs_that_the_request_does_not_know_are_left_out(client):
    assert fault(client, "name").header.get("outputs", []) == []


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_a_killed_stub_fails_its_requests_alone(start_python, python_kind, connect, protocol):
    """The process of the model dies. The server and the other models survive, and a reload repairs
    the model."""
    if python_kind == "nereid":
        pytest.skip("test_python_processes.py has the case of Nereid's own backend")
    server = start_python(f"mortal_{protocol}", python_backend.write_mortal,
                          "--model-control-mode=explicit", "--load-model=*",
                          "--exit-timeout-secs=5")
    client = connect(protocol, server)
    client.expect("INTERNAL", "Stub process 'faults_0' is not healthy", fault, client, "kill")
    assert about(client)["wanted"] == ["ABOUT", "SECOND"]
    client.call("unload_model", "faults")
    deadline = time.monotonic() + 20
    while client.call("is_model_ready", "faults") and time.monotonic() < deadline:
        time.sleep(0.05)  # the call does not wait for the unloading of a model
    client.call("load_model", "faults")
    assert fault(client, "fine").array("OUT").tolist() == [[1, 2]]
    # The backend never releases the request that ended the process; the server names its model.
    server.stop(expected=1)
    if not server.peer:
        assert ("Exit timeout expired. Exiting immediately. Models that backends still hold: "
                "faults:1\"") in server.log_tail()


# Loading


@pytest.mark.parametrize("model, text", [
    ("bad_initialize", "RuntimeError: no öil in the engine"),
    ("bad_syntax", "SyntaxError"),
    ("no_class", "has no attribute 'TritonPythonModel'"),
    ("bad_completion", "bad_completion"),
])
def test_a_model_that_cannot_load_says_why(client, model, text):
    status, message = client.error(client.call, "load_model", model)
    assert status in (400, 500, "INVALID_ARGUMENT", "INTERNAL", "UNAVAILABLE"), message
    assert text in message


def test_a_model_whose_end_fails_is_gone_all_the_same(client):
    client.call("load_model", "bad_finalize")
    values = np.array([7], np.int32)
    assert client.infer("bad_finalize", [client.input("IN", values)]).array("OUT") == values
    client.call("unload_model", "bad_finalize")
    deadline = time.monotonic() + 20
    while client.call("is_model_ready", "bad_finalize"):
        assert time.monotonic() < deadline
        time.sleep(0.05)  # between two questions
    assert ask(client, "sync") == [1, 2.5]


# Decoupled


@pytest.mark.parametrize("count", [0, 1, 50])
def test_a_decoupled_model_streams(python, count):
    values, errors = stream(python, "counter", count)
    assert (values, errors) == (list(range(count)), [])


def test_a_stream_ends_with_the_models_error(python):
    values, errors = stream(python, "counter", -2)
    assert values == [0, 1] and len(errors) == 1 and "counted down" in errors[0]


def test_one_stream_for_many_requests(python):
    def one(count):
        return stream(python, "counter", count)[0] == list(range(count))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(20)))


# Calls of other models


@pytest.mark.parametrize("how, expected", [
    ("sync", [1, 2.5]),
    ("many 30", list(range(30))),
    ("at_once 30", list(range(30))),
    ("large 1000000", True),
    ("stream 3", [[0], [1], [2]]),
    ("stream 0", []),
    ("identity", ["ä", ""]),
    ("ready types", True),
    ("ready absent", False),
    ("ready types 9", False),
])
def test_a_model_calls_another(client, how, expected):
    assert ask(client, how) == expected


def test_a_call_awaits_a_stream(grpc):
    assert ask(grpc, "stream_async 3") == [[0], [1], [2]]


@pytest.mark.parametrize("how, text", [
    ("unknown", "Model 'absent' is not ready"),
    ("version 9", "Model 'types' is not ready"),
    ("bad_input", "unexpected inference input 'IN_FP32' for model 'about'"),
    ("callee INTERNAL", "said INTERNAL"),
    ("callee raise", "ValueError: a Gruß from execute"),
    ("decoupled_as_one 1", "doesn't support models using the decoupled transaction policy"),
])
def test_a_call_that_fails_says_why(client, how, text):
    assert text in ask(client, how)["error"]
    assert ask(client, "sync") == [1, 2.5]


def test_a_call_carries_its_settings(client):
    told = ask(client, "about")
    assert told["id"] == "inner" and told["correlation_id"] == 7 and told["flags"] == 1
    assert told["timeout"] == 5000000
    assert told["parameters"] == {"text": "x", "number": 3, "flag": True}


def test_a_decoupled_model_calls_a_decoupled_model(python):
    assert stream(python, "relay", 5) == ([0, 10, 20, 30, 40], [])


def test_calls_of_many_clients_do_not_lock_up(python):
    """The caller and the called model have one instance each; each call needs both."""
    body = {"inputs": [raw_http.tensor("HOW", "BYTES", [1], ["many 5"])]}
    def one(_):
        return json.loads(raw_http.infer(python, "caller", body).json["outputs"][0]["data"][0])
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert list(pool.map(one, range(64))) == [[0, 1, 2, 3, 4]] * 64


def test_a_model_loads_and_unloads_another(client):
    assert ask(client, "load to_load") is True
    values = np.array([4], np.int32)
    assert client.infer("to_load", [client.input("IN", values)]).array("OUT") == values
    assert ask(client, "unload to_load") == "unloaded"
    deadline = time.monotonic() + 20
    while ask(client, "ready to_load"):
        assert time.monotonic() < deadline
        time.sleep(0.05)  # between two questions


# The rest


def test_the_log_has_what_models_say(client, python):
    mark = f"mark-{client.name}-grün"
    assert ask(client, f"logs {mark}") == "logged"
    deadline = time.monotonic() + 20
    while f"plain {mark}" not in python.log.read_text():  # it arrives through a separate queue
        assert time.monotonic() < deadline
        time.sleep(0.05)
    log = python.log.read_text()
    for level, letter in (("info", "I"), ("warn", "W"), ("error", "E"), ("plain", "I")):
        assert re.search(rf"^{letter}.*model\.py:\d+\].*{level} {mark}", log, re.MULTILINE), level
    assert f"verbose {mark}" not in log


def test_a_models_own_metrics(client, python):
    labels = '{model="meter",place="küche"}'
    before = metrics(python).get(f"meter_total{labels}", 0)
    answer = client.infer("meter", [client.input("IN", np.array([2.5]))])
    assert answer.array("OUT").tolist() == [before + 2.5, 2.5]
    shown = metrics(python)
    assert shown[f"meter_total{labels}"] == before + 2.5
    assert shown[f"meter_level{labels}"] == 2.5
    assert shown['meter_sizes_bucket{model="meter",place="küche",le="1"}'] == 0
    assert shown['meter_sizes_bucket{model="meter",place="küche",le="10"}'] >= 1


def test_the_server_counts_executions(client, python):
    name = 'nv_inference_request_success{model="types",version="1"}'
    before = metrics(python)[name]
    assert ask(client, "many 3") == [0, 1, 2]
    # A backend may send the response before it reports the request's statistics; Triton's does.
    wait_until(lambda: metrics(python)[name] >= before + 3, "three requests are counted")


def test_a_model_sees_that_its_request_was_cancelled(python):
    """The call is cancelled while the model waits for that."""
    def inputs(wait):
        tensor = grpc_client.InferInput("WAIT", [1], "BOOL")
        tensor.set_data_from_numpy(np.array([wait]))
        return [tensor]

    client = grpc_client.InferenceServerClient(python.grpc)
    before = client.infer("patient", inputs(False)).as_numpy("CANCELLED")[0]
    done = threading.Event()
    call = client.async_infer("patient", inputs(True), lambda result, error: done.set())
    time.sleep(0.5)  # the model has the request by this time; otherwise it is refused and the case fails
    call.cancel()
    assert done.wait(20)
    assert client.infer("patient", inputs(False)).as_numpy("CANCELLED")[0] == before + 1
    client.close()
