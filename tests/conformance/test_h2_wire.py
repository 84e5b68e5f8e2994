# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 and the gRPC framing: the server's reaction to correct and incorrect peers, frame by
frame."""

import struct

import grpc_raw
import h2_wire
import numpy as np
import pytest
from h2_wire import Wire, frame, message
from models import type_model
from tritonclient.grpc import service_pb2 as pb

MODEL = type_model("INT32", False)


def infer_bytes(count=2) -> bytes:
    values = np.arange(count, dtype=np.int32)
    return grpc_raw.infer_request(MODEL, [grpc_raw.tensor("INPUT0", "INT32", [count])],
                                  [values.tobytes()]).SerializeToString()


def answered(fields, body):
    assert fields["grpc-status"] == "0", fields
    response = pb.ModelInferResponse.FromString(body[5:])
    assert response.model_name == MODEL
    return response


def still_serves(server):
    with Wire(server) as wire:
        wire.request(1)
        wire.data(1, message(infer_bytes()))
        answered(*wire.call_result(1))


def test_plain_call(server):
    with Wire(server) as wire:
        wire.request(1)
        wire.data(1, message(infer_bytes()))
        fields, body = wire.call_result(1)
        assert fields[":status"] == "200"
        assert fields["content-type"].startswith("application/grpc")
        answered(fields, body)


def test_message_in_many_frames(server):
    data = message(infer_bytes())
    with Wire(server) as wire:
        wire.request(1)
        for i in range(len(data)):
            wire.data(1, data[i:i + 1], end=False)
        wire.data(1, b"")
        answered(*wire.call_result(1))


def test_padded_data(server):
    data = message(infer_bytes())
    with Wire(server) as wire:
        wire.request(1)
        wire.send(frame(h2_wire.DATA, 0x8 | h2_wire.END_STREAM, 1, bytes([7]) + data + bytes(7)))
        answered(*wire.call_result(1))


def test_priority_and_unknown_frames(server):
    with Wire(server) as wire:
        wire.send(frame(0x77, 0xff, 0, b"unknown"))
        wire.send(frame(h2_wire.PRIORITY, 0, 1, struct.pack(">IB", 0, 15)))
        wire.request(1)
        wire.send(frame(0x78, 0, 1, b"unknown"))
        wire.data(1, message(infer_bytes()))
        answered(*wire.call_result(1))


def test_headers_in_continuation_frames(server):
    with Wire(server) as wire:
        block = wire.encoder.encode([
            (":method", "POST"), (":scheme", "http"), (":path", h2_wire.INFER_PATH),
            (":authority", "x"), ("content-type", "application/grpc"), ("te", "trailers"),
            ("long", "v" * 200)])
        wire.send(frame(h2_wire.HEADERS, 0, 1, block[:20]))
        wire.send(frame(h2_wire.CONTINUATION, 0, 1, block[20:40]))
        wire.send(frame(h2_wire.CONTINUATION, h2_wire.END_HEADERS, 1, block[40:]))
        wire.data(1, message(infer_bytes()))
        answered(*wire.call_result(1))


def test_ping_is_answered(server):
    with Wire(server) as wire:
        wire.send(frame(h2_wire.PING, 0, 0, b"12345678"))
        assert wire.read_until(h2_wire.PING) == b"12345678"


def test_settings_are_acknowledged(server):
    with Wire(server) as wire:
        wire.send(frame(h2_wire.SETTINGS, 0, 0, struct.pack(">HI", 0x3, 100)))
        seen = 0
        while seen < 2:
            kind, flags, _, _ = wire.read()
            seen += kind == h2_wire.SETTINGS and bool(flags & h2_wire.ACK)


def test_small_window_is_respected(server):
    """With a window of 100 bytes, at most 100 bytes arrive until the window is extended."""
    settings = frame(h2_wire.SETTINGS, 0, 0, struct.pack(">HI", 0x4, 100))
    with Wire(server, h2_wire.PREFACE + settings) as wire:
        wire.request(1)
        wire.data(1, message(infer_bytes(1000)))
        body = b""
        while len(body) < 100:
            kind, _, stream, payload = wire.read()
            if kind == h2_wire.DATA:
                body += payload
        assert len(body) == 100
        wire.send(frame(h2_wire.PING, 0, 0, b"no more?"))
        kind, _, _, payload = wire.read()
        while not (kind == h2_wire.PING and payload == b"no more?"):
            assert kind != h2_wire.DATA
            kind, _, _, payload = wire.read()
        wire.send(frame(h2_wire.WINDOW_UPDATE, 0, 1, struct.pack(">I", 1 << 20)))
        fields, rest = wire.call_result(1)
        answered(fields, body + rest)


def test_window_is_given_back(server):
    """One connection receives more than the first window of 64 KiB, message after message."""
    with Wire(server) as wire:
        for i in range(10):
            stream = 1 + 2 * i
            wire.request(stream)
            data = message(infer_bytes(4000))
            wire.data(stream, data[:16000], end=False)
            wire.data(stream, data[16000:])
            answered(*wire.call_result(stream))


# --- errors of one call --------------------------------------------------------------------------

@pytest.mark.parametrize("data", [
    message(b"abc", length=100), message(infer_bytes())[:3], message(infer_bytes())[:-1]],
    ids=["length", "prefix", "cut"])
def test_message_cut_short(server, data):
    with Wire(server) as wire:
        wire.request(1)
        wire.data(1, data)
        fields, _ = wire.call_result(1)
        assert fields.get("grpc-status") != "0"
        wire.request(3)
        wire.data(3, message(infer_bytes()))
        answered(*wire.call_result(3))


def test_no_message_at_all(server):
    with Wire(server) as wire:
        wire.request(1, end=True)
        fields, _ = wire.call_result(1)
        assert fields.get("grpc-status") != "0"
    still_serves(server)


def test_compressed_flag_without_encoding(server):
    with Wire(server) as wire:
        wire.request(1)
        wire.data(1, message(infer_bytes(), compressed=1))
        fields, _ = wire.call_result(1)
        assert fields.get("grpc-status") in ("12", "13", "3")


def test_unknown_encoding(server):
    with Wire(server) as wire:
        wire.request(1, grpc_encoding="snappy")
        wire.data(1, message(infer_bytes(), compressed=1))
        fields, _ = wire.call_result(1)
        assert fields["grpc-status"] == "12"
        assert "gzip" in fields["grpc-accept-encoding"]


def test_broken_gzip_message(server):
    with Wire(server) as wire:
        wire.request(1, grpc_encoding="gzip")
        wire.data(1, message(b"this is not gzip", compressed=1))
        fields, _ = wire.call_result(1)
        assert fields.get("grpc-status") in ("13", "3")
    still_serves(server)


def test_message_said_to_be_enormous(server):
    with Wire(server) as wire:
        wire.request(1)
        wire.data(1, message(b"abc", length=2**32 - 1))
        fields, _ = wire.call_result(1)
        assert fields.get("grpc-status") != "0"
    still_serves(server)


@pytest.mark.parametrize("content_type", ["text/plain", "application/json"])
def test_wrong_content_type(server, content_type):
    with Wire(server) as wire:
        wire.request(1, content_type=content_type)
        wire.data(1, message(infer_bytes()))
        fields, _ = wire.call_result(1)
        assert fields.get(":status") == "415" or fields.get("grpc-status") not in (None, "0") \
            or "reset" in fields


def test_wrong_method(server):
    with Wire(server) as wire:
        wire.request(1, method="GET", end=True)
        fields, _ = wire.call_result(1)
        assert fields.get(":status") in ("405", "501") or fields.get("grpc-status") not in (
            None, "0") or "reset" in fields
    still_serves(server)


@pytest.mark.parametrize("timeout", ["1", "x", "1Y", "-1S", "123456789S", ""])
def test_wrong_timeout_text(server, timeout):
    """The call is refused or the text is ignored; the server continues to serve."""
    with Wire(server) as wire:
        wire.request(1, grpc_timeout=timeout)
        wire.data(1, message(infer_bytes()))
        fields, _ = wire.call_result(1)
        assert fields
    still_serves(server)


@pytest.mark.parametrize("timeout", ["1n", "1u", "50m"])
def test_timeout_that_passes(server, timeout):
    request = grpc_raw.infer_request("slow", [grpc_raw.tensor("INPUT0", "INT32", [4])], [bytes(16)])
    with Wire(server) as wire:
        wire.request(1, grpc_timeout=timeout)
        wire.data(1, message(request.SerializeToString()))
        fields, _ = wire.call_result(1)
        assert fields.get("grpc-status") == "4" or "reset" in fields


@pytest.mark.parametrize("timeout", ["10S", "1M", "1H", "99999999H", "20000m", "20000000u"])
def test_timeout_units(server, timeout):
    with Wire(server) as wire:
        wire.request(1, grpc_timeout=timeout)
        wire.data(1, message(infer_bytes()))
        answered(*wire.call_result(1))


def test_stream_reset_by_the_client(server):
    with Wire(server) as wire:
        for stream in (1, 3, 5):
            wire.request(stream)
            wire.data(stream, message(infer_bytes())[:10], end=False)
            wire.send(frame(h2_wire.RST_STREAM, 0, stream, struct.pack(">I", 8)))
        wire.request(7)
        wire.data(7, message(infer_bytes()))
        answered(*wire.call_result(7))


# --- errors of the connection -------------------------------------------------------------------

@pytest.mark.parametrize("preface", [
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x00" * 64, b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
    h2_wire.PREFACE + frame(h2_wire.PING, 0, 0, b"12345678")],
    ids=["http1", "zeros", "almost", "no_settings"])
def test_wrong_preface(server, preface):
    with Wire(server, preface) as wire:
        if preface.startswith(h2_wire.PREFACE):
            return still_serves(server)
        # The server may send anything, but must close the connection.
        try:
            while True:
                assert wire.socket.recv(65536) or b""
        except (ConnectionResetError, AssertionError):
            pass
    return still_serves(server)


WRONG = {
    "data_on_stream_0": frame(h2_wire.DATA, 0, 0, b"abc"),
    "headers_on_stream_0": frame(h2_wire.HEADERS, h2_wire.END_HEADERS, 0, b"\x82"),
    "rst_on_idle_stream": frame(h2_wire.RST_STREAM, 0, 99, struct.pack(">I", 8)),
    "settings_on_stream": frame(h2_wire.SETTINGS, 0, 1),
    "settings_size": frame(h2_wire.SETTINGS, 0, 0, b"abc"),
    "settings_ack_payload": frame(h2_wire.SETTINGS, h2_wire.ACK, 0, b"abcdef"),
    "window_over_2_31": frame(h2_wire.SETTINGS, 0, 0, struct.pack(">HI", 0x4, 2**31)),
    "frame_size_setting": frame(h2_wire.SETTINGS, 0, 0, struct.pack(">HI", 0x5, 1)),
    "ping_size": frame(h2_wire.PING, 0, 0, b"short"),
    "window_update_0": frame(h2_wire.WINDOW_UPDATE, 0, 0, struct.pack(">I", 0)),
    "window_overflow": frame(h2_wire.WINDOW_UPDATE, 0, 0, struct.pack(">I", 2**31 - 1)) * 2,
    "continuation_alone": frame(h2_wire.CONTINUATION, h2_wire.END_HEADERS, 1, b"\x82"),
    "hpack_index": frame(h2_wire.HEADERS, h2_wire.END_HEADERS, 1, b"\xff\xff\xff\xff\x0f"),
    "push_promise": frame(h2_wire.PUSH_PROMISE, h2_wire.END_HEADERS, 1, b"\0\0\0\x02\x82"),
    "data_on_idle_stream": frame(h2_wire.DATA, 0, 7, b"abc"),
    "headers_interrupted": frame(h2_wire.HEADERS, 0, 1, b"\x82")
    + frame(h2_wire.PING, 0, 0, b"12345678"),
    "padding_too_long": frame(h2_wire.HEADERS, 0x8 | h2_wire.END_HEADERS, 1, b"\xff\x82"),
    "even_stream": frame(h2_wire.HEADERS, h2_wire.END_HEADERS, 2, b"\x82"),
}


@pytest.mark.parametrize("name", WRONG)
def test_connection_error(server, name):
    with Wire(server) as wire:
        wire.send(WRONG[name])
        assert wire.connection_error() != 0
    still_serves(server)


def test_frame_larger_than_allowed(server):
    with Wire(server) as wire:
        wire.request(1)
        wire.send(frame(h2_wire.DATA, 0, 1, b"", length=2**24 - 1))
        wire.send(bytes(1 << 15))
        assert wire.stream_or_connection_error(1) != 0
    still_serves(server)


def test_headers_without_end(server):
    """Endless CONTINUATION frames: the server closes the connection before its memory is exhausted.
    """
    with Wire(server) as wire:
        wire.send(frame(h2_wire.HEADERS, 0, 1, b"\x00\x01a\x7f\x80\xff\xff\x0f"))
        piece = frame(h2_wire.CONTINUATION, 0, 1, b"x" * 16000)
        for _ in range(500):
            wire.send(piece)
        assert wire.connection_error() != 0
    still_serves(server)


def test_client_that_ignores_the_windows(server):
    """The client sends 64 MB of one message beyond the window and leaves."""
    with Wire(server) as wire:
        wire.request(1, path="/inference.GRPCInferenceService/ModelStreamInfer")
        wire.send(frame(h2_wire.DATA, 0, 1, message(b"", length=2**31 - 1)))
        try:
            for _ in range(4000):
                wire.socket.sendall(frame(h2_wire.DATA, 0, 1, bytes(16000)))
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            pass  # the server closed the connection, which is also correct
    still_serves(server)


def test_trailing_headers_without_end_of_stream(server):
    with Wire(server) as wire:
        wire.request(1)
        wire.data(1, message(infer_bytes()), end=False)
        block = wire.encoder.encode([("late", "header")])
        wire.send(frame(h2_wire.HEADERS, h2_wire.END_HEADERS, 1, block))
        assert wire.stream_or_connection_error(1) != 0
    still_serves(server)


@pytest.mark.parametrize("value", [" v", "v ", "\tv\t", " "])
def test_blanks_around_metadata(server, value):
    """gRPC lets a server remove them."""
    with Wire(server) as wire:
        wire.request(1, some_metadata=value)
        wire.data(1, message(infer_bytes()))
        answered(*wire.call_result(1))


def test_upper_case_header_name(server):
    with Wire(server) as wire:
        block = wire.encoder.encode([
            (":method", "POST"), (":scheme", "http"), (":path", h2_wire.INFER_PATH),
            ("Content-Type", "application/grpc")])
        wire.send(frame(h2_wire.HEADERS, h2_wire.END_HEADERS, 1, block))
        wire.data(1, message(infer_bytes()))
        fields, _ = wire.call_result(1)
        assert fields.get("grpc-status") != "0"
    still_serves(server)
