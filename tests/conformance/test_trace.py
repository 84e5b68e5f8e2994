# SPDX-License-Identifier: Apache-2.0
"""Traces of requests: the settings at run time, over HTTP and gRPC, and the trace files."""

import queue

import numpy as np
import pytest
import raw_http
import tritonclient.grpc as grpc_client
import tritonclient.http as http_client
from trace_files import head, stamps, traces
from tritonclient.utils import InferenceServerException

IDENTITY = """backend: "identity"
max_batch_size: 0
input { name: "INPUT0" data_type: %s dims: [ -1 ] }
output { name: "OUTPUT0" data_type: %s dims: [ -1 ] }
"""
PIPELINE = """platform: "ensemble"
input { name: "IN" data_type: TYPE_INT32 dims: [ -1 ] }
output { name: "OUT" data_type: TYPE_INT32 dims: [ -1 ] }
ensemble_scheduling { step [
  { model_name: "one" model_version: -1 input_map { key: "INPUT0" value: "IN" }
    output_map { key: "OUTPUT0" value: "between" } },
  { model_name: "two" model_version: -1 input_map { key: "INPUT0" value: "between" }
    output_map { key: "OUTPUT0" value: "OUT" } } ] }
"""
CORE = ["REQUEST_START", "QUEUE_START", "COMPUTE_START", "COMPUTE_INPUT_END",
        "COMPUTE_OUTPUT_START", "COMPUTE_END", "INFER_RESPONSE_COMPLETE", "REQUEST_END"]
HTTP = ["HTTP_RECV_START", "HTTP_RECV_END", "HTTP_SEND_START", "HTTP_SEND_END"]
GRPC = ["GRPC_WAITREAD_START", "GRPC_WAITREAD_END", "GRPC_SEND_START", "GRPC_SEND_END"]


def write_models(root):
    texts = {name: IDENTITY % ("TYPE_INT32", "TYPE_INT32") for name in ("one", "two")}
    texts["text"] = IDENTITY % ("TYPE_STRING", "TYPE_STRING")
    texts["bytes"] = IDENTITY % ("TYPE_INT8", "TYPE_INT8")
    texts["pipeline"] = PIPELINE
    for name, text in texts.items():
        (root / name / "1").mkdir(parents=True)
        (root / name / "config.pbtxt").write_text(text)


@pytest.fixture
def traced(start_server, tmp_path):
    """Starts a server that writes its traces to tmp_path / "t"."""

    def start(**settings):
        flags = [f"--trace-config=triton,file={tmp_path / 't'}"]
        if "log_frequency" in settings:
            flags.append(f"--trace-config=triton,log-frequency={settings.pop('log_frequency')}")
        levels = settings.pop("level", ["TIMESTAMPS"])
        flags += [f"--trace-config=level={level}" for level in levels]
        flags += [f"--trace-config={key}={value}" for key, value in settings.items()]
        return start_server("traced", write_models, *flags)

    return start


@pytest.fixture(params=["http", "grpc"])
def protocol(request):
    return request.param


OPEN = []


@pytest.fixture(autouse=True)
def close_clients():
    yield
    while OPEN:
        OPEN.pop().close()


class Client:
    """One interface for both official clients: settings are plain texts and lists."""

    def __init__(self, server, protocol):
        self.is_http = protocol == "http"
        self.module = http_client if self.is_http else grpc_client
        self.client = self.module.InferenceServerClient(server.http if self.is_http else server.grpc)
        OPEN.append(self.client)

    def plain(self, answer):
        if self.is_http:
            return answer
        found = {k: list(v.value) for k, v in answer.settings.items()}
        return {k: v if k == "trace_level" else v[0] for k, v in found.items()}

    def get(self, model=None):
        return self.plain(self.client.get_trace_settings(model))

    def set(self, settings, model=None):
        return self.plain(self.client.update_trace_settings(model, settings))

    def infer(self, model="one", values=(1, 2, 3), kind="INT32", name="INPUT0", **more):
        types = {"INT32": np.int32, "INT8": np.int8, "BYTES": np.object_}
        tensor = self.module.InferInput(name, [len(values)], kind)
        tensor.set_data_from_numpy(np.array(values, types[kind]))
        return self.client.infer(model, [tensor], **more)


@pytest.fixture
def client(traced, protocol):
    return Client(traced(rate=3, count=100), protocol)


def test_the_extension_is_named(client):
    metadata = client.client.get_server_metadata()
    names = metadata["extensions"] if client.is_http else metadata.extensions
    assert "trace" in names


def test_the_command_lines_settings_are_everyones(client, tmp_path):
    expected = {"trace_level": ["TIMESTAMPS"], "trace_rate": "3", "trace_count": "100",
                "log_frequency": "0", "trace_file": str(tmp_path / "t"), "trace_mode": "triton"}
    assert client.get() == expected
    assert client.get("one") == expected


