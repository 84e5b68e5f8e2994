# SPDX-License-Identifier: Apache-2.0
"""Large tensors of Python models, which server and worker share instead of copying them."""

import concurrent.futures
import json
import os
import re
import signal
import socket
import struct
import zlib

import grpc_raw
import numpy as np
import pytest
import raw_http
from processes import children, state
from python_server import texts, wait_until, write_model
from tritonclient.grpc import service_pb2 as pb

CODE = """
import json
import os
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.kept = {}

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        inputs = {tensor.name(): tensor for tensor in request.inputs()}
        scope = {"np": np, "model": self, "json": json, "os": os, "texts": inputs.get("TEXTS"),
                 "x": inputs["X"].as_numpy() if "X" in inputs else None,
                 "y": inputs["Y"].as_numpy() if "Y" in inputs else None}
        exec(inputs["CODE"].as_numpy().reshape(-1)[0].decode(), scope)
        return pb_utils.InferenceResponse([
            pb_utils.Tensor(name, scope[name]) for name in ("OUT", "SECOND", "SAID") if name in scope])
"""

TENSORS = """
input {{ name: "CODE" data_type: TYPE_STRING dims: [ 1 ] }}
input {{ name: "X" data_type: TYPE_FP32 dims: [ {dims} ] optional: true }}
input {{ name: "Y" data_type: TYPE_FP32 dims: [ {dims} ] optional: true }}
input {{ name: "TEXTS" data_type: TYPE_STRING dims: [ {dims} ] optional: true }}
output {{ name: "OUT" data_type: TYPE_FP32 dims: [ {dims} ] }}
output {{ name: "SECOND" data_type: TYPE_FP32 dims: [ {dims} ] }}
output {{ name: "SAID" data_type: TYPE_STRING dims: [ {dims} ] }}
"""
ONE = TENSORS.format(dims="-1") + "instance_group { kind: KIND_CPU count: 1 }"
BATCHED = ("max_batch_size: 8\n" + TENSORS.format(dims="-1") +
           "dynamic_batching { max_queue_delay_microseconds: 20000 }\n"
           "instance_group { kind: KIND_CPU count: 2 }")
MIB = 1 << 20

AGAIN = """
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.seen = set()

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        x = request.inputs()[0].as_numpy()
        if request.request_id() in self.seen:
            return pb_utils.InferenceResponse([pb_utils.Tensor("OUT", x)])
        self.seen.add(request.request_id())
        x[:] = 9
        request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
        return None
"""
AGAIN_CONFIG = """
max_batch_size: 1
sequence_batching { iterative_sequence: true }
input { name: "X" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] }
instance_group { kind: KIND_CPU count: 1 }
"""


@pytest.fixture(scope="module")
def memory(start_python):
    def write(root):
        write_model(root, "one", CODE, ONE)
        write_model(root, "other", CODE, ONE)
        write_model(root, "batched", CODE, BATCHED)
        write_model(root, "again", AGAIN, AGAIN_CONFIG)

    server = start_python("memory", write, "--model-control-mode=explicit", "--load-model=*")
    yield server
    server.stop()


@pytest.fixture(params=["http", "grpc"])
def client(request, memory, connect):
    return connect(request.param, memory)


def ask(client, code, x=None, y=None, strings=None, outputs=("OUT",), model="one"):
    sent = [client.input("CODE", texts(code))]
    sent += [client.input(name, array) for name, array in (("X", x), ("Y", y), ("TEXTS", strings))
             if array is not None]
    return client.infer(model, sent, list(outputs))


def numbers(size, first=0):
    return np.arange(first, first + size, dtype=np.float32)


def test_the_input_comes_back(client):
    for size in (16_000, 16_384, 20_000, 262_144, 1_000_003):
        sent = numbers(size, size)
        assert (ask(client, "OUT = x", sent).array("OUT") == sent).all()


def test_a_model_changes_its_input_and_returns_it(client):
    sent = numbers(300_000)
    for _ in range(5):
        answer = ask(client, "x += 1; OUT = x", sent)
        assert (answer.array("OUT") == sent + 1).all()


def test_several_inputs_and_outputs(client):
    x, y = numbers(100_000), numbers(70_001, 5)
    answer = ask(client, "OUT = y; SECOND = x[::2]; SAID = texts.as_numpy()", x, y,
                 texts("a" * 100_000, "", "b"), ["OUT", "SECOND", "SAID"])
    assert (answer.array("OUT") == y).all()
    assert (answer.array("SECOND") == x[::2]).all()
    assert answer.array("SAID").tolist() == texts("a" * 100_000, "", "b").tolist()


def test_new_outputs(client):
    answer = ask(client, "OUT = x * 2; SECOND = np.full(50_000, 7, np.float32)", numbers(300_000),
                 outputs=["OUT", "SECOND"])
    assert (answer.array("OUT") == numbers(300_000) * 2).all()
    assert (answer.array("SECOND") == 7).all()


