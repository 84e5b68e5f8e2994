# SPDX-License-Identifier: Apache-2.0
"""The interface between the objects that models use and the process that connects them to the server.

The objects of `triton_python_backend_utils` (requests, responses, tensors, senders, metrics, ...) reach
the server only through the object that `current()` returns. A worker sets a `Host` that speaks to the
server; unit tests set a fake one.

How the worker builds the objects of a batch, and how it reads those that a model returns
-----------------------------------------------------------------------------------------
Both run once for each tensor of each request, so they use attributes and no accessors. The following
names are the contract. A class may have more attributes, and fill them when they are first asked for.

Tensor
    Tensor._received(name, data_type, shape, buffer, offset, byte_size) -> Tensor
        `data_type` is the number of the TRITONSERVER_DataType (BOOL 1, UINT8 2, ..., BYTES 13, BF16 14),
        `shape` a tuple of ints, `buffer` a writable object with the buffer protocol (a bytearray or a
        numpy array of uint8). The content is buffer[offset : offset + byte_size] in the format of the
        wire (BYTES: for each element 4 bytes of length, little-endian, then the element). The tensor, and
        every array made from it, must keep a reference to `buffer`: the memory is used again when nothing
        refers to it any more. An array must be a view (numpy.ndarray(shape, dtype, buffer, offset)).
    tensor._name        str
    tensor._data_type   int, as above
    tensor._shape       tuple or list of ints
    tensor._payload()   the content in the format of the wire, as an object with the buffer protocol that
                        is contiguous in C order: the model's own array if possible, so that the worker
                        sees whether it already lies in memory that the server shares.

GpuTensor, a Tensor in GPU memory
    GpuTensor._received_on_gpu(name, data_type, shape, use, offset, byte_size) -> GpuTensor
        `use` is a SegmentUse, which stands for one use of a segment as an array of the host does.
    tensor._payload()   the tensor itself; `nbytes` is its size, _locate() returns the GPU's number in this
                        process and the address, and _to_host() a copy of the content in host memory.

InferenceRequest
    InferenceRequest._received(handle, request_id, correlation_id, flags, timeout, parameters, requested,
                               inputs, trace, decoupled) -> InferenceRequest
        `handle` (int, not 0) names the request in calls of the host. `parameters` is the JSON text as
        bytes (b"" if there are none), `requested` a frozenset of str that requests share, `inputs` a list
        of Tensor, `trace` an int that names the request's trace (0: none). If `decoupled`, the request
        gets its sender at once, because only the end of the sender's life tells that no response will
        come any more (see Host.abandon).
    request._handle                  int; 0 for a request that the model has made
    request._release_flags           int; 1 (ALL) unless set_release_flags() was called
    request._sender                  InferenceResponseSender or None if none was asked for
    request._requested               collection of str
    and for requests that the model has made, as Host.infer reads them:
    request._request_id              str
    request._correlation_id          int or str
    request._inputs                  list of Tensor
    request._model_name              str
    request._model_version           int
    request._flags, request._timeout int
    request._parameters              JSON text as bytes; b"" if there are none
    request._preferred_memory        None, or an object with `_memory_type` (TRITONSERVER_MemoryType: CPU 0,
                                     GPU 2) and `_device_id`
    request._trace                   int: the number that the request whose trace it is got, or 0

InferenceResponseSender
    sender._sent         int: the number of responses that it has sent
    sender._closed       bool: whether it sent the final flag, or the worker closed it. send() raises when
                         it is set. The worker sets it when execute() has failed, and for models that are
                         not decoupled when execute() has returned a response for the request.
    sender._returned()   for models that are not decoupled, when execute() has returned no response for the
                         request. True if the sender has sent one: the server then sends the final flag.
    sender._left         bool: whether the worker has left the request to the sender, whose end must then
                         be told to the server (see Host.abandon). Always true of decoupled models.

InferenceResponse
    InferenceResponse._received(outputs, error, parameters) -> InferenceResponse
        `error` is a TritonError or None, `parameters` JSON text as bytes (b"" if there are none).
    response._outputs     list of Tensor
    response._error       TritonError or None
    response._parameters  JSON text as bytes; b"" if there are none

TritonError
    TritonError(message, code); error._code is an int (UNKNOWN 0, INTERNAL 1, ..., as in
    TRITONSERVER_Error_Code), error._message a str.

InferenceTrace
    trace._handle  int as in InferenceRequest._received, trace._context  str or None
"""

import abc
import asyncio
from typing import Any, Dict, List, Optional


