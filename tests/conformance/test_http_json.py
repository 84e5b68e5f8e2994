# SPDX-License-Identifier: Apache-2.0
"""Invalid JSON requests, and valid JSON that is unusual."""

import json

import pytest
from models import type_model
from raw_http import infer, tensor

MODEL = type_model("INT32", False)
GOOD = tensor("INPUT0", "INT32", [2], [1, 2])


def without(entry, key):
    return {k: v for k, v in entry.items() if k != key}


def altered(**changes):
    return {"inputs": [GOOD | changes]}


SYNTAX = "failed to parse the request JSON buffer: "


@pytest.mark.parametrize("body", [
    "{", "[1,2", '{"inputs":[}', "nonsense", '{"inputs":[]} trailing', '{"a":1,}', "{'a':1}",
    '{"inputs":[{"name":"INPUT0","datatype":"INT32","shape":[1],"data":[1e400]}]}',
    '{"inputs":[{"name":"INPUT0","datatype":"INT32","shape":[01],"data":[1]}]}',
    '{"id":"\x01","inputs":[]}', '{"id":"\\x","inputs":[]}', '{"id":"\\ud800","inputs":[]}',
], ids=range(12))
def test_syntax_error(server, body):
    response = infer(server, MODEL, body)
    assert response.status == 400
    assert response.error.startswith(SYNTAX)


def test_an_error_is_utf8_whatever_it_quotes(server):
    body = json.dumps(altered(name="NAME")).encode().replace(b"NAME", b"IN\xff\xc3\xa4")
    response = infer(server, MODEL, body)
    assert response.status == 400
    assert "IN\N{REPLACEMENT CHARACTER}\N{LATIN SMALL LETTER A WITH DIAERESIS}" in response.error


@pytest.mark.parametrize("document,text", [
    ({}, "Unable to parse 'inputs': attempt to access non-existing object member 'inputs'"),
    ({"inputs": 1}, "Unable to parse 'inputs': attempt to access JSON non-array as array"),
    ({"inputs": {}}, "Unable to parse 'inputs': attempt to access JSON non-array as array"),
    ({"id": 5, "inputs": [GOOD]}, "Unable to parse 'id': attempt to access JSON non-string as "
                                  "string"),
    ({"inputs": [without(GOOD, "name")]},
     "Unable to parse 'name': attempt to access non-existing object member 'name'"),
    ({"inputs": [without(GOOD, "datatype")]},
     "Unable to parse 'datatype': attempt to access non-existing object member 'datatype'"),
    ({"inputs": [without(GOOD, "shape")]},
     "Unable to parse 'shape': attempt to access non-existing object member 'shape'"),
    (altered(name=3), "Unable to parse 'name': attempt to access JSON non-string as string"),
    (altered(datatype=3), "Unable to parse 'datatype': attempt to access JSON non-string as "
                          "string"),
    (altered(shape=2), "Unable to parse 'shape': attempt to access JSON non-array as array"),
    (altered(shape=[-1]), "Unable to parse 'shape': attempt to access JSON non-unsigned-integer "
                          "as unsigned-integer"),
    (altered(shape=[2.0]), "Unable to parse 'shape': attempt to access JSON non-unsigned-integer "
                           "as unsigned-integer"),
    (altered(shape=["2"]), "Unable to parse 'shape': attempt to access JSON non-unsigned-integer "
                           "as unsigned-integer"),
    (altered(data=5), "Unable to parse 'data': attempt to access JSON non-array as array"),
    (altered(data={}), "Unable to parse 'data': attempt to access JSON non-array as array"),
    (altered(data=[1, "2"]), "Unable to parse 'data': attempt to access JSON non-signed-integer "
                             "as signed-integer"),
    (altered(data=[1, 2.5]), "Unable to parse 'data': attempt to access JSON non-signed-integer "
                             "as signed-integer"),
    (altered(data=[1]), "Unable to parse 'data': Shape does not match true shape of 'data' field"),
    (altered(data=[1, 2, 3]), "Unable to parse 'data': Shape does not match true shape of 'data' "
                              "field"),
    (altered(data=[]), "Unable to parse 'data': Shape does not match true shape of 'data' field"),
    ({"inputs": [GOOD], "outputs": [{}]},
     "Unable to parse 'name': attempt to access non-existing object member 'name'"),
    ({"inputs": [GOOD], "outputs": 1},
     "Unable to parse 'outputs': attempt to access JSON non-array as array"),
    ({"inputs": [GOOD], "parameters": {"priority": "1"}},
     "Unable to parse 'priority': attempt to access JSON non-unsigned-integer as "
     "unsigned-integer"),
    ({"inputs": [GOOD], "parameters": {"timeout": -1}},
     "Unable to parse 'timeout': attempt to access JSON non-unsigned-integer as unsigned-integer"),
    ({"inputs": [GOOD], "parameters": {"binary_data_output": 1}},
     "Unable to parse 'binary_data_output': attempt to access JSON non-boolean as boolean"),
], ids=range(25))
def test_type_error(server, document, text):
    response = infer(server, MODEL, document)
    assert response.status == 400, response.body
    assert response.error == text


