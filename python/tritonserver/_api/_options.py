# SPDX-License-Identifier: Apache-2.0
"""The options of a server."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Optional, TypeVar, Union

from nereid import paths
from nereid.enums import InstanceGroupKind, LogFormat, ModelControlMode, RateLimitMode
from nereid.errors import InvalidArgumentError

_Class = TypeVar("_Class")
_Setting = tuple[Any, ...]
_TRITON = "/opt/tritonserver/"


def _with_slots(cls: type[_Class]) -> type[_Class]:
    """Makes a dataclass one with slots, which dataclass() can do itself since Python 3.10."""
    names = tuple(entry.name for entry in fields(cls))  # type: ignore[arg-type]
    members = {
        name: value
        for name, value in vars(cls).items()
        if name not in names and name not in ("__dict__", "__weakref__")
    }
    made: type[_Class] = type(cls.__name__, cls.__bases__, {**members, "__slots__": names})
    return made


@_with_slots
@dataclass
class RateLimiterResource:
    """`count` units of a resource that models share, on a device (-1: on each)."""

    name: str
    count: int
    device: int


@_with_slots
@dataclass
class ModelLoadDeviceLimit:
    """The fraction of a device's memory that may be in use when a model is loaded."""

    kind: InstanceGroupKind
    device: int
    fraction: float


@_with_slots
@dataclass
class Options:
    """The options of a server, with Triton's names and defaults.

    Sizes are bytes, exit_timeout seconds, metrics_interval milliseconds. The directories of
    plug-ins that do not exist are replaced by those of this package."""

    model_repository: Union[str, list[str]] = field(default_factory=list)
    server_id: str = "triton"
    model_control_mode: ModelControlMode = ModelControlMode.NONE
    startup_models: list[str] = field(default_factory=list)
    strict_model_config: bool = False
    rate_limiter_mode: RateLimitMode = RateLimitMode.OFF
    rate_limiter_resources: list[RateLimiterResource] = field(default_factory=list)
    pinned_memory_pool_size: int = 1 << 28
    cuda_memory_pool_sizes: dict[int, int] = field(default_factory=dict)
    cache_config: dict[str, dict[str, Any]] = field(default_factory=dict)
    cache_directory: str = _TRITON + "caches"
    min_supported_compute_capability: float = 6.0
    exit_on_error: bool = True
    strict_readiness: bool = True
    exit_timeout: int = 30
    buffer_manager_thread_count: int = 0
    model_load_thread_count: int = 4
    model_load_retry_count: int = 0
    model_namespacing: bool = False
    enable_peer_access: bool = True
    log_file: Optional[str] = None
    log_info: bool = False
    log_warn: bool = False
    log_error: bool = False
    log_format: LogFormat = LogFormat.DEFAULT
    log_verbose: int = 0
    metrics: bool = True
    gpu_metrics: bool = True
    cpu_metrics: bool = True
    metrics_interval: int = 2000
    backend_directory: str = _TRITON + "backends"
    repo_agent_directory: str = _TRITON + "repoagents"
    model_load_device_limits: list[ModelLoadDeviceLimit] = field(default_factory=list)
    backend_configuration: dict[str, dict[str, str]] = field(default_factory=dict)
    host_policies: dict[str, dict[str, str]] = field(default_factory=dict)
    metrics_configuration: dict[str, dict[str, str]] = field(default_factory=dict)


def settings_of(options: Options) -> list[_Setting]:
    """Returns the options as calls of the C API's functions TRITONSERVER_ServerOptions<name>.

    Raises InvalidArgumentError without a model repository, and TypeError for a value of a wrong
    type."""
    return [
        *_models(options),
        *_resources(options),
        *_limits(options),
        *_log(options),
        *_metrics(options),
        *_plugins(options),
    ]


def _elements(name: str, values: Any, kind: type[_Class]) -> Iterable[_Class]:
    """Returns the elements of a list. Raises TypeError for a text, and for an element of another
    type."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: expected list of {kind.__name__}, got {type(values)}")
    elements = list(values)
    for element in elements:
        if not isinstance(element, kind):
            raise TypeError(f"{name}: expected list of {kind.__name__}, got {type(element)} in it")
    return elements


def _items(name: str, values: Any) -> Iterable[tuple[Any, Any]]:
    """Returns the keys and values of a dict. Raises TypeError for another type."""
    if not isinstance(values, Mapping):
        raise TypeError(f"{name}: expected dict, got {type(values)}")
    return values.items()


def _settings(name: str, values: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yields the outer key, the inner key and the value of a dict of dicts. Raises as _items."""
    for group, settings in _items(name, values):
        for key, value in _items(name, settings):
            yield group, key, value