class HostError(Exception):
    """The server refused a call. `code` is a TRITONSERVER_Error_Code."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class ResponseStream(abc.ABC):
    """The responses of one request that the model has sent to another model.

    A request of a model that is not decoupled gives exactly one response. Every failure, also of the start
    of the request, is a response with an error and no exception. One thread or one event loop reads a stream.
    """

    __slots__ = ()

    @abc.abstractmethod
    def next(self) -> Optional[Any]:
        """Waits for the next InferenceResponse, without the GIL. Returns None after the last one."""

    @abc.abstractmethod
    def next_future(self, loop: asyncio.AbstractEventLoop) -> "asyncio.Future[Optional[Any]]":
        """Returns a future of `loop` with what next() would return. Takes no thread while it waits."""

    @abc.abstractmethod
    def cancel(self) -> None:
        """Asks the server to cancel the request. Does nothing if it has ended."""

    @abc.abstractmethod
    def close(self) -> None:
        """Drops the responses that were not read, now and when they come. Does not wait; may be called
        in `__del__`, on any thread and more than once."""


class Host(abc.ABC):
    """What a model can ask of the server. All functions may be called on any thread.

    Failures are raised as HostError, with the server's text without any prefix.
    """

    #: The name of the instance ("m_0_0"); in auto_complete_config() the model's name.
    instance_name: str
    #: The model's version directory, for get_model_dir().
    model_directory: str
    #: Whether the model's configuration says that it is decoupled.
    decoupled: bool

    @abc.abstractmethod
    def log(self, level: int, message: str, file: str, line: int) -> None:
        """Writes to the server's log. `level`: INFO 0, WARNING 1, ERROR 2, VERBOSE 3."""

    @abc.abstractmethod
    def is_cancelled(self, handle: int) -> bool:
        """Whether the client of a received request has cancelled it. False when it was answered."""

    @abc.abstractmethod
    def send(self, handle: int, response: Optional[Any], flags: int, requested: Any) -> None:
        """Sends a response (or None with the final flag) of a received request. Waits until the server
        has taken it. Outputs that are not in `requested` are left out. `flags`: 0, or 1 for the final one.
        The sender checks the flags and the order of the calls; the server checks them again."""

    @abc.abstractmethod
    def abandon(self, handle: int) -> None:
        """Tells that no response of a request that was left to its sender will come any more, because the
        sender was collected before it sent the final flag. The client gets an error, unless the only response
        of a model that is not decoupled was sent. Does not wait; for `__del__`."""

    @abc.abstractmethod
    def infer(self, request: Any, decoupled: bool) -> ResponseStream:
        """Sends `request` to the model that it names. Does not wait. Raises HostError only when calls of
        other models are not allowed at this time, with the text that the model is to see."""

    @abc.abstractmethod
    def trace_context(self, trace: int) -> Optional[str]:
        """The context of a trace for its propagation, or None."""

    @abc.abstractmethod
    def load_model(self, name: str, config: str, files: Optional[Dict[str, bytes]]) -> None:
        """Loads a model and waits for it. The keys of `files` are parameter names ("file:1/model.py")."""

    @abc.abstractmethod
    def unload_model(self, name: str, unload_dependents: bool) -> None:
        """Unloads a model."""

    @abc.abstractmethod
    def is_model_ready(self, name: str, version: str) -> bool:
        """Whether a model can be used. `version` is the text of a number, or ""."""

    @abc.abstractmethod
    def new_metric_family(self, name: str, description: str, kind: int) -> int:
        """Creates or shares a family; `kind`: COUNTER 0, GAUGE 1, HISTOGRAM 2. Returns its handle."""

    @abc.abstractmethod
    def delete_metric_family(self, family: int) -> None:
        """Deletes a family. Its metrics must have been deleted. Does not wait; for `__del__`."""

    @abc.abstractmethod
    def new_metric(self, family: int, labels: Dict[str, str], buckets: Optional[List[float]]) -> int:
        """Creates or shares a metric. `buckets` is None unless the family is a histogram."""

    @abc.abstractmethod
    def delete_metric(self, metric: int) -> None:
        """Deletes a metric. Does not wait; for `__del__`."""

    @abc.abstractmethod
    def change_metric(self, metric: int, operation: str, value: float) -> None:
        """`operation` is "increment", "set" or "observe"."""

    @abc.abstractmethod
    def metric_value(self, metric: int) -> float:
        """Reads a counter or a gauge."""


_current: Optional[Host] = None


def current() -> Host:
    """Returns the host of this process."""
    if _current is None:
        raise HostError("this process does not run a model of the server")
    return _current


def set_current(host: Optional[Host]) -> None:
    """Sets the host of this process. Called before the model's module is imported."""
    global _current
    _current = host
