# SPDX-License-Identifier: Apache-2.0
"""A driver that fails while requests use GPU memory: every function that they call, once and for
good. Every request gets its answer or one clear error, and the server lives on. The GPUs are those
of the fake driver (tests/fake_gpu)."""

import itertools
import json
import os
import shutil
import time

import pytest
import raw_http

cuda_memory = pytest.importorskip("cuda_memory")

VALUES = list(range(16))
CONTENT = b"".join(value.to_bytes(4, "little") for value in VALUES)
# Errors 999 and 719 in the words of the driver.
WORDS = {999: "CUDA_ERROR_UNKNOWN", 719: "CUDA_ERROR_LAUNCH_FAILED"}
NUMBERS = itertools.count(1)


def _tensor(kind, name, dims="[ 16 ]"):
    return f'{kind} {{ name: "{name}" data_type: TYPE_INT32 dims: {dims} }}\n'


def _model(root, plugins, name, gpu, more="", dims="[ 16 ]"):
    folder = root / name
    (folder / "1").mkdir(parents=True)
    shutil.copy(plugins / "libtriton_on_gpu.so", folder)
    (folder / "config.pbtxt").write_text(
        f'backend: "on_gpu"\n{_tensor("input", "INPUT0", dims)}{_tensor("output", "OUTPUT0", dims)}'
        f"instance_group {{ kind: KIND_GPU gpus: [ {gpu} ] }}\n{more}")


def _write(plugins):
    def write(root):
        _model(root, plugins, "first", 0)
        _model(root, plugins, "second", 1)
        _model(root, plugins, "states", 0, _tensor("output", "PREVIOUS", "[ -1 ]")
               + "sequence_batching { direct { } state { input_name: \"STATE_IN\" "
               "output_name: \"STATE_OUT\" data_type: TYPE_INT32 dims: [ -1 ] } }\n", "[ -1 ]")
        step = ('step {{ model_name: "{}" model_version: -1 '
                'input_map {{ key: "INPUT0" value: "{}" }} '
                'output_map {{ key: "OUTPUT0" value: "{}" }} }}\n')
        (root / "chain" / "1").mkdir(parents=True)
        (root / "chain" / "config.pbtxt").write_text(
            'platform: "ensemble"\n' + _tensor("input", "x") + _tensor("output", "y")
            + "ensemble_scheduling {\n" + step.format("first", "x", "t")
            + step.format("second", "t", "y") + "}\n")
    return write


@pytest.fixture(scope="module")
def start(start_server, backends, is_peer, test_plugins, tmp_path_factory):
    """Returns start(): a server whose driver a test can make fail, and its files."""
    folder = backends.parent / "fake_gpu"
    if is_peer or not (folder / "libcuda.so.1").exists():
        pytest.skip("the server under test has no fake GPUs")
    if not (test_plugins / "libtriton_on_gpu.so").exists():
        pytest.skip("the backend 'on_gpu' is not built")

    def start():
        files = tmp_path_factory.mktemp("gpu_faults")
        (files / "failures").write_text("\n")
        started = start_server("gpu_faults", _write(test_plugins), "--allow-client-shm=true",
                               environment={
                                   "LD_LIBRARY_PATH": str(folder), "NEREID_FAKE_GPUS": "2",
                                   "NEREID_FAKE_CUDA_FAIL_FILE": str(files / "failures"),
                                   "NEREID_FAKE_CUDA_FAIL_COUNTS": str(files / "counts")})
        return started, files
    return start


@pytest.fixture(scope="module")
def region(backends, start):
    os.environ.setdefault("NEREID_FAKE_GPUS", "2")
    cuda = cuda_memory.Cuda(backends.parent / "fake_gpu" / "libcuda.so.1")
    region = cuda_memory.Region(cuda, 192, 0)
    region.write(CONTENT)
    return region


def fail(files, text):
    """Makes the server's driver fail. Its counts begin anew."""
    (files / "failures").write_text(text + "\n")
    time = next(NUMBERS) * 1_000_000
    os.utime(files / "failures", ns=(time, time))


