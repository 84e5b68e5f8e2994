# SPDX-License-Identifier: Apache-2.0
"""Requests and responses of nereid.Server."""

import gc
import resource
import sys
import threading

import ml_dtypes
import numpy as np
import pytest
from conftest import TYPES
from inputs import repeat

import nereid

NUMPY_TYPES = {
    "BOOL": np.bool_,
    "FP16": np.float16,
    "FP32": np.float32,
    "FP64": np.float64,
    "BF16": ml_dtypes.bfloat16,
}


def numpy_type(name):
    return np.dtype(NUMPY_TYPES.get(name) or name.lower())


@pytest.mark.parametrize("name", [name for name in TYPES if name != "STRING"])
@pytest.mark.parametrize("size", [0, 1, 1000])
def test_every_type(server, name, size):
    array = (np.arange(size) % 2).astype(numpy_type(name))
    response = server.model(f"echo_{name.lower()}").infer({"IN": array})
    result = response["OUT"]
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)
    assert result.shape == (size,)


@pytest.mark.parametrize(
    "strings",
    [
        np.array([b"a", b"", b"\0b\0", "ü".encode()], np.object_),
        np.array(["ab", "c", "", "ü"], np.object_),
        np.array([b"ab", b"c"], "S4"),
        np.array(["ab", "ü"], "U4"),
        [b"a", b"b\0"],
        ["a", "ü"],
    ],
)
def test_strings(server, strings):
    response = server.model("echo_string").infer({"IN": strings})
    expected = [item.encode() if isinstance(item, str) else bytes(item) for item in strings]
    assert response["OUT"].tolist() == expected
    assert response.outputs["OUT"].to_bytes_array().tolist() == expected


def test_other_values(server):
    model = server.model("echo_int64")
    assert model.infer({"IN": [1, 2, 3]})["OUT"].tolist() == [1, 2, 3]
    tensor = nereid.Tensor.from_numpy(np.arange(3))
    assert model.infer({"IN": tensor})["OUT"].tolist() == [0, 1, 2]
    for array in (np.arange(10)[::2], np.arange(4, dtype=">i8")):
        assert model.infer({"IN": array})["OUT"].tolist() == array.tolist()
    with pytest.raises(nereid.InvalidArgumentError, match="Input type <class 'dict'> not"):
        model.infer({"IN": {}})
    with pytest.raises(nereid.InvalidArgumentError, match="NumPy type complex128 not supported"):
        model.infer({"IN": np.zeros(1, np.complex128)})


