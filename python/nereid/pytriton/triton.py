# SPDX-License-Identifier: Apache-2.0
"""The class Triton: a server with ports, in this process, whose models are functions."""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

from nereid.binding.exceptions import PyTritonInvalidOperationError, PyTritonValidationError
from nereid.binding.model_config import ModelConfig, Tensor
from nereid.frontends import Frontends
from nereid.pytriton.policies import TritonLifecyclePolicy, TritonSecurityConfig
from nereid.pytriton.serving import Serving
from nereid.pytriton.tracing import use_trace_config
from nereid.server import Server

_PREFIX = "PYTRITON_TRITON_CONFIG_"
#: Fields whose flags have another form.
_LISTS = frozenset(("metrics_config", "trace_config", "cache_config"))


@dataclass
class TritonConfig:
    """The settings of the server: flags of the program, with underscores. None: the program's
    default."""

    model_repository: Optional[str] = None
    id: Optional[str] = None
    log_verbose: Optional[int] = None
    log_file: Optional[str] = None
    exit_timeout_secs: Optional[int] = None
    exit_on_error: Optional[bool] = None
    strict_readiness: Optional[bool] = None
    allow_http: Optional[bool] = None
    http_address: Optional[str] = None
    http_port: Optional[int] = None
    http_header_forward_pattern: Optional[str] = None
    http_thread_count: Optional[int] = None
    http_restricted_api: Optional[str] = None
    allow_grpc: Optional[bool] = None
    grpc_address: Optional[str] = None
    grpc_port: Optional[int] = None
    grpc_header_forward_pattern: Optional[str] = None
    grpc_infer_thread_count: Optional[int] = None
    grpc_infer_allocation_pool_size: Optional[int] = None
    grpc_max_response_pool_size: Optional[int] = None
    grpc_use_ssl: Optional[bool] = None
    grpc_use_ssl_mutual: Optional[bool] = None
    grpc_server_cert: Optional[str] = None
    grpc_server_key: Optional[str] = None
    grpc_root_cert: Optional[str] = None
    grpc_infer_response_compression_level: Optional[str] = None
    grpc_keepalive_time: Optional[int] = None
    grpc_keepalive_timeout: Optional[int] = None
    grpc_keepalive_permit_without_calls: Optional[bool] = None
    grpc_http2_max_pings_without_data: Optional[int] = None
    grpc_http2_min_recv_ping_interval_without_data: Optional[int] = None
    grpc_http2_max_ping_strikes: Optional[int] = None
    grpc_restricted_protocol: Optional[str] = None
    allow_metrics: Optional[bool] = None
    allow_gpu_metrics: Optional[bool] = None
    allow_cpu_metrics: Optional[bool] = None
    metrics_interval_ms: Optional[int] = None
    metrics_port: Optional[int] = None
    metrics_address: Optional[str] = None
    allow_sagemaker: Optional[bool] = None
    sagemaker_port: Optional[int] = None
    sagemaker_safe_port_range: Optional[str] = None
    sagemaker_thread_count: Optional[int] = None
    allow_vertex_ai: Optional[bool] = None
    vertex_ai_port: Optional[int] = None
    vertex_ai_thread_count: Optional[int] = None
    vertex_ai_default_model: Optional[str] = None
    metrics_config: Optional[list[str]] = None
    trace_config: Optional[list[str]] = None
    cache_config: Optional[list[str]] = None
    cache_directory: Optional[str] = None
    buffer_manager_thread_count: Optional[int] = None

    def __post_init__(self) -> None:
        if self.allow_http is False and self.allow_grpc is False:
            raise PyTritonValidationError("The `http` or `grpc` endpoint has to be allowed.")

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields that are set."""
        fields = dataclasses.asdict(self)
        return {name: value for name, value in fields.items() if value is not None}

    @classmethod
    def from_dict(cls, config: Mapping[str, Any]) -> TritonConfig:
        """Makes a configuration of known fields; warns of others."""
        names = {entry.name for entry in dataclasses.fields(cls)}
        unknown = sorted(set(config) - names)
        if unknown:
            warnings.warn(f"Unknown configuration keys: {', '.join(unknown)}", stacklevel=2)
        return cls(**{name: value for name, value in config.items() if name in names})

    @classmethod
    def from_env(cls) -> TritonConfig:
        """Makes a configuration of the variables PYTRITON_TRITON_CONFIG_<FIELD>; lists are
        PYTRITON_TRITON_CONFIG_<FIELD>_<n>."""
        values: dict[str, Any] = {}
        kinds = {entry.name: str(entry.type) for entry in dataclasses.fields(cls)}
        for variable, text in sorted(os.environ.items()):
            if not variable.startswith(_PREFIX):
                continue
            name = variable[len(_PREFIX) :].lower()
            base, _, number = name.rpartition("_")
            if base in _LISTS and number.isdigit():
                values.setdefault(base, []).append(text)
            else:
                values[name] = _parse(text, kinds.get(name, ""))
        return cls.from_dict(values)


def _parse(text: str, kind: str) -> Any:
    if "bool" in kind:
        return text.lower() in ("1", "true", "yes", "on")
    return int(text) if "int" in kind else text


class Triton(Serving):
    """A server in this process, with ports, whose models are functions that bind() adds.

    As a context manager it starts; serve() blocks until Ctrl-C or stop().

    security_config: what needs a token; by default the management of models, statistics, traces,
        the log and shared memory need a random one, which get_access_token() returns. The fields
        http_restricted_api and grpc_restricted_protocol of `config` replace it."""

    def __init__(
        self,
        *,
        config: Optional[TritonConfig] = None,
        workspace: Optional[str] = None,
        triton_lifecycle_policy: Optional[TritonLifecyclePolicy] = None,
        security_config: Optional[TritonSecurityConfig] = None,
    ) -> None:
        super().__init__()
        self._policy = triton_lifecycle_policy or TritonLifecyclePolicy()
        self._security = security_config or TritonSecurityConfig()
        environment = TritonConfig.from_env().to_dict()
        explicit = config.to_dict() if config is not None else {}
        self._config = TritonConfig(**{**self._security.flags(), **environment, **explicit})
        self._workspace = workspace  # the server needs none; it is accepted for old programs
        settings = self._config.to_dict()
        repository = settings.pop("model_repository", None)
        # Flags of front ends are checked with the others and used by listen().
        self._server = Server(repository, **settings)
        self._frontends: Optional[Frontends] = None

    @property
    def server(self) -> Server:
        """The server."""
        return self._server

    @property
    def frontends(self) -> Optional[Frontends]:
        """The front ends while the server runs: they know the ports."""
        return self._frontends

    def bind(
        self,
        model_name: str,
        infer_func: Union[Callable[..., Any], Sequence[Callable[..., Any]]],
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        model_version: int = 1,
        config: Optional[ModelConfig] = None,
        strict: bool = False,
        trace_config: Optional[list[str]] = None,
    ) -> None:
        """Adds a function, or several of which each runs in a thread, as a model. If the server
        runs, the model is loaded at once; see nereid.bind.

        trace_config: where the spans of the function's requests go, by default
            TritonConfig.trace_config: a list like ["mode=opentelemetry", "opentelemetry,url=URL",
            "opentelemetry,resource=service.name=NAME"]. The first one of a process is used for all
            functions. Needs OpenTelemetry's packages."""
        self._server.bind(
            model_name,
            infer_func,
            inputs,
            outputs,
            version=model_version,
            config=config,
            strict=strict,
            traced=use_trace_config(trace_config, self._config.trace_config),
        )

    def _begin(self) -> None:
        if self._frontends is None:
            self.run()

    def run(self) -> None:
        """Starts the server, its ports and the models."""
        if self._frontends is not None:
            raise PyTritonInvalidOperationError("The server runs already.")
        self._stopped.clear()
        self._server.start()
        settings = self._config.to_dict()
        settings.pop("model_repository", None)
        try:
            self._frontends = self._server.serve_flags(settings)
        except Exception:
            self._server.stop()
            raise

    def get_access_token(self) -> Optional[str]:
        """Returns the token for the argument access_token of clients."""
        return self._security.access_token

    def connect(self) -> None:
        """Does nothing: the functions are in the server's process."""

    def _end_serving(self) -> bool:
        """Closes the ports and stops the server. Returns whether it ran."""
        frontends, self._frontends = self._frontends, None
        self._stopped.set()
        if frontends is None:
            return False
        frontends.stop()
        self._server.stop()
        return True

    def is_alive(self) -> bool:
        """Returns whether the server runs."""
        return self._frontends is not None and self._server.is_running()

    def is_connected(self) -> bool:
        """Returns whether functions can be called: whether the server runs."""
        return self.is_alive()

    def __enter__(self) -> Triton:
        if self._policy.launch_triton_on_startup:
            self.run()
        return self
