# SPDX-License-Identifier: Apache-2.0
"""Forwards the HTTP requests of a replica to its engine, over a Unix socket. Bodies and responses
are streamed in both directions."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any, Optional

import aiohttp
import yarl

from nereid.ray.routes import ONE_REPLICA, is_of_one_replica, model_of_path

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

#: The fields that belong to one connection (RFC 9110, section 7.6.1), which are not forwarded.
_HOP_BY_HOP = frozenset(
    (b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding",
     b"upgrade")
)  # fmt: skip


class HttpForwarder:
    """An ASGI application.

    socket: the path of the engine's socket.
    prepare: called with the model's name before a request about a model is forwarded; raises
    KeyError if there is no such model."""

    def __init__(self, socket: str, prepare: Callable[[str], Awaitable[None]]) -> None:
        self._socket = socket
        self._prepare = prepare
        self._session: Optional[aiohttp.ClientSession] = None

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.UnixConnector(path=self._socket, limit=0),
                timeout=aiohttp.ClientTimeout(total=None),
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] == "lifespan":
            await _answer_lifespan(receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1003})
        else:
            await self._forward(scope, receive, send)

    async def _forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if is_of_one_replica(path):
            return await _fail(send, 501, ONE_REPLICA)
        model = model_of_path(path)
        if model:
            try:
                await self._prepare(model)
            except Exception as error:  # whatever keeps the model from being loaded
                return await _fail(send, 400, str(error))
        raw_path = scope.get("raw_path") or path.encode()
        query = scope.get("query_string", b"")
        text = raw_path.split(b"?")[0].decode("latin-1")
        url = yarl.URL("http://engine" + text + (f"?{query.decode('latin-1')}" if query else ""),
                       encoded=True)  # fmt: skip
        headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in scope["headers"]
            if name.lower() not in _HOP_BY_HOP
        ]
        has_body = any(
            name.lower() in (b"content-length", b"transfer-encoding")
            for name, _ in scope["headers"]
        )
        request = self._client().request(
            scope["method"],
            url,
            headers=headers,
            data=_body(receive) if has_body else None,
            skip_auto_headers=("User-Agent", "Accept", "Content-Type", "Accept-Encoding"),
            allow_redirects=False,
        )
        try:
            async with request as response:
                await send(
                    {
                        "type": "http.response.start",
                        "status": response.status,
                        "headers": [
                            (name, value)
                            for name, value in response.raw_headers
                            if name.lower() not in _HOP_BY_HOP
                        ],
                    }
                )
                async for piece in response.content.iter_any():
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        except aiohttp.ClientConnectionError as error:
            await _fail(send, 503, f"the engine of this replica does not answer: {error}")

    async def close(self) -> None:
        """Closes the connections to the engine."""
        if self._session is not None:
            await self._session.close()


async def _body(receive: Receive) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise aiohttp.ClientConnectionError("the client has disconnected")
        if message.get("body"):
            yield message["body"]
        if not message.get("more_body"):
            return


async def _fail(send: Send, status: int, text: str) -> None:
    body = json.dumps({"error": text}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _answer_lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return
