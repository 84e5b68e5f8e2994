# SPDX-License-Identifier: Apache-2.0
"""Shared memory without a name: its descriptor comes with the registration over a Unix socket."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import models
import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "shared_memory" / "private_memory.py"
REGISTER = "/v2/systemsharedmemory/region/{}/register"
SIZE = 8192


def example():
    spec = importlib.util.spec_from_file_location("private_memory", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def start(start_server, is_peer, tmp_path_factory):
    if is_peer:
        pytest.skip("Triton serves no Unix sockets")
    folder = tmp_path_factory.mktemp("s")

    def run(allowed):
        def write(root):
            models.Repository(root).identity("ints", [("INT32", [-1])])

        path = f"{folder}/{allowed}"
        server = start_server(f"sent_{allowed}", write, f"--allow-client-shm={allowed}",
                              f"--http-address=unix:{path}", "--metrics-address=127.0.0.1")
        return server, path

    return run


@pytest.fixture(scope="module")
def sent(start):
    return start("sent")


@pytest.fixture
def client(sent):
    made = example().Client(sent[1])
    yield made
    made.post("/v2/systemsharedmemory/unregister", {})
    made.close()


def memfd(size=SIZE):
    descriptor = os.memfd_create("test")
    os.ftruncate(descriptor, size)
    return descriptor


def regions(client):
    client.connection.request("GET", "/v2/systemsharedmemory/status")
    return json.loads(client.connection.getresponse().read())


def open_descriptors(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


@pytest.mark.parametrize("allowed", ["sent", "true"])
def test_the_example(start, sent, allowed):
    path = sent[1] if allowed == "sent" else start(allowed)[1]
    for _ in range(2):
        run = subprocess.run([sys.executable, EXAMPLE, path, "ints"], capture_output=True,
                             text=True, timeout=60)
        assert (run.stdout, run.stderr) == ("1 2 3 4\n", "")


def test_a_region_has_no_key_unless_the_client_names_one(client):
    client.post(REGISTER.format("a"), {"byte_size": SIZE}, [memfd()])
    client.post(REGISTER.format("b"), {"key": "mine", "offset": 4096, "byte_size": 4096},
                [memfd()])
    assert regions(client) == [
        {"name": "a", "key": "", "offset": 0, "byte_size": SIZE},
        {"name": "b", "key": "mine", "offset": 4096, "byte_size": 4096}]


@pytest.mark.parametrize("make, error", [
    (lambda: os.open("/dev/null", os.O_RDWR), "is no file in memory"),
    (lambda: os.open("/etc/passwd", os.O_RDONLY), "is no file in memory"),
    (lambda: os.pipe()[0], "is no file in memory"),
    (lambda: socket.socket(socket.AF_UNIX).detach(), "is no file in memory"),
    (lambda: memfd(SIZE - 1), "invalid args")], ids=["device", "file", "pipe", "socket", "small"])
def test_wrong_descriptors(client, make, error):
    with pytest.raises(RuntimeError, match=error) as failure:
        client.post(REGISTER.format("r"), {"byte_size": SIZE}, [make()])
    assert str(failure.value).startswith("400:")
    assert regions(client) == []


def test_objects_cannot_be_named(client):
    with pytest.raises(RuntimeError, match="501: .*allow-client-shm=sent"):
        client.post(REGISTER.format("r"), {"key": "/nereid_sent", "byte_size": SIZE})
    with pytest.raises(RuntimeError, match="400: .*has no 'key' field"):
        client.post(REGISTER.format("r"), {"byte_size": SIZE})


def test_descriptors_that_no_request_wants_are_closed(client, sent):
    server = sent[0]
    regions(client)
    before = open_descriptors(server)
    for path in ("/v2/models/ints/infer", "/v2/systemsharedmemory/region/r/unregister", "/v2/x"):
        for _ in range(20):
            try:
                client.post(path, {}, [memfd() for _ in range(4)])
            except RuntimeError:
                pass  # an answer like any other
    for _ in range(20):
        client.post(REGISTER.format("r"), {"byte_size": SIZE}, [memfd()])
        client.post("/v2/systemsharedmemory/region/r/unregister", {})
    regions(client)
    assert open_descriptors(server) == before


def test_a_region_lives_without_its_connection(client, sent):
    other = example().Client(sent[1])
    region = example().PrivateRegion(other, "r", SIZE)
    other.connection.close()
    part = region.part(0, 16)
    answer = client.post("/v2/models/ints/infer", {"inputs": [
        {"name": "INPUT0", "datatype": "INT32", "shape": [4], "parameters": part}]})
    assert answer["outputs"][0]["data"] == [0, 0, 0, 0]


def test_memory_that_shrinks(client, sent):
    descriptor = memfd()
    client.post(REGISTER.format("r"), {"byte_size": SIZE}, [descriptor])
    os.ftruncate(descriptor, 0)
    with pytest.raises(RuntimeError, match="has only 0 bytes now"):
        client.post("/v2/models/ints/infer", {"inputs": [
            {"name": "INPUT0", "datatype": "INT32", "shape": [4],
             "parameters": {"shared_memory_region": "r", "shared_memory_byte_size": 16}}]})
    os.close(descriptor)
    assert sent[0].alive()
