# SPDX-License-Identifier: Apache-2.0
"""The deployment of Ray Serve: a replica with an engine in its process."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any, Optional

from ray import serve
from ray.serve.config import AutoscalingConfig, RequestRouterConfig, gRPCOptions

import nereid
from nereid.ray import forward_grpc
from nereid.ray.forward_http import HttpForwarder
from nereid.ray.router import SequenceRouter
from nereid.ray.scaling import QueueMeter, QueueTimePolicy
from nereid.ray.wire import RawMessage


class LoadedModel:
    """A model that was loaded for requests. Serve deletes the object when others need its place."""

    def __init__(self, server: nereid.Server, name: str) -> None:
        self._server = server
        self.name = name
        server.load(name)

    def __del__(self) -> None:
        try:
            self._server.unload(self.name)
        except nereid.Error:
            pass  # the server has stopped


class Engine:
    """An engine whose front ends listen on sockets of this replica only."""

    def __init__(self, repository: Any, on_demand: bool, settings: Mapping[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="nereid-replica-")
        given = dict(settings)
        if on_demand:
            given.setdefault("load_model", [])
        self.server = nereid.Server(repository, **given).start()
        self.http_socket = os.path.join(self._folder.name, "http")
        self.grpc_socket = os.path.join(self._folder.name, "grpc")
        self._frontends = self.server.listen(
            http_port=0,
            grpc_port=0,
            http_address=f"unix:{self.http_socket}",
            grpc_address=f"unix:{self.grpc_socket}",
        )

    def stop(self, timeout: float) -> None:
        """Waits for the requests in progress, and stops."""
        self._frontends.stop(timeout)
        self.server.stop()
        self._folder.cleanup()


class Replica:
    """What every replica does. The class of a deployment is made by application()."""

    def __init__(
        self,
        repository: Any,
        models_per_replica: Optional[int],
        cores: float,
        drain_s: float,
        settings: Mapping[str, Any],
    ) -> None:
        self._engine = Engine(repository, models_per_replica is not None, settings)
        self._drain_s = drain_s
        self._meter = QueueMeter(cores)
        prepare = self._load if models_per_replica is not None else _nothing
        self._http = HttpForwarder(self._engine.http_socket, prepare)
        self._grpc = forward_grpc.GrpcForwarder(self._engine.grpc_socket, prepare)
        _replicas.append(self)

    async def load_on_demand(self, name: str) -> LoadedModel:
        """Loads a model. application() wraps it in Serve's multiplexing."""
        return await asyncio.get_running_loop().run_in_executor(
            None, LoadedModel, self._engine.server, name
        )

    async def _load(self, name: str) -> None:
        await self.load_on_demand(name)

    # ---- What Serve asks ----

    async def check_health(self) -> None:
        """Raises an error if the engine cannot serve; Serve then replaces the replica."""
        if not self._engine.server.is_live():
            raise RuntimeError("the engine is not live")

    async def record_autoscaling_stats(self) -> dict[str, float]:
        """Returns the metrics for QueueTimePolicy."""
        return self._meter.measure(self._engine.server.statistics(), time.monotonic())

    async def stop_engine(self) -> None:
        """Called when no request is in progress, also if the engine has not started."""
        if not hasattr(self, "_grpc"):
            return
        await self._http.close()
        await self._grpc.close()
        await asyncio.get_running_loop().run_in_executor(None, self._engine.stop, self._drain_s)

    # ---- HTTP and gRPC ----

    async def forward_http(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers a request of ASGI."""
        await self._http(scope, receive, send)

    async def ModelStreamInfer(self, requests: Any, grpc_context: Any) -> AsyncIterator[RawMessage]:
        """Answers a stream of requests."""
        async for answer in self._grpc.stream(requests, grpc_context):
            yield answer


async def _nothing(_name: str) -> None:
    """The models are loaded already."""


def _unary_method(name: str) -> Any:
    async def call(self: Replica, request: RawMessage, grpc_context: Any) -> RawMessage:
        return await self._grpc.call(name, request, grpc_context)

    call.__name__ = name
    return call


for _name in forward_grpc.UNARY:
    setattr(Replica, _name, _unary_method(_name))


def application(
    repository: Any,
    *,
    name: str = "nereid",
    models_per_replica: Optional[int] = None,
    cores: float = 1,
    min_replicas: int = 1,
    max_replicas: int = 10,
    target_queue_ms: float = 10.0,
    down_delay_s: float = 60.0,
    max_ongoing_requests: int = 1000,
    drain_s: float = 30.0,
    ray_actor_options: Optional[Mapping[str, Any]] = None,
    **settings: Any,
) -> Any:
    """Returns an application for serve.run().

    repository: the model repository, a directory or URL that every node can read, or several.
    models_per_replica: None: each replica has all models. A number: a replica loads a model when a
    request names it, and has at most so many; Serve prefers replicas that have the model if the
    client names it in the header `serve_multiplexed_model_id` as well.
    cores: the CPUs that Ray reserves for a replica.
    min_replicas, max_replicas, target_queue_ms, down_delay_s: see QueueTimePolicy.
    max_ongoing_requests: of one replica; further requests wait in the proxies.
    drain_s: how long a replica that leaves waits for the requests in progress, at most.
    settings: of nereid.Server."""

    def build() -> Any:
        return _forward_to_replica

    @serve.ingress(build)
    class Nereid(Replica):
        def __init__(self) -> None:
            super().__init__(repository, models_per_replica, cores, drain_s, settings)

        if models_per_replica is not None:
            load_on_demand = serve.multiplexed(max_num_models_per_replica=models_per_replica)(
                Replica.load_on_demand
            )

        async def __del__(self) -> None:
            await self.stop_engine()

    deployment = serve.deployment(
        Nereid,
        name=name,
        max_ongoing_requests=max_ongoing_requests,
        graceful_shutdown_timeout_s=drain_s + 10,
        graceful_shutdown_wait_loop_s=0.5,
        # The engine has an access log of its own (--http-access-log).
        logging_config={"enable_access_log": False},
        ray_actor_options={"num_cpus": cores, **(ray_actor_options or {})},
        request_router_config=RequestRouterConfig(request_router_class=SequenceRouter),
        autoscaling_config=AutoscalingConfig(
            min_replicas=min_replicas,
            max_replicas=max_replicas,
            initial_replicas=min_replicas,
            metrics_interval_s=1.0,
            look_back_period_s=5.0,
            upscale_delay_s=0.0,
            downscale_delay_s=0.0,
            policy={
                "policy_function": QueueTimePolicy,
                "policy_kwargs": {
                    "target_queue_ms": target_queue_ms,
                    "down_delay_s": down_delay_s,
                },
            },
        ),
    )
    return deployment.bind()


#: The replica of this process; Serve gives each one a process of its own.
_replicas: list[Replica] = []


async def _forward_to_replica(scope: Any, receive: Any, send: Any) -> None:
    await _replicas[0].forward_http(scope, receive, send)


def start(
    *,
    http_host: str = "127.0.0.1",
    http_port: int = 8000,
    grpc_port: Optional[int] = None,
    proxy_location: str = "EveryNode",
) -> None:
    """Starts Serve's proxies. grpc_port: where they serve gRPC; None: not at all. Clients of gRPC
    name the application in the metadata `application` if there is more than one."""
    serve.start(
        proxy_location=proxy_location,
        http_options={"host": http_host, "port": http_port},
        grpc_options=None
        if grpc_port is None
        else gRPCOptions(
            port=grpc_port,
            grpc_servicer_functions=["nereid.ray.forward_grpc.add_service"],
        ),
    )