@pytest.mark.parametrize("member", [
    {"id": None}, {"parameters": None}, {"outputs": None}, {"parameters": {"timeout": None}},
    {"parameters": {"priority": None}}, {"parameters": {"sequence_id": None}},
    {"outputs": [{"name": "OUTPUT0", "parameters": {"classification": None}}]},
    {"outputs": [{"name": "OUTPUT0", "parameters": {"binary_data": None}}]},
], ids=["id", "parameters", "outputs", "timeout", "priority", "sequence_id", "classification",
        "binary_data"])
def test_null_is_absent(server, member):
    response = infer(server, MODEL, {"inputs": [GOOD]} | member)
    assert response.status == 200, response.body
    assert response.json["outputs"][0]["data"] == [1, 2]
    assert "id" not in response.json


@pytest.mark.parametrize("datatype,data,text", [
    ("FP32", ["a"], "Unable to parse 'data': attempt to access JSON non-number as double"),
    ("FP64", [True], "Unable to parse 'data': attempt to access JSON non-number as double"),
    ("BOOL", [1], "Unable to parse 'data': attempt to access JSON non-boolean as boolean"),
    ("INT8", [1.5], "Unable to parse 'data': attempt to access JSON non-signed-integer as "
                    "signed-integer"),
    ("UINT32", [-1], "Unable to parse 'data': attempt to access JSON non-unsigned-integer as "
                     "unsigned-integer"),
    ("UINT64", ["1"], "Unable to parse 'data': attempt to access JSON non-unsigned-integer as "
                      "unsigned-integer"),
    ("BYTES", [1], "Unable to parse JSON bytes array: attempt to access JSON non-string as "
                   "string"),
])
def test_element_type(server, datatype, data, text):
    document = {"inputs": [tensor("INPUT0", datatype, [1], data)]}
    response = infer(server, type_model(datatype, False), document)
    assert response.status == 400
    assert text in response.error


@pytest.mark.parametrize("document,text", [
    ({"inputs": [without(GOOD, "data")]},
     "Input must set only one of the following fields: 'data', 'binary_data_size' in "
     "'parameters', 'shared_memory_region' in 'parameters'. But no field is set"),
    ({"inputs": [GOOD | {"parameters": {"binary_data_size": 8}}]},
     "Input must set only one of the following fields"),
    (altered(datatype="INT33"), "invalid datatype for input INPUT0"),
    ({"inputs": [GOOD], "parameters": {"triton_x": 1}},
     "parameter keys starting with 'triton_' are reserved for Triton usage and should not be "
     "specified."),
    ({"inputs": []}, "expected 1 inputs but got 0 inputs"),
], ids=["no_source", "two_sources", "datatype", "reserved", "none"])
def test_invalid_argument(server, document, text):
    response = infer(server, MODEL, document)
    assert response.status == 400
    assert text in response.error


@pytest.mark.parametrize("value", [[1], None, {"a": 1}], ids=["array", "null", "object"])
def test_the_types_of_a_models_parameter(server, value):
    response = infer(server, MODEL, {"inputs": [GOOD], "parameters": {"k": value}})
    assert (response.status, response.error) == (
        400, "parameter 'k' has invalid type. It should be either 'int', 'double', 'bool', or "
             "'string'.")