def test_a_model_keeps_what_was_set_for_it_and_follows_in_the_rest(client):
    assert client.set({"trace_level": ["TENSORS"], "trace_rate": "5"}, "one")["trace_rate"] == "5"
    client.set({"trace_rate": "7", "log_frequency": "2"})
    one, two = client.get("one"), client.get("two")
    assert (one["trace_level"], one["trace_rate"], one["log_frequency"]) == (["TENSORS"], "5", "2")
    assert (two["trace_level"], two["trace_rate"]) == (["TIMESTAMPS"], "7")


def test_what_is_cleared_goes_back_to_the_wider_setting(client):
    client.set({"trace_rate": "7", "log_frequency": "2"})
    client.set({"trace_rate": "9", "trace_level": ["OFF"]}, "one")
    after = client.set({"trace_rate": None, "trace_level": None}, "one")
    assert (after["trace_rate"], after["trace_level"]) == ("7", ["TIMESTAMPS"])
    after = client.set({"trace_rate": None, "log_frequency": None})
    assert (after["trace_rate"], after["log_frequency"]) == ("3", "0")
    assert client.get("one")["trace_rate"] == "3"


@pytest.mark.parametrize("settings, message", [
    ({"trace_rate": "x"}, "Unable to parse 'trace_rate', got: x"),
    ({"trace_rate": ""}, "Unable to parse 'trace_rate', got: "),
    ({"trace_rate": "4294967296"}, "value is out of range"),
    ({"trace_count": "-2"}, "Unable to parse 'trace_count'. Expecting value >= -1, got:"),
    ({"trace_level": ["OFF", "TENSORS"]}, "Expect only one trace level 'OFF' is specified"),
    ({"trace_file": "/elsewhere"}, "trace file location can not be updated through network"),
    ({"trace_rate": "0"}, "Attempting to set invalid trace setting :sample rate must be non-zero"),
])
def test_bad_values_change_nothing(client, settings, message):
    before = client.get("one")
    with pytest.raises(InferenceServerException) as failure:
        client.set({**settings, "log_frequency": "4"}, "one")
    assert message in failure.value.message()
    assert client.get("one") == before


@pytest.mark.parametrize("value", ["-1", "5x", " 5"])
def test_numbers_are_whole_and_not_negative(client, value):
    with pytest.raises(InferenceServerException, match="Unable to parse 'trace_rate'"):
        client.set({"trace_rate": value})


def test_unknown_levels_and_keys_are_passed_over(client):
    for names, level in ((["sometimes"], "TIMESTAMPS"), (["sometimes", "TENSORS"], "TENSORS"),
                         (["tensors"], "TENSORS"), (["OFF"], "OFF"), (["sometimes"], "OFF")):
        assert client.set({"trace_level": names, "else": "x"}, "one")["trace_level"] == [level]


def test_an_unknown_model_is_refused(client):
    for ask in (lambda: client.get("none"), lambda: client.set({"trace_rate": "1"}, "none")):
        with pytest.raises(InferenceServerException, match="Request for unknown model : none"):
            ask()


def test_without_a_file_nothing_can_be_traced(start_server, protocol):
    client = Client(start_server("untraced", write_models), protocol)
    assert client.get()["trace_level"] == ["OFF"]
    with pytest.raises(InferenceServerException, match="trace file name is not given"):
        client.set({"trace_level": ["TIMESTAMPS"]})
    assert client.set({"trace_rate": "4"})["trace_rate"] == "4"


def test_bad_documents_are_refused(traced):
    server = traced(rate=1)
    for body, status, message in (
            (b"", 400, "The document is empty. at 0"),
            (b"{", 400, "Missing a name for object member. at 1"),
            (b'{"trace_rate":5}', 400,
             "Unable to parse 'trace_rate': attempt to access JSON non-string as string"),
            (b'{"trace_level":"OFF"}', 400,
             "Unable to parse 'trace_level': attempt to access JSON non-array as array"),
            (b'{"trace_file":null}', 501, "trace file location can not be updated")):
        answer = raw_http.request(server, "POST", "/v2/trace/setting", body)
        assert answer.status == status
        assert message in answer.body.decode()


def test_a_trace_tells_a_requests_way(traced, protocol, tmp_path):
    client = Client(traced(rate=1, count=2), protocol)
    client.infer(request_id="mine")
    client.infer()
    first, second = traces(tmp_path / "t.0")
    assert {"model_name": "one", "model_version": 1, "request_id": "mine"}.items() <= head(first).items()
    assert "request_id" not in head(second)
    for trace in (first, second):
        times = stamps(trace)
        front = HTTP if client.is_http else GRPC
        assert set(times) >= {*CORE, *front}
        way = [times[name] for name in (*front[:2], *CORE[:6], "INFER_RESPONSE_COMPLETE", *front[2:])]
        assert way == sorted(way)
    assert client.get()["trace_count"] == "0"


