# SPDX-License-Identifier: Apache-2.0
"""HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tritonfrontend._api._options import checked
from tritonfrontend._api._service import Service


@checked({"port": (0, 65535), "thread_count": (1, None)})
@dataclass
class _Options:
    """The options of KServeHttp. port 0: chosen by the system. thread_count: event loops.
    header_forward_pattern: headers that match it become parameters of requests."""

    address: str = "0.0.0.0"
    port: int = 8000
    reuse_port: bool = False
    thread_count: int = 8
    header_forward_pattern: str = ""


class KServeHttp(Service):
    """HTTP: the KServe protocol with Triton's extensions."""

    Options = _Options
    _service = "http"

    def _flags(self) -> dict[str, Any]:
        options: _Options = self.options
        return {
            "http_address": options.address,
            "http_port": options.port,
            "reuse_http_port": options.reuse_port,
            "http_thread_count": options.thread_count,
            "http_header_forward_pattern": options.header_forward_pattern or None,
        }
