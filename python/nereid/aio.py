# SPDX-License-Identifier: Apache-2.0
"""Responses in an asyncio event loop. The engine wakes the loop by a descriptor that the loop
watches: no thread pool waits, and no thread of the engine runs Python code."""

from __future__ import annotations

import asyncio
import weakref
from typing import Callable, Optional

from nereid import _core


class LoopWaker:
    """Calls functions in an event loop when requests have responses. Belongs to the loop's
    thread."""

    _of_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, LoopWaker] = (
        weakref.WeakKeyDictionary()
    )

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.waker = _core.Waker()
        self._notify: dict[int, Callable[[], None]] = {}
        self_reference = weakref.ref(self)

        def wake() -> None:
            found = self_reference()
            if found is not None:
                found._run()

        loop.add_reader(self.waker.fileno(), wake)

    @classmethod
    def of_running_loop(cls) -> LoopWaker:
        """Returns the waker of the running event loop."""
        loop = asyncio.get_running_loop()
        found = cls._of_loops.get(loop)
        if found is None:
            found = cls._of_loops[loop] = LoopWaker(loop)
        return found

    def watch(self, stream: _core.Stream, notify: Callable[[], None]) -> None:
        """Calls `notify` each time after responses have come, until forget()."""
        self._notify[stream.id()] = notify

    def forget(self, stream: _core.Stream) -> None:
        """Ends watch(). Streams that are not watched are ignored."""
        self._notify.pop(stream.id(), None)

    def _run(self) -> None:
        for number in self.waker.take():
            notify = self._notify.get(number)
            if notify is not None:
                notify()


class AsyncResponses:
    """The responses of a request as they come, for one task. Cancels the request if it is deleted
    or its task is cancelled before the last response."""

    def __init__(self, submit: Callable[[_core.Waker], _core.Stream]) -> None:
        self._waker = LoopWaker.of_running_loop()
        self._stream = submit(self._waker.waker)
        self._arrival: Optional[asyncio.Future[None]] = None
        self._ended = False
        reference = weakref.WeakMethod(self._arrived)

        def notify() -> None:
            arrived = reference()
            if arrived is not None:
                arrived()

        self._waker.watch(self._stream, notify)

    def _arrived(self) -> None:
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)

    async def next(self) -> Optional[_core.ResponseTuple]:
        """Returns the next response; None after the last one."""
        while not self._ended:
            response = self._stream.pop()
            if response is not None:
                if response[6]:
                    self._end()
                return response
            self._arrival = asyncio.get_running_loop().create_future()
            # A response may have come between pop() and here only on another loop's turn: the
            # descriptor tells of it in a later turn of this loop.
            try:
                await self._arrival
            except asyncio.CancelledError:
                self.cancel()
                raise
            finally:
                self._arrival = None
        return None

    def cancel(self) -> None:
        """Asks the server to cancel the request."""
        if not self._ended:
            self._stream.cancel()

    @property
    def stream(self) -> _core.Stream:
        """The stream of the extension."""
        return self._stream

    def _end(self) -> None:
        self._ended = True
        self._waker.forget(self._stream)

    def __del__(self) -> None:
        if hasattr(self, "_stream") and not self._ended:
            self._stream.cancel()
            self._end()
