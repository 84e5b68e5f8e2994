# SPDX-License-Identifier: Apache-2.0
"""A Python model that passes its batches to a process with functions, and returns their responses.

It runs in the server, beside wire.py and without the package."""

from __future__ import annotations

import json
import socket
from typing import Any

import triton_python_backend_utils as pb_utils

from . import wire


class TritonPythonModel:
    """An instance: it has a connection, and one batch at a time."""

    def initialize(self, args: dict[str, str]) -> None:
        """Connects to the process."""
        config = json.loads(args["model_config"])
        parameters = config["parameters"]
        self._name = args["model_name"]
        self._address = parameters["functions_socket"]["string_value"]
        self._traced = "functions_traced" in parameters
        self._decoupled = pb_utils.using_decoupled_model_transaction_policy(config)
        self._connection: Any = None
        self._connect()

    def finalize(self) -> None:
        """Closes the connection."""
        self._close()

    def execute(self, requests: list[Any]) -> Any:
        """Passes a batch to a function."""
        answers = _Stream(requests) if self._decoupled else _List(requests)
        try:
            if self._connection is None:
                self._connect()
            self._send(requests)
            self._receive(answers)
        except (OSError, ValueError, wire.WireError) as error:
            self._close()
            answers.fail(
                f"the process with the functions of the model {self._name} is lost: {error}"
            )
        return answers.result

    def _connect(self) -> None:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(self._address)
        except OSError as error:
            connection.close()
            raise OSError(
                f"cannot connect to {self._address}: {error}; the workspace of RemoteTriton must "
                "be a folder that the server sees under the same path and may write to"
            ) from error
        self._connection = connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _send(self, requests: list[Any]) -> None:
        heads = []
        arrays: list[Any] = []
        for request in requests:
            inputs = request.inputs()
            heads.append(
                {
                    "id": request.request_id(),
                    "parameters": request.parameters(),
                    "outputs": sorted(request.requested_output_names()),
                    "inputs": [tensor.name() for tensor in inputs],
                    "trace": (request.trace().get_context() or "{}") if self._traced else None,
                }
            )
            arrays.extend(tensor.as_numpy() for tensor in inputs)
        wire.send(self._connection, {"requests": heads}, arrays)

    def _receive(self, answers: Any) -> None:
        while True:
            message = wire.receive(self._connection)
            if message is None:
                raise wire.WireError("the connection has ended")
            head, arrays = message
            if head.get("done"):
                answers.end()
                return
            answers.add(head, arrays)


def _response(head: dict[str, Any], arrays: list[Any]) -> Any:
    error = head.get("error")
    if error is not None:
        return pb_utils.InferenceResponse(error=pb_utils.TritonError(error))
    return pb_utils.InferenceResponse(
        [pb_utils.Tensor(name, array) for name, array in zip(head["outputs"], arrays)]
    )


class _List:
    """The responses of a model that is not decoupled."""

    def __init__(self, requests: list[Any]) -> None:
        self.result: list[Any] = [None] * len(requests)

    def add(self, head: dict[str, Any], arrays: list[Any]) -> None:
        """Takes a response."""
        self.result[head["index"]] = _response(head, arrays)

    def end(self) -> None:
        """The function has returned."""
        self.fail("the function has sent no response")

    def fail(self, problem: str) -> None:
        """Answers the requests that have no response yet with an error."""
        for index, response in enumerate(self.result):
            if response is None:
                self.result[index] = _response({"error": problem}, [])


class _Stream:
    """The responses of a decoupled model."""

    result = None

    def __init__(self, requests: list[Any]) -> None:
        # None after the final response.
        self._senders = [request.get_response_sender() for request in requests]

    def add(self, head: dict[str, Any], arrays: list[Any]) -> None:
        """Sends a response."""
        if self._senders[head["index"]] is not None:
            self._send(head["index"], head["final"], _response(head, arrays))

    def end(self) -> None:
        """The function has returned."""
        for index, sender in enumerate(self._senders):
            if sender is not None:
                self._send(index, True)

    def fail(self, problem: str) -> None:
        """Ends the streams that are open with an error."""
        for index, sender in enumerate(self._senders):
            if sender is not None:
                self._send(index, True, _response({"error": problem}, []))

    def _send(self, index: int, final: bool, response: Any = None) -> None:
        sender = self._senders[index]
        if final:
            self._senders[index] = None
        flags = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL if final else 0
        if response is None:
            sender.send(flags=flags)
        else:
            sender.send(response, flags)
