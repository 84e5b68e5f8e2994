# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI documents: valid, true to the routes, and with examples that the models answer."""

import json
import urllib.parse

import decoupled_models
import jsonschema
import models
import pytest
import raw_http
from openapi_spec_validator import OpenAPIV31SpecValidator


def write(root):
    repository = models.Repository(root)
    repository.identity("plain", [("FP32", [3]), ("BYTES", [-1])])
    repository.identity("batched", [("INT64", [2, -1])], batch=4)
    repository.identity("scalar_types", [(t, [1]) for t in ("BOOL", "UINT8", "INT8", "FP64")])
    repository.identity("steps", [("INT32", [1])], extra="sequence_batching { direct { } }\n",
                        batch=4)
    repository.identity("half", [("FP16", [3])])
    repository.identity("large", [("FP32", [100000])])
    repository.identity("odd<name>'", [("INT32", [1])])


@pytest.fixture(scope="module")
def serving(start_server, is_peer):
    if is_peer:
        pytest.skip("Triton has no OpenAPI documents")
    return start_server("openapi", write)


def document(server, path):
    answer = raw_http.get(server, path)
    assert answer.status == 200, answer.body
    OpenAPIV31SpecValidator(answer.json).validate()
    return answer.json


def resolved(doc, schema):
    return {**schema, "components": doc["components"]}


def test_the_server(serving):
    doc = document(serving, "/v2/openapi.json")
    assert doc["openapi"] == "3.1.0" and doc["info"]["version"]
    paths = doc["paths"]
    assert "post" in paths["/v2/models/{model}/versions/{version}/infer"]
    assert set(paths["/v2/drain"]) == {"get", "post", "delete", "parameters"}
    assert paths["/v2/drain"]["post"]["x-nereid-roles"] == ["manage"]
    assert paths["/v2/openapi.json"]["get"]["tags"] == ["metadata"]
    # Every path that needs no names is there.
    for path, methods in paths.items():
        if "get" in methods and "{" not in path:
            assert raw_http.get(serving, path).status in (200, 400), path


@pytest.mark.parametrize("name", ["plain", "batched", "scalar_types", "steps", "odd<name>'"])
@pytest.mark.parametrize("version", ["", "/versions/1"])
def test_the_example_is_answered(serving, name, version):
    doc = document(serving, f"/v2/models/{name}{version}/openapi.json")
    path = f"/v2/models/{urllib.parse.quote(name, safe='')}{version}/infer"
    content = doc["paths"][path]["post"]["requestBody"]["content"]["application/json"]
    jsonschema.validate(content["example"], resolved(doc, content["schema"]))
    answer = raw_http.request(serving, "POST", path, json.dumps(content["example"]).encode())
    assert answer.status == 200, answer.body
    response = doc["paths"][path]["post"]["responses"]["200"]["content"]["application/json"]
    jsonschema.validate(answer.json, resolved(doc, response["schema"]))
    if name == "steps":
        return
    generate = path.replace("/infer", "/generate")
    content = doc["paths"][generate]["post"]["requestBody"]["content"]["application/json"]
    answer = raw_http.request(serving, "POST", generate, json.dumps(content["example"]).encode())
    assert answer.status == 200, answer.body


def test_schemas_refuse_what_the_model_refuses(serving):
    doc = document(serving, "/v2/models/plain/openapi.json")
    content = doc["paths"]["/v2/models/plain/infer"]["post"]["requestBody"]["content"]
    content = content["application/json"]
    schema = resolved(doc, content["schema"])
    for change in ({"shape": [4]}, {"datatype": "FP64"}, {"name": "other"}, {"data": ["a"] * 3}):
        wrong = json.loads(json.dumps(content["example"]))
        wrong["inputs"][0].update(change)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


@pytest.mark.parametrize("name", ["half", "large"])
def test_no_example_that_does_not_work(serving, name):
    doc = document(serving, f"/v2/models/{name}/openapi.json")
    content = doc["paths"][f"/v2/models/{name}/infer"]["post"]["requestBody"]["content"]
    assert "example" not in content["application/json"]


def test_a_decoupled_model(start_server, is_peer, server_plugins):
    if is_peer:
        pytest.skip("Triton has no OpenAPI documents")
    server = start_server("openapi-decoupled", decoupled_models.write(server_plugins))
    doc = document(server, "/v2/models/repeat_int32/openapi.json")
    assert "/v2/models/repeat_int32/infer" not in doc["paths"]
    path = "/v2/models/repeat_int32/generate_stream"
    example = doc["paths"][path]["post"]["requestBody"]["content"]["application/json"]["example"]
    answer = raw_http.request(server, "POST", path, json.dumps(example).encode())
    assert answer.status == 200 and b"OUT" in answer.body


def test_unknown_models_and_methods(serving):
    assert raw_http.get(serving, "/v2/models/none/openapi.json").status == 404
    assert raw_http.get(serving, "/v2/models/plain/versions/9/openapi.json").status == 404
    assert raw_http.request(serving, "POST", "/v2/openapi.json", b"{}").status == 405
    assert raw_http.get(serving, "/v2/openapi.json/").status == 404
