# SPDX-License-Identifier: Apache-2.0
"""InferenceResponseSender: sends the responses of a request while or after the model executes it."""

from __future__ import annotations

import threading
import typing

from nereid_worker import host as hosts

from . import arguments
from .errors import TritonModelException
from .response import InferenceResponse

FINAL = 1  # TRITONSERVER_RESPONSE_COMPLETE_FINAL

_REFUSED = "Unable to send response. "


class InferenceResponseSender:
    """Sends responses of one request. May be used on any thread.

    A request of a decoupled model may have any number of responses, and ends with the final flag. A
    request of another model has exactly one response, which may also come after execute() has returned
    None for it. A sender that is collected before the final flag was sent ends its request: with an error
    if a response is missing, or if the model is decoupled.
    """

    # _handle: the host's number of the request; 0 if the model made the request itself.
    # _left: whether the end of this object must be told to the server.
    # _ended: whether the server sends the final flag for this object.
    __slots__ = ("__weakref__", "_cancelled", "_closed", "_decoupled", "_ended", "_handle", "_left",
                 "_lock", "_requested", "_sent")

    _handle: int
    _requested: typing.Collection[str]
    _decoupled: bool
    _sent: int
    _closed: bool
    _cancelled: bool
    _left: bool
    _ended: bool
    _lock: threading.Lock

    def __init__(self) -> None:
        raise TypeError("InferenceResponseSender: use request.get_response_sender()")

    @staticmethod
    def _for(handle: int, requested: typing.Collection[str], decoupled: bool
             ) -> InferenceResponseSender:
        """Returns the sender of a request."""
        sender = _new(InferenceResponseSender)
        sender._handle = handle
        sender._requested = requested
        sender._decoupled = decoupled
        sender._sent = 0
        sender._closed = False
        sender._cancelled = False
        sender._left = decoupled
        sender._ended = False
        sender._lock = threading.Lock()
        return sender

    def send(self, response: InferenceResponse | None = None, flags: int = 0) -> None:
        """Sends a response, the final flag, or both. Waits until the server has taken it.

        Raises TritonModelException if the request cannot have this response, or if the server
        refuses it; the request can then have another one.
        """
        flags = self._checked_flags(response, flags)
        # The lock is held while the response is sent, so that no other thread's final flag overtakes it.
        with self._lock:
            self._check_state(response)
            if response is None and self._ended:
                self._closed = True
                return
            try:
                hosts.current().send(self._handle, response, flags, self._requested)
            except hosts.HostError as error:
                raise TritonModelException(error.message) from None
            if response is not None:
                self._sent += 1
            if flags == FINAL:
                self._closed = True

    @staticmethod
    def _checked_flags(response: InferenceResponse | None, flags: typing.Any) -> int:
        if response is not None and not isinstance(response, InferenceResponse):
            raise TypeError(f"send() needs an InferenceResponse, not {type(response)}")
        flags = arguments.integer("send(): flags", flags, 0, arguments.MAX_UINT32)
        if flags not in (0, FINAL):
            raise TritonModelException(_REFUSED + "Unsupported flag provided.")
        if response is None and flags == 0:
            raise TritonModelException(
                "Inference Response object must be provided when the response flags is set to zero.")
        return flags

    def _check_state(self, response: InferenceResponse | None) -> None:
        if not self._handle:
            raise TritonModelException(
                _REFUSED + "Response sender has no reference to the decoupled state of the model.")
        if not self._decoupled:
            if response is not None and self._sent:
                raise TritonModelException(
                    _REFUSED + "Non-decoupled model cannot send more than one response.")
            if response is None and not self._sent and not self._closed:
                raise TritonModelException(
                    _REFUSED + "Non-decoupled model cannot send complete final before sending a "
                    "response.")
        if self._closed:
            raise TritonModelException(_REFUSED + "Response sender has been closed.")

    def _returned(self) -> bool:
        """Notes that execute() has returned no response for the request. Returns whether this object has
        sent one, so that the server may send the final flag."""
        with self._lock:
            self._ended = self._sent > 0 and not self._closed
            return self._sent > 0

    def is_cancelled(self) -> bool:
        """Returns whether the client has cancelled the request."""
        if not self._cancelled and self._handle:
            self._cancelled = hosts.current().is_cancelled(self._handle)
        return self._cancelled

    def __del__(self) -> None:
        # An object that was not made completely has no attributes.
        if getattr(self, "_left", False) and not self._closed and self._handle:
            hosts.current().abandon(self._handle)


_new = object.__new__