def _models(options: Options) -> Iterator[_Setting]:
    repositories = options.model_repository
    if repositories is None:
        raise InvalidArgumentError("Model repository must be specified.")
    if not isinstance(repositories, list):
        repositories = [repositories]
    for repository in repositories:
        yield "SetModelRepositoryPath", repository
    yield "SetServerId", options.server_id
    yield "SetModelControlMode", options.model_control_mode
    for model in _elements("startup_models", options.startup_models, str):
        yield "SetStartupModel", model
    yield "SetStrictModelConfig", options.strict_model_config
    yield "SetModelNamespacing", options.model_namespacing


def _resources(options: Options) -> Iterator[_Setting]:
    yield "SetRateLimiterMode", options.rate_limiter_mode
    resources = _elements(
        "rate_limiter_resources", options.rate_limiter_resources, RateLimiterResource
    )
    for resource in resources:
        yield "AddRateLimiterResource", resource.name, resource.count, resource.device
    yield "SetPinnedMemoryPoolByteSize", options.pinned_memory_pool_size
    for device, size in _items("cuda_memory_pool_sizes", options.cuda_memory_pool_sizes):
        yield "SetCudaMemoryPoolByteSize", device, size
    yield "SetMinSupportedComputeCapability", options.min_supported_compute_capability
    yield "SetEnablePeerAccess", options.enable_peer_access


def _limits(options: Options) -> Iterator[_Setting]:
    yield "SetExitOnError", options.exit_on_error
    yield "SetStrictReadiness", options.strict_readiness
    yield "SetExitTimeout", options.exit_timeout
    yield "SetBufferManagerThreadCount", options.buffer_manager_thread_count
    yield "SetModelLoadThreadCount", options.model_load_thread_count
    yield "SetModelLoadRetryCount", options.model_load_retry_count
    limits = options.model_load_device_limits
    for limit in _elements("model_load_device_limits", limits, ModelLoadDeviceLimit):
        yield "SetModelLoadDeviceLimit", limit.kind, limit.device, limit.fraction


def _log(options: Options) -> Iterator[_Setting]:
    if options.log_file is not None:
        yield "SetLogFile", options.log_file
    # A level includes those above it.
    info = options.log_info or options.log_verbose > 0
    warn = options.log_warn or info
    yield "SetLogInfo", info
    yield "SetLogWarn", warn
    yield "SetLogError", options.log_error or warn
    yield "SetLogFormat", options.log_format
    yield "SetLogVerbose", options.log_verbose


def _metrics(options: Options) -> Iterator[_Setting]:
    yield "SetMetrics", options.metrics
    yield "SetGpuMetrics", options.gpu_metrics
    yield "SetCpuMetrics", options.cpu_metrics
    yield "SetMetricsInterval", options.metrics_interval
    for setting in _settings("metrics_configuration", options.metrics_configuration):
        yield "SetMetricsConfig", *setting


def _plugins(options: Options) -> Iterator[_Setting]:
    yield "SetBackendDirectory", _directory(options.backend_directory, "backends")
    yield "SetRepoAgentDirectory", _directory(options.repo_agent_directory, "repoagents")
    yield "SetCacheDirectory", _directory(options.cache_directory, "caches")
    for cache, settings in _items("cache_config", options.cache_config):
        texts = {key: str(value) for key, value in _items("cache_config", settings)}
        yield "SetCacheConfig", cache, json.dumps(texts)
    settings = list(_settings("backend_configuration", options.backend_configuration))
    # Python models run with the interpreter that has the package, unless a setting names one.
    if sys.executable and not any(key[:2] == ("python", "interpreter") for key in settings):
        yield "SetBackendConfig", "python", "interpreter", sys.executable
    for setting in settings:
        yield "SetBackendConfig", *setting
    for setting in _settings("host_policies", options.host_policies):
        yield "SetHostPolicy", *setting


def _directory(given: str, kind: str) -> str:
    if given == _TRITON + kind and not Path(given).is_dir():
        return str(paths.plugin_directory(kind))
    return given
