# SPDX-License-Identifier: Apache-2.0
"""Every data type, with every official client and in every form of the wire."""


import grpc_raw
import ml_dtypes
import numpy as np
import pytest
import raw_http
from models import DATATYPES, type_model

NUMPY = {
    "BOOL": np.bool_, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32,
    "UINT64": np.uint64, "INT8": np.int8, "INT16": np.int16, "INT32": np.int32,
    "INT64": np.int64, "FP16": np.float16, "FP32": np.float32, "FP64": np.float64,
    "BF16": ml_dtypes.bfloat16,
}
IN_JSON = [t for t in DATATYPES if t not in ("FP16", "BF16")]


def sample(datatype):
    """Returns six values of a type, including its limits."""
    if datatype == "BOOL":
        return np.array([True, False, False, True, True, False])
    if datatype == "BYTES":
        return np.array([b"", b"a", "grün".encode(), b"x" * 300, b"\"\\\n", b"end"],
                        dtype=np.object_)
    kind = NUMPY[datatype]
    if datatype in ("FP16", "FP32", "FP64", "BF16"):
        info = ml_dtypes.finfo(kind)
        return np.array([0.0, -1.5, 0.1, float(info.max), float(info.min), float(info.tiny)],
                        dtype=kind)
    info = np.iinfo(kind)
    return np.array([0, 1, info.max, info.min, info.max - 1, 7], dtype=kind)


def same(got, expected):
    expected = np.asarray(expected)
    assert got.shape == expected.shape
    if expected.dtype == np.object_:
        assert got.tolist() == expected.tolist()
    else:
        # Compares bytes, not values, because an identity must not change any bit.
        assert got.astype(expected.dtype).tobytes() == expected.tobytes()


@pytest.mark.parametrize("batching", [False, True], ids=["single", "batch"])
@pytest.mark.parametrize("datatype", DATATYPES)
def test_identity(client, datatype, batching):
    array = sample(datatype)
    if batching:
        array = array.reshape(2, 3)
    model = type_model(datatype, batching)
    answer = client.infer(model, [client.input("INPUT0", array, datatype)], ["OUTPUT0"])
    assert answer.output("OUTPUT0") == {
        "name": "OUTPUT0", "datatype": datatype, "shape": list(array.shape)}
    same(answer.array("OUTPUT0"), array)


@pytest.mark.parametrize("datatype", IN_JSON)
def test_json_both_ways(http, datatype):
    array = sample(datatype)
    if datatype == "BYTES":
        array = np.array(["", "a", "grün", "x" * 300, "\"\\\n", "日本"], dtype=np.object_)
    answer = http.infer(type_model(datatype, False),
                        [http.input("INPUT0", array, datatype, binary=False)],
                        [http.wanted("OUTPUT0", binary=False)])
    got = answer.array("OUTPUT0")
    if datatype == "BYTES":
        assert [g.decode() if isinstance(g, bytes) else g for g in got] == array.tolist()
    else:
        same(got, array)


@pytest.mark.parametrize("datatype", IN_JSON)
def test_json_in_binary_out(http, datatype):
    array = sample(datatype)
    answer = http.infer(type_model(datatype, False),
                        [http.input("INPUT0", array, datatype, binary=False)],
                        [http.wanted("OUTPUT0", binary=True)])
    same(answer.array("OUTPUT0"), array)


CONTENTS = {
    "BOOL": "bool_contents", "INT8": "int_contents", "INT16": "int_contents",
    "INT32": "int_contents", "INT64": "int64_contents", "UINT8": "uint_contents",
    "UINT16": "uint_contents", "UINT32": "uint_contents", "UINT64": "uint64_contents",
    "FP32": "fp32_contents", "FP64": "fp64_contents", "BYTES": "bytes_contents",
}


def wire_bytes(datatype, array) -> bytes:
    return raw_http.elements(*array.tolist()) if datatype == "BYTES" else array.tobytes()


