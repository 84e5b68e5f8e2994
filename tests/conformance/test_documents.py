# SPDX-License-Identifier: Apache-2.0
"""The examples of the protocol documents, byte by byte.

The binary tensor data extension shows one request with a header and one raw request. The statistics
extension shows three URLs and the complete structure of the answer.
"""

import struct

import pytest
import raw_http

DOCUMENT_JSON = b"""{
"model_name" : "mymodel",
"inputs" : [
{
"name" : "input0",
"shape" : [ 2, 2 ],
"datatype" : "UINT32",
"parameters" : {
"binary_data_size" : 16
}
},
{
"name" : "input1",
"shape" : [ 3 ],
"datatype" : "BOOL",
"parameters" : {
"binary_data_size" : 3
}
}
],
"outputs" : [
{
"name" : "output0",
"parameters" : {
"binary_data" : true
}
}
]
}
"""


def test_binary_request(server):
    blob = struct.pack("<4I", 1, 2, 30, 400) + bytes([1, 0, 1])
    assert len(blob) == 19
    with raw_http.Wire(server) as wire:
        wire.send(raw_http.head(
            "POST", "/v2/models/mymodel/infer", "Content-Type: application/octet-stream",
            f"Inference-Header-Content-Length: {len(DOCUMENT_JSON)}",
            f"Content-Length: {len(DOCUMENT_JSON) + 19}") + DOCUMENT_JSON + blob)
        response = wire.read()
    assert (response.status, response.reason) == (200, "OK")
    assert response.headers["content-type"] == "application/octet-stream"
    length = int(response.headers["inference-header-content-length"])
    assert int(response.headers["content-length"]) == length + 24
    header, binary = response.parts()
    assert header["outputs"] == [{
        "name": "output0", "shape": [3, 2], "datatype": "FP32",
        "parameters": {"binary_data_size": 24}}]
    assert binary == struct.pack("<6f", 1, 2, 30, 400, 1, 0)


def test_raw_binary_request(second):
    with raw_http.Wire(second) as wire:
        wire.send(raw_http.head(
            "POST", "/v2/models/mymodel/infer", "Content-Type: application/octet-stream",
            "Inference-Header-Content-Length: 0", "Content-Length: 16")
            + struct.pack("<4f", 1.5, -2, 3, 4))
        response = wire.read()
    assert (response.status, response.reason) == (200, "OK")
    assert response.headers["content-type"] == "application/octet-stream"
    length = int(response.headers["inference-header-content-length"])
    assert int(response.headers["content-length"]) == length + 24
    header, binary = response.parts()
    assert header["outputs"] == [
        {"name": name, "shape": [3, 1], "datatype": "FP32",
         "parameters": {"binary_data_size": 12}} for name in ("output0", "output1")]
    assert binary == struct.pack("<6f", 1.5, -2, 3, -2, 3, 4)


DURATIONS = ("success", "fail", "queue", "compute_input", "compute_infer", "compute_output",
             "cache_hit", "cache_miss")


def is_duration(value) -> bool:
    return (set(value) == {"count", "ns"}
            and all(isinstance(v, int) and v >= 0 for v in value.values()))


@pytest.mark.parametrize("path,expected", [
    ("/v2/models/stats", None),
    ("/v2/models/versions/stats", [("versions", "1"), ("versions", "3")]),
    ("/v2/models/versions/versions/3/stats", [("versions", "3")]),
])
def test_statistics_urls(server, path, expected):
    response = raw_http.get(server, path)
    assert response.status == 200
    assert response.headers["content-type"] == "application/json"
    assert list(response.json) == ["model_stats"]
    found = sorted((m["name"], m["version"]) for m in response.json["model_stats"])
    if expected is None:
        assert {("fixed", "1"), ("latest", "10"), ("versions", "1"), ("sum", "1")} <= set(found)
        assert ("versions", "2") not in found
    else:
        assert found == expected


def test_statistics_members(server):
    document = {"inputs": [raw_http.tensor("INPUT0", "FP32", [2, 4], [1.0] * 8)]}
    assert raw_http.infer(server, "fixed", document).status == 200
    stats = raw_http.get(server, "/v2/models/fixed/stats").json["model_stats"][0]
    assert set(stats) == {"name", "version", "last_inference", "inference_count",
                          "execution_count", "inference_stats", "response_stats", "batch_stats",
                          "memory_usage"}
    assert set(stats["inference_stats"]) == set(DURATIONS)
    assert all(is_duration(stats["inference_stats"][k]) for k in DURATIONS)
    assert isinstance(stats["response_stats"], dict)
    for batch in stats["batch_stats"]:
        assert set(batch) == {"batch_size", "compute_input", "compute_infer", "compute_output"}
        assert isinstance(batch["batch_size"], int)
        assert all(is_duration(batch[k])
                   for k in ("compute_input", "compute_infer", "compute_output"))
    assert 2 in [b["batch_size"] for b in stats["batch_stats"]]
    for usage in stats["memory_usage"]:
        assert set(usage) == {"type", "id", "byte_size"}


@pytest.mark.parametrize("path,text", [
    ("/v2/models/no_such_model/stats", "requested model 'no_such_model' is not available"),
    ("/v2/models/versions/versions/2/stats",
     "requested model version is not available for model 'versions'"),
])
def test_statistics_errors(server, path, text):
    response = raw_http.get(server, path)
    assert response.status == 400
    assert response.error == text
