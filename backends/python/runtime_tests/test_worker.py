# SPDX-License-Identifier: Apache-2.0
"""The parts of the worker that need no server: archives, shared memory, sockets, texts of errors."""

import gc
import io
import os
import re
import socket
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest
from nereid_pb.errors import TritonError
from nereid_pb.response import InferenceResponse
from nereid_pb.tensor import Tensor
from nereid_worker import protocol, start, unpack
from nereid_worker.channel import Channel, Memory
from nereid_worker.decoding import Decoder
from nereid_worker.encoding import Encoder
from nereid_worker.loader import describe
from nereid_worker.segments import OutputSegments, ServerSegments, are_kept

LIMIT = 64 << 20


# Archives


def archive(path, *entries):
    """Writes an archive of (name, type, link target)."""
    with tarfile.open(path, "w:gz") as out:
        for name, kind, target in entries:
            entry = tarfile.TarInfo(name)
            entry.type = kind
            entry.linkname = target
            content = b"x" if kind == tarfile.REGTYPE else b""
            entry.size = len(content)
            out.addfile(entry, io.BytesIO(content))
    return str(path)


def test_an_environment_is_unpacked(tmp_path):
    name = archive(tmp_path / "e.tar.gz", ("bin/activate", tarfile.REGTYPE, ""),
                   ("bin/same", tarfile.LNKTYPE, "bin/activate"),
                   ("bin/python", tarfile.SYMTYPE, "/usr/bin/python3"))
    unpack.unpack(name, str(tmp_path / "e"))
    assert (tmp_path / "e/bin/same").read_bytes() == b"x"
    assert os.readlink(tmp_path / "e/bin/python") == "/usr/bin/python3"


@pytest.mark.parametrize("entries", [
    [("/etc/x", tarfile.REGTYPE, "")],
    [("a/../../x", tarfile.REGTYPE, "")],
    [("x", tarfile.LNKTYPE, "/etc/passwd")],
    [("x", tarfile.LNKTYPE, "../x")],
    [("a", tarfile.SYMTYPE, "/tmp"), ("a/x", tarfile.REGTYPE, "")],
    [("a", tarfile.SYMTYPE, "/tmp"), ("./a/b/x", tarfile.REGTYPE, "")],
    [("x", tarfile.CHRTYPE, "")],
], ids=["absolute", "dots", "absolute_link", "dots_link", "through_link", "through_link_later",
        "device"])
def test_an_archive_that_leaves_its_folder_is_refused(tmp_path, entries):
    with pytest.raises(ValueError, match="the environment"):
        unpack.unpack(archive(tmp_path / "e.tar.gz", *entries), str(tmp_path / "e"))
    assert not (tmp_path / "e").exists()


# Shared memory


def shared_file(size):
    file = os.memfd_create("test")
    os.ftruncate(file, size)
    return file


def test_a_segment_is_released_with_its_last_array():
    segments = ServerSegments()
    segments.announce(7, 65536, shared_file(65536))
    use = segments.use(7)
    tensor = Tensor._received("IN", 11, (4,), use, 64, 16)
    view = tensor.as_numpy()[1:].reshape(3, 1)
    del use, tensor
    gc.collect()
    assert segments.take_released() == []
    assert segments.find(view) == (7, 68)
    del view
    assert segments.take_released() == [7]
    assert segments.take_released() == []


def test_an_array_elsewhere_is_in_no_segment():
    segments = ServerSegments()
    segments.announce(7, 65536, shared_file(65536))
    use = segments.use(7)
    assert segments.find(np.zeros(4)) is None
    assert segments.find(use.copy()) is None


def test_a_block_of_the_arena_is_a_segment():
    segments = ServerSegments()
    file = shared_file(1 << 20)
    content = os.dup(file)
    segments.announce(1, 1 << 20, file)
    segments.announce_block(2, 1, 65536, 65536)
    os.pwrite(content, np.arange(4, dtype=np.float32).tobytes(), 65536 + 64)
    os.close(content)
    assert segments.size(2) == 65536
    use = segments.use(2)
    view = Tensor._received("IN", 11, (4,), use, 64, 16).as_numpy()
    assert view.tolist() == [0, 1, 2, 3]
    view += 1  # a model may write to its inputs
    assert segments.find(view) == (2, 64)
    del use, view
    assert segments.take_released() == [2]