@pytest.mark.parametrize("datatype", CONTENTS)
def test_typed_contents(server, datatype):
    array = sample(datatype)
    values = array.tolist()
    request = grpc_raw.infer_request(type_model(datatype, False), [grpc_raw.tensor(
        "INPUT0", datatype, [len(values)], **{CONTENTS[datatype]: values})])
    response = grpc_raw.call(server, "ModelInfer", request)
    assert response.outputs[0].datatype == datatype
    assert not response.outputs[0].HasField("contents")
    assert list(response.raw_output_contents) == [wire_bytes(datatype, array)]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_not_finite_numbers_in_json(server, value):
    body = ('{"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1],"data":[%s]}]}' % value)
    response = raw_http.infer(server, type_model("FP32", False), body)
    assert response.status == 200
    assert f'"data":[{value}]'.encode() in response.body


@pytest.mark.parametrize("datatype,values,text", [
    ("FP32", [0.1], b'[0.10000000149011612]'),
    ("FP32", [1], b'[1.0]'),
    ("FP64", [0.1], b'[0.1]'),
    ("FP64", [1e300], b'[1e300]'),
    ("FP64", [-0.0], b'[-0.0]'),
    ("FP64", [123456789.25], b'[123456789.25]'),
    ("INT64", [-(2**63)], b'[-9223372036854775808]'),
    ("UINT64", [2**64 - 1], b'[18446744073709551615]'),
    ("BOOL", [True, False], b'[true,false]'),
    ("BYTES", ["tab\t", "\u0001"], b'["tab\\t","\\u0001"]'),
])
def test_json_text_of_values(server, datatype, values, text):
    document = {"inputs": [raw_http.tensor("INPUT0", datatype, [len(values)], values)]}
    response = raw_http.infer(server, type_model(datatype, False), document)
    assert response.status == 200, response.body
    assert b'"data":' + text in response.body


@pytest.mark.parametrize("datatype", ["FP16", "BF16"])
def test_half_types_are_refused_in_json(server, datatype):
    document = {"inputs": [raw_http.tensor("INPUT0", datatype, [1], [1.0])]}
    response = raw_http.infer(server, type_model(datatype, False), document)
    assert response.status == 400
    assert response.error == (f"receiving {datatype} data via JSON is not supported. Please use "
                              "the binary data format for input INPUT0")


@pytest.mark.parametrize("datatype", ["FP16", "BF16"])
def test_half_types_are_refused_as_json_output(server, datatype):
    document = {"inputs": [raw_http.tensor("INPUT0", datatype, [1], binary_data_size=2)]}
    response = raw_http.infer(server, type_model(datatype, False), document, b"\x00\x3c")
    assert response.status == 400
    assert f"sending {datatype} data via JSON is not supported" in response.error


def test_bytes_that_are_not_text_pass_in_binary(client):
    array = np.array([bytes(range(256)), b"\xff\xfe", b"\x00"], dtype=np.object_)
    answer = client.infer(type_model("BYTES", False), [client.input("INPUT0", array, "BYTES")],
                          ["OUTPUT0"])
    same(answer.array("OUTPUT0"), array)


@pytest.mark.parametrize("datatype", DATATYPES)
def test_empty_tensor(client, datatype):
    kind = np.object_ if datatype == "BYTES" else NUMPY[datatype]
    array = np.array([], dtype=kind)
    answer = client.infer(type_model(datatype, False),
                          [client.input("INPUT0", array, datatype)], ["OUTPUT0"])
    assert answer.output("OUTPUT0")["shape"] == [0]
    assert answer.output("OUTPUT0")["datatype"] == datatype


def test_mebibytes_pass_unchanged(client):
    array = np.arange(1 << 20, dtype=np.float32)
    answer = client.infer(type_model("FP32", False), [client.input("INPUT0", array)], ["OUTPUT0"])
    same(answer.array("OUTPUT0"), array)
