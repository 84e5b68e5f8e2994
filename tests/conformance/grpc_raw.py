# SPDX-License-Identifier: Apache-2.0
"""gRPC calls with hand-made messages, through the stubs that grpcio's compiler generates."""

import contextlib

import grpc
from tritonclient.grpc import service_pb2 as pb
from tritonclient.grpc import service_pb2_grpc

LIMIT = 2**31 - 1
OPTIONS = [("grpc.max_send_message_length", LIMIT), ("grpc.max_receive_message_length", LIMIT)]


@contextlib.contextmanager
def channel(server, **options):
    with grpc.insecure_channel(server.grpc, options=OPTIONS + list(options.items())) as made:
        yield made


def call(server, method, message=None, *, timeout=60, metadata=None, compression=None, **fields):
    """Makes one unary call. The request is `message`, or is made from `fields`."""
    if message is None:
        message = getattr(pb, f"{method}Request")(**fields)
    with channel(server) as made:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(made)
        return getattr(stub, method)(message, timeout=timeout, metadata=metadata,
                                     compression=compression)


def failure(server, method, message=None, **kwargs):
    """Makes a call that must fail. Returns (code name, text)."""
    try:
        call(server, method, message, **kwargs)
    except grpc.RpcError as error:
        return error.code().name, error.details()
    raise AssertionError("the call succeeded, an error was expected")


def tensor(name, datatype, shape, parameters=None, **contents):
    """Returns one input tensor. `contents` is a field of InferTensorContents and its values."""
    made = pb.ModelInferRequest.InferInputTensor(name=name, datatype=datatype, shape=shape)
    for field, values in contents.items():
        getattr(made.contents, field).extend(values)
        made.contents.SetInParent()
    for key, value in (parameters or {}).items():
        made.parameters[key].CopyFrom(parameter(value))
    return made


def parameter(value):
    """Returns an InferParameter of the kind that fits the Python value, or the value itself if it
    is an InferParameter."""
    if isinstance(value, pb.InferParameter):
        return value
    if isinstance(value, bool):
        return pb.InferParameter(bool_param=value)
    if isinstance(value, int):
        return pb.InferParameter(int64_param=value)
    if isinstance(value, float):
        return pb.InferParameter(double_param=value)
    return pb.InferParameter(string_param=value)


def infer_request(model, inputs, raw=(), *, outputs=(), parameters=None, request_id="", version=""):
    message = pb.ModelInferRequest(model_name=model, model_version=version, id=request_id,
                                   inputs=inputs, raw_input_contents=raw)
    for name in outputs:
        message.outputs.add().name = name
    for key, value in (parameters or {}).items():
        message.parameters[key].CopyFrom(parameter(value))
    return message


def stream(server, requests, *, metadata=None, timeout=60):
    """Sends all requests on one stream, half-closes it, and returns all responses."""
    with channel(server) as made:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(made)
        return list(stub.ModelStreamInfer(iter(requests), metadata=metadata, timeout=timeout))
