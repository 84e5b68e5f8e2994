# SPDX-License-Identifier: Apache-2.0
"""gRPC."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import tritonserver
from tritonfrontend._api._options import checked
from tritonfrontend._api._service import Service


class _CompressionLevel(enum.IntEnum):
    """How much responses are compressed. COUNT is the number of levels, and none of them."""

    NONE = 0
    LOW = 1
    MED = 2
    HIGH = 3
    COUNT = 4


_LEVELS = {
    _CompressionLevel.NONE: "none",
    _CompressionLevel.LOW: "low",
    _CompressionLevel.MED: "medium",
    _CompressionLevel.HIGH: "high",
}
_INT_MAX = 2147483647


_RANGES = {
    "port": (0, 65535),
    "keepalive_time_ms": (0, _INT_MAX),
    "keepalive_timeout_ms": (0, _INT_MAX),
    "http2_max_pings_without_data": (0, _INT_MAX),
    "http2_min_recv_ping_interval_without_data_ms": (0, _INT_MAX),
    "http2_max_ping_strikes": (0, _INT_MAX),
    "max_connection_age_ms": (0, _INT_MAX),
    "max_connection_age_grace_ms": (0, _INT_MAX),
    "infer_thread_count": (1, _INT_MAX),
    "infer_allocation_pool_size": (1, _INT_MAX),
    "max_response_pool_size": (1, _INT_MAX),
}


@checked(_RANGES)
@dataclass
class _Options:
    """The options of KServeGrpc. port 0: chosen by the system. server_cert, server_key, root_cert:
    paths of PEM files. Times are milliseconds; 0 as max_connection_age_ms is no limit."""

    address: str = "0.0.0.0"
    port: int = 8001
    reuse_port: bool = False
    use_ssl: bool = False
    server_cert: str = ""
    server_key: str = ""
    root_cert: str = ""
    use_mutual_auth: bool = False
    keepalive_time_ms: int = 7200000
    keepalive_timeout_ms: int = 20000
    keepalive_permit_without_calls: bool = False
    http2_max_pings_without_data: int = 2
    http2_min_recv_ping_interval_without_data_ms: int = 300000
    http2_max_ping_strikes: int = 2
    max_connection_age_ms: int = 0
    max_connection_age_grace_ms: int = 0
    infer_compression_level: _CompressionLevel = _CompressionLevel.NONE
    infer_thread_count: int = 2
    infer_allocation_pool_size: int = 8
    max_response_pool_size: int = _INT_MAX
    forward_header_pattern: str = ""


class KServeGrpc(Service):
    """gRPC: the KServe protocol with Triton's extensions."""

    Options = _Options
    Grpc_compression_level = _CompressionLevel
    _service = "grpc"

    def _flags(self) -> dict[str, Any]:
        options: _Options = self.options
        if options.infer_compression_level not in _LEVELS:
            raise tritonserver.InvalidArgumentError(
                "infer_compression_level must be one of NONE, LOW, MED, HIGH"
            )
        return {
            "grpc_address": options.address,
            "grpc_port": options.port,
            "reuse_grpc_port": options.reuse_port,
            "grpc_use_ssl": options.use_ssl,
            "grpc_use_ssl_mutual": options.use_mutual_auth,
            "grpc_server_cert": options.server_cert or None,
            "grpc_server_key": options.server_key or None,
            "grpc_root_cert": options.root_cert or None,
            "grpc_keepalive_time": options.keepalive_time_ms,
            "grpc_keepalive_timeout": options.keepalive_timeout_ms,
            "grpc_keepalive_permit_without_calls": options.keepalive_permit_without_calls,
            "grpc_http2_max_pings_without_data": options.http2_max_pings_without_data,
            "grpc_http2_min_recv_ping_interval_without_data": (
                options.http2_min_recv_ping_interval_without_data_ms
            ),
            "grpc_http2_max_ping_strikes": options.http2_max_ping_strikes,
            "grpc_max_connection_age": options.max_connection_age_ms or None,
            "grpc_max_connection_age_grace": options.max_connection_age_grace_ms or None,
            "grpc_infer_response_compression_level": _LEVELS[options.infer_compression_level],
            "grpc_infer_thread_count": options.infer_thread_count,
            "grpc_infer_allocation_pool_size": options.infer_allocation_pool_size,
            "grpc_max_response_pool_size": options.max_response_pool_size,
            "grpc_header_forward_pattern": options.forward_header_pattern or None,
        }
