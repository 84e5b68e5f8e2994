# SPDX-License-Identifier: Apache-2.0
"""/generate and /generate_stream: flat JSON objects as requests, one object or server-sent events
as responses."""

import json
import threading
import time

import decoupled_models as decoupled
import grpc_raw
import pytest
import raw_http
from raw_http import Wire, head

EVENTS = "text/event-stream; charset=utf-8"
TOO_MANY = ("generate expects model to produce exactly 1 response, use generate stream for model "
            "that generates various number of responses")


@pytest.fixture(scope="module")
def serving(start_server, server_plugins):
    return start_server("generate", decoupled.write(server_plugins))


def ask(server, model, document, endpoint="generate", headers=None, version=None, method="POST"):
    body = document if isinstance(document, (str, bytes)) else json.dumps(document)
    path = f"/v2/models/{model}" + (f"/versions/{version}" if version else "") + f"/{endpoint}"
    return raw_http.request(server, method, path, body, headers)


def events(answer):
    """Returns the data of each event; the body must contain nothing else."""
    body = answer.body.decode()
    assert body == "" or body.endswith("\n\n")
    lines = body.split("\n\n")[:-1]
    assert all(line.startswith("data: ") for line in lines)
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def names(model):
    return {"model_name": model, "model_version": "1"}


# ---- Requests ----


@pytest.mark.parametrize("model,document,expected", [
    ("plain", '{"INPUT0":5}', {"OUTPUT0": 5}),
    ("plain", '{"INPUT0":[5]}', {"OUTPUT0": 5}),
    ("plain", '{"INPUT0":[1,2,3]}', {"OUTPUT0": [1, 2, 3]}),
    ("plain", '{"INPUT0":[]}', {"OUTPUT0": []}),
    ("plain", '{"parameters":{"INPUT0":5}}', {"OUTPUT0": 5}),
    ("plain", '{"INPUT0":1,"a":"s","b":2,"c":true,"d":1.5,"e":-3}',
     {"OUTPUT0": 1, "a": "s", "b": 2, "c": True, "d": 1.5, "e": -3}),
    ("plain", '{"INPUT0":1,"parameters":{"parameters":5,"x":1}}',
     {"OUTPUT0": 1, "parameters": 5, "x": 1}),
    ("plain", '{"INPUT0":1,"sequence_id":5,"priority":"x","timeout":3,"triton_x":1}',
     {"OUTPUT0": 1, "sequence_id": 5, "priority": "x", "timeout": 3, "triton_x": 1}),
    ("plain", '{"INPUT0":1,"id":"abc"}', {"OUTPUT0": 1, "id": "abc"}),
    ("plain", '{"INPUT0":1,"parameters":{"id":"abc"}}', {"OUTPUT0": 1, "id": "abc"}),
    ("text", r'{"INPUT0":"h\u00e9 \n"}', {"OUTPUT0": "h\u00e9 \n"}),
    ("text", '{"INPUT0":["a","b"]}', {"OUTPUT0": ["a", "b"]}),
    ("text", '{"INPUT0":""}', {"OUTPUT0": ""}),
    ("floats", '{"INPUT0":[1,1.1,-2.5e3]}', {"OUTPUT0": [1.0, 1.100000023841858, -2500.0]}),
    ("rows", '{"INPUT0":[1,2,3,4]}', {"OUTPUT0": [1, 2, 3, 4]}),
    ("batch", '{"INPUT0":[1,2,3,4,5,6,7,8]}', {"OUTPUT0": [1, 2, 3, 4, 5, 6, 7, 8]}),
    ("pair", '{"INPUT1":["x","y"],"INPUT0":7,"id":"q"}',
     {"OUTPUT0": 7, "OUTPUT1": ["x", "y"], "id": "q"}),
    ("named_id", '{"id":"abc"}', {"OUTPUT0": "abc", "id": "abc"}),
])
def test_what_is_answered(serving, model, document, expected):
    answer = ask(serving, model, document)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json == {**expected, **names(model)}
    assert list(answer.json) == sorted(answer.json)
    streamed = ask(serving, model, document, "generate_stream")
    assert (streamed.status, streamed.headers["content-type"]) == (200, EVENTS)
    assert streamed.body == b"data: " + answer.body + b"\n\n"


