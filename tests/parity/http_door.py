# SPDX-License-Identifier: Apache-2.0
"""The operations over HTTP, byte by byte, because a client library would check arguments itself."""

import base64
import http.client
import json
from urllib.parse import quote

from asks import (HTTP_STATUS, Outcome, canonical, canonical_config, canonical_index,
                  canonical_regions, counted_models, decode, inferred)


def _model_path(model, version):
    path = f"/v2/models/{quote(model, safe='')}"
    return path + (f"/versions/{quote(str(version), safe='')}" if version else "")


def _parameters(described):
    return {"parameters": described} if described else {}


class HttpDoor:
    """`binary`: tensors are bytes after the JSON, in both directions."""

    status = HTTP_STATUS

    def __init__(self, server, binary=False):
        self._connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=60)
        self._binary = binary

    def close(self):
        self._connection.close()

    def _send(self, method, path, body=None, headers=None):
        if isinstance(body, dict):
            body = json.dumps(body)
        self._connection.request(method, path, body, headers or {})
        response = self._connection.getresponse()
        return response.status, response.headers, response.read()

    @staticmethod
    def _error(status, body):
        text = body.decode()
        if text.startswith("{"):
            text = json.loads(text)["error"]
        return Outcome(status, text)

    def _document(self, method, path, body=None, read=canonical):
        status, _, got = self._send(method, path, body)
        if status != 200:
            return self._error(status, got)
        return Outcome(status, answer=read(json.loads(got)) if got else None)

    def _question(self, path):
        """Returns the answer to a question: 200 means yes; 400 means no, with an empty body or with
        the text that the version is not ready."""
        status, _, body = self._send("GET", path)
        outcome = self._error(status, body)
        if status == 400 and outcome.text in ("", "Model version not ready"):
            return Outcome(200, answer=False)
        return Outcome(200, answer=True) if status == 200 else outcome

    def server_live(self):
        return self._question("/v2/health/live")

    def server_ready(self):
        return self._question("/v2/health/ready")

    def server_metadata(self):
        return self._document("GET", "/v2")

    def model_ready(self, model, version=""):
        return self._question(_model_path(model, version) + "/ready")

    def model_metadata(self, model, version=""):
        return self._document("GET", _model_path(model, version))

    def model_config(self, model, version=""):
        return self._document("GET", _model_path(model, version) + "/config",
                              read=canonical_config)

    def model_statistics(self, model="", version=""):
        path = _model_path(model, version) if model else "/v2/models"
        return self._document("GET", path + "/stats",
                              read=lambda got: counted_models(got["model_stats"]))

    def repository_index(self, ready=None, repository=""):
        path = f"/v2/repository/{repository}/index" if repository else "/v2/repository/index"
        return self._document("POST", path, None if ready is None else {"ready": ready},
                              canonical_index)

    def _repository(self, action, model, parameters, repository):
        path = f"/v2/repository/{repository + '/' if repository else ''}models/{quote(model)}"
        return self._document("POST", f"{path}/{action}", _parameters(parameters))

    def model_load(self, model, parameters=None, repository=""):
        written = {k: base64.b64encode(v).decode() if isinstance(v, bytes) else v
                   for k, v in (parameters or {}).items()}
        return self._repository("load", model, written, repository)

    def model_unload(self, model, parameters=None, repository=""):
        return self._repository("unload", model, parameters, repository)

    def log_settings(self, settings=None):
        if settings is None:
            return self._document("GET", "/v2/logging")
        return self._document("POST", "/v2/logging", settings)

    def trace_settings(self, settings=None, model=""):
        path = (_model_path(model, "") if model else "/v2") + "/trace/setting"
        if settings is None:
            return self._document("GET", path)
        return self._document("POST", path, settings)

    def shared_memory(self, kind, action, region="", key="/parity", offset=0, byte_size=64,
                      handle=b""):
        path = f"/v2/{kind}sharedmemory" + (f"/region/{region}" if region else "")
        if action == "status":
            return self._document("GET", f"{path}/status", read=canonical_regions)
        body = None
        if action == "register":
            source = {"key": key, "offset": offset} if kind == "system" else {
                "raw_handle": {"b64": base64.b64encode(handle).decode()}, "device_id": 0}
            body = {**source, "byte_size": byte_size}
        return self._document("POST", f"{path}/{action}", body)

    def generate(self, model, body, version="", stream=False):
        path = _model_path(model, version) + ("/generate_stream" if stream else "/generate")
        if not stream:
            return self._document("POST", path, body)
        status, _, got = self._send("POST", path, body)
        if status != 200:
            return self._error(status, got)
        events = [json.loads(line[6:]) for line in got.decode().splitlines() if line]
        return Outcome(status, answer=canonical(events))

    def _input(self, tensor):
        described = {"name": tensor.name, "datatype": tensor.datatype, "shape": tensor.shape}
        parameters = dict(tensor.parameters)
        if "shared_memory_region" in parameters:
            return {**described, "parameters": parameters}, b""
        if not self._binary:
            return {**described, "data": tensor.values, **_parameters(parameters)}, b""
        raw = tensor.bytes()
        return {**described, "parameters": {**parameters, "binary_data_size": len(raw)}}, raw

    def infer(self, model, inputs, outputs=(), version="", parameters=None, request_id=""):
        described, raws = zip(*map(self._input, inputs)) if inputs else ((), ())
        asked = dict(parameters or {})
        if self._binary:
            asked["binary_data_output"] = True
        body = {"inputs": described, **_parameters(asked)}
        if request_id:
            body["id"] = request_id
        if outputs:
            body["outputs"] = [
                {"name": o.name, **_parameters({**o.parameters, **({"classification": o.classes}
                                                                   if o.classes else {})})}
                for o in outputs]
        head = json.dumps(body).encode()
        headers = {"Inference-Header-Content-Length": str(len(head))} if self._binary else {}
        status, headers, got = self._send("POST", _model_path(model, version) + "/infer",
                                          head + b"".join(raws), headers)
        return self._error(status, got) if status != 200 else self._inferred(headers, got)

    @staticmethod
    def _inferred(headers, body):
        size = int(headers.get("Inference-Header-Content-Length") or len(body))
        document, rest = json.loads(body[:size]), body[size:]
        outputs = []
        for output in document["outputs"]:
            length = output.get("parameters", {}).get("binary_data_size")
            if length is None:
                values = output.get("data", [])  # none in shared memory
            else:
                values, rest = decode(output["datatype"], rest[:length]), rest[length:]
            outputs.append((output["name"], output["datatype"], output["shape"], values))
        return Outcome(200, answer=inferred(document["model_name"], document["model_version"],
                                            document.get("id", ""), outputs))
