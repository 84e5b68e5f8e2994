# SPDX-License-Identifier: Apache-2.0
"""The C API of libtritonserver.so for Python: the functions that the parity test calls, with errors
as exceptions. Handles are plain addresses; the caller that creates one deletes it."""

import ctypes
from ctypes import (CFUNCTYPE, POINTER, byref, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t,
                    c_uint32, c_uint64, c_void_p)

CODES = ("UNKNOWN", "INTERNAL", "NOT_FOUND", "INVALID_ARG", "UNAVAILABLE", "UNSUPPORTED",
         "ALREADY_EXISTS", "CANCELLED")
DATATYPES = ("INVALID", "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32",
             "INT64", "FP16", "FP32", "FP64", "BYTES", "BF16")
CONTROL_MODES = {"none": 0, "poll": 1, "explicit": 2}
INDEX_READY = 1
FINAL = 1  # flags of a response

# allocator, tensor name, size, memory type and id, userp; out: buffer, its userp, type, id
AllocateFn = CFUNCTYPE(c_void_p, c_void_p, c_char_p, c_size_t, c_int, c_int64, c_void_p,
                       POINTER(c_void_p), POINTER(c_void_p), POINTER(c_int), POINTER(c_int64))
ReleaseBufferFn = CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_int, c_int64)
ReleaseRequestFn = CFUNCTYPE(None, c_void_p, c_uint32, c_void_p)
ResponseFn = CFUNCTYPE(None, c_void_p, c_uint32, c_void_p)

_OUT = POINTER(c_void_p)
# Names without the common prefix. All functions return an error or NULL.
_SIGNATURES = {
    "ServerOptionsNew": [_OUT],
    "ServerOptionsDelete": [c_void_p],
    "ServerOptionsSetServerId": [c_void_p, c_char_p],
    "ServerOptionsSetModelRepositoryPath": [c_void_p, c_char_p],
    "ServerOptionsSetModelControlMode": [c_void_p, c_int],
    "ServerOptionsSetStartupModel": [c_void_p, c_char_p],
    "ServerOptionsSetStrictModelConfig": [c_void_p, c_bool],
    "ServerOptionsSetBackendDirectory": [c_void_p, c_char_p],
    "ServerOptionsSetBackendConfig": [c_void_p, c_char_p, c_char_p, c_char_p],
    "ServerOptionsSetExitOnError": [c_void_p, c_bool],
    "ServerOptionsSetExitTimeout": [c_void_p, c_uint32],
    "ServerOptionsSetLogInfo": [c_void_p, c_bool],
    "ServerOptionsSetLogWarn": [c_void_p, c_bool],
    "ServerOptionsSetLogError": [c_void_p, c_bool],
    "ServerNew": [_OUT, c_void_p],
    "ServerDelete": [c_void_p],
    "ServerIsLive": [c_void_p, POINTER(c_bool)],
    "ServerIsReady": [c_void_p, POINTER(c_bool)],
    "ServerModelIsReady": [c_void_p, c_char_p, c_int64, POINTER(c_bool)],
    "ServerMetadata": [c_void_p, _OUT],
    "ServerModelMetadata": [c_void_p, c_char_p, c_int64, _OUT],
    "ServerModelConfig": [c_void_p, c_char_p, c_int64, c_uint32, _OUT],
    "ServerModelStatistics": [c_void_p, c_char_p, c_int64, _OUT],
    "ServerModelIndex": [c_void_p, c_uint32, _OUT],
    "ServerLoadModelWithParameters": [c_void_p, c_char_p, POINTER(c_void_p), c_uint64],
    "ServerUnloadModel": [c_void_p, c_char_p],
    "ServerUnloadModelAndDependents": [c_void_p, c_char_p],
    "ServerInferAsync": [c_void_p, c_void_p, c_void_p],
    "MessageSerializeToJson": [c_void_p, _OUT, POINTER(c_size_t)],
    "MessageDelete": [c_void_p],
    "ResponseAllocatorNew": [_OUT, AllocateFn, ReleaseBufferFn, c_void_p],
    "ResponseAllocatorDelete": [c_void_p],
    "InferenceRequestNew": [_OUT, c_void_p, c_char_p, c_int64],
    "InferenceRequestDelete": [c_void_p],
    "InferenceRequestSetId": [c_void_p, c_char_p],
    "InferenceRequestFlags": [c_void_p, POINTER(c_uint32)],
    "InferenceRequestSetFlags": [c_void_p, c_uint32],
    "InferenceRequestSetCorrelationId": [c_void_p, c_uint64],
    "InferenceRequestSetCorrelationIdString": [c_void_p, c_char_p],
    "InferenceRequestSetPriorityUInt64": [c_void_p, c_uint64],
    "InferenceRequestSetTimeoutMicroseconds": [c_void_p, c_uint64],
    "InferenceRequestSetStringParameter": [c_void_p, c_char_p, c_char_p],
    "InferenceRequestSetIntParameter": [c_void_p, c_char_p, c_int64],
    "InferenceRequestSetBoolParameter": [c_void_p, c_char_p, c_bool],
    "InferenceRequestSetDoubleParameter": [c_void_p, c_char_p, c_double],
    "InferenceRequestAddInput": [c_void_p, c_char_p, c_int, POINTER(c_int64), c_uint64],
    "InferenceRequestAppendInputData": [c_void_p, c_char_p, c_void_p, c_size_t, c_int, c_int64],
    "InferenceRequestAddRequestedOutput": [c_void_p, c_char_p],
    "InferenceRequestSetReleaseCallback": [c_void_p, ReleaseRequestFn, c_void_p],
    "InferenceRequestSetResponseCallback": [c_void_p, c_void_p, c_void_p, ResponseFn, c_void_p],
    "InferenceResponseDelete": [c_void_p],
    "InferenceResponseError": [c_void_p],
    "InferenceResponseModel": [c_void_p, POINTER(c_char_p), POINTER(c_int64)],
    "InferenceResponseId": [c_void_p, POINTER(c_char_p)],
    "InferenceResponseOutputCount": [c_void_p, POINTER(c_uint32)],
    "InferenceResponseOutput": [
        c_void_p, c_uint32, POINTER(c_char_p), POINTER(c_int), POINTER(POINTER(c_int64)),
        POINTER(c_uint64), _OUT, POINTER(c_size_t), POINTER(c_int), POINTER(c_int64), _OUT],
}


