# SPDX-License-Identifier: Apache-2.0
"""Tensors in CUDA shared memory, with the fake driver of tests/fake_gpu and the official clients."""

import base64
import json
import os
import threading
import time

import models
import numpy as np
import pytest
import raw_http
from clients import TRANSPORTS
from cuda_memory import Cuda, Region
from test_shared_memory import ALLOWED, input_in, output_in, write
from tritonclient.utils import serialize_byte_tensor

@pytest.fixture(scope="module")
def fake_gpu(backends, is_peer):
    """The folder of the fake driver."""
    folder = backends.parent / "fake_gpu"
    if is_peer or not (folder / "libcuda.so.1").exists():
        pytest.skip("the server under test has no fake GPUs")
    return folder


@pytest.fixture(scope="module")
def failures(tmp_path_factory):
    """The file that makes calls of the server's driver fail."""
    path = tmp_path_factory.mktemp("failures") / "list"
    path.write_text("\n")
    return path


@pytest.fixture(scope="module")
def server(start_server, fake_gpu, failures):
    environment = {"LD_LIBRARY_PATH": str(fake_gpu), "NEREID_FAKE_GPUS": "2",
                   "NEREID_FAKE_CUDA_FAIL_FILE": str(failures)}
    return start_server("cuda_shared_memory", write, ALLOWED, environment=environment)


@pytest.fixture(scope="module")
def cuda(fake_gpu, server):
    os.environ.setdefault("NEREID_FAKE_GPUS", "2")
    return Cuda(fake_gpu / "libcuda.so.1")


@pytest.fixture(scope="module")
def transports(server, connect):
    return {name: connect(name, server) for name in TRANSPORTS}


@pytest.fixture(params=TRANSPORTS)
def client(request, transports):
    client = transports[request.param]
    yield client
    client.call("unregister_cuda_shared_memory")
    client.call("unregister_system_shared_memory")


@pytest.fixture
def region(cuda):
    """region(size, device) allocates GPU memory of the client."""
    made = []

    def make(size, device=0):
        made.append(Region(cuda, size, device))
        return made[-1]

    yield make
    for each in made:
        each.free()


@pytest.fixture
def fail(failures):
    """fail(list) makes calls of the server's driver fail, until the test ends."""
    def begin(text):
        failures.write_text(text + "\n")
        os.utime(failures, (time.time() + next_second(), time.time() + next_second()))

    seconds = iter(range(1, 1000))

    def next_second():
        return next(seconds)

    yield begin
    begin("")


def register(client, name, region, size=None):
    client.call("register_cuda_shared_memory", name, region.raw_handle, region.device,
                size or region.size)


def status(client, name=""):
    return client.call("get_cuda_shared_memory_status", name)


def names_of(client, name=""):
    answer = status(client, name)
    if isinstance(answer, list):
        return [entry["name"] for entry in answer]
    if isinstance(answer, dict):
        return sorted(answer.get("regions", {}))
    return sorted(answer.regions)


def refused(client, function, *arguments):
    with pytest.raises(Exception) as caught:
        client.call(function, *arguments)
    return str(caught.value)


@pytest.mark.parametrize("device", [0, 1])
def test_inputs_and_outputs(client, region, device):
    values = np.arange(16, dtype=np.int32), np.full(16, 7, np.int32)
    inputs, outputs = region(128, device), region(128, device)
    inputs.write(values[0].tobytes() + values[1].tobytes())
    register(client, "in", inputs)
    register(client, "out", outputs)
    answer = client.infer(
        "ints",
        [input_in(client, f"INPUT{i}", [16], "INT32", "in", 64, 64 * i) for i in (0, 1)],
        [output_in(client, f"OUTPUT{i}", "out", 64, 64 * i) for i in (0, 1)])
    for i in (0, 1):
        assert answer.output(f"OUTPUT{i}") == {"name": f"OUTPUT{i}", "datatype": "INT32",
                                               "shape": [16]}
        assert outputs.read(64, 64 * i) == values[i].tobytes()


def test_only_inputs_and_only_outputs(client, region):
    values = np.arange(16, dtype=np.int32)
    memory = region(128)
    memory.write(values.tobytes())
    register(client, "r", memory)
    answer = client.infer(
        "ints", [input_in(client, "INPUT0", [16], "INT32", "r", 64),
                 client.input("INPUT1", values)])
    assert np.array_equal(answer.array("OUTPUT0"), values)
    client.infer("ints", [client.input("INPUT0", values), client.input("INPUT1", values + 1)],
                 [output_in(client, "OUTPUT1", "r", 64, 64)])
    assert memory.read(64, 64) == (values + 1).tobytes()