@pytest.mark.parametrize("number", [2**63, 2**64 - 1])
def test_wide_numbers_are_parameters(server, number):
    response = infer(server, MODEL, {"inputs": [GOOD], "parameters": {"k": number}})
    assert response.status == 200, response.body


def test_unknown_datatype_of_binary_input(server):
    document = {"inputs": [tensor("INPUT0", "INT33", [2], binary_data_size=8)]}
    response = infer(server, MODEL, document, bytes(8))
    assert response.status == 400
    assert response.error.endswith(
        f"inference input 'INPUT0' data-type is '<invalid>', but model '{MODEL}' expects 'INT32'")


@pytest.mark.parametrize("shape", [
    [2**62], [2**62, 4], [2**32, 2**32], [2**63 - 1], [2**64 - 1], [2**64], [4, 2**61]],
    ids=["2^62", "2^62x4", "2^32x2^32", "2^63-1", "2^64-1", "2^64", "4x2^61"])
@pytest.mark.parametrize("form", ["json", "binary"])
def test_shape_that_overflows(server, shape, form):
    if form == "json":
        response = infer(server, "free_matrix", {"inputs": [tensor("INPUT0", "INT32", shape,
                                                                   [1, 2])]})
    else:
        response = infer(server, "free_matrix",
                         {"inputs": [tensor("INPUT0", "INT32", shape, binary_data_size=8)]},
                         bytes(8))
    assert response.status in (400, 500)
    assert response.error


def nested(depth):
    return "[" * depth + "]" * depth


@pytest.mark.parametrize("place", ["data", "parameters", "unknown"])
@pytest.mark.parametrize("depth", [1000, 200_000])
def test_deeply_nested_json(server, depth, place):
    parts = {"data": "[1,2]", "parameters": "{}", "unknown": "0"}
    parts[place] = '{"k":%s}' % nested(depth) if place == "parameters" else nested(depth)
    body = ('{"inputs":[{"name":"INPUT0","datatype":"INT32","shape":[2],"data":%s}],'
            '"parameters":%s,"other":%s}' % (parts["data"], parts["parameters"], parts["unknown"]))
    response = infer(server, MODEL, body)
    if (depth, place) == (1000, "unknown") and response.status == 200:
        return  # an unknown member may be as deep as the parser permits
    assert response.status in (400, 500)
    assert response.error
    assert infer(server, MODEL, {"inputs": [GOOD]}).status == 200


def test_large_json_tensor(server):
    values = list(range(200_000))
    document = {"inputs": [tensor("INPUT0", "INT32", [len(values)], values)]}
    assert infer(server, MODEL, document).json["outputs"][0]["data"] == values


# --- unusual and valid --------------------------------------------------------------------------

@pytest.mark.parametrize("data,shape", [
    ([1, 2, 3, 4], [2, 2]), ([[1, 2], [3, 4]], [2, 2]), ([[[1], [2]], [[3], [4]]], [2, 2]),
    ([[1, 2, 3], [4]], [2, 2])], ids=["flat", "nested", "deeper", "ragged"])
def test_nesting_of_data_is_free(server, data, shape):
    response = infer(server, "free_matrix", {"inputs": [tensor("INPUT0", "INT32", shape, data)]})
    assert response.status == 200, response.body
    assert response.json["outputs"][0]["data"] == [1, 2, 3, 4]
    assert response.json["outputs"][0]["shape"] == [2, 2]


def test_unknown_members_are_ignored(server):
    document = {"extra": {"deep": [1, {"x": None}]},
                "inputs": [GOOD | {"more": [1], "parameters": {"custom": "x"}}],
                "outputs": [{"name": "OUTPUT0", "other": 1}]}
    response = infer(server, MODEL, document)
    assert response.status == 200, response.body
    assert response.json["outputs"][0]["data"] == [1, 2]


@pytest.mark.parametrize("datatype,value", [
    ("INT8", 300), ("INT8", -129), ("UINT8", 256), ("INT16", 32768), ("INT16", -32769),
    ("UINT16", 65537), ("INT32", 2**32 + 5), ("UINT32", 2**32 + 5), ("INT64", 2**63),
    ("FP32", 1e39), ("FP32", -1e300)], ids=str)
