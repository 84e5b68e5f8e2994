# SPDX-License-Identifier: Apache-2.0
"""One interface for the four official Python clients, so that each case is written once.

The clients differ in the names of a few arguments, in sync and async, and in the types that they
return (dictionaries or messages). This module hides these differences. It does not know which
answers are correct.
"""

import asyncio
import threading

import numpy as np
import tritonclient.grpc as grpc_client
import tritonclient.grpc.aio as grpc_aio_client
import tritonclient.http as http_client
import tritonclient.http.aio as http_aio_client
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

TRANSPORTS = ("http", "grpc", "http_aio", "grpc_aio")

# Error code of the engine -> (HTTP status, gRPC status).
CODES = {
    "UNKNOWN": (400, "UNKNOWN"),
    "INTERNAL": (500, "INTERNAL"),
    "NOT_FOUND": (404, "NOT_FOUND"),
    "INVALID_ARG": (400, "INVALID_ARGUMENT"),
    "UNAVAILABLE": (503, "UNAVAILABLE"),
    "UNSUPPORTED": (501, "UNIMPLEMENTED"),
}

# 64-bit fields of management answers.
WIDE_KEYS = {
    "shape", "dims", "count", "ns", "last_inference", "inference_count", "execution_count",
    "batch_size", "byte_size", "id", "max_queue_delay_microseconds",
}


class Loop:
    """An asyncio loop on its own thread, on which the asyncio clients run."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def run(self, coroutine, timeout=60):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout)

    def stop(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


class Answer:
    """The inference response that a client returned."""

    def __init__(self, result, protocol):
        self._result = result
        if protocol == "http":
            self.header = result.get_response()
        else:
            message = result.get_response()
            self.header = {
                "id": message.id,
                "model_name": message.model_name,
                "model_version": message.model_version,
                "outputs": [{"name": o.name, "datatype": o.datatype, "shape": list(o.shape)}
                            for o in message.outputs],
            }

    def array(self, name):
        return self._result.as_numpy(name)

    def output(self, name):
        """Returns name, datatype and shape of one output, or None."""
        for output in self.header["outputs"]:
            if output["name"] == name:
                return {k: output[k] for k in ("name", "datatype", "shape")}
        return None

    @property
    def names(self):
        return [o["name"] for o in self.header["outputs"]]


class Transport:
    """One official client of one server."""

    def __init__(self, name, server, loop):
        self.name = name
        self.protocol = name.split("_")[0]
        self.aio = name.endswith("_aio")
        self._loop = loop
        self._server = server
        self._module = http_client if self.protocol == "http" else grpc_client
        self.connect()

    def connect(self):
        """Creates the client, again if its server was replaced."""
        server, loop = self._server, self._loop
        # The asyncio clients use the request classes of the synchronous clients.
        if self.name == "http":
            self.client = http_client.InferenceServerClient(server.http, concurrency=8,
                                                            network_timeout=60)
        elif self.name == "grpc":
            self.client = grpc_client.InferenceServerClient(server.grpc)
        elif self.name == "http_aio":
            self.client = loop.run(self._make(http_aio_client, server.http))
        else:
            self.client = loop.run(self._make(grpc_aio_client, server.grpc))

    @staticmethod
    async def _make(module, url):
        return module.InferenceServerClient(url)

    def close(self):
        self.call("close")

    def call(self, method, *args, **kwargs):
        """Calls a method of the client and awaits the result of a coroutine."""
        result = getattr(self.client, method)(*args, **kwargs)
        if asyncio.iscoroutine(result):
            return self._loop.run(result)
        return result

    def json(self, method, *args, **kwargs):
        """Returns the answer of a management call as plain Python data, the same for both
        protocols."""
        if self.protocol == "grpc":
            return plain(self.call(method, *args, as_json=True, **kwargs))
        return self.call(method, *args, **kwargs)

    def input(self, name, array, datatype=None, binary=True, shape=None):
        array = np.asarray(array)
        datatype = datatype or np_to_triton_dtype(array.dtype)
        tensor = self._module.InferInput(name, list(array.shape), datatype)
        if self.protocol == "http":
            tensor.set_data_from_numpy(array, binary_data=binary)
        else:
            tensor.set_data_from_numpy(array)
        if shape is not None:
            tensor.set_shape(list(shape))
        return tensor

    def wanted(self, name, binary=True, classes=0):
        if self.protocol == "http":
            return self._module.InferRequestedOutput(name, binary_data=binary, class_count=classes)
        return self._module.InferRequestedOutput(name, class_count=classes)

    def infer(self, model, inputs, outputs=None, **kwargs):
        """`inputs` are results of input(); `outputs` are names or results of wanted()."""
        if outputs is not None:
            outputs = [self.wanted(o) if isinstance(o, str) else o for o in outputs]
        return Answer(self.call("infer", model, inputs, outputs=outputs, **kwargs), self.protocol)

    def error(self, function, *args, **kwargs):
        """Runs a call that must fail. Returns (status, text): an int over HTTP, a name over gRPC.
        """
        try:
            function(*args, **kwargs)
        except InferenceServerException as error:
            status = str(error.status())
            if self.protocol == "http":
                return int(status), error.message()
            return status.removeprefix("StatusCode."), error.message()
        raise AssertionError("the call succeeded, an error was expected")

    def expect(self, code, text, function, *args, **kwargs):
        """Runs a call that must fail with the engine's error `code` and a message that contains
        `text`."""
        status, message = self.error(function, *args, **kwargs)
        assert status == CODES[code][0 if self.protocol == "http" else 1], message
        assert text in message, message
        return message


def plain(value, key=None):
    """Converts the texts that protobuf's JSON uses for 64-bit numbers to numbers."""
    if isinstance(value, dict):
        return {k: plain(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [plain(v, key) for v in value]
    if isinstance(value, str) and key in WIDE_KEYS:
        return int(value)
    return value