@pytest.mark.parametrize("model", ["one", "batched"])
def test_many_clients_at_once_get_their_own_tensors(memory, model):
    """Of several sizes, so that memory is used by requests of different sizes."""
    first = [1] if model == "batched" else []

    def run(index):
        for i in range(10):
            sent = np.full(20_000 * (1 + (index + i) % 7), index * 1000 + i, np.float32)
            code = ["OUT = x", "OUT = x + 0", "x += 0; OUT = x"][i % 3]
            document = {
                "inputs": [raw_http.tensor("CODE", "BYTES", [*first, 1], [code]),
                           raw_http.tensor("X", "FP32", [*first, sent.size],
                                           binary_data_size=sent.nbytes)],
                "outputs": [{"name": "OUT", "parameters": {"binary_data": True}}]}
            reply = raw_http.infer(memory, model, document, sent.tobytes())
            assert reply.status == 200, reply.body
            assert reply.parts()[1] == sent.tobytes()

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(run, index) for index in range(8)]:
            done.result()


def test_an_array_that_a_model_keeps_is_intact(client):
    sent = numbers(300_000, 3)
    ask(client, "model.kept['x'] = x[1:]; OUT = x", sent)
    for i in range(20):
        ask(client, "OUT = x", np.full(300_000, i, np.float32))
    answer = ask(client, "OUT = model.kept.pop('x')")
    assert (answer.array("OUT") == sent[1:]).all()


def test_a_request_that_is_executed_again_has_its_inputs(client):
    """Although the first execution has written to them."""
    sent = numbers(100_000)[None]
    answer = client.infer("again", [client.input("X", sent)], ["OUT"],
                          request_id=client.protocol)
    assert (answer.array("OUT") == sent).all()


# Responses that a client reads late


class SlowReader:
    """A client that sends a request and does not read the response before it is told to."""

    def __init__(self, server, code, x, model="one"):
        head = json.dumps({
            "inputs": [raw_http.tensor("CODE", "BYTES", [1], [code]),
                       raw_http.tensor("X", "FP32", x.shape, binary_data_size=x.nbytes)],
            "outputs": [{"name": "OUT", "parameters": {"binary_data": True}}]}).encode()
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 10)
        self.socket.settimeout(60)
        self.socket.connect(("127.0.0.1", server.http_port))
        self.socket.sendall(
            f"POST {raw_http.infer_path(model)} HTTP/1.1\r\nHost: h\r\n"
            f"{raw_http.HEADER_LENGTH}: {len(head)}\r\n"
            f"Content-Length: {len(head) + x.nbytes}\r\n\r\n".encode() + head + x.tobytes())

    def array(self):
        received = b""
        while b"\r\n\r\n" not in received:
            received += self.more()
        head, _, body = received.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        fields = dict(line.lower().split(b": ") for line in head.split(b"\r\n")[1:])
        pieces, left = [body], int(fields[b"content-length"]) - len(body)
        while left:
            pieces.append(self.more())
            left -= len(pieces[-1])
        body = b"".join(pieces)
        return np.frombuffer(body[int(fields[raw_http.HEADER_LENGTH.lower().encode()]):], np.float32)

    def more(self):
        part = self.socket.recv(MIB)
        assert part, "the server has closed the connection"
        return part

    def close(self):
        self.socket.close()


def executed(client, number):
    """Returns whether the model has counted so many executions."""
    answer = ask(client, "SAID = np.array([str(model.kept.get('count', 0)).encode()], object)",
                 outputs=["SAID"])
    return int(answer.array("SAID")[0]) >= number


COUNT = "model.kept['count'] = model.kept.get('count', 0) + 1; "


