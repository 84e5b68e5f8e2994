# SPDX-License-Identifier: Apache-2.0
"""Tensors in system shared memory, with tritonclient's own module for it."""

import itertools
import json
import os
import threading
import time

import models
import numpy as np
import pytest
import raw_http
import tritonclient.utils.shared_memory as shm
from clients import TRANSPORTS
from tritonclient.utils import serialize_byte_tensor

PAGE = 4096
ALLOWED = "--allow-client-shm=true"
NUMBERS = itertools.count()


def write(root):
    repository = models.Repository(root)
    repository.identity("ints", [("INT32", [-1])] * 2)
    repository.identity("batched", [("FP32", [-1])], batch=4)
    repository.identity("text", [("BYTES", [-1])])
    repository.identity("slow", [("INT32", [-1])],
                        extra=models.ONE_CPU_INSTANCE
                        + 'parameters { key: "execute_delay_ms" value { string_value: "1000" } }\n')
    repository.identity("sum_of_one", [("INT32", [-1])])
    _write_chain(root)


def _write_chain(root):
    """Writes an ensemble whose only step is `sum_of_one`."""
    (root / "chain" / "1").mkdir(parents=True)
    (root / "chain" / "config.pbtxt").write_text("""\
name: "chain"
platform: "ensemble"
input { name: "x" data_type: TYPE_INT32 dims: [ -1 ] }
output { name: "y" data_type: TYPE_INT32 dims: [ -1 ] }
ensemble_scheduling { step {
  model_name: "sum_of_one" model_version: -1
  input_map { key: "INPUT0" value: "x" } output_map { key: "OUTPUT0" value: "y" }
} }
""")


@pytest.fixture(scope="module")
def server(start_server, is_peer):
    # Triton 2.51 has no switch: clients may always register regions.
    return start_server("shared_memory", write, *([] if is_peer else [ALLOWED]))


@pytest.fixture(scope="module")
def transports(server, connect):
    return {name: connect(name, server) for name in TRANSPORTS}


@pytest.fixture
def client(request, transports):
    client = transports[request.param]
    yield client
    client.call("unregister_system_shared_memory")


def pytest_generate_tests(metafunc):
    if "client" in metafunc.fixturenames:
        metafunc.parametrize("client", TRANSPORTS, indirect=True)


@pytest.fixture
def region():
    """region(size) creates an object of shared memory with tritonclient's module."""
    made = []

    def make(size):
        key = f"nereid_shm_{os.getpid()}_{next(NUMBERS)}"
        made.append(shm.create_shared_memory_region(key, key, size, create_only=True))
        return made[-1]

    yield make
    for handle in made:
        shm.destroy_shared_memory_region(handle)


def key_of(handle):
    return "/" + handle._shm_key


def register(client, name, handle, size, offset=0):
    client.call("register_system_shared_memory", name, key_of(handle), size, offset=offset)


def input_in(client, name, shape, datatype, region, size, offset=0):
    tensor = client._module.InferInput(name, list(shape), datatype)
    tensor.set_shared_memory(region, size, offset=offset)
    return tensor


def output_in(client, name, region, size, offset=0):
    output = client.wanted(name)
    output.set_shared_memory(region, size, offset=offset)
    return output


def test_inputs_and_outputs(client, region):
    """What tritonclient's example simple_*_shm_client does."""
    values = np.arange(16, dtype=np.int32), np.full(16, 7, np.int32)
    inputs, outputs = region(128), region(128)
    shm.set_shared_memory_region(inputs, list(values))
    register(client, "in", inputs, 128)
    register(client, "out", outputs, 128)
    answer = client.infer(
        "ints",
        [input_in(client, f"INPUT{i}", [16], "INT32", "in", 64, 64 * i) for i in (0, 1)],
        [output_in(client, f"OUTPUT{i}", "out", 64, 64 * i) for i in (0, 1)])
    for i in (0, 1):
        assert answer.output(f"OUTPUT{i}") == {"name": f"OUTPUT{i}", "datatype": "INT32",
                                              "shape": [16]}
        got = shm.get_contents_as_numpy(outputs, np.int32, [16], offset=64 * i)
        assert np.array_equal(got, values[i])


def test_strings(client, region):
    """What tritonclient's example simple_*_shm_string_client does."""
    texts = np.array([str(i).encode() for i in range(16)] + [b"", b"\xff\x00x"], dtype=object)
    serialized = serialize_byte_tensor(texts)
    size = len(serialized.item())
    handle = region(2 * PAGE)
    shm.set_shared_memory_region(handle, [serialized])
    register(client, "r", handle, 2 * PAGE)
    client.infer("text", [input_in(client, "INPUT0", [18], "BYTES", "r", size)],
                 [output_in(client, "OUTPUT0", "r", size, PAGE)])
    got = shm.get_contents_as_numpy(handle, np.object_, [18], offset=PAGE)
    assert list(got) == list(texts)