def assert_refused(answer, text):
    assert (answer.status, answer.error) == (400, text)
    assert answer.headers["content-type"] == "application/json"
    assert "content-length" in answer.headers


SHAPE = "The schema can not convert input 'INPUT0' to tensor with proper shape"


@pytest.mark.parametrize("model,document,text", [
    ("plain", '{"INPUT0":5,"INPUT0":6}',
     "[request id: <id_unknown>] input 'INPUT0' already exists in request"),
    ("plain", '{"INPUT0":1,"parameters":{"INPUT0":5}}', "Converting keyword: 'parameters': "
     "[request id: <id_unknown>] input 'INPUT0' already exists in request"),
    ("plain", '{"x":1}', "[request id: <id_unknown>] expected 1 inputs but got 0 inputs for "
     "model 'plain'. Got input(s) [], but missing required input(s) ['INPUT0']. Please provide all "
     "required input(s)."),
    ("half", '{"INPUT0":1.0}', "receiving FP16 data via JSON is not supported. Please use the "
     "binary data format for input INPUT0"),
    ("rows", '{"INPUT0":1}', SHAPE),
    ("batch", '{"INPUT0":[1,2,3]}', SHAPE),
    ("named_parameters", '{"parameters":"x"}',
     "Keyword 'parameters' for nested schema also given as input tensor name"),
])
@pytest.mark.parametrize("endpoint", ["generate", "generate_stream"])
def test_what_is_refused(serving, model, document, text, endpoint):
    assert_refused(ask(serving, model, document, endpoint), text)


JSON_TEXT = "failed to parse the request JSON buffer: "
PARAMETER_TYPE = ("parameter 'a' has invalid type. It should be either 'int', 'double', 'bool', or "
                  "'string'.")


@pytest.mark.parametrize("model,document,text", [
    ("plain", '{"INPUT0":[[1,2],[3,4]]}',
     "Unable to parse 'data': Shape does not match true shape of 'data' field"),
    ("plain", '{"INPUT0":1.5}', "Unable to parse 'data': attempt to access JSON "
     "non-signed-integer as signed-integer"),
    ("plain", '{"INPUT0":null}', "Unable to parse 'data': attempt to access JSON "
     "non-signed-integer as signed-integer"),
    ("plain", '{"INPUT0":99999999999}',
     "input 'INPUT0' has the value 99999999999, which INT32 cannot hold"),
    ("floats", '{"INPUT0":[1,1e39]}', "input 'INPUT0' has the value 1e39, which FP32 cannot hold"),
    ("plain", '{"INPUT0":1,"parameters":5}', "Expected JSON object for keyword: 'parameters': "
     "attempt to access JSON non-object as object"),
    ("plain", '{"INPUT0":1,"id":7}',
     "Unable to parse 'id': attempt to access JSON non-string as string"),
    ("plain", "", JSON_TEXT + "The document is empty. at 0"),
    ("plain", "[]", "attempt to get members for non-object"),
    ("plain", '{"INPUT0":', JSON_TEXT + "Invalid value. at 10"),
    ("plain", '{"INPUT0":1} x',
     JSON_TEXT + "The document root must not be followed by other values. at 13"),
    ("text", '{"INPUT0":5}',
     "Unable to parse JSON bytes array: attempt to access JSON non-string as string"),
    ("plain", '{"INPUT0":1,"parameters":{"a":{"x":1}}}',
     "Converting keyword: 'parameters': " + PARAMETER_TYPE),
    ("plain", '{"INPUT0":1,"a":[1]}', PARAMETER_TYPE),
    ("plain", '{"INPUT0":1,"a":null}', PARAMETER_TYPE),
])
@pytest.mark.parametrize("endpoint", ["generate", "generate_stream"])
def test_wrong_json_is_the_clients_error(serving, model, document, text, endpoint):
    assert_refused(ask(serving, model, document, endpoint), text)


