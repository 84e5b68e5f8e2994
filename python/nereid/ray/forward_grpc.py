# SPDX-License-Identifier: Apache-2.0
"""Forwards the gRPC calls of a replica to its engine, over a Unix socket. Messages stay bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import grpc.aio

from nereid.ray.routes import ONE_REPLICA
from nereid.ray.wire import RawMessage, first_text

SERVICE = "inference.GRPCInferenceService"

#: Calls about a model, whose first field is its name.
OF_MODELS = ("ModelReady", "ModelMetadata", "ModelInfer", "ModelConfig", "ModelStatistics")
#: Calls about the server.
OF_SERVER = ("ServerLive", "ServerReady", "ServerMetadata", "RepositoryIndex")
#: Calls that would change one replica.
OF_ONE_REPLICA = (
    "RepositoryModelLoad", "RepositoryModelUnload", "SystemSharedMemoryStatus",
    "SystemSharedMemoryRegister", "SystemSharedMemoryUnregister", "CudaSharedMemoryStatus",
    "CudaSharedMemoryRegister", "CudaSharedMemoryUnregister", "TraceSetting", "LogSettings",
)  # fmt: skip
UNARY = OF_MODELS + OF_SERVER + OF_ONE_REPLICA
STREAM = "ModelStreamInfer"

#: Metadata that the replica's own channel sets.
_OWN = frozenset(("user-agent", "content-type", "te", "grpc-accept-encoding", "grpc-encoding"))


def add_service(servicer: Any, server: Any) -> None:
    """Registers the service's methods with a server of Serve, which forwards the calls to the
    methods of the deployment with the same names. Named in gRPCOptions.grpc_servicer_functions."""
    handlers = {
        name: grpc.unary_unary_rpc_method_handler(
            getattr(servicer, name), request_deserializer=RawMessage
        )
        for name in UNARY
    }
    handlers[STREAM] = grpc.stream_stream_rpc_method_handler(
        getattr(servicer, STREAM), request_deserializer=RawMessage
    )
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))


class GrpcForwarder:
    """The gRPC calls of a replica. socket, prepare: as for HttpForwarder."""

    def __init__(self, socket: str, prepare: Callable[[str], Awaitable[None]]) -> None:
        options = (
            ("grpc.max_receive_message_length", -1),
            ("grpc.max_send_message_length", -1),
            ("grpc.default_authority", "engine"),
        )
        self._channel = grpc.aio.insecure_channel(f"unix://{socket}", options=options)
        self._unary = {name: self._channel.unary_unary(f"/{SERVICE}/{name}") for name in UNARY}
        self._stream = self._channel.stream_stream(f"/{SERVICE}/{STREAM}")
        self._prepare = prepare

    async def call(self, name: str, request: RawMessage, context: Any) -> RawMessage:
        """Forwards a call. A failure is set in the context of Serve."""
        if name in OF_ONE_REPLICA:
            return _fail(context, grpc.StatusCode.UNIMPLEMENTED, ONE_REPLICA)
        if name in OF_MODELS:
            model = first_text(request.data)
            try:
                if model:
                    await self._prepare(model)
            except Exception as error:  # whatever keeps the model from being loaded
                return _fail(context, grpc.StatusCode.UNAVAILABLE, str(error))
        try:
            answer = await self._unary[name](request.data, metadata=_metadata(context))
        except grpc.aio.AioRpcError as error:
            return _fail(context, error.code(), error.details() or "")
        return RawMessage(answer)

    async def stream(
        self, requests: AsyncIterator[RawMessage], context: Any
    ) -> AsyncIterator[RawMessage]:
        """Forwards a stream of requests and its stream of responses."""

        async def forwarded() -> AsyncIterator[bytes]:
            async for request in requests:
                model = first_text(request.data)
                if model:
                    await self._prepare(model)
                yield request.data

        call = self._stream(forwarded(), metadata=_metadata(context))
        try:
            async for answer in call:
                yield RawMessage(answer)
        except grpc.aio.AioRpcError as error:
            _fail(context, error.code(), error.details() or "")
        finally:
            call.cancel()

    async def close(self) -> None:
        """Ends the calls that run and closes the connection."""
        await self._channel.close()


def _metadata(context: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (name, value)
        for name, value in context.invocation_metadata()
        if name not in _OWN and not name.startswith(":")
    )


def _fail(context: Any, code: grpc.StatusCode, text: str) -> RawMessage:
    context.set_code(code)
    context.set_details(text)
    return RawMessage(b"")