def test_inputs_only(client, region):
    values = np.array([1.5, -2, 3, 0.25], np.float32)
    handle = region(PAGE)
    shm.set_shared_memory_region(handle, [values], offset=100)
    register(client, "r", handle, PAGE)
    answer = client.infer("batched",
                          [input_in(client, "INPUT0", [2, 2], "FP32", "r", 16, 100)], ["OUTPUT0"])
    assert np.array_equal(answer.array("OUTPUT0"), values.reshape(2, 2))


def test_outputs_only(client, region):
    values = np.arange(8, dtype=np.int32)
    handle = region(PAGE)
    register(client, "r", handle, PAGE)
    other = values[::-1].copy()
    answer = client.infer("ints", [client.input("INPUT0", values), client.input("INPUT1", other)],
                          [output_in(client, "OUTPUT0", "r", 200, 8), client.wanted("OUTPUT1")])
    assert np.array_equal(shm.get_contents_as_numpy(handle, np.int32, [8], offset=8), values)
    assert np.array_equal(answer.array("OUTPUT1"), other)


def test_one_input_of_two(client, region):
    values = np.arange(8, dtype=np.int32)
    handle = region(PAGE)
    shm.set_shared_memory_region(handle, [values])
    register(client, "r", handle, PAGE)
    answer = client.infer("ints", [input_in(client, "INPUT0", [8], "INT32", "r", 32),
                                   client.input("INPUT1", values + 1)])
    assert np.array_equal(answer.array("OUTPUT0"), values)
    assert np.array_equal(answer.array("OUTPUT1"), values + 1)


def test_large_tensors(client, region):
    values = np.random.default_rng(1).integers(0, 1 << 30, 1 << 18, np.int32)  # 1 MiB
    handle = region(2 << 20)
    shm.set_shared_memory_region(handle, [values])
    register(client, "r", handle, 2 << 20)
    client.infer("sum_of_one", [input_in(client, "INPUT0", values.shape, "INT32", "r", 1 << 20)],
                 [output_in(client, "OUTPUT0", "r", 1 << 20, 1 << 20)])
    got = shm.get_contents_as_numpy(handle, np.int32, values.shape, offset=1 << 20)
    assert np.array_equal(got, values)


def test_many_strings(client, region):
    """More strings than an event loop checks."""
    texts = np.array([b"%07d" % i for i in range(1 << 17)], dtype=object)
    serialized = serialize_byte_tensor(texts)
    size = len(serialized.item())
    assert size > 1 << 20
    handle = region(2 * size)
    shm.set_shared_memory_region(handle, [serialized])
    register(client, "r", handle, 2 * size)
    client.infer("text", [input_in(client, "INPUT0", texts.shape, "BYTES", "r", size)],
                 [output_in(client, "OUTPUT0", "r", size, size)])
    assert bytes(handle._mpsm_handle.buf[size:2 * size]) == serialized.item()
    shm.set_shared_memory_region(handle, [np.full(4, 0xff, np.uint8)], offset=size - 11)
    client.expect("INVALID_ARG", "INPUT0", client.infer, "text",
                  [input_in(client, "INPUT0", texts.shape, "BYTES", "r", size)])


def test_ensemble(client, region):
    values = np.arange(4, dtype=np.int32)
    handle = region(PAGE)
    shm.set_shared_memory_region(handle, [values])
    register(client, "r", handle, PAGE)
    client.infer("chain", [input_in(client, "x", [4], "INT32", "r", 16)],
                 [output_in(client, "y", "r", 16, 64)])
    assert np.array_equal(shm.get_contents_as_numpy(handle, np.int32, [4], offset=64), values)


def test_region_at_offset(client, region):
    """Offsets of tensors count from the start of the region."""
    values = np.arange(4, dtype=np.int32)
    handle = region(4 * PAGE)
    shm.set_shared_memory_region(handle, [values], offset=PAGE + 16)
    register(client, "r", handle, 2 * PAGE, offset=PAGE)
    client.infer("sum_of_one", [input_in(client, "INPUT0", [4], "INT32", "r", 16, 16)],
                 [output_in(client, "OUTPUT0", "r", 16, PAGE)])
    got = shm.get_contents_as_numpy(handle, np.int32, [4], offset=2 * PAGE)
    assert np.array_equal(got, values)


def regions_of(client, name=""):
    answer = client.json("get_system_shared_memory_status", name)
    if client.protocol == "grpc":
        answer = answer.get("regions", {}).values()
    return sorted((r["name"], r["key"], int(r.get("offset", 0)), int(r["byte_size"]))
                  for r in answer)


