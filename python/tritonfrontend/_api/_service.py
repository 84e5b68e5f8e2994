# SPDX-License-Identifier: Apache-2.0
"""What the front ends have in common."""

from __future__ import annotations

from types import TracebackType
from typing import Any, ClassVar, Optional

import tritonserver
from nereid import _core
from nereid.flags import make_flags

_SERVICES = ("http", "grpc", "metrics")
#: How long stop() waits for responses in progress. The same as in Server.stop().
_STOP_SECONDS = 30.0


class Service:
    """A front end of a server: start() and stop(), or a with statement."""

    #: The name in flags: --allow-<name>.
    _service = ""
    #: The class of the options.
    Options: type[Any]
    #: The class under the name that it has in Triton 24.10: KServeHttp.Server(server, options).
    Server: ClassVar[type[Any]]

    def __init_subclass__(cls) -> None:
        cls.Server = cls

    def __init__(self, server: tritonserver.Server, options: Any = None) -> None:
        if options is None:
            options = self.Options()
        if not isinstance(options, self.Options):
            raise tritonserver.InvalidArgumentError(
                "Incorrect type for options. options argument must be of type "
                f"{type(self).__name__}.Options"
            )
        _ = server.core  # raises for a server that was not started
        self.server = server
        self.options = options
        self._frontends: Optional[_core.Frontends] = None

    def _flags(self) -> dict[str, Any]:
        """Returns the options as flags of the program."""
        raise NotImplementedError

    def start(self) -> None:
        """Listens and serves. Raises AlreadyExistsError "server is already running." if it does."""
        if self._frontends is not None:
            raise tritonserver.AlreadyExistsError("server is already running.")
        allowed = {f"allow_{name}": name == self._service for name in _SERVICES}
        others = {"allow_sagemaker": False, "allow_vertex_ai": False}
        flags = make_flags({**allowed, **others, **self._flags()})
        self._frontends = _core.Frontends(self.server.core, flags)

    def stop(self) -> None:
        """Closes the port, waits until the responses in progress are written, and closes the
        connections. Does nothing if it does not run."""
        if self._frontends is not None:
            self._frontends.stop(_STOP_SECONDS)
            self._frontends = None

    def __enter__(self) -> Any:
        self.start()
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.stop()
