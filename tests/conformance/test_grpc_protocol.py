# SPDX-License-Identifier: Apache-2.0
"""gRPC itself, tested with grpcio: methods, compression, deadlines, sizes, health, reflection."""

import threading

import grpc
import grpc_raw
import numpy as np
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase)
from google.protobuf.descriptor_pool import DescriptorPool
from models import type_model
from tritonclient.grpc import service_pb2 as pb
from tritonclient.grpc import service_pb2_grpc

MODEL = type_model("INT32", False)


def ints(*values):
    return np.array(values, np.int32).tobytes()


def good(values=(1, 2), model=MODEL, **kwargs):
    return grpc_raw.infer_request(
        model, [grpc_raw.tensor("INPUT0", "INT32", [len(values)])], [ints(*values)], **kwargs)


def check(response, values=(1, 2)):
    assert list(response.raw_output_contents) == [ints(*values)]


# --- compression --------------------------------------------------------------------------------

@pytest.mark.parametrize("algorithm", [grpc.Compression.Gzip, grpc.Compression.Deflate,
                                       grpc.Compression.NoCompression])
def test_compressed_request(server, algorithm):
    values = tuple(range(1000))
    check(grpc_raw.call(server, "ModelInfer", good(values), compression=algorithm), values)


@pytest.mark.parametrize("algorithm", ["gzip", "deflate", None])
def test_clients_compression(grpc, algorithm):
    array = np.arange(1000, dtype=np.int32)
    answer = grpc.infer(MODEL, [grpc.input("INPUT0", array)], compression_algorithm=algorithm)
    assert (answer.array("OUTPUT0") == array).all()


# --- deadlines and cancellation -----------------------------------------------------------------

def slow():
    return grpc_raw.infer_request("slow", [grpc_raw.tensor("INPUT0", "INT32", [4])],
                                  [ints(1, 2, 3, 4)])


def test_deadline_ends_the_call(server):
    code, _ = grpc_raw.failure(server, "ModelInfer", slow(), timeout=0.1)
    assert code == "DEADLINE_EXCEEDED"
    check(grpc_raw.call(server, "ModelInfer", good()))


def test_clients_deadline(grpc):
    status, _ = grpc.error(grpc.infer, "slow", [grpc.input("INPUT0", np.arange(4, dtype=np.int32))],
                           client_timeout=0.1)
    assert status == "DEADLINE_EXCEEDED"


def test_generous_deadline_is_met(server):
    check(grpc_raw.call(server, "ModelInfer", slow(), timeout=30), (1, 2, 3, 4))


def test_cancelled_call_leaves_the_server_well(server):
    with grpc_raw.channel(server) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        future = stub.ModelInfer.future(slow())
        future.cancel()
        assert future.cancelled()
        check(stub.ModelInfer(good(), timeout=30))


# --- metadata, sizes, concurrency ---------------------------------------------------------------

def test_metadata_of_the_caller_is_taken(server):
    check(grpc_raw.call(server, "ModelInfer", good(), metadata=[
        ("custom", "value"), ("binary-bin", b"\x00\xff"), ("long", "x" * 4000)]))


def test_four_mebibyte_message(server):
    values = np.arange(1 << 20, dtype=np.int32)
    request = grpc_raw.infer_request(
        MODEL, [grpc_raw.tensor("INPUT0", "INT32", [values.size])], [values.tobytes()])
    response = grpc_raw.call(server, "ModelInfer", request)
    assert response.raw_output_contents[0] == values.tobytes()


def test_many_calls_on_one_connection(server):
    with grpc_raw.channel(server) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        futures = [stub.ModelInfer.future(good((i, -i)), timeout=60) for i in range(200)]
        for i, future in enumerate(futures):
            check(future.result(), (i, -i))


def test_many_connections(server):
    failures = []

    def ask(i):
        try:
            check(grpc_raw.call(server, "ModelInfer", good((i,))), (i,))
        except Exception as error:  # reported by the main thread
            failures.append(error)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_metadata_too_large_is_refused_not_fatal(server):
    with grpc_raw.channel(server, **{"grpc.max_metadata_size": 1 << 20}) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        with pytest.raises(grpc.RpcError):
            stub.ModelInfer(good(), metadata=[("big", "x" * 500_000)], timeout=30)
    check(grpc_raw.call(server, "ModelInfer", good()))


# --- methods ------------------------------------------------------------------------------------

@pytest.mark.parametrize("path", [
    "/inference.GRPCInferenceService/NoSuchMethod", "/no.such.Service/ModelInfer",
    "/inference.GRPCInferenceService/", "/x"])
def test_unknown_method(server, path):
    with grpc_raw.channel(server) as channel:
        call = channel.unary_unary(path)
        with pytest.raises(grpc.RpcError) as info:
            call(b"", timeout=30)
    assert info.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("data", [b"\xff\xff\xff\xff", b"\x0a\xff\xff\xff\xff\x0f", b"\x0c"],
                         ids=["varint", "length", "group"])
def test_message_that_does_not_parse(server, data):
    with grpc_raw.channel(server) as channel:
        call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
        with pytest.raises(grpc.RpcError) as info:
            call(data, timeout=30)
        assert info.value.code() in (grpc.StatusCode.INTERNAL, grpc.StatusCode.INVALID_ARGUMENT)
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        check(stub.ModelInfer(good(), timeout=30))


def test_unknown_fields_are_ignored(server):
    data = good().SerializeToString() + b"\xf8\x3f\x01\xfa\x3f\x03abc"
    with grpc_raw.channel(server) as channel:
        call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer",
                                   response_deserializer=pb.ModelInferResponse.FromString)
        check(call(data, timeout=30))


# --- health -------------------------------------------------------------------------------------

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def health_check(server, service=""):
    with grpc_raw.channel(server) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        return stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=30).status


@pytest.mark.parametrize("service", ["", "inference.GRPCInferenceService"])
def test_health_check(server, service):
    assert health_check(server, service) == SERVING


def test_health_check_of_a_server_that_is_not_ready(second):
    assert health_check(second) == NOT_SERVING


def test_health_watch_gives_the_state_at_once(server):
    with grpc_raw.channel(server) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        call = stub.Watch(health_pb2.HealthCheckRequest(service=""), timeout=30)
        assert next(call).status == SERVING
        call.cancel()


# --- reflection ---------------------------------------------------------------------------------

def test_reflection_lists_the_services(server):
    with grpc_raw.channel(server) as channel:
        services = ProtoReflectionDescriptorDatabase(channel).get_services()
    assert {"inference.GRPCInferenceService", "grpc.health.v1.Health"} <= set(services)


def test_reflection_describes_the_service(server):
    with grpc_raw.channel(server) as channel:
        pool = DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
        service = pool.FindServiceByName("inference.GRPCInferenceService")
        names = {m.name for m in service.methods}
        fields = {f.name for f in pool.FindMessageTypeByName("inference.ModelInferRequest").fields}
    assert {m.name for m in pb.DESCRIPTOR.services_by_name["GRPCInferenceService"].methods} <= names
    assert fields == {f.name for f in pb.ModelInferRequest.DESCRIPTOR.fields}


def test_reflection_of_the_unknown(server):
    with grpc_raw.channel(server) as channel:
        pool = DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
        with pytest.raises(KeyError):
            pool.FindServiceByName("no.such.Service")