def received(segments):
    """Returns a tensor in a segment of the server."""
    return Tensor._received("IN", 11, (4,), segments.use(7), 64, 16)


def keep_nothing(tensor):
    return None


@pytest.mark.parametrize("keep, expected", [
    (keep_nothing, False),
    (lambda tensor: tensor, True),
    (lambda tensor: tensor.as_numpy(), True),
    (lambda tensor: tensor.as_numpy()[2:], True),
    (lambda tensor: tensor.as_numpy().view(np.int32), True),
    (lambda tensor: memoryview(tensor.as_numpy()), True),
    (lambda tensor: tensor.to_dlpack(), True),
    (lambda tensor: tensor.as_numpy().copy(), False),
], ids=["nothing", "tensor", "array", "part", "other_type", "memoryview", "dlpack", "copy"])
@pytest.mark.parametrize("times", [1, 2])
def test_what_a_model_keeps_of_an_input_is_noticed(keep, expected, times):
    segments = ServerSegments()
    segments.announce(7, 65536, shared_file(65536))
    tensor = received(segments)
    kept = keep(tensor)
    arrays = [tensor.as_numpy() for _ in range(times)]
    del tensor
    assert are_kept(arrays) == expected
    del kept
    assert not are_kept(arrays)


def test_several_views_of_an_input_are_nobody_elses():
    segments = ServerSegments()
    segments.announce(7, 65536, shared_file(65536))
    arrays = [received(segments).as_numpy()]
    arrays += [arrays[0][:2], arrays[0][2:], arrays[0]]
    assert not are_kept(arrays)


@pytest.mark.parametrize("kind, kept, in_place", [
    (protocol.RESULTS, False, True), (protocol.RESULTS, True, False), (protocol.SEND, True, True),
])
def test_an_input_that_can_still_change_is_copied_to_the_results(channels, kind, kept, in_place):
    worker, server = channels
    worker.memory.server.announce(7, 65536, shared_file(65536))
    size = 12_000
    tensor = Tensor._received("IN", 11, (size,), worker.memory.server.use(7), 64, 4 * size)
    array = tensor.as_numpy()
    array[:] = 5
    del tensor
    encoder = Encoder(worker)
    encoder.tensors([Tensor("OUT", array)])
    if not kept:
        del array
    encoder.send(kind, 1)
    message = server.receive()
    segment, offset = protocol.TENSOR.unpack_from(message.view, message.body)[3:5]
    if in_place:
        assert (segment, offset) == (7, 64)
        return
    assert segment & protocol.WORKER_SEGMENT
    array[:] = 6
    content = np.frombuffer(server.memory.server.use(segment), np.float32)
    assert content[:size].tolist() == [5] * size


def test_an_output_segment_is_used_again_when_the_server_has_read_it():
    segments = OutputSegments(LIMIT)
    first, memory, file = segments.take(100_000)
    assert file >= 0 and len(memory) >= 100_000
    os.close(file)
    second, _, file = segments.take(100_000)
    assert second != first
    os.close(file)
    segments.give_back([first])
    assert segments.take(90_000)[0::2] == (first, -1)


def test_the_limit_of_outputs_names_the_parameter():
    with pytest.raises(MemoryError, match="shared_memory_limit_bytes"):
        OutputSegments(65536).take(65537)


# Messages


@pytest.fixture
def channels():
    """The two ends of a connection."""
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ends = [Channel(end.detach(), Memory(LIMIT)) for end in pair]
    yield ends
    for end in ends:
        end.socket.close()


@pytest.mark.parametrize("size", [0, 10, protocol.MAX_MESSAGE, 5 * protocol.MAX_MESSAGE])
def test_a_message_of_any_size_arrives(channels, size):
    worker, server = channels
    worker.send(protocol.LOG, 3, [b"x" * size])
    message = server.receive()
    assert (message.type, message.id) == (protocol.LOG, 3)
    assert bytes(message.view[message.body:]) == b"x" * size


