# SPDX-License-Identifier: Apache-2.0
"""The life of a worker: the first call, batches, the end."""

import asyncio
import atexit
import inspect
import json
import os
import resource
import socket
import sys
import threading
from typing import Any, Dict, Optional

from nereid_pb.model_config import ModelConfig

from . import host as hosts
from . import protocol
from .calls import Calls
from .channel import Channel, Memory, Message
from .decoding import Decoder
from .executor import Executor, is_ready
from .loader import describe, import_model, prepare_path
from .server_host import CompletingHost, ServerHost

_WORK = 3
_CALL = 4


class Worker:
    """The process, with its two sockets."""

    def __init__(self) -> None:
        self._memory = Memory(0)
        self._work = Channel(_WORK, self._memory)
        self._call = Channel(_CALL, self._memory)
        self._model: Any = None
        os.register_at_fork(after_in_child=self._close_in_child)

    def _close_in_child(self) -> None:
        """Keeps a process that the model has forked from speaking for this one."""
        self._work.closed = True
        self._call.closed = True

    def run(self) -> None:
        """Serves until the server ends the worker."""
        self._work.send(protocol.HELLO, 0, [protocol.U32.pack(protocol.VERSION)])
        message = self._work.receive()
        if message is None:
            return
        argument = json.loads(_text(message))
        self._limit(argument)
        prepare_path(argument["search_path"])
        if message.type == protocol.COMPLETE:
            self._complete(argument)
            self._work.receive()
        elif message.type == protocol.INITIALIZE:
            self._serve(argument)

    def _limit(self, argument: Dict[str, Any]) -> None:
        self._memory.outputs._limit = argument["shared_memory_limit"]
        self._memory.gpus = [bytes.fromhex(uuid) for uuid in argument["gpus"]]
        if argument["cpus"]:
            os.sched_setaffinity(0, argument["cpus"])
        if argument["memory_limit"]:
            limit = argument["memory_limit"]
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    def _done(self, text: str, ok: bool, asynchronous: bool = False, ready: bool = False) -> None:
        encoded = text.encode("utf-8", "replace")
        self._work.send(protocol.DONE, 0, [
            protocol.DONE_BODY.pack(ok, asynchronous, ready, 0, len(encoded)) + encoded])

    def _complete(self, argument: Dict[str, Any]) -> None:
        """Runs auto_complete_config()."""
        calls = Calls(self._call, Decoder(self._memory, False), lambda _: None)
        hosts.set_current(CompletingHost(self._call, calls, argument["name"],
                                         argument["version_directory"], False))
        try:
            function = getattr(import_model(argument), "auto_complete_config", None)
            if function is None:
                self._done("", True)
                return
            config = function(ModelConfig(argument["args"]["model_config"]))
            if not isinstance(config, ModelConfig):
                self._done(f"auto_complete_config function in model '{argument['name']}' must return "
                           "a valid pb.ModelConfig object.", False)
                return
            self._done(json.dumps(config.as_dict()), True)
        except BaseException as error:  # noqa: BLE001: sys.exit() in a model fails its load
            self._done(describe(error), False)

    def _serve(self, argument: Dict[str, Any]) -> None:
        decoder = Decoder(self._memory, argument["decoupled"])
        calls = Calls(self._call, Decoder(self._memory, False), self._answer_ready)
        host = ServerHost(self._call, calls, argument["name"], argument["version_directory"],
                          argument["decoupled"])
        hosts.set_current(host)
        try:
            self._model = import_model(argument)()
            initialize = getattr(self._model, "initialize", None)
            if initialize is not None:
                initialize(argument["args"])
        except BaseException as error:  # noqa: BLE001: as above
            self._done(describe(error), False)
            self._work.receive()
            return
        self._work.states = frozenset(argument["states"])
        executor = Executor(self._model, argument["model_file"], self._work, self._call, decoder,
                            host)
        has_is_ready = is_ready(self._model) is not None
        if has_is_ready:
            calls.start_reader()
        host.executing = True
        self._done("", True, executor.asynchronous, has_is_ready)
        if executor.asynchronous:
            _LoopOfBatches(self._work, executor).run()
        else:
            self._loop(executor)
        host.executing = False
        self._finalize()

    def _loop(self, executor: Executor) -> None:
        receive = self._work.receive
        execute = executor.execute
        while True:
            message = receive()
            if message is None or message.type != protocol.EXECUTE:
                return
            execute(message)
            executor.report_memory()

    def _finalize(self) -> None:
        finalize = getattr(self._model, "finalize", None)
        try:
            if finalize is not None:
                finalize()
            self._model = None
            self._done("", True)
        except BaseException as error:  # noqa: BLE001: as above
            self._done(describe(error), False)

    def _answer_ready(self, number: int) -> None:
        """Answers a question for readiness on a thread of its own: the model may take its time."""
        threading.Thread(target=self._ask_model, args=(number,), daemon=True).start()

    def _ask_model(self, number: int) -> None:
        ok, text = False, ""
        try:
            result = self._model.is_ready()
            if inspect.iscoroutine(result):
                result = asyncio.run(result)
            if not isinstance(result, bool):
                text = "is_ready() must return a boolean value"
            else:
                ok = result
        except BaseException as error:  # noqa: BLE001: as above
            text = describe(error)
        encoded = text.encode("utf-8", "replace")
        try:
            self._call.send(protocol.READY, number, [
                protocol.DONE_BODY.pack(ok, False, False, 0, len(encoded)) + encoded])
        except OSError:
            pass  # the server has ended


class _LoopOfBatches:
    """Runs the batches of a coroutine on one event loop."""

    def __init__(self, work: Channel, executor: Executor) -> None:
        self._work = work
        self._executor = executor
        self._loop = asyncio.new_event_loop()

    def run(self) -> None:
        """Returns when the server wants no further batch."""
        asyncio.set_event_loop(self._loop)
        self._loop.add_reader(_WORK, self._receive)
        self._loop.run_forever()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def _receive(self) -> None:
        while True:
            try:
                message: Optional[Message] = self._work.receive(socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            if message is None or message.type != protocol.EXECUTE:
                self._loop.stop()
                return
            self._executor.start(message, self._loop)
            del message
            self._executor.report_memory()


def _text(message: Message) -> str:
    size = protocol.U32.unpack_from(message.view, message.body)[0]
    begin = message.body + 4
    return str(message.view[begin:begin + size], "utf-8")


def serve() -> None:
    """Runs the worker, and ends the process without waiting for the model's threads."""
    code = 0
    try:
        Worker().run()
        atexit._run_exitfuncs()
    except (OSError, KeyboardInterrupt):
        code = 1  # the server has ended
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    os._exit(code)