def test_status_and_unregister(client, region):
    first, second = region(PAGE), region(2 * PAGE)
    assert regions_of(client) == []
    register(client, "a", first, 100)
    register(client, "b", second, PAGE, offset=PAGE)
    rows = [("a", key_of(first), 0, 100), ("b", key_of(second), PAGE, PAGE)]
    assert regions_of(client) == rows
    assert regions_of(client, "b") == rows[1:]
    client.call("unregister_system_shared_memory", "a")
    assert regions_of(client) == rows[1:]
    client.call("unregister_system_shared_memory", "a")  # unknown names are ignored
    register(client, "a", first, 100)
    client.call("unregister_system_shared_memory")
    assert regions_of(client) == []
    client.expect("NOT_FOUND", "Unable to find system shared memory region: 'a'", client.call,
                  "get_system_shared_memory_status", "a")


def test_registered_twice(client, region):
    handle = region(PAGE)
    register(client, "r", handle, PAGE)
    text = "shared memory region 'r' already in manager"
    status, message = client.error(register, client, "r", handle, PAGE)
    assert status in (400, "ALREADY_EXISTS")
    assert text in message


def test_a_region_that_does_not_exist(client):
    client.expect("NOT_FOUND", "Unable to open shared memory region: '/nereid_absent': No such "
                  "file or directory", client.call, "register_system_shared_memory", "r",
                  "/nereid_absent", 64)


def test_refused_regions(client, region):
    handle = region(PAGE)
    refused = "failed to register shared memory region 'r': "
    client.expect("INVALID_ARG", refused + "invalid args", register, client, "r", handle, PAGE + 1)
    client.expect("INVALID_ARG", refused + "unable to process address space", register, client,
                  "r", handle, 0)
    client.expect("INVALID_ARG", refused + "unable to process address space", register, client,
                  "r", handle, 64, 1)
    assert regions_of(client) == []


def test_refused_tensors(client, region):
    handle = region(PAGE)
    register(client, "r", handle, PAGE)

    def infer(where, size, offset=0, count=4):
        tensor = input_in(client, "INPUT0", [count], "INT32", where, size, offset)
        return client.infer("sum_of_one", [tensor])

    client.expect("NOT_FOUND", "Unable to find shared memory region: 'absent'", infer, "absent", 16)
    client.expect("INVALID_ARG", "Invalid offset for shared memory region: 'r'", infer, "r", 16,
                  PAGE)
    client.expect("INVALID_ARG", "Invalid offset + byte size for shared memory region: 'r'", infer,
                  "r", 16, PAGE - 15)
    client.expect("INVALID_ARG", "byte size mismatch for input 'INPUT0'", infer, "r", 16, 0, 5)
    tensor = client.input("INPUT0", np.arange(4, dtype=np.int32))
    client.expect("INTERNAL", "shared memory size specified with the request for output 'OUTPUT0' "
                  "(15 bytes) should be at least 16 bytes to hold the results", client.infer,
                  "sum_of_one", [tensor], [output_in(client, "OUTPUT0", "r", 15)])
    infer("r", 16)


def test_unregistered_in_use(client, region, server):
    """A request in progress keeps its region; Triton 2.51 refuses to unregister it."""
    values = np.arange(4, dtype=np.int32)
    handle = region(PAGE)
    shm.set_shared_memory_region(handle, [values])
    register(client, "r", handle, PAGE)
    answers = []

    def unregister():
        path = "/v2/systemsharedmemory/region/r/unregister"
        answers.append(raw_http.request(server, "POST", path).status)
        answers.append(json.loads(raw_http.get(server, "/v2/systemsharedmemory/status").body))

    # The model has the request by then, and keeps it for a second.
    timer = threading.Timer(0.3, unregister)
    timer.start()
    client.infer("slow", [input_in(client, "INPUT0", [4], "INT32", "r", 16)],
                 [output_in(client, "OUTPUT0", "r", 16, 64)])
    timer.join()
    assert answers == [200, []]
    assert np.array_equal(shm.get_contents_as_numpy(handle, np.int32, [4], offset=64), values)


def test_object_that_shrank(client, region):
    """Triton 2.51 dies of SIGBUS."""
    handle = region(2 * PAGE)
    register(client, "r", handle, 2 * PAGE)
    path = "/dev/shm" + key_of(handle)

    def infer():
        return client.infer("sum_of_one",
                            [input_in(client, "INPUT0", [4], "INT32", "r", 16, PAGE)])

    infer()
    os.truncate(path, PAGE)
    client.expect("INVALID_ARG", "has only 4096 bytes now", infer)
    os.truncate(path, 2 * PAGE)
    infer()


