# SPDX-License-Identifier: Apache-2.0
"""HTTP, gRPC and the metrics page of a server in this process."""

from __future__ import annotations

from types import TracebackType
from typing import Optional

from nereid import _core

_HTTP, _GRPC, _METRICS = 0, 1, 2


class Frontends:
    """Front ends that serve requests until stop(). Made by Server.listen()."""

    def __init__(self, core: _core.Frontends) -> None:
        self._core = core

    @property
    def http_port(self) -> int:
        """The port of HTTP; 0 if it is not served on a port."""
        return self._core.port(_HTTP)

    @property
    def grpc_port(self) -> int:
        """The port of gRPC; 0 if it is not served on a port."""
        return self._core.port(_GRPC)

    @property
    def metrics_port(self) -> int:
        """The port of the metrics page; 0 if it is not served on a port."""
        return self._core.port(_METRICS)

    def stop(self, timeout: float = 30.0) -> None:
        """Closes the ports, waits `timeout` seconds at most until the responses in progress are
        written, and closes the connections. A second call does nothing."""
        self._core.stop(timeout)

    def __enter__(self) -> Frontends:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.stop()
