# SPDX-License-Identifier: Apache-2.0
"""The messages between the proxies of RemoteTriton and its functions. Its models are tested in
tests/conformance/test_remote_functions.py."""

import socket
import threading

import numpy as np
import pytest

import nereid
from nereid.pytriton.proxy import wire
from nereid.pytriton.remote_queue import RemoteQueue


@pytest.fixture
def pair():
    left, right = socket.socketpair()
    with left, right:
        left.settimeout(60)
        right.settimeout(60)
        yield left, right


def test_messages_keep_types_and_shapes(pair):
    arrays = [
        np.arange(6, dtype=np.float16).reshape(2, 3),
        np.array([True, False]),
        np.array([b"", b"a\0b"], np.object_),
        np.array(["\u00e4"]),
        np.zeros((0, 4), np.int64),
        np.array(7, ">i4"),
        np.arange(12, dtype=np.uint8).reshape(3, 4)[:, ::2],
    ]
    wire.send(pair[0], {"a": "b"}, arrays)
    head, received = wire.receive(pair[1])
    assert head == {"a": "b"}
    assert received[2].tolist() == [b"", b"a\0b"] and received[3].tolist() == ["\u00e4".encode()]
    for i in (0, 1, 4, 5, 6):
        assert np.array_equal(received[i], arrays[i]) and received[i].shape == arrays[i].shape
        assert received[i].flags.writeable
    pair[0].close()
    assert wire.receive(pair[1]) is None


def test_large_arrays_come_in_pieces(pair):
    array = np.arange(3 << 18, dtype=np.float64)
    sender = threading.Thread(target=wire.send, args=(pair[0], {}, [array]))
    sender.start()
    assert np.array_equal(wire.receive(pair[1])[1][0], array)
    sender.join()


@pytest.mark.parametrize(
    "head, data",
    [
        ("[]", b""),
        ("{}", b""),
        ("{", b""),
        ('{"arrays": [1]}', b""),
        ('{"arrays": [["<f4", [2], 4]]}', b"1234"),
        ('{"arrays": [["<f4", [-1], 4]]}', b"1234"),
        ('{"arrays": [["|O", [1], 8]]}', b"12345678"),
        ('{"arrays": [["BYTES", [1], 2]]}', b"\1\0"),
        ('{"arrays": [["BYTES", [1], 5]]}', b"\2\0\0\0a"),
        ('{"arrays": [["BYTES", [2], 5]]}', b"\1\0\0\0a"),
        ('{"arrays": [["<f4", [1000], 4000]]}', b""),
        ('{"arrays": [["|u1", [4611686018427387904], 4611686018427387904]]}', b"1"),
    ],
)
def test_damaged_messages_are_refused(pair, head, data):
    pair[0].sendall(len(head).to_bytes(4, "little") + head.encode() + data)
    pair[0].close()
    with pytest.raises(wire.WireError):
        wire.receive(pair[1])


def test_a_head_that_is_too_long_is_refused(pair):
    pair[0].sendall(b"\xff\xff\xff\xff")
    with pytest.raises(wire.WireError, match="4294967295 bytes"):
        wire.receive(pair[1])
    with pytest.raises(ValueError, match="complex128 cannot be sent"):
        wire.send(pair[0], {}, [np.zeros(1, complex)])


def batch_of(x):
    head = {"id": "a", "parameters": '{"p": 1}', "outputs": ["y"], "inputs": ["x"], "trace": ""}
    return {"requests": [head]}, [np.array([x], np.float32)]


def connected(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(60)
    connection.connect(path)
    return connection


def test_a_queue_of_batches(tmp_path):
    queue = RemoteQueue(str(tmp_path / "s"), limit=2)
    assert queue.take(0) is None
    with connected(str(tmp_path / "s")) as proxy:
        wire.send(proxy, *batch_of(2))
        batch = queue.take(60)
        (request,) = batch.requests()
        assert request["x"].tolist() == [2] and request.parameters == {"p": 1}
        assert (request.request_id, request.requested_output_names) == ("a", ["y"])
        batch.send(0, {"y": request["x"] + 1}, True)
        with pytest.raises(nereid.InvalidArgumentError, match="final response"):
            batch.fail(0, 1, "late", True)
        batch.finish()
        head, arrays = wire.receive(proxy)
        assert head == {"outputs": ["y"], "index": 0, "final": True} and arrays[0].tolist() == [3]
        assert wire.receive(proxy)[0] == {"done": True}
        wire.send(proxy, *batch_of(3))
        batch = queue.take(60)
        batch.fail(0, 1, "broken", True)
        batch.finish()
        assert wire.receive(proxy)[0] == {"error": "broken", "index": 0, "final": True}
    queue.close()
    assert queue.take(60) is None


def test_a_proxy_that_is_gone(tmp_path):
    queue = RemoteQueue(str(tmp_path / "s"), limit=2)
    with connected(str(tmp_path / "s")) as proxy:
        wire.send(proxy, *batch_of(2))
        batch = queue.take(60)
    with pytest.raises(nereid.UnavailableError):
        batch.send(0, {"y": np.zeros(1 << 20, np.float32)}, True)
    batch.finish()
    # A damaged message ends its connection only.
    with connected(str(tmp_path / "s")) as proxy:
        wire.send(proxy, {"requests": [{}]}, [])
        assert wire.receive(proxy) is None
    with connected(str(tmp_path / "s")) as proxy:
        wire.send(proxy, *batch_of(5))
        assert queue.take(60).requests()[0]["x"].tolist() == [5]
        queue.close()


def test_connections_have_a_limit(tmp_path):
    queue = RemoteQueue(str(tmp_path / "s"), limit=1)
    with connected(str(tmp_path / "s")) as first:
        wire.send(first, *batch_of(1))
        assert queue.take(60) is not None
        with connected(str(tmp_path / "s")) as second:
            assert second.recv(1) == b""
    queue.close()
    with pytest.raises(nereid.InvalidArgumentError, match="shorter workspace"):
        RemoteQueue(str(tmp_path / ("s" * 200)), limit=1)