@pytest.mark.parametrize("place", ["first", "last"])
def test_numbers_beyond_their_type_are_refused(server, datatype, value, place):
    values = [value, 1] if place == "first" else [1, value]
    document = {"inputs": [tensor("INPUT0", datatype, [2], values)]}
    response = infer(server, type_model(datatype, False), document)
    assert (response.status, response.error) == (
        400, f"input 'INPUT0' has the value {json.dumps(value)}, which {datatype} cannot hold")


def test_whole_numbers_are_floating_point_too(server):
    document = {"inputs": [tensor("INPUT0", "FP32", [2], [1, 2])]}
    response = infer(server, type_model("FP32", False), document)
    assert response.json["outputs"][0]["data"] == [1.0, 2.0]


def test_order_of_members_does_not_matter(server):
    body = ('{"outputs":[{"parameters":{"binary_data":false},"name":"OUTPUT0"}],'
            '"inputs":[{"data":[1,2],"shape":[2],"datatype":"INT32","name":"INPUT0"}],"id":"z"}')
    response = infer(server, MODEL, body)
    assert response.json["id"] == "z"
    assert response.json["outputs"][0]["data"] == [1, 2]


def test_order_of_the_answers_members(server):
    response = infer(server, MODEL, {"id": "q", "inputs": [GOOD]})
    assert response.body == (
        b'{"id":"q","model_name":"%s","model_version":"1","outputs":[{"name":"OUTPUT0",'
        b'"datatype":"INT32","shape":[2],"data":[1,2]}]}' % MODEL.encode())


@pytest.mark.parametrize("text", ["a\"b\\c/d", "tab\tline\n", "\u0000", "ünï", "😀", "\u2028"])
def test_json_strings_survive(server, text):
    document = {"id": text, "inputs": [tensor("INPUT0", "BYTES", [1], [text])]}
    body = json.dumps(document, ensure_ascii=False).encode()
    response = infer(server, type_model("BYTES", False), body)
    assert response.status == 200, response.body
    assert response.json["outputs"][0]["data"] == [text]


@pytest.mark.parametrize("text,shown", [
    (b"\xff\xfe", "\ufffd\ufffd"), (b"a\xc3", "a\ufffd"), (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
    (b"\xff\xc3\xa4", "\ufffd\u00e4")], ids=["never", "cut", "surrogate", "before"])
def test_bytes_that_are_not_utf8(server, text, shown):
    """BYTES elements are bytes, and the model gets them as they are. JSON is UTF-8."""
    body = (b'{"inputs":[{"name":"INPUT0","datatype":"BYTES","shape":[1],"data":["%s"]}]%s}')
    response = infer(server, type_model("BYTES", False), body % (text, b""))
    assert response.status == 200, response.body
    assert response.json["outputs"][0]["data"] == [shown]
    binary = b',"parameters":{"binary_data_output":true}'
    response = infer(server, type_model("BYTES", False), body % (text, binary))
    assert response.body.endswith(text)


def test_escaped_json_strings(server):
    body = (rb'{"inputs":[{"name":"INPUT0","datatype":"BYTES","shape":[2],'
            rb'"data":["\ud83d\ude00\u00fc","\/\b\f\r"]}]}')
    response = infer(server, type_model("BYTES", False), body)
    assert response.json["outputs"][0]["data"] == ["😀ü", "/\b\f\r"]


def test_whitespace_everywhere(server):
    body = json.dumps({"inputs": [GOOD]}, indent=8).replace("\n", "\r\n\t")
    assert infer(server, MODEL, "\n  " + body + "  \n").status == 200


@pytest.mark.parametrize("version,status,text", [
    ("99999999999999999999", 400, "failed to get model version from specified version string "
     "'99999999999999999999' (details: stol), version should be an integral value > 0"),
    ("9", 404, f"Request for unknown model: '{MODEL}' version 9 is not found"),
])
def test_version_in_the_path(server, version, status, text):
    response = infer(server, MODEL, {"inputs": [GOOD]}, version=version)
    assert (response.status, response.error) == (status, text)


def test_output_twice_is_one_output(server):
    document = {"inputs": [GOOD], "outputs": [{"name": "OUTPUT0"}, {"name": "OUTPUT0"}]}
    response = infer(server, MODEL, document)
    assert response.status == 200
    assert [o["name"] for o in response.json["outputs"]] == ["OUTPUT0"]
