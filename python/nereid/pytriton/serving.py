# SPDX-License-Identifier: Apache-2.0
"""What the classes Triton and RemoteTriton have in common."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Optional


class Serving:
    """A life that ends with stop()."""

    def __init__(self) -> None:
        self._stopping = threading.Lock()  # held by the thread that ends serving
        self._stopped = threading.Event()

    def _begin(self) -> None:
        """Begins to serve the functions unless that was done."""
        raise NotImplementedError

    def is_alive(self) -> bool:
        """Returns whether functions are served."""
        raise NotImplementedError

    def stop(self) -> bool:
        """Ends serving. Returns whether there was any.

        If another thread does that, returns False at once: a function that runs may call this."""
        if not self._stopping.acquire(blocking=False):
            return False
        try:
            return self._end_serving()
        finally:
            self._stopping.release()

    def _stop_or_wait(self) -> None:
        """Ends serving, or waits until another thread has done that: the process may end next."""
        with self._stopping:
            self._end_serving()

    def _end_serving(self) -> bool:
        """Ends serving, with the lock held. Returns whether there was any."""
        raise NotImplementedError

    def serve(self, monitoring_period_s: float = 10.0) -> None:
        """Begins if necessary, and blocks until Ctrl-C, stop(), or the end of the server, which
        is looked for every `monitoring_period_s` seconds."""
        self._begin()
        try:
            while not self._stopped.wait(monitoring_period_s):
                if not self.is_alive():
                    break
        except KeyboardInterrupt:
            pass
        finally:
            self._stop_or_wait()

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self._stop_or_wait()
