# SPDX-License-Identifier: Apache-2.0
"""The cases of the gRPC project's interoperability tests, for the official Python client. Each
function is one case of the project's document, by its name there."""

import queue

import grpc

SERVICE = "/grpc.testing.TestService/"
SIZES = (31415, 9, 2653, 58979)           # of responses
REQUEST_SIZES = (27182, 8, 1828, 45904)


class Stub:
    """The methods of the test service, made of the messages in `m` (see test_interop.py)."""

    def __init__(self, channel, m):
        def method(kind, name, request, response, service=SERVICE):
            return getattr(channel, kind)(service + name,
                                          request_serializer=request.SerializeToString,
                                          response_deserializer=response.FromString)
        self.m = m
        self.empty = method("unary_unary", "EmptyCall", m.Empty, m.Empty)
        self.unary = method("unary_unary", "UnaryCall", m.SimpleRequest, m.SimpleResponse)
        self.input = method("stream_unary", "StreamingInputCall", m.StreamingInputCallRequest,
                            m.StreamingInputCallResponse)
        self.output = method("unary_stream", "StreamingOutputCall", m.StreamingOutputCallRequest,
                             m.StreamingOutputCallResponse)
        self.duplex = method("stream_stream", "FullDuplexCall", m.StreamingOutputCallRequest,
                             m.StreamingOutputCallResponse)
        self.unimplemented = method("unary_unary", "UnimplementedCall", m.Empty, m.Empty)
        self.unimplemented_service = method("unary_unary", "UnimplementedCall", m.Empty, m.Empty,
                                            "/grpc.testing.UnimplementedService/")

    def payload(self, size):
        return self.m.Payload(body=bytes(size))

    def large_request(self, **fields):
        return self.m.SimpleRequest(response_size=314159, payload=self.payload(271828), **fields)

    def output_request(self, request_size, *sizes, **fields):
        return self.m.StreamingOutputCallRequest(
            response_parameters=[self.m.ResponseParameters(size=size, **fields) for size in sizes],
            payload=self.payload(request_size))


class Requests:
    """A stream of requests that the test sends one by one."""

    def __init__(self):
        self.queue = queue.SimpleQueue()

    def send(self, request):
        self.queue.put(request)

    def end(self):
        self.queue.put(None)

    def __iter__(self):
        return iter(self.queue.get, None)


def expect_failure(code, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except grpc.RpcError as error:
        assert error.code() == code, error
        return error
    raise AssertionError(f"{code} expected")


def empty_unary(stub):
    assert stub.empty(stub.m.Empty()) == stub.m.Empty()


def large_unary(stub):
    response = stub.unary(stub.large_request())
    assert response.payload.type == 0 and response.payload.body == bytes(314159)


def client_compressed_unary(stub):
    expect = stub.m.BoolValue
    # The probe: a server that does not look at the flag accepts it.
    expect_failure(grpc.StatusCode.INVALID_ARGUMENT, stub.unary,
                   stub.large_request(expect_compressed=expect(value=True)))
    for compressed in (True, False):
        response = stub.unary(
            stub.large_request(expect_compressed=expect(value=compressed)),
            compression=grpc.Compression.Gzip if compressed else grpc.Compression.NoCompression)
        assert response.payload.body == bytes(314159)


def server_compressed_unary(stub):
    for compressed in (True, False):
        response = stub.unary(
            stub.large_request(response_compressed=stub.m.BoolValue(value=compressed)))
        assert response.payload.body == bytes(314159)


def client_streaming(stub):
    response = stub.input(iter([stub.m.StreamingInputCallRequest(payload=stub.payload(size))
                                for size in REQUEST_SIZES]))
    assert response.aggregated_payload_size == sum(REQUEST_SIZES) == 74922


def server_streaming(stub):
    responses = list(stub.output(stub.output_request(0, *SIZES)))
    assert [len(r.payload.body) for r in responses] == list(SIZES)


def ping_pong(stub):
    requests = Requests()
    responses = stub.duplex(iter(requests))
    for request_size, size in zip(REQUEST_SIZES, SIZES, strict=True):
        requests.send(stub.output_request(request_size, size))
        assert len(next(responses).payload.body) == size
    requests.end()
    assert list(responses) == []
    assert responses.code() == grpc.StatusCode.OK


def empty_stream(stub):
    assert list(stub.duplex(iter([]))) == []


def custom_metadata(stub):
    initial, trailing = "test_initial_metadata_value", b"\xab\xab\xab"
    sent = (("x-grpc-test-echo-initial", initial), ("x-grpc-test-echo-trailing-bin", trailing))
    _, call = stub.unary.with_call(stub.large_request(), metadata=sent)
    duplex = stub.duplex(iter([stub.output_request(271828, 314159)]), metadata=sent)
    assert len(next(duplex).payload.body) == 314159
    assert list(duplex) == []
    for made in (call, duplex):
        assert dict(made.initial_metadata())["x-grpc-test-echo-initial"] == initial
        assert dict(made.trailing_metadata())["x-grpc-test-echo-trailing-bin"] == trailing


def _with_status(stub, code, message):
    status = stub.m.EchoStatus(code=code.value[0], message=message)
    unary = expect_failure(code, stub.unary, stub.m.SimpleRequest(response_status=status))
    duplex = expect_failure(code, lambda: list(stub.duplex(iter(
        [stub.m.StreamingOutputCallRequest(response_status=status)]))))
    assert unary.details() == message and duplex.details() == message


def status_code_and_message(stub):
    _with_status(stub, grpc.StatusCode.UNKNOWN, "test status message")


def special_status_message(stub):
    _with_status(stub, grpc.StatusCode.UNKNOWN,
                 "\t\ntest with whitespace\r\nand Unicode BMP \u263a and non-BMP \U0001f608\t\n")


def unimplemented_method(stub):
    expect_failure(grpc.StatusCode.UNIMPLEMENTED, stub.unimplemented, stub.m.Empty())


def unimplemented_service(stub):
    expect_failure(grpc.StatusCode.UNIMPLEMENTED, stub.unimplemented_service, stub.m.Empty())


def cancel_after_begin(stub):
    requests = Requests()
    call = stub.input.future(iter(requests))
    call.cancel()
    assert call.cancelled() and call.code() == grpc.StatusCode.CANCELLED
    requests.end()


def cancel_after_first_response(stub):
    requests = Requests()
    responses = stub.duplex(iter(requests))
    requests.send(stub.output_request(REQUEST_SIZES[0], SIZES[0]))
    assert len(next(responses).payload.body) == SIZES[0]
    responses.cancel()
    expect_failure(grpc.StatusCode.CANCELLED, next, responses)
    assert responses.code() == grpc.StatusCode.CANCELLED
    requests.end()


def timeout_on_sleeping_server(stub):
    requests = Requests()
    responses = stub.duplex(iter(requests), timeout=0.001)
    requests.send(stub.output_request(REQUEST_SIZES[0], SIZES[0], interval_us=10_000_000))
    expect_failure(grpc.StatusCode.DEADLINE_EXCEEDED, next, responses)
    requests.end()


CASES = (empty_unary, large_unary, client_compressed_unary, server_compressed_unary,
         client_streaming, server_streaming, ping_pong, empty_stream, custom_metadata,
         status_code_and_message, special_status_message, unimplemented_method,
         unimplemented_service, cancel_after_begin, cancel_after_first_response,
         timeout_on_sleeping_server)
