# SPDX-License-Identifier: Apache-2.0
"""Three ways to run a model: a server over HTTP, the same server over gRPC, and no server.

Each is a callable `run(model, inputs, outputs, turn=None)`. `inputs` maps names to numpy arrays,
`outputs` lists the requested names, and the result maps those names to numpy arrays. `turn` is the
position of the request in a sequence, for a model with a state. The requests in this folder
(speech.py, file_types.py, text_in_image.py) work with any of the three.
"""

from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np
from tritonclient.utils import np_to_triton_dtype

Tensors = dict[str, np.ndarray]


class Turn(NamedTuple):
    """The position of a request in a sequence."""

    sequence: str
    start: bool  # the first one
    end: bool  # the last one

    def parameters(self) -> dict:
        """Returns the position in the form of the official clients."""
        return {
            "sequence_id": self.sequence,
            "sequence_start": self.start,
            "sequence_end": self.end,
        }


class OverHttp:
    """Sends requests with the official HTTP client; tensors have the binary form."""

    protocol = "HTTP"

    def __init__(self, address: str):
        import tritonclient.http as http

        self._http = http
        self._client = http.InferenceServerClient(address)

    def __call__(
        self, model: str, inputs: Tensors, outputs: list[str], turn: Optional[Turn] = None
    ) -> Tensors:
        asked = []
        for name, array in inputs.items():
            tensor = self._http.InferInput(name, list(array.shape), np_to_triton_dtype(array.dtype))
            tensor.set_data_from_numpy(array)
            asked.append(tensor)
        wanted = [self._http.InferRequestedOutput(name, binary_data=True) for name in outputs]
        more = turn.parameters() if turn else {}
        answer = self._client.infer(model, asked, outputs=wanted, **more)
        return {name: answer.as_numpy(name) for name in outputs}

    def close(self) -> None:
        self._client.close()


class OverGrpc:
    """Sends requests with the official gRPC client."""

    protocol = "gRPC"

    def __init__(self, address: str):
        import tritonclient.grpc as grpc

        self._grpc = grpc
        self._client = grpc.InferenceServerClient(address)

    def __call__(
        self, model: str, inputs: Tensors, outputs: list[str], turn: Optional[Turn] = None
    ) -> Tensors:
        asked = []
        for name, array in inputs.items():
            tensor = self._grpc.InferInput(name, list(array.shape), np_to_triton_dtype(array.dtype))
            tensor.set_data_from_numpy(array)
            asked.append(tensor)
        wanted = [self._grpc.InferRequestedOutput(name) for name in outputs]
        more = turn.parameters() if turn else {}
        answer = self._client.infer(model, asked, outputs=wanted, **more)
        return {name: answer.as_numpy(name) for name in outputs}

    def close(self) -> None:
        self._client.close()


class Directly:
    """Runs the model files of a repository in this process, with the Python package onnxruntime.

    This object keeps the states that the server would keep for a sequence: STATES lists for a model
    the outputs that are inputs of the next request, with their initial values.
    """

    protocol = "onnxruntime"
    STATES = {"silero_vad": {"state": ("stateN", np.zeros((2, 1, 128), np.float32))}}

    def __init__(self, repository: Path):
        self._repository = repository
        self._sessions = {}
        self._states = {}  # (model, sequence): {input: array}

    def _session(self, model: str):
        if model not in self._sessions:
            import onnxruntime

            path = self._repository / model / "1" / "model.onnx"
            self._sessions[model] = onnxruntime.InferenceSession(
                str(path), providers=["CPUExecutionProvider"]
            )
        return self._sessions[model]

    def __call__(
        self, model: str, inputs: Tensors, outputs: list[str], turn: Optional[Turn] = None
    ) -> Tensors:
        session = self._session(model)
        states = self.STATES.get(model, {}) if turn else {}
        if states:
            inputs = inputs | self._state_before(model, turn)
        # A scalar of the model is a tensor of shape [ 1 ] to a client of the server.
        scalars = {tensor.name for tensor in session.get_inputs() if len(tensor.shape) == 0}
        fed = {n: a.reshape(()) if n in scalars else a for n, a in inputs.items()}
        wanted = outputs + [name for name, _ in states.values()]
        found = dict(zip(wanted, session.run(wanted, fed)))
        if states:
            self._states[model, turn.sequence] = {n: found[o] for n, (o, _) in states.items()}
        if turn and turn.end:
            self._states.pop((model, turn.sequence), None)
        return {name: found[name] for name in outputs}

    def _state_before(self, model: str, turn: Turn) -> Tensors:
        if turn.start:
            return {name: first for name, (_, first) in self.STATES[model].items()}
        return self._states[model, turn.sequence]

    def close(self) -> None:
        self._sessions.clear()
