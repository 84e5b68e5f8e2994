# SPDX-License-Identifier: Apache-2.0
"""The operations through the C API, on a server in this process."""

import ctypes
import json
import threading
from ctypes import byref, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

import c_api
from asks import (Outcome, canonical, canonical_config, canonical_index, counted_models, decode,
                  inferred)

_FLAGS = {"sequence_start": 1, "sequence_end": 2}


def _version(version) -> int:
    """Returns the version number of a text. This door is not used for rows with other texts."""
    return int(version) if version else -1


def start_server(library, repository, backends, mode, startup=()):
    options = library.make("ServerOptionsNew")
    library.ServerOptionsSetServerId(options, b"triton")
    library.ServerOptionsSetModelRepositoryPath(options, str(repository).encode())
    library.ServerOptionsSetModelControlMode(options, c_api.CONTROL_MODES[mode])
    for model in startup:
        library.ServerOptionsSetStartupModel(options, model.encode())
    library.ServerOptionsSetStrictModelConfig(options, False)
    library.ServerOptionsSetBackendDirectory(options, str(backends).encode())
    library.ServerOptionsSetBackendConfig(options, b"identity", b"example-parameters", b"false")
    library.ServerOptionsSetExitOnError(options, False)
    library.ServerOptionsSetExitTimeout(options, 20)
    for quiet in ("Info", "Warn", "Error"):
        getattr(library, f"ServerOptionsSetLog{quiet}")(options, False)
    try:
        return library.make("ServerNew", options)
    finally:
        library.ServerOptionsDelete(options)


class _Call:
    """One inference request: its callbacks, and the memory that it provides for outputs."""

    def __init__(self, library):
        self._library = library
        self._buffers = []
        self._released, self._final = threading.Event(), threading.Event()
        self.responses = []
        # The callbacks live as long as the call.
        self.on_release = c_api.ReleaseRequestFn(lambda *_: self._released.set())
        self.on_response = c_api.ResponseFn(self._take)
        self._allocate_fn = c_api.AllocateFn(self._allocate)
        self._free_fn = c_api.ReleaseBufferFn(lambda *_: None)
        self.allocator = library.make("ResponseAllocatorNew", self._allocate_fn, self._free_fn,
                                      None)

    def _allocate(self, _allocator, _name, size, _type, _id, _userp, buffer, userp, type_, id_):
        self._buffers.append(ctypes.create_string_buffer(size + 1))
        buffer[0] = ctypes.addressof(self._buffers[-1])
        userp[0], type_[0], id_[0] = None, 0, 0

    def _take(self, response, flags, _userp):
        if response:
            self.responses.append(response)
        if flags & c_api.FINAL:
            self._final.set()

    def wait(self):
        assert self._final.wait(60) and self._released.wait(60), "the request has not ended"

    def close(self):
        for response in self.responses:
            self._library.InferenceResponseDelete(response)
        self._library.ResponseAllocatorDelete(self.allocator)