class ApiError(Exception):
    """A TRITONSERVER_Error: `code` is a name of CODES."""

    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


class Library:
    """The functions as methods, without the prefix TRITONSERVER_; each raises ApiError."""

    def __init__(self, path):
        self._library = ctypes.CDLL(str(path))
        for name, arguments in _SIGNATURES.items():
            function = self._function(name, arguments)
            setattr(self, name, lambda *args, _f=function: self._check(_f(*args)))
        # The response owns its error; the reader must not delete it.
        self._response_error = self._function("InferenceResponseError", [c_void_p])
        self._error_code = self._function("ErrorCode", [c_void_p], c_int)
        self._error_message = self._function("ErrorMessage", [c_void_p], c_char_p)
        self._error_delete = self._function("ErrorDelete", [c_void_p], None)
        self._parameter_new = self._function("ParameterNew", [c_char_p, c_int, c_void_p])
        self._parameter_bytes_new = self._function("ParameterBytesNew",
                                                   [c_char_p, c_void_p, c_uint64])
        self.ParameterDelete = self._function("ParameterDelete", [c_void_p], None)

    def _function(self, name, arguments, result=c_void_p):
        function = getattr(self._library, "TRITONSERVER_" + name)
        function.argtypes = arguments
        function.restype = result
        return function

    def _read(self, error):
        return ApiError(CODES[self._error_code(error)], self._error_message(error).decode())

    def _check(self, error):
        if error:
            raised = self._read(error)
            self._error_delete(error)
            raise raised

    def make(self, name, *arguments):
        """Calls a function whose first argument receives the handle that it creates."""
        handle = c_void_p()
        getattr(self, name)(byref(handle), *arguments)
        return handle.value

    def response_error(self, response):
        """Returns the error of a response, or None."""
        error = self._response_error(response)
        return self._read(error) if error else None

    def document(self, name, *arguments) -> bytes:
        """Returns the JSON text of a function whose last argument receives a message."""
        message, base, size = c_void_p(), c_void_p(), c_size_t()
        getattr(self, name)(*arguments, byref(message))
        try:
            self.MessageSerializeToJson(message, byref(base), byref(size))
            return ctypes.string_at(base, size.value)
        finally:
            self.MessageDelete(message)

    def flag(self, name, *arguments) -> bool:
        """Returns the result of a function whose last argument receives a bool."""
        answer = c_bool()
        getattr(self, name)(*arguments, byref(answer))
        return answer.value

    def parameter(self, name, value):
        """Returns a TRITONSERVER_Parameter of the kind that fits the Python value. Bytes are not
        copied."""
        name = name.encode()
        if isinstance(value, bytes):
            return self._parameter_bytes_new(name, ctypes.cast(c_char_p(value), c_void_p),
                                             len(value))
        if isinstance(value, bool):
            return self._parameter_new(name, 2, ctypes.cast(byref(c_bool(value)), c_void_p))
        if isinstance(value, int):
            return self._parameter_new(name, 1, ctypes.cast(byref(c_int64(value)), c_void_p))
        if isinstance(value, float):
            return self._parameter_new(name, 3, ctypes.cast(byref(c_double(value)), c_void_p))
        return self._parameter_new(name, 0, ctypes.cast(c_char_p(value.encode()), c_void_p))