def counts(files):
    text = (files / "counts").read_bytes().replace(b"\0", b"").decode()
    return {words[0]: int(words[1]) for words in map(str.split, text.splitlines())
            if len(words) == 2}


def register(server, region):
    body = {"raw_handle": {"b64": region.raw_handle.decode()}, "device_id": 0, "byte_size": 192}
    return raw_http.request(server, "POST", "/v2/cudasharedmemory/region/r/register",
                            json.dumps(body).encode())


def ask(server, model, name="INPUT0", output="OUTPUT0", **parameters):
    return raw_http.infer(server, model, {
        "inputs": [raw_http.tensor(name, "INT32", [16], VALUES)],
        "outputs": [{"name": output}], "parameters": parameters})


def ask_in_place(server, model):
    shared = {"shared_memory_region": "r", "shared_memory_byte_size": 64}
    return raw_http.infer(server, model, {
        "inputs": [{"name": "INPUT0", "datatype": "INT32", "shape": [16], "parameters": shared}],
        "outputs": [{"name": "OUTPUT0", "parameters": {**shared, "shared_memory_offset": 64}}]})


def work(server, region):
    """Uses GPU memory in every way. Returns the errors; an answer must be right."""
    errors = []

    def see(answer, *values):
        if answer.status != 200:
            errors.append(answer.error)
            return False
        for output in answer.json.get("outputs", []) if values else []:
            assert output["data"] in values, answer.json
        return True

    if see(register(server, region)):
        for model in ("first", "second"):
            region.write(bytes(64), 64)
            if see(ask_in_place(server, model)):
                assert region.read(64, 64) == CONTENT
    see(ask(server, "first"), VALUES)
    see(ask(server, "chain", "x", "y"), VALUES)
    number = next(NUMBERS)
    for step in range(3):
        see(ask(server, "states", sequence_id=number, sequence_start=step == 0,
                sequence_end=step == 2), VALUES)
    raw_http.get(server, "/metrics", port=server.metrics_port)
    see(raw_http.request(server, "POST", "/v2/cudasharedmemory/unregister", b""))
    return errors


def used_bytes(server):
    """Returns the lines of the pools that are in use. A request gives its memory back a moment after
    its answer, so waits for that, but not forever."""
    deadline = time.monotonic() + 10
    while True:
        page = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
        used = [line for line in page.splitlines()
                if "memory_pool_used_bytes" in line and not line.startswith("#")
                and not line.endswith(" 0")]
        if not used or time.monotonic() > deadline:
            return used
        time.sleep(0.01)


@pytest.fixture(scope="module")
def functions(start, region):
    """The functions that requests call, and how often."""
    server, files = start()
    before = counts(files)
    assert work(server, region) == []
    calls = {name: count - before.get(name, 0) for name, count in counts(files).items()}
    return {name: count for name, count in calls.items() if count > 0}


def test_a_call_that_fails_once_costs_no_more_than_its_requests(start, region, functions):
    server, files = start()
    assert work(server, region) == []
    assert {"cuMemcpyAsync", "cuIpcOpenMemHandle_v2"} <= set(functions)
    for function, count in functions.items():
        for call in sorted({1, (count + 1) // 2, count}):
            fail(files, f"{function}:{call}!=999")
            for error in work(server, region):
                assert WORDS[999] in error or "Unable to find" in error or "r'" in error, (
                    function, call, error)
            fail(files, "")
            assert work(server, region) == [], (function, call)
            assert used_bytes(server) == [], (function, call)
    assert server.alive()


@pytest.mark.parametrize("result", [999, 719])
def test_a_call_that_always_fails_leaves_a_server(start, region, functions, result):
    for function in functions:
        server, files = start()
        fail(files, f"{function}={result}")
        for _ in range(2):
            for error in work(server, region):
                assert WORDS[result] in error or "Unable to find" in error or "r'" in error, (
                    function, error)
        assert server.alive(), function
        fail(files, "")
        work(server, region)
        assert raw_http.get(server, "/v2/health/live").status == 200
        server.stop()