class OnlyDlpack:
    """An object of another framework."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **kwargs):
        return self._array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_dlpack_inputs(server):
    model = server.model("echo_fp32")
    array = np.arange(6, dtype=np.float32)
    assert model.infer({"IN": OnlyDlpack(array)})["OUT"].tolist() == array.tolist()
    with pytest.raises(nereid.InvalidArgumentError, match="Only contiguous memory is supported"):
        model.infer({"IN": OnlyDlpack(array[::2])})
    with pytest.raises(nereid.InvalidArgumentError, match="data type of the DLPack object"):
        model.infer({"IN": OnlyDlpack(np.zeros(1, np.complex64))})


def test_outputs_are_views_that_outlive_everything(repository):
    with nereid.Server(repository, load_model=["echo_fp32"]) as server:
        array = np.arange(1000, dtype=np.float32)
        response = server.model("echo_fp32").infer({"IN": array})
        first, second = response["OUT"], response["OUT"]
        by_dlpack = np.from_dlpack(response.outputs["OUT"])
        assert np.shares_memory(first, second) and np.shares_memory(first, by_dlpack)
        assert first.ctypes.data % 64 == 0 and first.flags.writeable
        del response, second
    gc.collect()
    np.testing.assert_array_equal(first, array)
    np.testing.assert_array_equal(by_dlpack, array)


def test_inputs_are_released_with_the_request(server):
    array = np.zeros(10, np.float32)
    before = sys.getrefcount(array)
    server.model("echo_fp32").infer({"IN": array})
    assert sys.getrefcount(array) == before
    with pytest.raises(nereid.InvalidArgumentError):
        server.model("echo_fp32").infer({"IN": array, "other": array})
    assert sys.getrefcount(array) == before


def test_request_options(server):
    response = server.model("parameters").infer(
        {"IN": np.zeros(1, np.float32)},
        parameters={"text": "ü", "number": -3, "flag": True, "real": 0.5},
        request_id="seven",
        priority=1,
        timeout=10,
        correlation_id="sequence",
        outputs=["OUT"],
    )
    assert response.request_id == "seven" and response.final
    assert response.model_name == "parameters" and response.model_version == 1
    wanted = {"text": "ü", "number": -3, "flag": True, "real": 0.5}
    assert {name: response.parameters[name] for name in wanted} == wanted
    assert "OUT" in response and list(response.numpy()) == ["OUT"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"request_id": 7}, TypeError),
        ({"request_id": "a\0b"}, ValueError),
        ({"correlation_id": -1}, OverflowError),
        ({"correlation_id": 1.5}, TypeError),
        ({"flags": 1 << 32}, OverflowError),
        ({"parameters": {"a": []}}, nereid.InvalidArgumentError),
        ({"parameters": {1: 1}}, TypeError),
        ({"outputs": [1]}, TypeError),
        ({"outputs": ["none"]}, nereid.InvalidArgumentError),
    ],
)
def test_wrong_options(server, arguments, error):
    with pytest.raises(error):
        server.model("echo_fp32").infer({"IN": np.zeros(1, np.float32)}, **arguments)


def test_wrong_inputs(server):
    model = server.model("echo_fp32")
    for inputs, error in (
        ([], TypeError),
        ({1: [0]}, TypeError),
        ({"IN": [0.5]}, nereid.InvalidArgumentError),  # FP64
        ({}, nereid.InvalidArgumentError),
    ):
        with pytest.raises(error):
            model.infer(inputs)
    with pytest.raises(nereid.NotFoundError, match="unknown model: 'none'"):
        server.model("none").infer({})


def test_streams(server):
    model = server.model("repeat")
    responses = list(model.stream(repeat([5, 6, 7])))
    assert [response["OUT"][0] for response in responses] == [5, 6, 7]
    assert list(model.stream(repeat([]))) == []
    with pytest.raises(nereid.UnsupportedError, match="sent 2 responses"):
        model.infer(repeat([1, 2]))
    assert model.infer(repeat([9]))["OUT"].tolist() == [9]
    assert model.is_decoupled() and not server.model("echo_fp32").is_decoupled()


def test_cancelled_stream_ends(server):
    stream = server.model("repeat").stream(repeat([1] * 1000, delay_ms=20))
    assert next(stream)["OUT"][0] == 1
    stream.cancel()
    with pytest.raises((nereid.CancelledError, StopIteration)):
        while True:
            next(stream)


def test_dropped_stream_is_cancelled(server):
    stream = server.model("repeat").stream(repeat([1] * 1000, delay_ms=20))
    next(stream)
    del stream  # the server's stop would wait 20 s for it otherwise


def test_responses_that_wait_are_bounded(server):
    """infer() reads the responses when the last one has come."""
    with pytest.raises(nereid.UnavailableError, match="16384 responses .* were not read"):
        server.model("repeat").infer(repeat([1] * 20_000))


def test_trace(server):
    stream = server.model("echo_fp32").stream(
        {"IN": np.zeros(1, np.float32)}, trace=nereid.TraceLevel.TIMESTAMPS
    )
    assert len(list(stream)) == 1
    events = stream.trace()
    names = [event.activity for event in events]
    assert names[0] == "REQUEST_START" and "COMPUTE_START" in names
    assert all(event.model == "echo_fp32" and event.time_ns > 0 for event in events)


def test_many_threads(server):
    model = server.model("batched")
    failures = []

    def work(number):
        array = np.full((1, 8), number, np.float32)
        for _ in range(200):
            if not np.array_equal(model.infer({"IN": array})["OUT"], array):
                failures.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_other_threads_run_while_one_waits(server):
    done = threading.Event()
    counted = []

    def count():
        while not done.is_set():
            counted.append(1)

    thread = threading.Thread(target=count)
    thread.start()
    server.model("slow").infer({"IN": np.zeros(1, np.float32)})
    done.set()
    thread.join()
    assert len(counted) > 100


def test_memory_does_not_grow(server):
    model = server.model("echo_fp32")
    array = np.zeros(25_000, np.float32)

    def run(count):
        for _ in range(count):
            model.infer({"IN": array})["OUT"].sum()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = run(1000)
    after = run(8000)
    assert after - before < 20_000  # kB; a leak of the tensors would be 800 MB
