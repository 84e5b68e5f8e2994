# SPDX-License-Identifier: Apache-2.0
"""One of the two sockets of the worker: datagrams with a header, files beside them."""

import array
import os
import socket
from typing import Any, FrozenSet, List, Optional, Sequence, Tuple

from . import protocol
from .segments import OutputSegments, ServerSegments

_HEADER_SIZE = protocol.HEADER.size
_FILE_SPACE = socket.CMSG_SPACE(4 * array.array("i").itemsize)
# A program that another thread starts meanwhile must not get the files.
_CLOSE_ON_EXEC = int(socket.MSG_CMSG_CLOEXEC)
_pack_header = protocol.HEADER.pack
_unpack_header = protocol.HEADER.unpack_from


class Memory:
    """The shared memory of both directions."""

    __slots__ = ("gpus", "outputs", "server")

    def __init__(self, limit: int) -> None:
        self.server = ServerSegments()
        self.outputs = OutputSegments(limit)
        # The UUIDs of the GPUs whose memory the server can share.
        self.gpus: List[bytes] = []


class Message:
    """A message that was received. `view` is the whole message; `body` is where the body begins."""

    __slots__ = ("body", "id", "type", "view")

    def __init__(self, kind: int, number: int, view: memoryview, body: int) -> None:
        self.type = kind
        self.id = number
        self.view = view
        self.body = body


class Channel:
    """Sends and receives. One thread receives at a time; any thread sends.

    The view of a message that receive() returned is valid until the next call of receive().
    """

    def __init__(self, file: int, memory: Memory) -> None:
        self.socket = socket.socket(fileno=file)
        self.memory = memory
        self.closed = False
        # The outputs that the server gets even if no client requests them.
        self.states: FrozenSet[str] = frozenset()
        self._buffer = bytearray(protocol.MAX_MESSAGE)
        self._buffers = [self._buffer]
        self._view = memoryview(self._buffer)

    def receive(self, flags: int = 0) -> Optional[Message]:
        """Returns the next message. None at the end of the connection. Raises BlockingIOError if
        `flags` has MSG_DONTWAIT and no message is there."""
        while True:
            size, ancillary, _, _ = self.socket.recvmsg_into(
                self._buffers, _FILE_SPACE, flags | _CLOSE_ON_EXEC)
            if size == 0:
                return None
            kind, special, _, released, number = _unpack_header(self._buffer)
            view = self._view[:size]
            if special:
                view = memoryview(_read_all(_file(ancillary)))
                kind, _, _, released, number = _unpack_header(view)
            body = _HEADER_SIZE + 4 * released
            if released:
                self._take_read(view[_HEADER_SIZE:body].cast("I"))
            if kind == protocol.BLOCK:
                self.memory.server.announce_block(number, *protocol.BLOCK_BODY.unpack_from(view, body))
                continue
            if kind != protocol.SEGMENT:
                return Message(kind, number, view, body)
            segment_size = protocol.U64.unpack_from(view, body)[0]
            self.memory.server.announce(
                number, segment_size, _file(ancillary) if segment_size else -1,
                bytes(view[body + protocol.U64.size:]))

    def _take_read(self, segments: Any) -> None:
        """Takes the segments that the server has read."""
        own = []
        for segment in segments:
            if segment & protocol.WORKER_SEGMENT:
                own.append(segment)
            else:
                self.memory.server.let_go(segment)
        self.memory.outputs.give_back(own)

    def send(self, kind: int, number: int, parts: Sequence[Any], flags: int = 0) -> None:
        """Sends a message: a header, and the parts of the body. Nothing happens in a child process
        that the model has forked."""
        if self.closed:
            return
        memory = self.memory
        released = memory.server.take_released() if memory.server.released else ()
        if memory.outputs.dropped:
            for segment in memory.outputs.take_dropped():
                self.announce(segment, 0, -1)
        head = _pack_header(kind, 0, 0, len(released), number)
        if released:
            head += array.array("I", released).tobytes()
        size = len(head)
        for part in parts:
            size += len(part) if type(part) is bytes else memoryview(part).nbytes
        if size <= protocol.MAX_MESSAGE:
            self.socket.sendmsg([head, *parts], (), flags)
        else:
            self._send_long(kind, number, [head, *parts])

    def announce(self, segment: int, size: int, file: int, uuid: bytes = b"") -> None:
        """Passes a segment to the server, or tells it to forget one (`size` 0). `uuid` names the GPU of
        one that is on a GPU."""
        message = [_pack_header(protocol.SEGMENT, 0, 0, 0, segment), protocol.U64.pack(size), uuid]
        self.socket.sendmsg(message, _rights(file) if file >= 0 else [])

    def _send_long(self, kind: int, number: int, parts: List[Any]) -> None:
        file = os.memfd_create("nereid_message", os.MFD_CLOEXEC)
        try:
            with os.fdopen(file, "wb", closefd=False) as out:
                for part in parts:
                    out.write(part)
            self.socket.sendmsg([_pack_header(kind, protocol.FLAG_LONG, 0, 0, number)],
                                _rights(file))
        finally:
            os.close(file)


def _rights(file: int) -> List[Tuple[int, int, Any]]:
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))]


def _file(ancillary: Any) -> int:
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            files = array.array("i")
            files.frombytes(data[:len(data) - len(data) % files.itemsize])
            return files[0]
    raise RuntimeError("the server sent a message without its file")


def _read_all(file: int) -> bytearray:
    try:
        with os.fdopen(file, "rb", closefd=False) as content:
            content.seek(0)
            return bytearray(content.read())
    finally:
        os.close(file)