@pytest.mark.parametrize("member", ["id", "parameters"])
def test_null_is_absent(serving, member):
    answer = ask(serving, "plain", {"INPUT0": 5, member: None})
    assert (answer.status, answer.json) == (200, {"OUTPUT0": 5, **names("plain")})


@pytest.mark.parametrize("endpoint", ["generate", "generate_stream"])
def test_an_unknown_model(serving, endpoint):
    answer = ask(serving, "no_such_model", '{"x":1}', endpoint)
    assert (answer.status, answer.error) == (
        404, "Request for unknown model: 'no_such_model' is not found")


def test_a_list_without_elements_for_a_fixed_shape(serving):
    assert ask(serving, "batch", '{"INPUT0":[]}').status == 400


@pytest.mark.parametrize("endpoint", ["generate", "generate_stream"])
def test_methods_versions_and_encodings(serving, endpoint):
    good = '{"INPUT0":5}'
    answer = ask(serving, "plain", None if endpoint == "" else good, endpoint, method="GET")
    assert (answer.status, answer.error) == (405, "Method Not Allowed")
    assert ask(serving, "plain", good, endpoint, version="1").status == 200
    answer = ask(serving, "plain", good, endpoint, version="2")
    assert answer.error == "Request for unknown model: 'plain' version 2 is not found"
    answer = ask(serving, "plain", good, endpoint, {"Content-Encoding": "gzip"})
    assert (answer.status, answer.error) == (
        400, "Unsupported content-encoding, only 'identity' is supported.")
    answer = ask(serving, "plain", good, endpoint, {"Accept-Encoding": "gzip"})
    assert "content-encoding" not in answer.headers and b"OUTPUT0" in answer.body


# ---- Responses ----


@pytest.mark.parametrize("count", [0, 1, 3, 100])
def test_an_event_for_each_response(serving, count):
    answer = ask(serving, "square_int32", {"IN": count, "id": "q"}, "generate_stream")
    assert (answer.status, answer.headers["content-type"]) == (200, EVENTS)
    assert events(answer) == [{"OUT": count, "id": "q", **names("square_int32")}] * count


def test_events_of_repeat(serving):
    answer = ask(serving, "repeat_int32", {"IN": [4, 2, 0, 1], "DELAY": [1, 2, 3, 0], "WAIT": 0},
                 "generate_stream")
    assert [(e["OUT"], e["IDX"]) for e in events(answer)] == [(4, 0), (2, 1), (0, 2), (1, 3)]


def test_a_decoupled_model_with_exactly_one_response(serving):
    answer = ask(serving, "square_int32", {"IN": 1})
    assert (answer.status, answer.json) == (200, {"OUT": 1, **names("square_int32")})


@pytest.mark.parametrize("count", [0, 2])
def test_generate_wants_exactly_one_response(serving, count):
    answer = ask(serving, "square_int32", {"IN": count})
    assert (answer.status, answer.error) == (500, TOO_MANY)


def test_a_long_error_over_grpc_keeps_its_end(serving):
    code, text = grpc_raw.failure(serving, "ModelInfer", grpc_raw.infer_request(
        "plain", [grpc_raw.tensor("INPUT0", "INT32", [1])], [b"\1\0\0\0"],
        parameters={"fail": "the beginning\n" + "\u20ac" * 5000 + "\nthe cause"}))
    assert code == "INTERNAL"
    assert text.startswith("the beginning\n\u20ac") and text.endswith("\u20ac\nthe cause")
    assert " bytes are left out ...\n\u20ac" in text and "\ufffd" not in text


def test_errors_of_the_backend_decide_the_status(serving):
    answer = ask(serving, "plain", {"INPUT0": 1, "fail": "as asked"})
    assert (answer.status, answer.error) == (500, "as asked")
    answer = ask(serving, "plain", {"INPUT0": 1, "fail": "as asked"}, "generate_stream")
    assert (answer.status, answer.headers["content-type"]) == (500, EVENTS)
    assert events(answer) == [{"error": "as asked"}]
    answer = ask(serving, "square_int32", {"IN": -1}, "generate_stream")
    assert (answer.status, len(events(answer))) == (400, 1)


