# SPDX-License-Identifier: Apache-2.0
"""Calls execute() and answers its requests: what a model returns becomes exactly one result for each
request."""

import asyncio
import inspect
import os
import sys
import weakref
from typing import Any, List, Optional, Set, Tuple

from nereid_pb import cuda
from nereid_pb.response import InferenceResponse

from . import protocol
from .channel import Channel, Message
from .decoding import Decoder
from .encoding import Encoder
from .loader import describe
from .server_host import ServerHost

_RESCHEDULE_FLAG = 2
_FINAL = 1
_BATCH_HEAD = protocol.U32_PAIR
# More released memory than this is reported at once, and less with the next message.
_MUCH_MEMORY = 8 << 20


_NO_RESPONSE = "the Python model returned None for the request without sending its final response"

# Requests that are left to their senders: the place in the message, and the sender.
_Left = List[Tuple[int, "weakref.ReferenceType[Any]"]]


class WrongResult(Exception):
    """What execute() returned is not what it must return."""


class Executor:
    """Executes the batches of one model."""

    def __init__(self, model: Any, path: str, work: Channel, call: Channel, decoder: Decoder,
                 host: ServerHost) -> None:
        self._model = model
        self._path = path
        self._work = work
        self._call = call
        self._decoder = decoder
        self._host = host
        self._decoupled = host.decoupled
        self._tasks: Set[Any] = set()
        execute = getattr(model, "execute", None)
        self.asynchronous = (inspect.iscoroutinefunction(execute)
                             or inspect.isasyncgenfunction(execute))

    def execute(self, message: Message) -> None:
        """Executes a batch to its end."""
        requests: Any = self._decoder.batch(message)
        number = message.id
        count = len(requests)
        senders: List[Any] = []
        del message
        try:
            result = self._function()(requests)
            if type(result) is list:
                pass
            elif inspect.iscoroutine(result):
                result = asyncio.run(result)
            elif inspect.isgenerator(result):
                self._send_all(requests, result)
                result = None
            elif inspect.isasyncgen(result):
                asyncio.run(self._send_all_async(requests, result))
                result = None
            encoder, left = self._encode(requests, result)
            senders = self._closing(requests, left)
            # The tensors must have no other owner: see Encoder.send().
            requests = result = None
            self._leave(encoder, left)
            encoder.send(protocol.RESULTS, number)
        except BaseException as error:  # noqa: BLE001: sys.exit() in a model fails its requests
            senders = self._senders(requests) if requests is not None else senders
            self._fail(number, count, senders, error)
        self._close(senders)

    def start(self, message: Message, loop: asyncio.AbstractEventLoop) -> None:
        """Begins to execute a batch on an event loop."""
        task = loop.create_task(self._execute(message.id, self._decoder.batch(message)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _execute(self, number: int, requests: Any) -> None:
        count = len(requests)
        senders: List[Any] = []
        try:
            result = self._function()(requests)
            if inspect.isasyncgen(result):
                await self._send_all_async(requests, result)
                result = None
            else:
                result = await result
            encoder, left = self._encode(requests, result)
            senders = self._closing(requests, left)
            requests = result = None
            self._leave(encoder, left)
            encoder.send(protocol.RESULTS, number)
        except BaseException as error:  # noqa: BLE001: as above, and cancellation
            senders = self._senders(requests) if requests is not None else senders
            self._fail(number, count, senders, error)
        self._close(senders)

    def _function(self) -> Any:
        function = getattr(self._model, "execute", None)
        if function is None:
            raise WrongResult(f"Python model {self._path} does not implement `execute` method.")
        return function

    def report_memory(self) -> None:
        """Tells the server of much memory that it can use again, if there is any."""
        server = self._call.memory.server
        released = server.released
        if released and sum(map(server.size, released)) >= _MUCH_MEMORY:
            self._call.send(protocol.RELEASED, 0, ())

    def _encode(self, requests: List[Any], result: Any) -> Tuple[Encoder, "_Left"]:
        """Returns the results, and the requests of them that are left to their senders."""
        encoder = Encoder(self._work)
        encoder.meta.append(_BATCH_HEAD.pack(0, len(requests)))
        left: _Left = []
        if self._decoupled:
            self._encode_decoupled(encoder, requests, result)
            return encoder, left
        if result is None:
            result = [None] * len(requests)
        if type(result) is not list:
            raise WrongResult(f"Expected a list in the execute return, found type '{type(result)}'.")
        if len(result) != len(requests):
            raise WrongResult(
                "Number of InferenceResponse objects do not match the number of InferenceRequest "
                f"objects. InferenceRequest(s) size is:{len(requests)}, and InferenceResponse(s) size "
                f"is:{len(result)}\n")
        for request, response in zip(requests, result):
            self._encode_one(encoder, request, response, left)
        return encoder, left

    @staticmethod
    def _encode_one(encoder: Encoder, request: Any, response: Any, left: "_Left") -> None:
        if type(response) is InferenceResponse:
            if request._release_flags & _RESCHEDULE_FLAG:
                if response._error is None:
                    raise WrongResult(
                        "Expected a None object in the execute function return list for reschduled "
                        f"request, found type '{type(response)}'.")
            if request._sender is not None and request._sender._sent:
                raise WrongResult("Unable to send response. Non-decoupled model cannot send more than "
                                  "one response.")
            encoder.response(response, request._requested)
        elif response is not None:
            if isinstance(response, InferenceResponse):
                encoder.response(response, request._requested)
                return
            raise WrongResult("Expected an 'InferenceResponse' object in the execute function return "
                              f"list, found type '{type(response)}'.")
        elif request._release_flags & _RESCHEDULE_FLAG:
            encoder.reschedule()
        elif request.get_response_sender()._returned():
            encoder.none()
        else:
            left.append((encoder.later(), weakref.ref(request._sender)))

    def _leave(self, encoder: Encoder, left: "_Left") -> None:
        """Leaves requests to their senders, which a thread of the model may use after execute(). A
        request whose sender is gone with the references of execute() gets an error."""
        lost = 0
        for place, reference in left:
            sender = reference()
            if sender is not None:
                sender._left = True
            else:
                encoder.make_error(place, _NO_RESPONSE, 1)
                lost += 1
        if lost:
            self._host.log(2, f"{_NO_RESPONSE}: {lost} of a batch for '{self._host.instance_name}'",
                           self._file(), 0)

    def _encode_decoupled(self, encoder: Encoder, requests: List[Any], result: Any) -> None:
        if result is not None:
            raise WrongResult(f"Python model '{self._host.instance_name}' is using the decoupled mode "
                              "and the execute function must return None.")
        for request in requests:
            if request._release_flags & _RESCHEDULE_FLAG:
                request._sender._closed = True
                encoder.reschedule()
            else:
                encoder.none()

    def _fail(self, number: int, count: int, senders: List[Any], error: BaseException) -> None:
        """Answers all `count` requests of a batch with an error, and logs it."""
        name = self._host.instance_name
        # The text of a wrong result has no place in the model's code.
        reason = str(error) if isinstance(error, WrongResult) else describe(error)
        text = f"Failed to process the request(s) for model '{name}', message: {reason}"
        # The frames of the traceback keep the tensors.
        error.__traceback__ = None
        self._host.log(2, text, self._file(), 0)
        encoder = Encoder(self._work)
        encoder.meta.append(_BATCH_HEAD.pack(1, count))
        for _ in range(count):
            encoder.error(text, 1)
        for sender in senders:
            sender._closed = True
        encoder.send(protocol.RESULTS, number)
        broken = cuda.failure()
        if broken:
            # Every later request would fail. The server starts another process.
            print(f"the process can use its GPU no more: {broken}", file=sys.stderr, flush=True)
            os._exit(1)

    def _file(self) -> str:
        return os.path.basename(self._path) or "model.py"

    @staticmethod
    def _senders(requests: List[Any]) -> List[Any]:
        return [request._sender for request in requests if request._sender is not None]

    def _closing(self, requests: List[Any], left: "_Left") -> List[Any]:
        """Returns the senders of requests that are not left to them."""
        senders = self._senders(requests)
        if not left:
            return senders
        kept = [reference() for _, reference in left]
        return [sender for sender in senders if sender not in kept]

    def _close(self, senders: List[Any]) -> None:
        if not self._decoupled:
            for sender in senders:
                sender._closed = sender._closed or not sender._ended

    def _send_all(self, requests: List[Any], batches: Any) -> None:
        """Sends the responses of a generator: each element is a list with a response, or None, for
        each request."""
        for responses in batches:
            self._send_one(requests, responses)
        self._send_final(requests)

    async def _send_all_async(self, requests: List[Any], batches: Any) -> None:
        async for responses in batches:
            self._send_one(requests, responses)
        self._send_final(requests)

    def _send_one(self, requests: List[Any], responses: Any) -> None:
        self._check_decoupled()
        if type(responses) is not list or len(responses) != len(requests):
            raise WrongResult("execute() is a generator, so it must yield lists with one "
                              f"InferenceResponse or None for each of its {len(requests)} requests; "
                              f"found '{type(responses)}'.")
        for request, response in zip(requests, responses):
            if response is not None:
                request._sender.send(response)

    def _send_final(self, requests: List[Any]) -> None:
        self._check_decoupled()
        for request in requests:
            if not request._sender._closed:
                request._sender.send(flags=_FINAL)

    def _check_decoupled(self) -> None:
        if not self._decoupled:
            raise WrongResult("execute() is a generator, which only decoupled models may have; set "
                              "model_transaction_policy { decoupled: true } in config.pbtxt")


def is_ready(model: Any) -> Optional[Any]:
    """Returns the model's is_ready(), or None if it has none."""
    return getattr(model, "is_ready", None)
