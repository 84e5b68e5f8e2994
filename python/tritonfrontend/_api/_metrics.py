# SPDX-License-Identifier: Apache-2.0
"""The metrics page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tritonfrontend._api._options import checked
from tritonfrontend._api._service import Service


@checked({"port": (0, 65535), "thread_count": (1, None)})
@dataclass
class _Options:
    """The options of Metrics. port 0: chosen by the system. thread_count: is accepted; the page is
    always served by one thread."""

    address: str = "0.0.0.0"
    port: int = 8002
    thread_count: int = 1


class Metrics(Service):
    """The metrics page, /metrics."""

    Options = _Options
    _service = "metrics"

    def _flags(self) -> dict[str, Any]:
        options: _Options = self.options
        return {"metrics_address": options.address, "metrics_port": options.port}
