# SPDX-License-Identifier: Apache-2.0
"""The log settings at run time, over HTTP and gRPC, with the official clients."""

import json

import pytest
import raw_http
import tritonclient.grpc as grpc_client
import tritonclient.http as http_client
from tritonclient.utils import InferenceServerException

DEFAULTS = {"log_info": True, "log_warning": True, "log_error": True, "log_verbose_level": 0,
            "log_format": "default"}


@pytest.fixture(params=["http", "grpc"])
def client(request, server):
    made = (http_client.InferenceServerClient(server.http) if request.param == "http"
            else grpc_client.InferenceServerClient(server.grpc))
    made.settings = (made.get_log_settings if request.param == "http"
                     else lambda: made.get_log_settings(as_json=True)["settings"])
    yield made
    made.update_log_settings(DEFAULTS)
    made.close()


def value(settings, key):
    """Returns HTTP's plain value or gRPC's value by its kind. A gRPC message with false or 0 is
    empty."""
    found = settings[key]
    if not isinstance(found, dict):
        return found
    return next(iter(found.values()))


def test_they_can_be_read(client):
    settings = client.settings()
    assert set(settings) == {*DEFAULTS, "log_file"}
    assert value(settings, "log_format") == "default"
    assert value(settings, "log_file") == ""


def test_they_can_be_changed_one_by_one(client):
    client.update_log_settings({"log_verbose_level": 2, "log_warning": False})
    settings = client.settings()
    assert value(settings, "log_verbose_level") == 2
    assert value(settings, "log_warning") is False
    assert value(settings, "log_info") is True
    client.update_log_settings({"log_format": "ISO8601"})
    settings = client.settings()
    assert value(settings, "log_format") == "ISO8601"
    assert value(settings, "log_verbose_level") == 2


def test_json_is_a_format(client, server):
    client.update_log_settings({"log_format": "json", "log_verbose_level": 1})
    assert value(client.settings(), "log_format") == "json"
    lines = [json.loads(line) for line in server.log.read_text().splitlines()
             if line.startswith('{"time":')]
    assert lines and all(line["level"] == "VERBOSE" for line in lines)
    assert set(lines[-1]) == {"time", "level", "pid", "file", "line", "message"}


def test_the_file_stays(client):
    with pytest.raises(InferenceServerException, match="can not be updated through network"):
        client.update_log_settings({"log_file": "/elsewhere"})


def test_a_format_must_be_known(client):
    with pytest.raises(InferenceServerException, match="log_format, got: xml"):
        client.update_log_settings({"log_format": "xml"})


@pytest.mark.parametrize("body,code,message", [
    ("", 400, "failed to parse the request JSON buffer: The document is empty. at 0"),
    ('{"log_info":1}', 400,
     "Unable to parse 'log_info': attempt to access JSON non-boolean as boolean"),
    ('{"log_verbose_level":-1}', 400, "Unable to parse 'log_verbose_level': attempt to access JSON "
     "non-unsigned-integer as unsigned-integer"),
    ('{"log_verbose_level":4294967296}', 400,
     "'log_verbose_level' has the value 4294967296, which UINT32 cannot hold"),
    ('{"log_format":"x"}', 400, "invalid argument for --log_format, got: x"),
])
def test_refusals_over_http(server, body, code, message):
    answer = raw_http.request(server, "POST", "/v2/logging", body)
    assert (answer.status, answer.json) == (code, {"error": message})


def test_it_is_an_extension(server):
    assert "logging" in raw_http.get(server, "/v2").json["extensions"]