def test_object_that_shrinks_in_use(client, region, server):
    """The model reads its input after the object has shrunk."""
    handle, other = region(2 * PAGE), region(PAGE)
    values = np.arange(4, dtype=np.int32)
    shm.set_shared_memory_region(other, [values])
    register(client, "r", handle, 2 * PAGE)
    register(client, "other", other, PAGE)
    path = "/dev/shm" + key_of(handle)

    def infer(where, offset=0):
        return client.infer("slow", [input_in(client, "INPUT0", [4], "INT32", where, 16, offset)])

    truncate = threading.Timer(0.3, os.truncate, (path, PAGE))
    # The only instance is busy for a second, so this request's input is read after that.
    document = {"inputs": [{"name": "INPUT0", "datatype": "INT32", "shape": [4], "parameters": {
        "shared_memory_region": "other", "shared_memory_byte_size": 16}}]}
    busy = threading.Thread(target=raw_http.infer, args=(server, "slow", document))
    busy.start()
    truncate.start()
    time.sleep(0.1)  # the first request is the first to arrive
    client.expect("INVALID_ARG", "became smaller than the region", infer, "r", PAGE)
    busy.join()
    os.truncate(path, 2 * PAGE)
    client.expect("INVALID_ARG", "became smaller than the region", infer, "r", PAGE)
    assert np.array_equal(infer("other").array("OUTPUT0"), values)
    client.call("unregister_system_shared_memory", "r")
    register(client, "r", handle, 2 * PAGE)
    assert np.array_equal(infer("r", PAGE).array("OUTPUT0"), np.zeros(4, np.int32))


def test_keys_of_other_files(client):
    for key in ("", "/", "/a/b", "/../../etc/hostname", "..", "/triton_python_backend_shm_region_1"):
        client.expect("INVALID_ARG", "cannot register shared memory region 'r'", client.call,
                      "register_system_shared_memory", "r", key, 64)


def test_cuda(client):
    """There is no GPU."""
    handle = bytes(64)
    if client.protocol == "http":  # the clients expect base64
        import base64
        handle = base64.b64encode(handle)
    client.expect("INVALID_ARG", "failed to register", client.call,
                  "register_cuda_shared_memory", "c", handle, 0, 64)
    assert not client.json("get_cuda_shared_memory_status")
    client.call("unregister_cuda_shared_memory")
    client.expect("NOT_FOUND", "Unable to find cuda shared memory region: 'c'", client.call,
                  "get_cuda_shared_memory_status", "c")


# (name, body, status, error)
BAD_BODIES = [
    ("empty", b"", 400, "failed to parse the request JSON buffer: The document is empty. at 0"),
    ("no_key", b'{"byte_size":1}', 400, "Shared memory register request has no 'key' field"),
    ("no_size", b'{"key":"k"}', 400, "Shared memory register request has no 'byte_size' field"),
    ("key_number", b'{"key":1,"byte_size":1}', 400,
     "Unable to parse 'key': attempt to access JSON non-string as string"),
    ("size_text", b'{"key":"k","byte_size":"1"}', 400, "Unable to parse 'byte_size': attempt to "
     "access JSON non-unsigned-integer as unsigned-integer"),
    ("offset_text", b'{"key":"k","offset":"1","byte_size":1}', 400, "Unable to parse 'offset': "
     "attempt to access JSON non-unsigned-integer as unsigned-integer"),
]


@pytest.mark.parametrize("body,status,error", [b[1:] for b in BAD_BODIES],
                         ids=[b[0] for b in BAD_BODIES])
def test_bad_bodies(server, body, status, error):
    answer = raw_http.request(server, "POST", "/v2/systemsharedmemory/region/r/register", body)
    assert (answer.status, json.loads(answer.body)) == (status, {"error": error})


def test_off_by_default(start_server, is_peer, connect):
    if is_peer:
        pytest.skip("Triton 2.51 has no such switch")
    server = start_server("shared_memory_off", lambda root: models.Repository(root).identity(
        "sum_of_one", [("INT32", [-1])]))
    text = ("Client shared memory is disabled. Start the server with '--allow-client-shm=true' to "
            "enable.")
    for name in ("http", "grpc"):
        client = connect(name, server)
        client.expect("UNSUPPORTED", text, client.call, "register_system_shared_memory", "r", "/k",
                      64)
        client.expect("UNSUPPORTED", text, client.call, "unregister_system_shared_memory")
        assert regions_of(client) == []
        client.expect("NOT_FOUND", "Unable to find shared memory region: 'r'", client.infer,
                      "sum_of_one", [input_in(client, "INPUT0", [4], "INT32", "r", 16)])
