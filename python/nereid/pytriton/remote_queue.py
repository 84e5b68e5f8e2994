# SPDX-License-Identifier: Apache-2.0
"""The batches that proxies in a server send to functions of this process."""

from __future__ import annotations

import collections
import json
import os
import socket
import threading
import time
from typing import Any, Optional

from nereid.binding.requests import Request
from nereid.errors import InvalidArgumentError, UnavailableError
from nereid.pytriton.proxy import wire

# The path of a Unix socket has this many bytes at most, without the final zero.
_MAX_PATH = 107


class RemoteBatch:
    """A batch of a proxy; it has the methods of nereid._core.BoundBatch."""

    def __init__(self, connection: socket.socket, message: wire.Message) -> None:
        self._connection = connection
        head, arrays = message
        self._requests = []
        at = 0
        for entry in head["requests"]:
            names = entry["inputs"]
            data = dict(zip(names, arrays[at : at + len(names)]))
            at += len(names)
            self._requests.append(
                Request(
                    data,
                    _parameters(entry["parameters"]),
                    None,
                    entry["outputs"],
                    entry["id"],
                    entry["trace"],
                )
            )
        self._answered = [False] * len(self._requests)
        self.finished = threading.Event()

    def count(self) -> int:
        """Returns the number of requests."""
        return len(self._requests)

    def requests(self) -> list[Request]:
        """Returns the requests."""
        return self._requests

    def send(self, index: int, outputs: dict[str, Any], final: bool) -> None:
        """Sends a response. Raises UnavailableError if the server is gone."""
        self._answer(index, final, {"outputs": list(outputs)}, list(outputs.values()))

    def fail(self, index: int, code: int, message: str, final: bool) -> None:
        """Sends an error."""
        self._answer(index, final, {"error": message}, [])

    def finish(self) -> None:
        """Ends the batch."""
        try:
            wire.send(self._connection, {"done": True}, [])
        except OSError:
            pass  # the proxy is gone
        self.finished.set()

    def _answer(self, index: int, final: bool, head: dict[str, Any], arrays: list[Any]) -> None:
        if self._answered[index]:
            raise InvalidArgumentError("the request has its final response")
        try:
            wire.send(self._connection, {**head, "index": index, "final": final}, arrays)
        except OSError as error:
            raise UnavailableError(f"the server of the proxy is gone: {error}") from error
        self._answered[index] = final


def _parameters(text: str) -> dict[str, Any]:
    parameters = json.loads(text) if text else {}
    return parameters if isinstance(parameters, dict) else {}


class RemoteQueue:
    """A socket to which the proxies of a model connect, and the batches that they send. It has the
    methods of nereid._core.BoundQueue.

    limit: of connections; further ones are closed."""

    def __init__(self, path: str, limit: int) -> None:
        if len(os.fsencode(path)) > _MAX_PATH:
            raise InvalidArgumentError(
                f"the path {path} is too long for a socket; give RemoteTriton a shorter workspace"
            )
        self._limit = limit
        self._changed = threading.Condition()
        self._batches: collections.deque[RemoteBatch] = collections.deque()
        self._connections: set[socket.socket] = set()
        self._closed = False
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._listener.bind(path)
            self._listener.listen()
        except OSError:
            self._listener.close()
            raise
        threading.Thread(target=self._accept, name="nereid-proxies", daemon=True).start()

    def take(self, seconds: float) -> Optional[RemoteBatch]:
        """Returns the next batch, or None after `seconds` or when the queue is closed."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while not self._batches and not self._closed:
                left = deadline - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    return None
            return self._batches.popleft() if self._batches else None

    def close(self) -> None:
        """Closes the connections. The proxies then answer with errors."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            while self._batches:
                self._batches.pop().finished.set()
            for connection in [self._listener, *self._connections]:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # the peer has closed it

    def _accept(self) -> None:
        with self._listener:
            while True:
                try:
                    connection, _ = self._listener.accept()
                except OSError:
                    return  # close()
                with self._changed:
                    if self._closed or len(self._connections) >= self._limit:
                        connection.close()
                        continue
                    self._connections.add(connection)
                threading.Thread(
                    target=self._serve, args=(connection,), name="nereid-proxy", daemon=True
                ).start()

    def _serve(self, connection: socket.socket) -> None:
        """Takes the batches of one proxy, which sends the next one after the end of this one."""
        with connection:
            try:
                while (message := wire.receive(connection)) is not None:
                    batch = RemoteBatch(connection, message)
                    with self._changed:
                        if self._closed:
                            return
                        self._batches.append(batch)
                        self._changed.notify()
                    del message
                    batch.finished.wait()
                    del batch
            except (KeyError, OSError, TypeError, ValueError, wire.WireError):
                pass  # the proxy closes its end, and reports what failed
            finally:
                with self._changed:
                    self._connections.discard(connection)