def test_a_response_does_not_change_after_the_execution(memory, connect):
    """The model keeps the array that it has returned, and changes it in a later request."""
    client = connect("http", memory)
    sent = numbers(4_000_000 // 4)
    for keep in ("x", "x[:1]", "x.view(np.int32)"):
        ask(client, "model.kept.clear(); OUT = np.zeros(1, np.float32)")
        slow = SlowReader(memory, COUNT + f"model.kept['x'] = {keep}; OUT = x", sent)
        wait_until(lambda: executed(client, 1), "the execution")
        ask(client, "model.kept['x'][:] = 77; OUT = np.zeros(1, np.float32)")
        assert (slow.array() == sent).all(), keep
        slow.close()
    ask(client, "model.kept.clear(); OUT = np.zeros(1, np.float32)")


def test_responses_outlive_the_process_of_the_model(memory, connect, python_kind):
    client = connect("http", memory)
    ask(client, "model.kept.clear(); OUT = np.zeros(1, np.float32)")
    sent = numbers(4_000_000 // 4)
    readers = [SlowReader(memory, COUNT + code, sent) for code in ("OUT = x", "OUT = x * 1")]
    wait_until(lambda: executed(client, 2), "the executions")
    # The results of both have been received: the worker has answered a later request.
    pid = ask(client, "SAID = np.array([str(os.getpid()).encode()], object)", outputs=["SAID"])
    if python_kind == "nereid":
        os.kill(int(pid.array("SAID")[0]), signal.SIGKILL)
        wait_until(lambda: not executed_or_fails(client), "another process")
    for reader in readers:
        assert (reader.array() == sent).all()
        reader.close()


def executed_or_fails(client):
    """Returns whether the model is the one that has counted, or does not answer."""
    try:
        return executed(client, 1)
    except Exception:  # the client's own kind of error
        return True


def test_clients_that_never_read_hold_up_nobody(memory, connect, python_kind):
    client = connect("grpc", memory)
    readers = [SlowReader(memory, "OUT = x", numbers(MIB)) for _ in range(10)]
    for i in range(20):
        sent = numbers(300_000, i)
        assert (ask(client, "OUT = x", sent).array("OUT") == sent).all()
    for reader in readers:
        reader.close()


def test_a_client_that_vanishes_within_a_body(memory, connect):
    client = connect("http", memory)
    for sent in (0, 10, 100, 70_000, 900_000):
        unfinished = socket.create_connection(("127.0.0.1", memory.http_port))
        unfinished.sendall(
            f"POST {raw_http.infer_path('one')} HTTP/1.1\r\nHost: h\r\n"
            f"{raw_http.HEADER_LENGTH}: 100\r\nContent-Length: 1000000\r\n\r\n".encode() + b"x" * sent)
        unfinished.close()
        assert (ask(client, "OUT = x", numbers(250_000)).array("OUT") == numbers(250_000)).all()


# Forms of responses and requests


@pytest.mark.parametrize("binary, encoding", [(True, None), (False, None), (True, "gzip")])
def test_forms_of_a_large_output(memory, binary, encoding):
    x = numbers(40_000)
    document = {"inputs": [raw_http.tensor("CODE", "BYTES", [1], ["OUT = x"]),
                           raw_http.tensor("X", "FP32", x.shape, binary_data_size=x.nbytes)],
                "outputs": [{"name": "OUT", "parameters": {"binary_data": binary}}]}
    reply = raw_http.infer(memory, "one", document, x.tobytes(),
                           headers={"Accept-Encoding": encoding} if encoding else None)
    assert reply.status == 200
    if encoding:
        assert reply.headers["content-encoding"] == encoding
        reply.body = zlib.decompress(reply.body, 31)
    head, tensors = reply.parts()
    values = (np.frombuffer(tensors, np.float32) if binary
              else np.array(head["outputs"][0]["data"], np.float32))
    assert (values == x).all()


def test_classes_of_a_large_output(client):
    x = numbers(100_000)
    x[777] = 1e9
    sent = [client.input("CODE", texts("OUT = x")), client.input("X", x)]
    answer = client.infer("one", sent, [client.wanted("OUT", classes=1)])
    assert answer.array("OUT").tolist()[0].endswith(b":777")


def test_wrong_sizes_are_refused(memory):
    x = numbers(40_000)
    for size in (x.nbytes - 4, x.nbytes + 4):
        document = {"inputs": [raw_http.tensor("CODE", "BYTES", [1], ["OUT = x"]),
                               raw_http.tensor("X", "FP32", x.shape, binary_data_size=size)]}
        reply = raw_http.infer(memory, "one", document, x.tobytes())
        assert reply.status == 400, reply.body


def test_damaged_strings_are_refused(memory):
    damaged = struct.pack("<I", 200_000) + b"x" * 100_000
    document = {"inputs": [raw_http.tensor("CODE", "BYTES", [1], ["OUT = x"]),
                           raw_http.tensor("TEXTS", "BYTES", [1], binary_data_size=len(damaged))]}
    reply = raw_http.infer(memory, "one", document, damaged)
    assert reply.status == 400, reply.body


# Memory


def shared_bytes(server):
    """Returns the shared memory that the server has touched."""
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return int(re.search(r"RssShmem:\s+(\d+) kB", status.read()).group(1)) * 1024


def test_memory_follows_what_was_received(memory, python_kind):
    if python_kind != "nereid":
        pytest.skip("only Nereid's own Python backend receives into shared memory")
    before = shared_bytes(memory)
    waiting = []
    for _ in range(20):
        sent = socket.create_connection(("127.0.0.1", memory.http_port))
        sent.sendall(
            f"POST {raw_http.infer_path('one')} HTTP/1.1\r\nHost: h\r\n"
            f"{raw_http.HEADER_LENGTH}: 100\r\nContent-Length: {16 * MIB}\r\n\r\n".encode()
            + b"x" * 100_000)
        waiting.append(sent)
    # Each connection has got its block when the next request of a later connection is answered.
    assert raw_http.get(memory, "/v2/health/ready").status == 200
    assert shared_bytes(memory) - before < 20 * MIB
    for sent in waiting:
        sent.close()


def arenas(server):
    """Returns the files in which inputs are received, by process: those of the workers that have
    one."""
    found = {}
    for pid in children(server.process.pid):
        with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as maps:
            inodes = {line.split()[4] for line in maps if "nereid_python_inputs" in line}
        if inodes:
            found[pid] = inodes
    return found


def test_a_process_has_only_inputs_of_its_own_model(memory, client, python_kind):
    if python_kind != "nereid":
        pytest.skip("only Nereid's own Python backend receives into shared memory")
    pids = {}
    for model in ("one", "other"):
        code = "SAID = np.array([str(os.getpid()).encode()], object)"
        answer = ask(client, code, numbers(300_000), outputs=["SAID"], model=model)
        pids[model] = int(answer.array("SAID")[0])
    files = arenas(memory)
    assert files[pids["one"]] & files[pids["other"]] == set()
    assert all(len(inodes) == 1 for inodes in files.values())


WHERE = """
at = x.ctypes.data
for line in open("/proc/self/maps"):
    begin, end = (int(number, 16) for number in line.split()[0].split("-"))
    if begin <= at < end:
        SAID = np.array([line.encode()], object)
"""


def test_large_inputs_are_read_where_they_were_received(client, python_kind):
    if python_kind != "nereid":
        pytest.skip("only Nereid's own Python backend receives into shared memory")
    for size in (20_000, 300_000):
        said = ask(client, WHERE, numbers(size), outputs=["SAID"]).array("SAID")[0]
        assert b"nereid_python_inputs" in said


def test_a_message_that_names_another_model_at_its_end(memory):
    """The tensors are received in memory of the first model. As in protobuf the last name counts."""
    x = numbers(300_000)
    code = b"OUT = x"
    message = pb.ModelInferRequest(model_name="one", inputs=[
        grpc_raw.tensor("CODE", "BYTES", [1]), grpc_raw.tensor("X", "FP32", x.shape)],
        raw_input_contents=[len(code).to_bytes(4, "little") + code, x.tobytes()])
    parts = message.SerializeToString() + pb.ModelInferRequest(model_name="other").SerializeToString()
    with grpc_raw.channel(memory) as channel:
        call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer",
                                   response_deserializer=pb.ModelInferResponse.FromString)
        answer = call(parts, timeout=60)
    assert answer.model_name == "other"
    assert answer.raw_output_contents[0] == x.tobytes()


WORKS = """
import threading
open({path!r}, "w").close()
OUT = x
threading.Event().wait(600)
"""


def mapped_regions(pids):
    """Returns the files of /dev/shm that processes have mapped and that still have a name."""
    found = set()
    for pid in pids:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
            found |= {line.split(maxsplit=5)[5].rstrip("\n") for line in maps
                      if "/dev/shm/" in line}
    return {name for name in found if not name.endswith(" (deleted)")}


def test_a_server_that_is_killed_leaves_nothing(start_python, connect, python_kind, tmp_path):
    """Requests with large tensors are executed, wait in a queue, and are being received."""
    def write(root):
        for name in ("one", "other"):
            write_model(root, name, CODE, ONE)

    server = start_python("killed", write)
    client = connect("grpc", server)
    for model in ("one", "other"):
        assert (ask(client, "OUT = x + 1", numbers(300_000), model=model).array("OUT")
                == numbers(300_000, 1)).all()
    pids = children(server.process.pid)
    assert len(pids) >= 2

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(ask, client, WORKS.format(path=str(tmp_path / f"{model}-{i}")),
                             numbers(300_000), model=model)
                 for i in range(2) for model in ("one", "other")]
        wait_until(lambda: {file.name.split("-")[0] for file in tmp_path.iterdir()}
                   >= {"one", "other"}, "both models work")
        receiving = socket.create_connection(("127.0.0.1", server.http_port))
        receiving.sendall(f"POST {raw_http.infer_path('one')} HTTP/1.1\r\nHost: h\r\n"
                          f"{raw_http.HEADER_LENGTH}: 100\r\nContent-Length: {MIB}\r\n\r\n".encode()
                          + b"x" * 100_000)
        assert raw_http.get(server, "/v2/health/ready").status == 200
        regions = mapped_regions([server.process.pid, *pids])
        server.kill()
        server.process = None
        for call in calls:
            assert call.exception(timeout=60) is not None
    receiving.close()
    wait_until(lambda: all(state(pid) in ("", "Z") for pid in pids), "the ends of the processes")
    if python_kind == "nereid":
        assert regions == set(), "memory with a name stays when a process is killed"
