# SPDX-License-Identifier: Apache-2.0
"""The host of a worker: turns what models ask into messages on the call socket."""

import struct
from typing import Any, Dict, List, Optional

from nereid_pb.cuda import CudaError, driver

from . import protocol
from .calls import Calls, Stream
from .channel import Channel
from .encoding import Encoder
from .host import Host, HostError

_BLS_REFUSED = "BLS is only supported during the 'execute' function."


class ServerHost(Host):
    """Speaks to the server."""

    def __init__(self, channel: Channel, calls: Calls, name: str, directory: str, decoupled: bool
                 ) -> None:
        self.instance_name = name
        self.model_directory = directory
        self.decoupled = decoupled
        # Whether the model may call other models: from the end of initialize() to finalize().
        self.executing = False
        self._channel = channel
        self._calls = calls

    def log(self, level: int, message: str, file: str, line: int) -> None:
        """Sends a line of the log."""
        self._calls.send(protocol.LOG, 0, [b"".join((
            protocol.U32_PAIR.pack(level, line), _text(file), _text(message)))])

    def is_cancelled(self, handle: int) -> bool:
        """Asks the server."""
        return self._calls.call(lambda number: self._channel.send(
            protocol.IS_CANCELLED, number, [protocol.U64.pack(handle)])) == b"1"

    def send(self, handle: int, response: Optional[Any], flags: int, requested: Any) -> None:
        """Sends a response and waits for the server."""
        encoder = Encoder(self._channel)
        encoder.meta.append(protocol.SEND_BODY.pack(handle, flags))
        if response is None:
            encoder.none()
        else:
            encoder.response(response, requested)
        try:
            self._calls.call(lambda number: encoder.send(protocol.SEND, number))
        except MemoryError as error:
            raise HostError(str(error), 4) from None

    def abandon(self, handle: int) -> None:
        """Tells the server."""
        self._calls.send(protocol.ABANDON, handle, ())

    def infer(self, request: Any, decoupled: bool) -> Stream:
        """Sends a request to another model."""
        if not self.executing:
            raise HostError(_BLS_REFUSED)
        correlation = request._correlation_id
        is_text = isinstance(correlation, str)
        encoder = Encoder(self._channel)
        encoder.meta.append(b"".join((
            protocol.INFER_BODY.pack(
                request._model_version, 0 if is_text else correlation, request._timeout,
                request._trace, request._flags, is_text, bool(decoupled),
                self._wanted_memory(request._preferred_memory)),
            _text(request._model_name), _text(request._request_id),
            _text(correlation if is_text else ""), protocol.text(request._parameters),
            protocol.U32.pack(len(request._requested)),
            *(_text(name) for name in request._requested),
            protocol.U32.pack(len(request._inputs)))))
        encoder.tensors(request._inputs)
        number, stream = self._calls.stream(decoupled)
        try:
            encoder.send(protocol.INFER, number)
        except OSError:
            self._calls.forget(number)
            stream.fail()
        except (CudaError, MemoryError) as error:
            self._calls.forget(number)
            raise HostError(str(error), 4) from None
        return stream

    def _wanted_memory(self, preferred: Any) -> int:
        """Returns where a model wants the outputs of a call. A GPU that the server does not share counts
        as host memory."""
        if preferred is None:
            return protocol.MEMORY_AS_OFFERED
        gpus = self._channel.memory.gpus
        if preferred._memory_type == 0 or not gpus:
            return protocol.MEMORY_CPU
        try:
            return protocol.MEMORY_GPU + gpus.index(driver().uuid(preferred._device_id))
        except (CudaError, ValueError):
            return protocol.MEMORY_CPU

    def trace_context(self, trace: int) -> Optional[str]:
        """Asks the server."""
        return self._control(protocol.TRACE_CONTEXT, _number(trace)).decode() or None

    def load_model(self, name: str, config: str, files: Optional[Dict[str, bytes]]) -> None:
        """Asks the server to load a model."""
        self._check_control()
        more = [part for path, content in (files or {}).items() for part in (path.encode(), content)]
        self._control(protocol.LOAD_MODEL, name.encode(), config.encode(), *more)

    def unload_model(self, name: str, unload_dependents: bool) -> None:
        """Asks the server to unload a model."""
        self._check_control()
        self._control(protocol.UNLOAD_MODEL, name.encode(), b"1" if unload_dependents else b"0")

    def is_model_ready(self, name: str, version: str) -> bool:
        """Asks the server."""
        self._check_control()
        return self._control(protocol.IS_MODEL_READY, name.encode(), version.encode()) == b"1"

    def new_metric_family(self, name: str, description: str, kind: int) -> int:
        """Creates a family."""
        self._check_control()
        return int(self._control(protocol.NEW_METRIC_FAMILY, name.encode(), description.encode(),
                                 _number(kind)))

    def delete_metric_family(self, family: int) -> None:
        """Deletes a family."""
        self._post(protocol.DELETE_METRIC_FAMILY, _number(family))

    def new_metric(self, family: int, labels: Dict[str, str], buckets: Optional[List[float]]) -> int:
        """Creates a metric."""
        bounds = b"" if buckets is None else b"b" + struct.pack(f"<{len(buckets)}d", *buckets)
        pairs = [text.encode() for pair in labels.items() for text in pair]
        return int(self._control(protocol.NEW_METRIC, _number(family), bounds, *pairs))

    def delete_metric(self, metric: int) -> None:
        """Deletes a metric."""
        self._post(protocol.DELETE_METRIC, _number(metric))

    def change_metric(self, metric: int, operation: str, value: float) -> None:
        """Changes a metric."""
        self._control(protocol.CHANGE_METRIC, _number(metric), operation.encode(),
                      struct.pack("<d", value))

    def metric_value(self, metric: int) -> float:
        """Reads a metric."""
        value: float = struct.unpack("<d", self._control(protocol.METRIC_VALUE, _number(metric)))[0]
        return value

    def _check_control(self) -> None:
        """Raises HostError where the server's functions cannot be called."""

    def _control(self, function: int, *arguments: bytes) -> bytes:
        return self._calls.call(lambda number: self._channel.send(
            protocol.CONTROL, number, [_control_body(function, arguments)]))

    def _post(self, function: int, *arguments: bytes) -> None:
        self._calls.send(protocol.CONTROL, 0, [_control_body(function, arguments)])


class CompletingHost(ServerHost):
    """The host while auto_complete_config() runs, which cannot use other models or metrics."""

    def _check_control(self) -> None:
        raise HostError("the function auto_complete_config() cannot call the server")


def _control_body(function: int, arguments: Any) -> bytes:
    return b"".join((protocol.U32_PAIR.pack(function, len(arguments)),
                     *(protocol.text(argument) for argument in arguments)))


def _text(value: str) -> bytes:
    return protocol.text(value.encode("utf-8", "replace").replace(b"\0", b"\\0"))


def _number(value: int) -> bytes:
    return str(value).encode()
