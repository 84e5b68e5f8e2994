# SPDX-License-Identifier: Apache-2.0
"""The classification extension: the best classes of an output instead of the tensor."""

import grpc_raw
import numpy as np
import pytest
import raw_http
from models import type_model

FEATURES = np.array([[1, 6, 5, 2, 3, 4], [9, 0, -1, -2, -3, -4]], np.float32)
BEST = [["12.000000:1:dog", "10.000000:2", "8.000000:5"],
        ["18.000000:0:cat", "0.000000:1:dog", "-2.000000:2"]]


def classes(answer, output):
    """Returns the elements of a classified output as texts."""
    def text(element):
        return element.decode() if isinstance(element, bytes) else element

    return np.vectorize(text)(answer.array(output)).tolist()


def classify(client, model, array, count, name="INPUT0", output="OUTPUT0", binary=True, **kwargs):
    answer = client.infer(model, [client.input(name, array, **kwargs)],
                          outputs=[client.wanted(output, binary=binary, classes=count)])
    return answer, classes(answer, output)


@pytest.mark.parametrize("binary", [True, False])
def test_best_of_each_batch_item(client, binary):
    answer, best = classify(client, "classifier", FEATURES, 3, "features", "scores", binary)
    assert best == BEST
    assert answer.output("scores") == {"name": "scores", "datatype": "BYTES", "shape": [2, 3]}


def test_without_a_batch(client):
    answer, best = classify(client, "flat_classifier", FEATURES[0], 2, "features", "scores")
    assert best == BEST[0][:2]
    assert answer.output("scores")["shape"] == [2]


@pytest.mark.parametrize("count", [6, 7, 1000000, 2**31 - 1])
def test_all_classes_where_there_are_not_more(client, count):
    answer, best = classify(client, "flat_classifier", FEATURES[0], count, "features", "scores")
    assert best == ["12.000000:1:dog", "10.000000:2", "8.000000:5", "6.000000:4:\N{SNOWMAN}",
                    "4.000000:3:bird: small", "2.000000:0:cat"]


def test_dimensions_are_one_list(client):
    answer, best = classify(client, "free_matrix", np.array([[1, 2, 3], [6, 5, 4]], np.int32), 2)
    assert best == ["6:3", "5:4"]
    assert answer.output("OUTPUT0")["shape"] == [2]


VALUES = {
    "UINT8": ([0, 255, 7], ["255:1", "7:2", "0:0"]),
    "UINT16": ([0, 65535, 7], ["65535:1", "7:2", "0:0"]),
    "UINT32": ([0, 2**32 - 1, 7], ["4294967295:1", "7:2", "0:0"]),
    "UINT64": ([2**63, 2**64 - 1, 7], ["18446744073709551615:1", "9223372036854775808:0", "7:2"]),
    "INT8": ([-128, 127, -1], ["127:1", "-1:2", "-128:0"]),
    "INT16": ([-2**15, 2**15 - 1, -1], ["32767:1", "-1:2", "-32768:0"]),
    "INT32": ([-2**31, 2**31 - 1, -1], ["2147483647:1", "-1:2", "-2147483648:0"]),
    "INT64": ([-2**63, 2**63 - 1, -1],
              ["9223372036854775807:1", "-1:2", "-9223372036854775808:0"]),
    "FP32": ([0.1, 3.4e38, -1.5], ["339999995214436424907732413799364296704.000000:1",
                                   "0.100000:0", "-1.500000:2"]),
    "FP64": ([1e-9, 123456789.123456789, np.inf], ["inf:2", "123456789.123457:1", "0.000000:0"]),
}
NUMPY = {"FP32": np.float32, "FP64": np.float64}


@pytest.mark.parametrize("datatype", VALUES)
def test_numbers_of_every_type(client, datatype):
    values, best = VALUES[datatype]
    array = np.array(values, NUMPY.get(datatype, datatype.lower()))
    assert classify(client, type_model(datatype, False), array, 3)[1] == best
    assert classify(client, type_model(datatype, True), array[None], 3)[1] == [best]


@pytest.mark.parametrize("count", [16, 40])
def test_equal_values_stay_in_order(client, count):
    array = np.array([float(i % 2) for i in range(count)], np.float32)
    expected = ([f"1.000000:{i}" for i in range(1, count, 2)]
                + [f"0.000000:{i}" for i in range(0, count, 2)])
    assert classify(client, type_model("FP32", False), array, count)[1] == expected


def test_not_a_number_is_no_best_class(client):
    array = np.array([np.nan, 1, 2], np.float32)
    assert classify(client, type_model("FP32", False), array, 2)[1] == ["2.000000:2", "1.000000:1"]


UNSUPPORTED = {
    "BOOL": np.array([True, False]),
    "FP16": np.array([1, 2], np.float16),
    "BYTES": np.array([b"a", b"b"], np.object_),
}


@pytest.mark.parametrize("datatype", UNSUPPORTED)
def test_types_without_an_order(client, datatype):
    client.expect("INVALID_ARG",
                  f"class result not available for output due to unsupported type '{datatype}'",
                  classify, client, type_model(datatype, False), UNSUPPORTED[datatype], 1)


