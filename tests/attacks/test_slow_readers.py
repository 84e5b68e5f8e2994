# SPDX-License-Identifier: Apache-2.0
"""Clients that read all that they have asked for, but always more slowly than the server could send
it. So the connection's queue is never empty, and what was sent must be freed all the same."""

import contextlib
import json
import socket
import struct
import time

import grpc_raw
import h2_wire
import pytest
from conftest import FIGURES, forget_peak, memory_of, push, settled_memory, write_victims
from h2_wire import DATA, END_STREAM, SETTINGS, WINDOW_UPDATE, frame

STREAM_PATH = "/inference.GRPCInferenceService/ModelStreamInfer"
GENERATE_PATH = "/v2/models/many/generate_stream"
LARGEST_WINDOW = 0x7fffffff
READ_MIB = 300
PEAK_MIB = 130  # beside the queue: 64 MiB of responses of a stream may wait for its client
PIECE = 64 << 10

# Flow control lets everything out: only the socket holds the server back.
OPEN_WINDOWS = (h2_wire.PREFACE + frame(SETTINGS, 0, 0, struct.pack(">HI", 4, LARGEST_WINDOW))
                + frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", LARGEST_WINDOW - 65535)))


class SlowWire(h2_wire.Wire):
    """A connection whose socket holds little: TCP with a small window, or a Unix socket."""

    def __init__(self, address):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family)
        if family == socket.AF_INET:
            # Small segments keep the server's buffer small, too.
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1000)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 10)
        self.socket.settimeout(20)
        self.socket.connect(address)
        self.buffer = b""
        self.encoder = h2_wire.hpack.Encoder()
        self.decoder = h2_wire.hpack.Decoder()
        self.send(OPEN_WINDOWS)

    def read_away(self, size):
        """Reads `size` bytes, at most 64 MiB in a second: less than the server could send."""
        left = size
        while left > 0:
            got = self.socket.recv(min(left, 64 << 10))
            assert got, "the server has closed the connection"
            left -= len(got)
            time.sleep(len(got) / (64 << 20))


def ask_grpc(wire):
    """Asks for many responses of PIECE bytes in one stream."""
    request = grpc_raw.infer_request(
        "many", [grpc_raw.tensor("INPUT0", "UINT8", [PIECE])], [bytes(PIECE)],
        parameters={"count": (READ_MIB << 20) // PIECE + 100}).SerializeToString()
    data = h2_wire.message(request)
    wire.request(1, STREAM_PATH)
    for at in range(0, len(data), 16384):
        push(wire, frame(DATA, 0, 1, data[at:at + 16384]))


def ask_rest(wire):
    """Asks for many events of more than PIECE bytes in one stream."""
    data = json.dumps({"INPUT0": [100] * (PIECE // 4),
                       "count": (READ_MIB << 20) // PIECE + 100}).encode()
    wire.request(1, GENERATE_PATH, content_type="application/json", te=None)
    for at in range(0, len(data), 16384):
        rest = at + 16384 >= len(data)
        push(wire, frame(DATA, END_STREAM if rest else 0, 1, data[at:at + 16384]))


FRONTS = {"grpc": ("grpc_port", ask_grpc), "rest": ("http_port", ask_rest)}


@pytest.mark.parametrize("front", FRONTS)
def test_tcp_with_a_small_window(server, attack, front):
    port, ask = FRONTS[front]
    with attack(server, peak_mib=PEAK_MIB, worst_ms=1500):
        wire = SlowWire(("127.0.0.1", getattr(server, port)))
        with contextlib.closing(wire.socket):
            ask(wire)
            wire.read_away(READ_MIB << 20)


@pytest.fixture(scope="module")
def unix_server(start_server, test_plugins, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sockets")
    server = start_server("slow_unix", write_victims(test_plugins),
                          f"--http-address=unix:{folder}/http",
                          f"--grpc-address=unix:{folder}/grpc")
    return server, {"rest": f"{folder}/http", "grpc": f"{folder}/grpc"}


@pytest.mark.parametrize("front", FRONTS)
def test_unix_socket(unix_server, front, scale):
    """The other client of this test asks for an answer after each MiB."""
    server, paths = unix_server
    _, ask = FRONTS[front]
    before = settled_memory(server)
    forget_peak(server)
    wire = SlowWire(paths[front])
    other = SlowWire(paths["grpc"])
    small = grpc_raw.infer_request(
        "plain", [grpc_raw.tensor("INPUT0", "INT32", [1])], [b"\7\0\0\0"]).SerializeToString()
    worst = 0.0
    with contextlib.closing(wire.socket), contextlib.closing(other.socket):
        ask(wire)
        for stream in range(1, 2 * READ_MIB, 2):
            wire.read_away(1 << 20)
            begin = time.monotonic()
            other.request(stream)
            other.data(stream, h2_wire.message(small))
            fields, _ = other.call_result(stream)
            worst = max(worst, time.monotonic() - begin)
            assert fields["grpc-status"] == "0", fields
    grown = memory_of(server, "VmHWM") - before
    FIGURES.append(f"test_unix_socket[{front}]: memory +{grown:.0f} MiB (bound "
                   f"{PEAK_MIB * scale:.0f}), other client: worst {worst * 1000:.0f} ms")
    assert grown <= PEAK_MIB * scale, f"{grown:.0f} MiB"
    assert worst <= 1.5 * scale, f"{worst:.2f} s"
