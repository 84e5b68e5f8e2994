# SPDX-License-Identifier: Apache-2.0
"""The operations over gRPC, with hand-made messages."""

import grpc
from asks import (GRPC_STATUS, Outcome, canonical, canonical_config, canonical_index,
                  canonical_regions, counted_models, decode, inferred)
from google.protobuf.json_format import MessageToDict
from tritonclient.grpc import service_pb2 as pb
from tritonclient.grpc import service_pb2_grpc

_CONTENTS = {"BOOL": "bool_contents", "INT8": "int_contents", "INT16": "int_contents",
             "INT32": "int_contents", "INT64": "int64_contents", "UINT8": "uint_contents",
             "UINT16": "uint_contents", "UINT32": "uint_contents", "UINT64": "uint64_contents",
             "FP32": "fp32_contents", "FP64": "fp64_contents", "BYTES": "bytes_contents"}


def _plain(message):
    return MessageToDict(message, preserving_proto_field_name=True)


def _set_parameter(target, value):
    """Sets the kind that fits the Python value; no kind for None."""
    if isinstance(value, bool):
        target.bool_param = value
    elif isinstance(value, int):
        target.int64_param = value
    elif isinstance(value, float):
        target.double_param = value
    elif isinstance(value, bytes):
        target.bytes_param = value
    elif value is not None:
        target.string_param = value


def _set_parameters(message, values):
    for key, value in (values or {}).items():
        _set_parameter(message.parameters[key], value)


# Errors on a stream have no code, only a text.
_STREAM_STATUS = {code: "OK" if code == "OK" else "ERROR" for code in GRPC_STATUS}


class GrpcDoor:
    """`contents`: inputs are repeated fields instead of bytes."""

    status = GRPC_STATUS

    def __init__(self, server, contents=False):
        self._channel = grpc.insecure_channel(server.grpc)
        self._stub = service_pb2_grpc.GRPCInferenceServiceStub(self._channel)
        self._contents = contents

    def close(self):
        self._channel.close()

    def _call(self, method, message, read):
        try:
            answer = getattr(self._stub, method)(message, timeout=60)
        except grpc.RpcError as error:
            return Outcome(error.code().name, error.details())
        return Outcome("OK", answer=read(answer))

    def server_live(self):
        return self._call("ServerLive", pb.ServerLiveRequest(), lambda got: got.live)

    def server_ready(self):
        return self._call("ServerReady", pb.ServerReadyRequest(), lambda got: got.ready)

    def server_metadata(self):
        return self._call("ServerMetadata", pb.ServerMetadataRequest(),
                          lambda got: canonical(_plain(got)))

    def model_ready(self, model, version=""):
        return self._call("ModelReady", pb.ModelReadyRequest(name=model, version=str(version)),
                          lambda got: got.ready)

    def model_metadata(self, model, version=""):
        message = pb.ModelMetadataRequest(name=model, version=str(version))
        return self._call("ModelMetadata", message, lambda got: canonical(_plain(got)))

    def model_config(self, model, version=""):
        message = pb.ModelConfigRequest(name=model, version=str(version))
        return self._call("ModelConfig", message, lambda got: canonical_config(_plain(got.config)))

    def model_statistics(self, model="", version=""):
        message = pb.ModelStatisticsRequest(name=model, version=str(version))
        return self._call("ModelStatistics", message,
                          lambda got: counted_models(_plain(got).get("model_stats", [])))

    def repository_index(self, ready=None, repository=""):
        message = pb.RepositoryIndexRequest(repository_name=repository, ready=bool(ready))
        return self._call("RepositoryIndex", message,
                          lambda got: canonical_index(_plain(got).get("models", [])))

    def _repository(self, action, model, parameters, repository):
        message = getattr(pb, f"RepositoryModel{action}Request")(
            repository_name=repository, model_name=model)
        _set_parameters(message, parameters)
        return self._call(f"RepositoryModel{action}", message, lambda got: None)

    def model_load(self, model, parameters=None, repository=""):
        return self._repository("Load", model, parameters, repository)

    def model_unload(self, model, parameters=None, repository=""):
        return self._repository("Unload", model, parameters, repository)

    def log_settings(self, settings=None):
        message = pb.LogSettingsRequest()
        for key, value in (settings or {}).items():
            target = message.settings[key]
            if isinstance(value, bool):
                target.bool_param = value
            elif isinstance(value, int):
                target.uint32_param = value
            elif value is not None:
                target.string_param = value
        return self._call("LogSettings", message, lambda got: canonical(
            {k: next(iter(v.values()), "") for k, v in _plain(got)["settings"].items()}))

    def trace_settings(self, settings=None, model=""):
        message = pb.TraceSettingRequest(model_name=model)
        for key, value in (settings or {}).items():
            texts = [] if value is None else value if isinstance(value, list) else [value]
            message.settings[key].value.extend(texts)

        def read(got):
            values = {k: v.get("value", [""]) for k, v in _plain(got)["settings"].items()}
            return canonical({k: v if k == "trace_level" else v[0] for k, v in values.items()})
        return self._call("TraceSetting", message, read)

    def shared_memory(self, kind, action, region="", key="/parity", offset=0, byte_size=64,
                      handle=b""):
        method = f"{'System' if kind == 'system' else 'Cuda'}SharedMemory{action.title()}"
        message = getattr(pb, method + "Request")(name=region)
        if action == "register":
            message.byte_size = byte_size
            if kind == "system":
                message.key, message.offset = key, offset
            else:
                message.raw_handle = handle
        if action != "status":
            return self._call(method, message, lambda got: None)
        return self._call(method, message,
                          lambda got: canonical_regions(_plain(got).get("regions", {}).values()))

    def _add_input(self, message, tensor):
        made = message.inputs.add(name=tensor.name, datatype=tensor.datatype, shape=tensor.shape)
        _set_parameters(made, tensor.parameters)
        if "shared_memory_region" in tensor.parameters:
            return
        field = _CONTENTS.get(tensor.datatype)
        if self._contents and field:
            values = [v.encode() if isinstance(v, str) else v for v in tensor.values]
            getattr(made.contents, field).extend(values)
            made.contents.SetInParent()
        else:
            message.raw_input_contents.append(tensor.bytes())

    def infer(self, *args, **kwargs):
        return self._call("ModelInfer", self._infer_message(*args, **kwargs), self._inferred)

    def _infer_message(self, model, inputs, outputs=(), version="", parameters=None,
                       request_id=""):
        message = pb.ModelInferRequest(model_name=model, model_version=str(version), id=request_id)
        _set_parameters(message, parameters)
        for tensor in inputs:
            self._add_input(message, tensor)
        for output in outputs:
            made = message.outputs.add(name=output.name)
            _set_parameters(made, output.parameters)
            if output.classes:
                _set_parameter(made.parameters["classification"], output.classes)
        return message

    @staticmethod
    def _inferred(got):
        outputs = [(o.name, o.datatype, o.shape, decode(o.datatype, raw))
                   for o, raw in zip(got.outputs, got.raw_output_contents)]
        return inferred(got.model_name, got.model_version, got.id, outputs)


class GrpcStreamDoor(GrpcDoor):
    """Inference with a separate stream for each request."""

    status = _STREAM_STATUS

    def infer(self, *args, **kwargs):
        message = self._infer_message(*args, **kwargs)
        try:
            (got,) = self._stub.ModelStreamInfer(iter([message]), timeout=60)
        except grpc.RpcError as error:
            return Outcome(error.code().name, error.details())
        if got.error_message:
            return Outcome("ERROR", got.error_message)
        return Outcome("OK", answer=self._inferred(got.infer_response))