def test_large_tensors_and_batches(client, region):
    count = 1_000_003
    values = np.arange(4 * count, dtype=np.float32).reshape(4, count)
    inputs, outputs = region(values.nbytes, 0), region(values.nbytes, 1)
    inputs.write(values.tobytes())
    register(client, "in", inputs)
    register(client, "out", outputs)
    client.infer("batched",
                 [input_in(client, "INPUT0", [4, count], "FP32", "in", values.nbytes)],
                 [output_in(client, "OUTPUT0", "out", values.nbytes)])
    assert outputs.read(values.nbytes) == values.tobytes()


def test_strings(client, region):
    strings = serialize_byte_tensor(np.array([b"one", b"", b"three"], dtype=object)).item()
    memory = region(256)
    memory.write(strings)
    register(client, "r", memory)
    client.infer("text", [input_in(client, "INPUT0", [3], "BYTES", "r", len(strings))],
                 [output_in(client, "OUTPUT0", "r", 128, 128)])
    assert memory.read(len(strings), 128) == strings
    memory.write(b"\xff\xff\xff\xff")
    with pytest.raises(Exception, match="INPUT0"):
        client.infer("text", [input_in(client, "INPUT0", [3], "BYTES", "r", len(strings))])


def test_an_ensemble(client, region):
    values = np.arange(16, dtype=np.int32)
    memory = region(128)
    memory.write(values.tobytes())
    register(client, "r", memory)
    client.infer("chain", [input_in(client, "x", [16], "INT32", "r", 64)],
                 [output_in(client, "y", "r", 64, 64)])
    assert memory.read(64, 64) == values.tobytes()


def test_status_and_unregister(client, region):
    a, b = region(100), region(200, 1)
    register(client, "b", b)
    register(client, "a", a, 50)
    assert names_of(client) == ["a", "b"]
    assert names_of(client, "b") == ["b"]
    assert "Unable to find cuda shared memory region: 'c'" in refused(
        client, "get_cuda_shared_memory_status", "c")
    assert ("The region named 'a' is registered as CUDA shared memory, not system shared memory"
            in refused(client, "get_system_shared_memory_status", "a"))
    assert "shared memory region 'a' already in manager" in refused(
        client, "register_cuda_shared_memory", "a", a.raw_handle, 0, 10)
    assert "shared memory region 'a' already in manager" in refused(
        client, "register_system_shared_memory", "a", "/absent", 10)
    client.call("unregister_system_shared_memory", "a")
    assert names_of(client) == ["a", "b"], "is of the other kind"
    client.call("unregister_cuda_shared_memory", "a")
    assert names_of(client) == ["b"]
    client.call("unregister_cuda_shared_memory")
    assert names_of(client) == []


def test_status_over_http(server, transports, region):
    client = transports["http"]
    register(client, "r", region(100, 1))
    answer = raw_http.get(server, "/v2/cudasharedmemory/region/r/status")
    assert json.loads(answer.body) == [{"name": "r", "device_id": 1, "byte_size": 100}]
    client.call("unregister_cuda_shared_memory")


def test_registrations_that_are_refused(client, region):
    memory = region(100)
    text = "failed to register shared memory region: invalid args"

    def message(handle, device, size):
        return refused(client, "register_cuda_shared_memory", "r", handle, device, size)

    for handle, device, size, why in [
            (memory.raw_handle, 0, 101, "its byte_size is 101, but the memory has only 100"),
            (memory.raw_handle, 0, 0, "its byte_size is 0"),
            (memory.raw_handle, 2, 100, "GPU 2"),
            (base64.b64encode(bytes(64)), 0, 100, "cannot open the handle")]:
        assert text in message(handle, device, size)
        assert why in message(handle, device, size)
    assert names_of(client) == []


def test_requests_that_are_refused(client, region):
    memory = region(100)
    register(client, "r", memory)

    def message(size, offset=0, output_size=100):
        with pytest.raises(Exception) as caught:
            client.infer("sum_of_one",
                         [input_in(client, "INPUT0", [4], "INT32", "r", size, offset)],
                         [output_in(client, "OUTPUT0", "r", output_size)])
        return str(caught.value)

    assert "Invalid offset for shared memory region: 'r'" in message(16, 100)
    assert "Invalid offset + byte size for shared memory region: 'r'" in message(16, 90)
    assert ("shared memory size specified with the request for output 'OUTPUT0' (8 bytes) should "
            "be at least 16 bytes to hold the results") in message(16, 0, 8)
    assert "input byte size mismatch for input 'INPUT0'" in message(12)


