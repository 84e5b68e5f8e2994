# SPDX-License-Identifier: Apache-2.0
"""The effects of --grpc-keepalive-*, --grpc-http2-* and --grpc-max-connection-age* on the wire."""

import h2_wire
import models
import pytest
from h2_wire import ACK, GOAWAY, PING, SETTINGS, frame

ENHANCE_YOUR_CALM = 0xb


def write(root):
    models.Repository(root).identity("plain", [("INT32", [-1])])


@pytest.fixture(scope="module")
def keeping(start_server):
    """A server that sends a ping after half a second without traffic, and accepts one bad ping."""
    return start_server("keepalive", write, "--grpc-keepalive-time=500",
                        "--grpc-keepalive-timeout=500", "--grpc-keepalive-permit-without-calls=1",
                        "--grpc-http2-max-pings-without-data=0",
                        "--grpc-http2-min-recv-ping-interval-without-data=60000",
                        "--grpc-http2-max-ping-strikes=1")


@pytest.fixture(scope="module")
def ageing(start_server):
    return start_server("ageing", write, "--grpc-max-connection-age=500",
                        "--grpc-max-connection-age-grace=500")


def connect(server):
    wire = h2_wire.Wire(server)
    wire.send(frame(SETTINGS, ACK, 0))
    return wire


def test_a_silent_client_is_asked_and_then_left(keeping):
    with connect(keeping) as wire:
        wire.read_until(PING)
        try:
            while True:
                wire.read()
        except EOFError:
            pass


def test_a_client_that_answers_is_kept(keeping):
    with connect(keeping) as wire:
        for _ in range(3):
            wire.send(frame(PING, ACK, 0, wire.read_until(PING)))


def test_too_many_pings(keeping):
    with connect(keeping) as wire:
        wire.send(frame(PING, 0, 0, b"12345678") * 4)
        payload = wire.read_until(GOAWAY)
        assert int.from_bytes(payload[4:8], "big") == ENHANCE_YOUR_CALM
        assert payload[8:] == b"too_many_pings"


def test_old_connections_end(ageing):
    with connect(ageing) as wire:
        assert int.from_bytes(wire.read_until(GOAWAY)[4:8], "big") == 0
        try:
            while True:
                wire.read()
        except EOFError:
            pass
