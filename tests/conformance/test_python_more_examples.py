# SPDX-License-Identifier: Apache-2.0
"""More models that do what the examples of Triton's documentation of Python models do: completed
configurations, calls, decoupled models, images, kinds of instances, and lines of the log."""

import concurrent.futures
import re

import grpc_raw
import numpy as np
import pytest
import raw_http
from python_server import texts, wait_for_log

MODELS = ["example_completed_plain", "example_square", "example_bls_decoupled_async", "summed",
          "example_bls_stateful", "example_repeat_wait", "example_image", "example_kind",
          "example_generate_once"]
FLAGS = ["--log-verbose=1"]


def test_auto_complete_without_batches(python_client):
    """The model has no configuration file. No dimension of a batch is added to its tensors."""
    config = python_client.json("get_model_config", "example_completed_plain")
    config = config.get("config", config)
    assert config.get("max_batch_size", 0) == 0
    assert "dynamic_batching" not in config
    for kind, names in (("input", ["A", "B"]), ("output", ["SUM", "DIFFERENCE"])):
        assert [(t["name"], t["data_type"], [int(n) for n in t["dims"]]) for t in config[kind]] == [
            (name, "TYPE_FP32", [4]) for name in names]
    metadata = python_client.json("get_model_metadata", "example_completed_plain")
    assert [[int(n) for n in tensor["shape"]] for tensor in metadata["inputs"]] == [[4], [4]]

    a, b = np.array([1, 2, 3, 4], np.float32), np.array([10, 20, 30, 40], np.float32)
    answer = python_client.infer("example_completed_plain", [
        python_client.input("A", a), python_client.input("B", b)])
    assert answer.array("SUM").tolist() == (a + b).tolist()
    assert answer.array("DIFFERENCE").tolist() == (a - b).tolist()
    _, text = python_client.error(python_client.infer, "example_completed_plain", [
        python_client.input("A", a.reshape(1, 4)), python_client.input("B", b.reshape(1, 4))])
    assert "unexpected shape" in text


@pytest.mark.parametrize("numbers", [[4, 2], [0, 1, 3], list(range(12))],
                         ids=["two", "three", "twelve"])
def test_bls_decoupled_async(python_client, numbers):
    answer = python_client.infer("example_bls_decoupled_async", [
        python_client.input("IN", np.array(numbers, np.int32))])
    assert answer.array("SUMS").tolist() == [n * n for n in numbers]


# Calls to a model with sequences


def total(server, values, sequence, start=False, end=False):
    """Returns the answer for one request of a sequence, which the model passes on to summed."""
    return raw_http.infer(server, "example_bls_stateful", {
        "inputs": [raw_http.tensor("IN", "INT32", [1, len(values)], values)],
        "parameters": {"sequence_id": sequence, "sequence_start": start, "sequence_end": end}})


@pytest.mark.parametrize("ids", [(21, 22), ("twenty-one", "twenty-two")], ids=["numbers", "texts"])
def test_bls_to_a_model_with_sequences(python, ids):
    """Two sequences at once: the called model sees the client's ids, starts and ends."""
    first, second = ids

    def sums(*arguments, **flags):
        reply = total(python, *arguments, **flags)
        assert reply.status == 200, reply.body
        return reply.json["outputs"][0]["data"]

    assert sums([1, 2], first, start=True) == [3]
    assert sums([100], second, start=True) == [100]
    assert sums([4], first) == [7]
    assert sums([5], second, end=True) == [105]
    assert sums([8], first, end=True) == [15]
    # Each has ended: the same id begins another sequence, and no other request is accepted.
    assert sums([6], second, start=True, end=True) == [6]
    refused = total(python, [1], first)
    assert refused.status != 200
    assert "must specify the START flag" in refused.error


# Decoupled models


def stream(server, model, requests):
    """Sends requests, which are dictionaries of tensors by id, on one stream. Returns by id the
    outputs of each response, or None for a response with the final flag alone."""
    datatypes = {"int32": "INT32", "uint32": "UINT32"}
    replies = grpc_raw.stream(server, [grpc_raw.infer_request(
        model, [grpc_raw.tensor(name, datatypes[array.dtype.name], array.shape)
                for name, array in tensors.items()],
        [array.tobytes() for array in tensors.values()], request_id=request_id,
        parameters={"triton_enable_empty_final_response": True})
        for request_id, tensors in requests.items()], timeout=60)
    assert [reply.error_message for reply in replies if reply.error_message] == []
    found = {request_id: [] for request_id in requests}
    for reply in (reply.infer_response for reply in replies):
        assert reply.parameters["triton_final_response"].bool_param == (not reply.outputs)
        found[reply.id].append({output.name: int(np.frombuffer(raw, np.int32)[0])
                                for output, raw in zip(reply.outputs, reply.raw_output_contents)}
                               or None)
    return found


