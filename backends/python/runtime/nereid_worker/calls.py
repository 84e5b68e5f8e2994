# SPDX-License-Identifier: Apache-2.0
"""The call socket: what the model asks of the server, and the answers.

No thread of its own reads the socket. A thread that waits for an answer reads, and passes the answers
of others to them; when it has its own, the next waiting thread reads. Event loops that wait read when
the socket is ready.
"""

import asyncio
import collections
import itertools
import select
import socket
import threading
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple

from nereid_pb.errors import TritonError
from nereid_pb.response import InferenceResponse

from . import protocol
from .channel import Channel, Message
from .decoding import Decoder
from .host import HostError, ResponseStream

_ENDED = "the server has closed the connection"


class _Waiter:
    """A thread that waits. Its lock is held while it sleeps."""

    __slots__ = ("lock",)

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.lock.acquire()

    def wake(self) -> None:
        """Wakes the thread, or lets its next sleep return at once."""
        try:
            self.lock.release()
        except RuntimeError:
            pass  # it was woken already


class _Call:
    """A call that waits for its reply."""

    __slots__ = ("code", "done", "value", "waiter")

    def __init__(self, waiter: _Waiter) -> None:
        self.waiter = waiter
        self.done = False
        self.code = 0
        self.value = b""


class Stream(ResponseStream):
    """The responses of a request to another model."""

    __slots__ = ("_calls", "_decoupled", "_ended", "_future", "_id", "_model", "_responses", "_waiter")

    def __init__(self, calls: "Calls", number: int, decoupled: bool) -> None:
        self._calls = calls
        self._id = number
        self._decoupled = decoupled
        self._responses: Deque[InferenceResponse] = collections.deque()
        self._ended = False
        self._waiter: Optional[_Waiter] = None
        self._future: Optional[Tuple[asyncio.AbstractEventLoop, Any, int]] = None

    def _ready(self) -> bool:
        return bool(self._responses) or self._ended

    def _take(self) -> Optional[InferenceResponse]:
        return self._responses.popleft() if self._responses else None

    def next(self) -> Optional[InferenceResponse]:
        """Waits for the next response."""
        if not self._ready():
            waiter = self._waiter = _Waiter()
            self._calls.wait(waiter, self._ready)
            self._waiter = None
        return self._take()

    def next_future(self, loop: asyncio.AbstractEventLoop) -> "asyncio.Future[Any]":
        """Returns a future of the next response."""
        future = loop.create_future()
        with self._calls.lock:
            if not self._ready():
                self._future = (loop, future, threading.get_ident())
                self._calls.attach(loop)
                return future
        future.set_result(self._take())
        return future

    def cancel(self) -> None:
        """Cancels the request."""
        if not self._ended:
            self._calls.send(protocol.CANCEL_INFER, self._id, ())

    def close(self) -> None:
        """Drops the other responses."""
        if not self._ended:
            self._calls.forget(self._id)
            self._ended = True
            self._calls.send(protocol.CLOSE_INFER, self._id, ())

    def add(self, final: bool, response: Optional[InferenceResponse]) -> None:
        """Takes a response of the server; called with the lock of the calls held."""
        if response is None and not (final and self._decoupled):
            if not final:
                return
            response = InferenceResponse._received([], TritonError("Unexpected empty response."), b"")
        elif response is None:
            response = InferenceResponse._received([], None, b"")
        if not self._ended:
            self._responses.append(response)
        # A request of a model that is not decoupled has one response.
        self._ended = self._ended or final
        if self._waiter is not None:
            self._waiter.wake()
        if self._future is not None:
            loop, future, thread = self._future
            self._future = None
            self._calls.detach(loop)
            self._resolve(loop, future, thread)

    def _resolve(self, loop: asyncio.AbstractEventLoop, future: Any, thread: int) -> None:
        def resolve() -> None:
            if not future.done():
                future.set_result(self._take())
        if thread == threading.get_ident():
            resolve()
            return
        try:
            loop.call_soon_threadsafe(resolve)
        except RuntimeError:
            pass  # the loop has ended

    def fail(self) -> None:
        """Ends the stream because the connection has ended."""
        self.add(True, InferenceResponse._received([], TritonError(_ENDED), b""))