def test_tensors_are_shown(traced, protocol, tmp_path):
    client = Client(traced(rate=1, count=1, level=["TIMESTAMPS", "TENSORS"]), protocol)
    client.infer()
    (trace,) = traces(tmp_path / "t.0")
    shown = {e["activity"]: e["tensor"] for e in trace if "activity" in e}
    common = {"data": "1,2,3", "shape": "3", "dtype": "INT32"}
    assert shown == {"TENSOR_QUEUE_INPUT": {"name": "INPUT0", **common},
                     "TENSOR_BACKEND_OUTPUT": {"name": "OUTPUT0", **common}}


def test_tensors_of_any_bytes_leave_json(traced, protocol, tmp_path):
    client = Client(traced(rate=1, count=2, level=["TENSORS"]), protocol)
    client.infer("text", [b'say "x"', b"\xff\x00"], "BYTES")
    client.infer("bytes", [65, -1], "INT8")
    first, second = traces(tmp_path / "t.0")
    assert head(first)["model_name"] == "text"
    data = [e["tensor"]["data"] for e in first + second if "activity" in e]
    assert data == ['"say \\"x\\"","ÿ\\u0000"'] * 2 + ["65,-1"] * 2
    assert stamps(first) == {}


def test_steps_of_an_ensemble_are_children(traced, protocol, tmp_path):
    client = Client(traced(rate=1, log_frequency=1), protocol)
    client.infer("pipeline", name="IN")
    found = {head(trace)["model_name"]: head(trace) for trace in traces(tmp_path / "t.0")}
    assert set(found) == {"pipeline", "one", "two"}
    assert "parent_id" not in found["pipeline"]
    for step in ("one", "two"):
        assert found[step]["parent_id"] == found["pipeline"]["id"]
    for trace in traces(tmp_path / "t.0"):
        assert "REQUEST_END" in stamps(trace)


def test_one_request_in_so_many_and_so_many_in_a_file(traced, protocol, tmp_path):
    server = traced(rate=2, log_frequency=2)
    client = Client(server, protocol)
    for number in range(1, 11):
        client.infer(request_id=str(number))
    for file, ids in (("t.0", ["2", "4"]), ("t.1", ["6", "8"])):
        assert [head(trace)["request_id"] for trace in traces(tmp_path / file)] == ids
    assert not (tmp_path / "t").exists() and not (tmp_path / "t.2").exists()
    client.client.close()
    server.stop()
    assert [head(trace)["request_id"] for trace in traces(tmp_path / "t.2")] == ["10"]


def test_all_goes_to_one_file_at_the_end(traced, protocol, tmp_path):
    server = traced(rate=1)
    client = Client(server, protocol)
    client.infer(request_id="a")
    client.set({"trace_level": ["OFF"]}, "two")
    client.infer("two", request_id="b")
    client.infer(request_id="c")
    client.client.close()
    server.stop()
    assert [head(trace)["request_id"] for trace in traces(tmp_path / "t")] == ["a", "c"]


def test_requests_of_a_stream_are_traced(traced, tmp_path):
    client = Client(traced(rate=1, log_frequency=2), "grpc")
    answers = queue.Queue()
    client.client.start_stream(lambda result, error: answers.put((result, error)))
    for number in range(2):
        tensor = grpc_client.InferInput("INPUT0", [1], "INT32")
        tensor.set_data_from_numpy(np.array([number], np.int32))
        client.client.async_stream_infer("one", [tensor], request_id=str(number))
    for _ in range(2):
        assert answers.get(timeout=20)[1] is None
    client.client.stop_stream()
    found = traces(tmp_path / "t.0")
    assert sorted(head(trace)["request_id"] for trace in found) == ["0", "1"]
    for trace in found:
        assert set(stamps(trace)) >= {*CORE[:7], *GRPC}


def test_a_file_that_cannot_be_written_harms_nobody(start_server, protocol, tmp_path):
    server = start_server("unwritable", write_models, "--trace-config=rate=1",
                          "--trace-config=level=TIMESTAMPS", "--trace-config=triton,log-frequency=1",
                          f"--trace-config=triton,file={tmp_path / 'no' / 'folder' / 't'}")
    client = Client(server, protocol)
    for _ in range(3):
        client.infer()
    assert client.get()["trace_count"] == "-1"


def test_refused_requests_leave_traces_too(traced, protocol, tmp_path):
    client = Client(traced(rate=1, log_frequency=1), protocol)
    with pytest.raises(InferenceServerException):
        client.infer(name="NOT_THERE")
    client.infer()
    assert traces(tmp_path / "t.0")