def test_bf16_has_no_order(server):
    document = {"inputs": [raw_http.tensor("INPUT0", "BF16", [2], binary_data_size=4)],
                "outputs": [{"name": "OUTPUT0", "parameters": {"classification": 1}}]}
    answer = raw_http.infer(server, type_model("BF16", False), document, bytes(4))
    assert (answer.status, answer.error) == (
        400, "class result not available for output due to unsupported type 'BF16'")


def ask(server, parameters, model="flat_classifier", shape=(6,), data=None):
    data = FEATURES[0].tolist() if data is None else data
    return raw_http.infer(server, model, {
        "inputs": [raw_http.tensor("features", "FP32", shape, data)],
        "outputs": [{"name": "scores", "parameters": parameters}]})


def test_a_count_of_zero_is_the_tensor(server):
    assert ask(server, {"classification": 0}).json["outputs"][0]["datatype"] == "FP32"


@pytest.mark.parametrize("count", [-1, 1.5, "2", True, [1], 2**64])
def test_what_is_no_count(server, count):
    answer = ask(server, {"classification": count})
    assert (answer.status, answer.error) == (
        400, "Unable to set 'classification': attempt to access JSON non-unsigned-integer as "
             "unsigned-integer")


@pytest.mark.parametrize("count", [2**32, 2**32 + 1, 2**63])
def test_counts_are_not_cut(server, count):
    output = ask(server, {"classification": count}).json["outputs"][0]
    assert (output["datatype"], output["shape"]) == ("BYTES", [6])


def test_classes_of_nothing(server):
    answer = raw_http.infer(server, type_model("FP32", True), {
        "inputs": [raw_http.tensor("INPUT0", "FP32", [2, 0], [])],
        "outputs": [{"name": "OUTPUT0", "parameters": {"classification": 3}}]})
    assert answer.json["outputs"][0] == {"name": "OUTPUT0", "datatype": "BYTES", "shape": [2, 0],
                                         "data": []}


def test_one_output_of_several(server):
    answer = raw_http.infer(server, "pair", {
        "inputs": [raw_http.tensor(n, "INT32", [1, 4], [1, 2, 4, 3]) for n in ("INPUT0", "INPUT1")],
        "outputs": [{"name": "OUTPUT0"},
                    {"name": "OUTPUT1", "parameters": {"classification": 1}}]})
    assert {o["name"]: o["data"] for o in answer.json["outputs"]} == {
        "OUTPUT0": [1, 2, 4, 3], "OUTPUT1": ["4:2"]}


def grpc_request(count, model="flat_classifier"):
    message = grpc_raw.infer_request(model, [grpc_raw.tensor("features", "FP32", [6])],
                                     [FEATURES[0].tobytes()], request_id="7")
    message.outputs.add(name="scores").parameters["classification"].CopyFrom(
        grpc_raw.parameter(count))
    return message


@pytest.mark.parametrize("count", [0, -1])
def test_counts_out_of_range_over_grpc(server, count):
    assert grpc_raw.failure(server, "ModelInfer", grpc_request(count)) == (
        "INVALID_ARGUMENT", "invalid value for 'classification' parameter, expected >= 0")


@pytest.mark.parametrize("count", [True, "2", 2.0])
def test_what_is_no_count_over_grpc(server, count):
    assert grpc_raw.failure(server, "ModelInfer", grpc_request(count)) == (
        "INVALID_ARGUMENT", "invalid value type for 'classification' parameter, expected "
                            "int64_param or uint64_param")


def test_an_unsigned_count_over_grpc(server):
    response = grpc_raw.call(server, "ModelInfer",
                             grpc_request(grpc_raw.pb.InferParameter(uint64_param=2**63)))
    assert response.outputs[0].shape == [6]


@pytest.mark.parametrize("count", [2**32, 2**32 + 1])
def test_counts_are_not_cut_over_grpc(server, count):
    assert grpc_raw.call(server, "ModelInfer", grpc_request(count)).outputs[0].shape == [6]


def test_over_a_stream(server):
    refused = grpc_raw.infer_request(type_model("BOOL", False),
                                     [grpc_raw.tensor("INPUT0", "BOOL", [2])], [b"\1\0"])
    refused.outputs.add(name="OUTPUT0").parameters["classification"].int64_param = 1
    first, second = grpc_raw.stream(server, [grpc_request(2), refused])
    output = first.infer_response.outputs[0]
    assert (output.name, output.datatype, output.shape) == ("scores", "BYTES", [2])
    assert first.infer_response.raw_output_contents[0] == raw_http.elements(
        b"12.000000:1:dog", b"10.000000:2")
    assert second.error_message == (
        "class result not available for output due to unsupported type 'BOOL'")


def test_an_output_named_twice(server):
    message = grpc_request(2)
    message.outputs.append(message.outputs[0])
    assert len(grpc_raw.call(server, "ModelInfer", message).outputs) == 1