def test_square_of_several_requests_on_a_stream(python):
    """Their responses may alternate; each request has all of its own, and the final one last."""
    numbers = {"four": 4, "two": 2, "none": 0, "one": 1}
    found = stream(python, "example_square", {
        name: {"IN": np.array([n], np.int32)} for name, n in numbers.items()})
    assert found == {name: [{"OUT": n}] * n + [None] for name, n in numbers.items()}


@pytest.mark.parametrize("wait", [0, 20])
def test_repeat_with_a_delay_for_each_response(python, wait):
    """execute() returns while responses are still sent, and after they were: all of them arrive."""
    found = stream(python, "example_repeat_wait", {
        name: {"IN": np.array(values, np.int32), "DELAY": np.array(delays, np.uint32),
               "WAIT": np.array([wait], np.uint32)}
        for name, values, delays in (("slow", [4, 2, 0, 1], [1, 20, 3, 40]),
                                     ("fast", [7, 8], [0, 0]), ("nothing", [], []))})
    assert found == {
        "slow": [{"OUT": 4, "INDEX": 0}, {"OUT": 2, "INDEX": 1}, {"OUT": 0, "INDEX": 2},
                 {"OUT": 1, "INDEX": 3}, None],
        "fast": [{"OUT": 7, "INDEX": 0}, {"OUT": 8, "INDEX": 1}, None],
        "nothing": [None]}


# Images


def ppm(pixels):
    """Returns an encoded image. `pixels` has height, width and color."""
    height, width, _ = pixels.shape
    return b"P6\n%d %d\n255\n" % (width, height) + pixels.astype(np.uint8).tobytes()


def test_preprocessing_of_images(python_client):
    """Two images of different sizes in one batch, whose bytes include zeros and white space."""
    small = np.array([[[32, 10, 0], [0, 255, 9]], [[13, 0, 0], [255, 255, 255]]])
    large = np.arange(4 * 6 * 3).reshape(4, 6, 3) * 3
    answer = python_client.infer("example_image", [python_client.input(
        "IMAGE", texts(ppm(small), ppm(large)).reshape(2, 1))])
    pixels = answer.array("PIXELS")
    assert pixels.dtype == np.float32
    expected = np.stack([image.transpose(2, 0, 1) for image in (small, large[::2, ::3])])
    assert pixels.shape == expected.shape == (2, 3, 2, 2)
    np.testing.assert_allclose(pixels, expected / 127.5 - 1, atol=1e-6)


@pytest.mark.parametrize("data, said", [
    (b"", "no PPM image"), (b"\x89PNG\r\n\x1a\n", "no PPM image"),
    (b"P6\n100 100\n255\n\0\0\0", "3 bytes for 100 x 100 pixels"),
    (b"P6 0 7 255\n", "0 bytes for 0 x 7 pixels"),
], ids=["empty", "another", "short", "nothing"])
def test_preprocessing_of_something_else(python_client, data, said):
    status, text = python_client.error(python_client.infer, "example_image", [
        python_client.input("IMAGE", texts(data).reshape(1, 1))])
    assert status in (400, "INVALID_ARGUMENT") and said in text


# Instances, the log, requests that are executed again


def double(client, values, request_id=""):
    return client.infer("example_kind", [client.input("IN", np.array(values, np.float32))],
                        request_id=request_id)


def test_the_kind_of_the_instance(python_client):
    answer = double(python_client, [1, 2.5])
    assert answer.array("OUT").tolist() == [2, 5]
    assert answer.array("KIND").tolist() == [b"CPU"]
    assert answer.array("DEVICE").tolist() == [0]


def test_levels_of_the_log(python_client, python):
    """The lines have the levels and the place of the model, in their order."""
    name = f"leveled-{python_client.name}"
    double(python_client, [1], name)
    log = wait_for_log(python, f"{name} is an error")
    lines = re.findall(rf"^(.)[^\n]* model\.py:(\d+)\] [^\n]*{name} is (\w+ ?\w*)", log,
                       re.MULTILINE)
    assert [(level, text) for level, _, text in lines] == [
        ("I", "verbose"), ("I", "information"), ("W", "a warning"), ("E", "an error")]
    places = [int(place) for _, place, _ in lines]
    assert places == list(range(places[0], places[0] + 4))


@pytest.mark.parametrize("n", [1, 2, 7])
def test_generate_with_one_response(python_client, n):
    """Rescheduling in a model that is not decoupled: one response after the last execution."""
    answer = python_client.infer("example_generate_once", [python_client.input(
        "IN", np.array([[n]], np.int32))])
    assert answer.array("NUMBERS").tolist() == [list(range(n, 0, -1))]


def test_generate_for_several_clients(python_grpc):
    """The executions of the requests alternate; each keeps its own numbers."""
    def one(n):
        return python_grpc.infer("example_generate_once", [python_grpc.input(
            "IN", np.array([[n]], np.int32))]).array("NUMBERS").tolist()
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert list(pool.map(one, range(1, 13))) == [[list(range(n, 0, -1))] for n in range(1, 13)]