class CDoor:
    """Errors of the API are results, not exceptions: see _answered."""

    class status(dict):
        def __missing__(self, code):
            return code

    status = status()

    def __init__(self, library, server):
        self._library = library
        self._server = server

    def close(self):
        self._library.ServerDelete(self._server)

    @staticmethod
    def _answered(function, *arguments):
        try:
            return Outcome("OK", answer=function(*arguments))
        except c_api.ApiError as error:
            return Outcome(error.code, error.text)

    def _document(self, read, name, *arguments):
        return self._answered(
            lambda: read(json.loads(self._library.document(name, self._server, *arguments))))

    def server_live(self):
        return self._answered(self._library.flag, "ServerIsLive", self._server)

    def server_ready(self):
        return self._answered(self._library.flag, "ServerIsReady", self._server)

    def server_metadata(self):
        return self._document(canonical, "ServerMetadata")

    def model_ready(self, model, version=""):
        return self._answered(self._library.flag, "ServerModelIsReady", self._server,
                              model.encode(), _version(version))

    def model_metadata(self, model, version=""):
        return self._document(canonical, "ServerModelMetadata", model.encode(), _version(version))

    def model_config(self, model, version=""):
        return self._document(canonical_config, "ServerModelConfig", model.encode(),
                              _version(version), 1)

    def model_statistics(self, model="", version=""):
        return self._document(lambda got: counted_models(got["model_stats"]),
                              "ServerModelStatistics", model.encode(), _version(version))

    def repository_index(self, ready=None):
        return self._document(canonical_index, "ServerModelIndex",
                              c_api.INDEX_READY if ready else 0)

    def model_load(self, model, parameters=None):
        made = [self._library.parameter(k, v) for k, v in (parameters or {}).items()]
        try:
            return self._answered(self._library.ServerLoadModelWithParameters, self._server,
                                  model.encode(), (c_void_p * len(made))(*made), len(made))
        finally:
            for parameter in made:
                self._library.ParameterDelete(parameter)

    def model_unload(self, model, parameters=None):
        dependents = (parameters or {}).get("unload_dependents", False)
        unload = (self._library.ServerUnloadModelAndDependents if dependents
                  else self._library.ServerUnloadModel)
        return self._answered(unload, self._server, model.encode())

    def infer(self, model, inputs, outputs=(), version="", parameters=None, request_id=""):
        return self._answered(self._infer, model, inputs, outputs, version, parameters, request_id)

    def _infer(self, model, inputs, outputs, version, parameters, request_id):
        library = self._library
        request = library.make("InferenceRequestNew", self._server, model.encode(),
                               _version(version))
        call = _Call(library)
        try:
            library.InferenceRequestSetReleaseCallback(request, call.on_release, None)
            library.InferenceRequestSetResponseCallback(request, call.allocator, None,
                                                        call.on_response, None)
            if request_id:
                library.InferenceRequestSetId(request, request_id.encode())
            for key, value in (parameters or {}).items():
                self._set_parameter(request, key, value)
            held = [self._add_input(request, tensor) for tensor in inputs]
            for output in outputs:
                library.InferenceRequestAddRequestedOutput(request, output.name.encode())
            library.ServerInferAsync(self._server, request, None)
            call.wait()
            del held
            return self._read(call.responses)
        finally:
            library.InferenceRequestDelete(request)
            call.close()

    def _set_parameter(self, request, key, value):
        library = self._library
        if key == "sequence_id":
            if isinstance(value, str):
                return library.InferenceRequestSetCorrelationIdString(request, value.encode())
            return library.InferenceRequestSetCorrelationId(request, value)
        if key in _FLAGS:
            flags = c_uint32()
            library.InferenceRequestFlags(request, byref(flags))
            bit = _FLAGS[key]
            return library.InferenceRequestSetFlags(
                request, flags.value | bit if value else flags.value & ~bit)
        if key == "priority":
            return library.InferenceRequestSetPriorityUInt64(request, value)
        if key == "timeout":
            return library.InferenceRequestSetTimeoutMicroseconds(request, value)
        kind = {str: "String", bool: "Bool", int: "Int", float: "Double"}[type(value)]
        value = value.encode() if isinstance(value, str) else value
        return getattr(library, f"InferenceRequestSet{kind}Parameter")(request, key.encode(), value)

    def _add_input(self, request, tensor):
        """Returns the buffer, which must exist until the request has ended."""
        shape = (c_int64 * len(tensor.shape))(*tensor.shape)
        known = tensor.datatype in c_api.DATATYPES
        self._library.InferenceRequestAddInput(
            request, tensor.name.encode(),
            c_api.DATATYPES.index(tensor.datatype) if known else 0, shape, len(tensor.shape))
        raw = tensor.bytes()
        buffer = ctypes.create_string_buffer(raw, len(raw) + 1)
        self._library.InferenceRequestAppendInputData(request, tensor.name.encode(), buffer,
                                                      len(raw), 0, 0)
        return buffer

    def _read(self, responses):
        (response,) = responses
        if error := self._library.response_error(response):
            raise error
        library = self._library
        name, version, request_id = c_char_p(), c_int64(), c_char_p()
        library.InferenceResponseModel(response, byref(name), byref(version))
        library.InferenceResponseId(response, byref(request_id))
        count = c_uint32()
        library.InferenceResponseOutputCount(response, byref(count))
        outputs = [self._read_output(response, i) for i in range(count.value)]
        return inferred(name.value.decode(), version.value, request_id.value.decode(), outputs)

    def _read_output(self, response, index):
        name, datatype, shape, dims = c_char_p(), c_int(), ctypes.POINTER(c_int64)(), c_uint64()
        base, size, userp = c_void_p(), c_size_t(), c_void_p()
        memory, memory_id = c_int(), c_int64()
        self._library.InferenceResponseOutput(
            response, index, byref(name), byref(datatype), byref(shape), byref(dims), byref(base),
            byref(size), byref(memory), byref(memory_id), byref(userp))
        kind = c_api.DATATYPES[datatype.value]
        return (name.value.decode(), kind, shape[:dims.value],
                decode(kind, ctypes.string_at(base, size.value)))