def test_responses_are_encoded_with_the_requested_outputs(channels):
    worker, server = channels
    outputs = [Tensor("A", np.arange(3, dtype=np.int32)), Tensor("B", np.zeros(1, np.int32))]
    encoder = Encoder(worker)
    # An INFER_RESPONSE has the same result, after two numbers.
    encoder.meta.append(protocol.U32_PAIR.pack(1, 0))
    encoder.response(InferenceResponse(outputs, parameters={"a": 1}), {"A"})
    head = sum(map(len, encoder.meta))
    encoder.meta[0] = protocol.U32_PAIR.pack(1, protocol.HEADER.size + head)
    encoder.send(protocol.INFER_RESPONSE, 9)
    final, response = Decoder(server.memory, False).response(server.receive())
    assert final
    assert [t.name() for t in response.output_tensors()] == ["A"]
    assert response.output_tensors()[0].as_numpy().tolist() == [0, 1, 2]
    assert response.parameters() == '{"a": 1}'


def test_errors_are_encoded_with_their_code(channels):
    worker, server = channels
    encoder = Encoder(worker)
    encoder.meta.append(protocol.U32_PAIR.pack(1, 0))
    encoder.response(InferenceResponse(error=TritonError("no\0", TritonError.NOT_FOUND)), set())
    encoder.send(protocol.INFER_RESPONSE, 9)
    _, response = Decoder(server.memory, False).response(server.receive())
    assert response.error().code() == TritonError.NOT_FOUND
    assert response.error().message() == "no\\0"


class Recorder:
    """A socket that notes the flags with which it receives."""

    def __init__(self, socket_):
        self.socket, self.flags = socket_, []

    def recvmsg_into(self, buffers, space, flags):
        self.flags.append(flags)
        return self.socket.recvmsg_into(buffers, space, flags)

    def close(self):
        self.socket.close()


def test_files_are_closed_in_programs_from_the_beginning(channels):
    """Another thread of the model may start a program while a file is received."""
    worker, server = channels
    worker.socket = Recorder(worker.socket)
    server.send(protocol.LOG, 3, [b"x" * 5 * protocol.MAX_MESSAGE])
    assert worker.receive().id == 3
    assert all(flags & socket.MSG_CMSG_CLOEXEC for flags in worker.socket.flags)


def test_the_version_of_the_protocol_is_the_same_on_both_sides():
    header = Path(__file__).resolve().parents[1] / "messages.h"
    found = re.search(r"kProtocolVersion = (\d+);", header.read_text())
    assert int(found.group(1)) == protocol.VERSION


def test_an_interpreter_that_cannot_run_models_says_so_in_the_form_of_the_protocol(monkeypatch):
    work, server = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    sent = Channel(server.detach(), Memory(LIMIT))
    monkeypatch.setattr(start, "_WORK", work.detach())
    monkeypatch.setattr(start.os, "_exit", sys.exit)
    sent.socket.send(b"the first call")
    with pytest.raises(SystemExit):
        start._refuse("no numpy")
    hello = sent.receive()
    assert hello.type == protocol.HELLO
    assert protocol.U32.unpack_from(hello.view, hello.body) == (protocol.VERSION,)
    done = sent.receive()
    assert done.type == protocol.DONE
    assert protocol.DONE_BODY.unpack_from(done.view, done.body) == (0, 0, 0, 0, 8)
    assert bytes(done.view[-8:]) == b"no numpy"


def test_a_child_of_the_process_sends_nothing(channels):
    worker, server = channels
    worker.closed = True
    worker.send(protocol.LOG, 1, [b"x"])
    with pytest.raises(BlockingIOError):
        server.receive(socket.MSG_DONTWAIT)


# Texts


def test_the_places_of_an_error_are_listed_from_the_inside():
    def inner():
        raise ValueError("bad")

    try:
        inner()
    except ValueError as error:
        text = describe(error)
    lines = text.splitlines()
    assert lines[:3] == ["ValueError: bad", "", "At:"]
    assert lines[3].endswith(": inner")
    assert text.endswith("\n")