def test_a_region_in_use_stays(client, region, server):
    values = np.arange(16, dtype=np.int32)
    memory = region(128)
    memory.write(values.tobytes())
    register(client, "r", memory)

    def unregister():
        path = "/v2/cudasharedmemory/region/r/unregister"
        answers.append(raw_http.request(server, "POST", path).status)
        answers.append(json.loads(raw_http.get(server, "/v2/cudasharedmemory/status").body))

    answers = []
    # The model has the request by then, and keeps it for a second.
    timer = threading.Timer(0.3, unregister)
    timer.start()
    client.infer("slow", [input_in(client, "INPUT0", [16], "INT32", "r", 64)],
                 [output_in(client, "OUTPUT0", "r", 64, 64)])
    timer.join()
    assert answers == [200, []]
    assert memory.read(64, 64) == values.tobytes()


def test_many_requests_at_once(transports, region):
    client = transports["grpc"]

    def use(number):
        values = np.full(4096, number, np.int32)
        memory = region(32768, number % 2)
        memory.write(values.tobytes())
        register(client, f"r{number}", memory)
        for _ in range(20):
            client.infer("sum_of_one",
                         [input_in(client, "INPUT0", [4096], "INT32", f"r{number}", 16384)],
                         [output_in(client, "OUTPUT0", f"r{number}", 16384, 16384)])
        results[number] = memory.read(16384, 16384) == values.tobytes()

    results = {}
    threads = [threading.Thread(target=use, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == dict.fromkeys(range(6), True)


@pytest.mark.parametrize("call", ["cuMemcpyAsync=1", "cuStreamSynchronize=1", "cuStreamCreate=2",
                                  "cuCtxPushCurrent_v2=1"])
def test_a_driver_that_fails(client, region, server, fail, call):
    """Each call that fails ends its own request with one error that names the GPU."""
    values = np.arange(16, dtype=np.int32)
    memory = region(128)
    memory.write(values.tobytes())
    register(client, "r", memory)

    def infer():
        return client.infer("sum_of_one", [input_in(client, "INPUT0", [16], "INT32", "r", 64)],
                            [output_in(client, "OUTPUT0", "r", 64, 64)])

    fail(call)
    if call.startswith("cuStreamCreate"):
        infer()  # a stream was kept
    else:
        with pytest.raises(Exception, match="GPU 0"):
            infer()
    fail("")
    infer()
    assert memory.read(64, 64) == values.tobytes()
    assert raw_http.get(server, "/v2/health/live").status == 200


@pytest.mark.parametrize("call", ["cuMemcpyAsync:1!=700", "cuStreamSynchronize:1!=719"])
def test_a_gpu_that_is_lost(start_server, connect, cuda, fake_gpu, call):
    """Such an error is for good: every request that needs the GPU fails, others do not."""
    server = start_server("lost_gpu", write, ALLOWED, environment={
        "LD_LIBRARY_PATH": str(fake_gpu), "NEREID_FAKE_GPUS": "2", "NEREID_FAKE_CUDA_FAIL": call})
    client = connect("http", server)
    values = np.arange(16, dtype=np.int32)
    lost, other = Region(cuda, 128, 0), Region(cuda, 128, 1)
    for name, memory in (("lost", lost), ("other", other)):
        memory.write(values.tobytes())
        register(client, name, memory)

    def infer(name):
        return client.infer("sum_of_one", [input_in(client, "INPUT0", [16], "INT32", name, 64)],
                            [output_in(client, "OUTPUT0", name, 64, 64)])

    for _ in range(3):
        with pytest.raises(Exception, match="GPU 0"):
            infer("lost")
    infer("other")
    assert other.read(64, 64) == values.tobytes()
    assert np.array_equal(
        client.infer("sum_of_one", [client.input("INPUT0", values)]).array("OUTPUT0"), values)
    client.call("unregister_cuda_shared_memory")
    assert raw_http.get(server, "/v2/health/ready").status == 200
    lost.free()
    other.free()


def test_a_driver_that_fails_at_registrations(client, region, fail):
    memory = region(100)
    for call in ["cuIpcOpenMemHandle_v2=1", "cuMemGetAddressRange_v2=1"]:
        fail(call)
        assert "failed to register shared memory region: invalid args" in refused(
            client, "register_cuda_shared_memory", "r", memory.raw_handle, 0, 10)
    fail("")
    register(client, "r", memory)


def test_pools_are_on_the_metrics_page(server):
    page = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    assert "nv_pinned_memory_pool_total_bytes 268435456" in page
    assert "nv_pinned_memory_pool_used_bytes 0" in page