class Calls:
    """The calls of this process."""

    def __init__(self, channel: Channel, decoder: Decoder, asked: Callable[[int], None]) -> None:
        self.channel = channel
        self._decoder = decoder
        self._asked = asked
        self._ids = itertools.count(1)
        # Guards the tables. Reentrant, because a destructor may make a call at any place.
        self.lock = threading.RLock()
        self._reading = threading.Lock()
        self._waiters: List[_Waiter] = []
        self._calls: Dict[int, _Call] = {}
        self._streams: Dict[int, Stream] = {}
        self._loops: Dict[asyncio.AbstractEventLoop, int] = {}
        self._ended = False

    def send(self, kind: int, number: int, parts: Any) -> None:
        """Sends a message that has no answer. Does nothing after the end of the connection."""
        try:
            self.channel.send(kind, number, parts)
        except OSError:
            pass

    def new_id(self) -> int:
        """Returns the number of a new call."""
        return next(self._ids)

    def call(self, send: Callable[[int], None]) -> bytes:
        """Sends a message, by `send(id)`, and waits for its reply. Raises HostError."""
        waiter = _Waiter()
        call = _Call(waiter)
        number = self.new_id()
        with self.lock:
            if self._ended:
                raise HostError(_ENDED)
            self._calls[number] = call
        try:
            send(number)
            self.wait(waiter, lambda: call.done)
        except OSError:
            raise HostError(_ENDED) from None
        finally:
            with self.lock:
                self._calls.pop(number, None)
        if call.code != protocol.REPLY_OK:
            raise HostError(call.value.decode("utf-8", "replace"), call.code)
        return call.value

    def stream(self, decoupled: bool) -> Tuple[int, Stream]:
        """Returns the number and the stream of a new request to another model."""
        number = self.new_id()
        stream = Stream(self, number, decoupled)
        with self.lock:
            self._streams[number] = stream
        return number, stream

    def forget(self, number: int) -> None:
        """Ends a stream, whose responses are then dropped."""
        with self.lock:
            self._streams.pop(number, None)

    def wait(self, waiter: _Waiter, ready: Callable[[], bool]) -> None:
        """Waits until `ready()`, and reads for all meanwhile, unless another thread does."""
        with self.lock:
            self._waiters.append(waiter)
        try:
            while not ready():
                if self._reading.acquire(False):
                    try:
                        while not ready() and self._read(0):
                            pass
                    finally:
                        self._reading.release()
                    if self._ended and not ready():
                        raise HostError(_ENDED)
                else:
                    waiter.lock.acquire()
        finally:
            with self.lock:
                self._waiters.remove(waiter)
                if self._waiters:
                    self._waiters[0].wake()  # it reads from here on

    def _read(self, flags: int) -> bool:
        """Reads a message and passes it on. Returns False at the end of the connection."""
        try:
            message = self.channel.receive(flags)
        except BlockingIOError:
            raise
        except OSError:
            message = None
        if message is None:
            self._end()
            return False
        self._pass(message)
        return True

    def _pass(self, message: Message) -> None:
        if message.type == protocol.REPLY:
            with self.lock:
                call = self._calls.get(message.id)
                if call is not None:
                    call.code = protocol.U32.unpack_from(message.view, message.body)[0]
                    call.value = bytes(message.view[message.body + 4:])
                    call.done = True
                    call.waiter.wake()
        elif message.type == protocol.INFER_RESPONSE:
            final, response = self._decoder.response(message)
            with self.lock:
                stream = self._streams.get(message.id)
                if final:
                    self._streams.pop(message.id, None)
                if stream is not None:
                    stream.add(final, response)
        elif message.type == protocol.ASK_READY:
            self._asked(message.id)

    def _end(self) -> None:
        with self.lock:
            self._ended = True
            for stream in list(self._streams.values()):
                stream.fail()
            self._streams.clear()
            for waiter in self._waiters:
                waiter.wake()

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Lets an event loop read while it waits; called with the lock held, on the loop's thread."""
        count = self._loops.get(loop, 0)
        self._loops[loop] = count + 1
        if count == 0:
            loop.add_reader(self.channel.socket.fileno(), self.read_available)

    def detach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Ends what attach() began. Called with the lock held, on any thread."""
        count = self._loops[loop] - 1
        if count:
            self._loops[loop] = count
            return
        del self._loops[loop]
        try:
            loop.call_soon_threadsafe(self._remove_reader, loop)
        except RuntimeError:
            pass  # the loop has ended

    def _remove_reader(self, loop: asyncio.AbstractEventLoop) -> None:
        with self.lock:
            if loop not in self._loops:
                loop.remove_reader(self.channel.socket.fileno())

    def read_available(self) -> None:
        """Reads the messages that are there, unless another thread reads."""
        if not self._reading.acquire(False):
            return
        try:
            while self._read(socket.MSG_DONTWAIT):
                pass
        except BlockingIOError:
            pass
        finally:
            self._reading.release()
        with self.lock:
            if self._waiters:
                self._waiters[0].wake()

    def start_reader(self) -> None:
        """Starts a thread that reads also when nothing waits: for questions of the server."""
        threading.Thread(target=self._read_always, name="nereid_calls", daemon=True).start()

    def _read_always(self) -> None:
        poll = select.poll()
        poll.register(self.channel.socket.fileno(), select.POLLIN)
        while not self._ended:
            poll.poll()
            with self._reading:
                try:
                    while self._read(socket.MSG_DONTWAIT):
                        pass
                except BlockingIOError:
                    pass