def test_an_error_after_the_first_event(serving):
    answer = ask(serving, "faults", {"INPUT0": [1, 2], "fault": "error_last", "count": 2},
                 "generate_stream")
    assert answer.status == 200
    assert events(answer) == [{"OUTPUT0": [1, 2], **names("faults")}] * 2 + [{"error": "as asked"}]
    answer = ask(serving, "faults", {"INPUT0": [1, 2], "fault": "error_middle", "count": 1},
                 "generate_stream")
    assert [list(e)[0] for e in events(answer)] == ["OUTPUT0", "error", "OUTPUT0"]


# ---- The wire ----


def post(model, document, endpoint="generate_stream", *fields, version="1.1"):
    body = json.dumps(document).encode()
    made = head("POST", f"/v2/models/{model}/{endpoint}", f"Content-Length: {len(body)}", *fields)
    return made.replace(b"HTTP/1.1", f"HTTP/{version}".encode(), 1) + body


REPEAT = {"IN": [1, 2], "DELAY": [0, 400], "WAIT": 0}


def test_events_come_as_they_are_made(serving):
    with Wire(serving) as wire:
        wire.send(post("repeat_int32", REPEAT))
        begin = time.monotonic()
        answer = wire.read_head()
        assert answer.headers["transfer-encoding"] == "chunked"
        assert "content-length" not in answer.headers
        assert b'"OUT":1' in wire.read_chunk()
        assert time.monotonic() - begin < 0.4
        assert b'"OUT":2' in wire.read_chunk()
        assert wire.read_chunk() == b""


def test_a_connection_goes_on_after_a_stream(serving):
    with Wire(serving) as wire:
        wire.send(post("square_int32", {"IN": 2}) + post("square_int32", {"IN": 1})
                  + head("GET", "/v2/health/live"))
        assert wire.read_chunked().body.count(b"data: ") == 2
        assert wire.read_chunked().body.count(b"data: ") == 1
        assert wire.read().status == 200


def test_a_client_of_http_1_0(serving):
    """This client cannot read chunks: the end of the connection is the end of the body."""
    with Wire(serving) as wire:
        wire.send(post("square_int32", {"IN": 3}, version="1.0"))
        answer = wire.read_head()
        assert answer.status == 200 and "transfer-encoding" not in answer.headers
        while not wire.closed_by_peer():
            pass
        assert wire.buffer.count(b"data: ") == 3 and wire.buffer.endswith(b"\n\n")


def cancelled(server):
    (stats,) = raw_http.get(server, "/v2/models/repeat_counted/stats").json["model_stats"]
    return sum(r["cancel"]["count"] for r in stats["response_stats"].values())


@pytest.mark.parametrize("delays", [[0, 50_000], [50_000, 0]], ids=["after_one", "before_any"])
def test_a_client_that_goes_away_cancels(serving, delays):
    before = cancelled(serving)
    with Wire(serving) as wire:
        wire.send(post("repeat_counted", {"IN": [1, 2], "DELAY": delays, "WAIT": 0}))
        if delays[0] == 0:
            assert wire.read_head().status == 200
        else:
            time.sleep(0.1)
    end = time.monotonic() + 20
    while cancelled(serving) == before:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_deadline_before_and_after_the_first_event(serving):
    deadline = {"grpc-timeout": "150m"}
    slow = {"IN": [1], "DELAY": [20_000], "WAIT": 0}
    for endpoint in ("generate", "generate_stream"):
        answer = ask(serving, "repeat_int32", slow, endpoint, deadline)
        assert (answer.status, answer.error) == (504, "the deadline of the request has passed")
    late = {"IN": [1, 2], "DELAY": [0, 20_000], "WAIT": 0}
    answer = ask(serving, "repeat_int32", late, "generate_stream", deadline)
    assert answer.status == 200
    assert [list(e)[-1] for e in events(answer)] == ["model_version", "error"]


def test_many_streams_at_once(serving):
    results = []

    def run(i):
        answer = ask(serving, "square_int32", {"IN": 40 + i}, "generate_stream")
        results.append((40 + i, [e["OUT"] for e in events(answer)]))

    threads = [threading.Thread(target=run, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 16
    assert all(outs == [n] * n for n, outs in results)
