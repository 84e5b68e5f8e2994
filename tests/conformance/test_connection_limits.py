# SPDX-License-Identifier: Apache-2.0
"""--max-connections-per-address: one client cannot take the connections of all."""

import socket
import time

import h2_wire
import models
import pytest
import raw_http

LIMIT = 4


@pytest.fixture(scope="module")
def limited(is_peer, start_server):
    if is_peer:
        pytest.skip("Triton has no such limit")
    return start_server("per_address", lambda root: models.Repository(root).identity(
        "plain", [("INT32", [-1])]), f"--max-connections-per-address={LIMIT}")


def connect(port, source="127.0.0.1"):
    one = socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(source, 0))
    return one


def is_served(one) -> bool:
    """Asks over HTTP; False if the server has closed the connection."""
    try:
        one.sendall(raw_http.head("GET", "/v2/health/live"))
        return one.recv(4096).startswith(b"HTTP/1.1 200")
    except (BrokenPipeError, ConnectionResetError):
        return False


def is_closed(one) -> bool:
    """Begins HTTP/2, and waits for the settings of the server or for the end of the connection."""
    try:
        one.sendall(h2_wire.PREFACE + h2_wire.frame(h2_wire.SETTINGS, 0, 0))
        return one.recv(1) == b""
    except (BrokenPipeError, ConnectionResetError):
        return True


def close(connections):
    for one in connections:
        one.close()


def wait_until_served(server):
    """The server notices a moment later that clients have gone."""
    end = time.monotonic() + 30
    while True:
        with connect(server.http_port) as one:
            if is_served(one):
                return
        assert time.monotonic() < end


def test_an_address_has_its_limit_and_others_are_served(limited):
    mine = [connect(limited.http_port) for _ in range(LIMIT)]
    assert all(is_served(one) for one in mine)
    with connect(limited.http_port) as more:
        assert not is_served(more)
    with connect(limited.http_port, "127.0.0.2") as other:
        assert is_served(other)
    assert all(is_served(one) for one in mine)
    log = limited.log_tail(1000)
    assert ("4 connections from its address are open, which is the limit "
            "(--max-connections-per-address)") in log
    close(mine)
    wait_until_served(limited)


def test_http_and_grpc_count_together(limited):
    wait_until_served(limited)
    deadline = time.monotonic() + 30
    while True:
        mine = [connect(limited.grpc_port) for _ in range(LIMIT)]
        if all(not is_closed(one) for one in mine):
            break
        close(mine)
        assert time.monotonic() < deadline
    with connect(limited.http_port) as more:
        assert not is_served(more)
    with connect(limited.grpc_port) as more:
        assert is_closed(more)
    close(mine)
    wait_until_served(limited)
