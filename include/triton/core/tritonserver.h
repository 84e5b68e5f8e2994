// SPDX-License-Identifier: Apache-2.0
#pragma once

// The C API of the server: it starts a server inside the calling process, manages its models and
// sends it requests. Front ends use it; backends use it for errors, messages and their own
// requests.
//
// These rules apply unless a function states otherwise:
//  - Errors. A function that returns TRITONSERVER_Error* returns NULL on success. The receiver of
//    an error owns it and deletes it. "Returns" means that the function sets its out pointers; they
//    are set only on success. The server owns an error that a callback returns.
//  - Ownership. The result of a function ...New is deleted with the corresponding ...Delete.
//    Strings and arrays that are passed in are copied. Strings and pointers that a function returns
//    belong to the object of the call and are valid as long as that object.
//  - Threads. Functions on a server may be called from any thread at any time. Any other object may
//    be used by one thread at a time. The server calls callbacks on any of its threads, several at
//    once; a callback must not throw and must not block for long.
//  - Time. Time stamps are nanoseconds of the steady (monotonic) clock.
//  - Version -1 of a model means the version that its version policy chooses.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Symbol visibility. _COMPILING_TRITONSERVER is defined only where the server library is compiled.
#if defined(_MSC_VER)
#ifdef _COMPILING_TRITONSERVER
#define TRITONSERVER_DECLSPEC __declspec(dllexport)
#else
#define TRITONSERVER_DECLSPEC __declspec(dllimport)
#endif
#elif defined(__GNUC__) && defined(_COMPILING_TRITONSERVER)
#define TRITONSERVER_DECLSPEC __attribute__((__visibility__("default")))
#else
#define TRITONSERVER_DECLSPEC
#endif

/// The version of this API that the header describes. See TRITONSERVER_ApiVersion.
#define TRITONSERVER_API_VERSION_MAJOR 1
#define TRITONSERVER_API_VERSION_MINOR 34

/// The location and size of a buffer.
typedef struct TRITONSERVER_BufferAttributes TRITONSERVER_BufferAttributes;
/// A failure: a code and a message.
typedef struct TRITONSERVER_Error TRITONSERVER_Error;
/// One inference request, for its sender.
typedef struct TRITONSERVER_InferenceRequest TRITONSERVER_InferenceRequest;
/// One response, for its receiver.
typedef struct TRITONSERVER_InferenceResponse TRITONSERVER_InferenceResponse;
/// The record of the activities of one request.
typedef struct TRITONSERVER_InferenceTrace TRITONSERVER_InferenceTrace;
/// A JSON document.
typedef struct TRITONSERVER_Message TRITONSERVER_Message;
/// A snapshot of the metrics.
typedef struct TRITONSERVER_Metrics TRITONSERVER_Metrics;
/// A named value.
typedef struct TRITONSERVER_Parameter TRITONSERVER_Parameter;
/// The callbacks that provide memory for outputs.
typedef struct TRITONSERVER_ResponseAllocator TRITONSERVER_ResponseAllocator;
/// A server with its models.
typedef struct TRITONSERVER_Server TRITONSERVER_Server;
/// The options from which a server is made.
typedef struct TRITONSERVER_ServerOptions TRITONSERVER_ServerOptions;
/// One time series of a family.
typedef struct TRITONSERVER_Metric TRITONSERVER_Metric;
/// The metrics of one name, which differ in their labels.
typedef struct TRITONSERVER_MetricFamily TRITONSERVER_MetricFamily;
/// The arguments of a metric other than its labels.
typedef struct TRITONSERVER_MetricArgs TRITONSERVER_MetricArgs;

// ---- Types, parameters, logging, errors ---------------------------------------------------------

/// The type of a tensor's elements. The numbers differ from those of the model configuration's
/// protobuf enum.
typedef enum TRITONSERVER_datatype_enum {
  TRITONSERVER_TYPE_INVALID = 0,
  TRITONSERVER_TYPE_BOOL = 1,
  TRITONSERVER_TYPE_UINT8 = 2,
  TRITONSERVER_TYPE_UINT16 = 3,
  TRITONSERVER_TYPE_UINT32 = 4,
  TRITONSERVER_TYPE_UINT64 = 5,
  TRITONSERVER_TYPE_INT8 = 6,
  TRITONSERVER_TYPE_INT16 = 7,
  TRITONSERVER_TYPE_INT32 = 8,
  TRITONSERVER_TYPE_INT64 = 9,
  TRITONSERVER_TYPE_FP16 = 10,
  TRITONSERVER_TYPE_FP32 = 11,
  TRITONSERVER_TYPE_FP64 = 12,
  /// Byte strings of any length, each preceded by a 4-byte little-endian length.
  TRITONSERVER_TYPE_BYTES = 13,
  /// The upper half of an FP32.
  TRITONSERVER_TYPE_BF16 = 14
} TRITONSERVER_DataType;

/// The kind of memory of a buffer. Its memory type id is the device number for GPU memory, else 0.
typedef enum TRITONSERVER_memorytype_enum {
  TRITONSERVER_MEMORY_CPU = 0,
  /// Host memory that a GPU can access directly.
  TRITONSERVER_MEMORY_CPU_PINNED = 1,
  TRITONSERVER_MEMORY_GPU = 2
} TRITONSERVER_MemoryType;

/// The type of a parameter's value.
typedef enum TRITONSERVER_parametertype_enum {
  TRITONSERVER_PARAMETER_STRING = 0,
  TRITONSERVER_PARAMETER_INT = 1,
  TRITONSERVER_PARAMETER_BOOL = 2,
  TRITONSERVER_PARAMETER_DOUBLE = 3,
  TRITONSERVER_PARAMETER_BYTES = 4
} TRITONSERVER_ParameterType;

/// The kind of device on which the instances of a group run. The order differs from that of the
/// model configuration's protobuf enum.
typedef enum TRITONSERVER_instancegroupkind_enum {
  /// GPUs if there are any that the backend can use, else the CPU.
  TRITONSERVER_INSTANCEGROUPKIND_AUTO = 0,
  TRITONSERVER_INSTANCEGROUPKIND_CPU = 1,
  TRITONSERVER_INSTANCEGROUPKIND_GPU = 2,
  /// The model itself decides.
  TRITONSERVER_INSTANCEGROUPKIND_MODEL = 3
} TRITONSERVER_InstanceGroupKind;

/// The level of a log message.
typedef enum TRITONSERVER_loglevel_enum {
  TRITONSERVER_LOG_INFO = 0,
  TRITONSERVER_LOG_WARN = 1,
  TRITONSERVER_LOG_ERROR = 2,
  TRITONSERVER_LOG_VERBOSE = 3
} TRITONSERVER_LogLevel;

/// The format of log lines.
typedef enum TRITONSERVER_logformat_enum {
  /// Level letter, month and day, time (UTC).
  TRITONSERVER_LOG_DEFAULT = 0,
  /// ISO 8601 date and time in UTC, then the level.
  TRITONSERVER_LOG_ISO8601 = 1
} TRITONSERVER_LogFormat;

/// The kind of a failure.
typedef enum TRITONSERVER_errorcode_enum {
  TRITONSERVER_ERROR_UNKNOWN = 0,
  TRITONSERVER_ERROR_INTERNAL = 1,
  TRITONSERVER_ERROR_NOT_FOUND = 2,
  TRITONSERVER_ERROR_INVALID_ARG = 3,
  /// Not possible at this time; may succeed later.
  TRITONSERVER_ERROR_UNAVAILABLE = 4,
  /// Not possible in this server or for this object.
  TRITONSERVER_ERROR_UNSUPPORTED = 5,
  TRITONSERVER_ERROR_ALREADY_EXISTS = 6,
  TRITONSERVER_ERROR_CANCELLED = 7
} TRITONSERVER_Error_Code;

/// Returns the version of this API that the running library provides. Never fails. A program that
/// was built for (major, minor) can use the library if the major numbers are equal and the
/// library's minor number is not smaller.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ApiVersion(uint32_t* major, uint32_t* minor);

/// Returns the protocol's name of a type, such as "FP32", or "<invalid>" for a value outside the
/// enum. The string is static.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_DataTypeString(TRITONSERVER_DataType datatype);

/// Returns the type with that name in the protocol ("BOOL" ... "BYTES", "BF16"; case-sensitive), or
/// TRITONSERVER_TYPE_INVALID.
TRITONSERVER_DECLSPEC TRITONSERVER_DataType TRITONSERVER_StringToDataType(const char* dtype);

/// Returns the bytes of one element: 1, 2, 4 or 8. Returns 0 for BYTES, whose elements have
/// different sizes, and for INVALID.
TRITONSERVER_DECLSPEC uint32_t TRITONSERVER_DataTypeByteSize(TRITONSERVER_DataType datatype);

/// Returns "CPU", "CPU_PINNED", "GPU", or "<invalid>". The string is static.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_MemoryTypeString(TRITONSERVER_MemoryType memtype);

/// Returns "STRING", "INT", "BOOL", "DOUBLE", "BYTES", or "<invalid>". The string is static.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_ParameterTypeString(
    TRITONSERVER_ParameterType paramtype);

/// Creates a parameter with copies of `name` and of the value. `value` points to a NUL-terminated
/// string, an int64_t, a bool or a double, depending on `type`. The caller deletes the result.
/// Returns NULL for TRITONSERVER_PARAMETER_BYTES; see the next function.
TRITONSERVER_DECLSPEC TRITONSERVER_Parameter* TRITONSERVER_ParameterNew(
    const char* name, TRITONSERVER_ParameterType type, const void* value);

/// Creates a BYTES parameter that refers to `size` bytes at `byte_ptr` without copying them. The
/// caller must keep them valid and unchanged until the parameter is deleted.
TRITONSERVER_DECLSPEC TRITONSERVER_Parameter* TRITONSERVER_ParameterBytesNew(const char* name,
                                                                             const void* byte_ptr,
                                                                             uint64_t size);

/// Deletes a parameter.
TRITONSERVER_DECLSPEC void TRITONSERVER_ParameterDelete(TRITONSERVER_Parameter* parameter);

/// Returns "AUTO", "CPU", "GPU", "MODEL", or "<invalid>". The string is static.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_InstanceGroupKindString(
    TRITONSERVER_InstanceGroupKind kind);

/// Returns whether messages of the level are written. VERBOSE is enabled from verbose level 1.
TRITONSERVER_DECLSPEC bool TRITONSERVER_LogIsEnabled(TRITONSERVER_LogLevel level);

/// Writes one message to the server's log, with `filename` and `line` as its source. A VERBOSE
/// message has verbose level 1. INVALID_ARG for a value outside the enum. May be called from any
/// thread.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_LogMessage(TRITONSERVER_LogLevel level,
                                                                  const char* filename, int line,
                                                                  const char* msg);

/// Creates an error with a copy of `msg`. The caller owns it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code,
                                                                const char* msg);

/// Deletes an error. NULL is permitted.
TRITONSERVER_DECLSPEC void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error);

/// Returns the error's code.
TRITONSERVER_DECLSPEC TRITONSERVER_Error_Code TRITONSERVER_ErrorCode(TRITONSERVER_Error* error);

/// Returns the text of the code: "Unknown", "Internal", "Not found", "Invalid argument",
/// "Unavailable", "Unsupported", "Already exists". Returns "<invalid code>" for a code without its
/// own text, such as CANCELLED. The string is static.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_ErrorCodeString(TRITONSERVER_Error* error);

/// Returns the error's message, which is valid as long as the error.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error);

// ---- Response allocator -------------------------------------------------------------------------

/// Provides the buffer of an output. Called once for each output, also if byte_size is 0. The
/// callback sets all four out pointers; it should use the requested kind of memory but may use
/// another one. If it returns an error, the response does not have that output. The server owns the
/// error.
typedef TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorAllocFn_t)(
    TRITONSERVER_ResponseAllocator* allocator, const char* tensor_name, size_t byte_size,
    TRITONSERVER_MemoryType memory_type, int64_t memory_type_id, void* userp, void** buffer,
    void** buffer_userp, TRITONSERVER_MemoryType* actual_memory_type,
    int64_t* actual_memory_type_id);

/// Completes the attributes of a buffer that was just allocated, for example with a CUDA IPC
/// handle. The attributes are valid during the call.
typedef TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorBufferAttributesFn_t)(
    TRITONSERVER_ResponseAllocator* allocator, const char* tensor_name,
    TRITONSERVER_BufferAttributes* buffer_attributes, void* userp, void* buffer_userp);

/// Reports, before any allocation, the memory in which a buffer would be. tensor_name and byte_size
/// may be NULL if they are unknown. The memory type and id are the preference at the call and the
/// answer at the return.
typedef TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorQueryFn_t)(
    TRITONSERVER_ResponseAllocator* allocator, void* userp, const char* tensor_name,
    size_t* byte_size, TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// Releases a buffer. Called once for each allocated buffer when the response is deleted. It is not
/// called again after an error.
typedef TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorReleaseFn_t)(
    TRITONSERVER_ResponseAllocator* allocator, void* buffer, void* buffer_userp, size_t byte_size,
    TRITONSERVER_MemoryType memory_type, int64_t memory_type_id);

/// Announces a new response object before any allocation for it, so that an allocator can
/// distinguish the responses of a decoupled model.
typedef TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorStartFn_t)(
    TRITONSERVER_ResponseAllocator* allocator, void* userp);

/// Creates an allocator of output buffers. `alloc_fn` and `release_fn` are required, `start_fn` may
/// be NULL. The caller must keep the allocator until every request that uses it has had its final
/// response, and until those responses are deleted.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorNew(
    TRITONSERVER_ResponseAllocator** allocator, TRITONSERVER_ResponseAllocatorAllocFn_t alloc_fn,
    TRITONSERVER_ResponseAllocatorReleaseFn_t release_fn,
    TRITONSERVER_ResponseAllocatorStartFn_t start_fn);

/// Sets the callback that completes a buffer's attributes after each allocation.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorSetBufferAttributesFunction(
    TRITONSERVER_ResponseAllocator* allocator,
    TRITONSERVER_ResponseAllocatorBufferAttributesFn_t buffer_attributes_fn);

/// Sets the callback that answers TRITONBACKEND_RequestOutputBufferProperties. Without it, that
/// function returns UNAVAILABLE.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorSetQueryFunction(
    TRITONSERVER_ResponseAllocator* allocator, TRITONSERVER_ResponseAllocatorQueryFn_t query_fn);

/// Deletes an allocator. No request and no response may refer to it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorDelete(
    TRITONSERVER_ResponseAllocator* allocator);

// ---- Messages and metrics -----------------------------------------------------------------------

/// The text format of a metrics snapshot.
typedef enum tritonserver_metricformat_enum {
  /// Prometheus text exposition.
  TRITONSERVER_METRIC_PROMETHEUS = 0
} TRITONSERVER_MetricFormat;

/// Parses a copy of `byte_size` bytes of JSON text at `base` to a message, which the caller
/// deletes. INVALID_ARG if the text is not a JSON document.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(
    TRITONSERVER_Message** message, const char* base, size_t byte_size);

/// Deletes a message with the text that TRITONSERVER_MessageSerializeToJson returned.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message* message);

/// Returns the message as JSON text. The text belongs to the message. It has `byte_size` bytes and
/// no final NUL.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(
    TRITONSERVER_Message* message, const char** base, size_t* byte_size);

/// Deletes a snapshot of the metrics with the text that TRITONSERVER_MetricsFormatted returned.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricsDelete(TRITONSERVER_Metrics* metrics);

/// Returns the snapshot in the requested format. The text belongs to the snapshot and has
/// `byte_size` bytes. INVALID_ARG for an unknown format.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricsFormatted(
    TRITONSERVER_Metrics* metrics, TRITONSERVER_MetricFormat format, const char** base,
    size_t* byte_size);

// ---- Traces -------------------------------------------------------------------------------------

/// The content of a trace. TIMESTAMPS and TENSORS are bits and may be combined.
typedef enum tritonserver_tracelevel_enum {
  TRITONSERVER_TRACE_LEVEL_DISABLED = 0,
  /// Deprecated.
  TRITONSERVER_TRACE_LEVEL_MIN = 1,
  /// Deprecated.
  TRITONSERVER_TRACE_LEVEL_MAX = 2,
  TRITONSERVER_TRACE_LEVEL_TIMESTAMPS = 4,
  TRITONSERVER_TRACE_LEVEL_TENSORS = 8
} TRITONSERVER_InferenceTraceLevel;

/// An event in the processing of a request.
typedef enum tritonserver_traceactivity_enum {
  TRITONSERVER_TRACE_REQUEST_START = 0,
  TRITONSERVER_TRACE_QUEUE_START = 1,
  TRITONSERVER_TRACE_COMPUTE_START = 2,
  TRITONSERVER_TRACE_COMPUTE_INPUT_END = 3,
  TRITONSERVER_TRACE_COMPUTE_OUTPUT_START = 4,
  TRITONSERVER_TRACE_COMPUTE_END = 5,
  TRITONSERVER_TRACE_REQUEST_END = 6,
  TRITONSERVER_TRACE_TENSOR_QUEUE_INPUT = 7,
  TRITONSERVER_TRACE_TENSOR_BACKEND_INPUT = 8,
  TRITONSERVER_TRACE_TENSOR_BACKEND_OUTPUT = 9,
  TRITONSERVER_TRACE_CUSTOM_ACTIVITY = 10
} TRITONSERVER_InferenceTraceActivity;

/// Reports an activity of a trace or of one of its children, which differ in their ids. The trace
/// is valid during the call. timestamp_ns is a time of the steady clock.
typedef void (*TRITONSERVER_InferenceTraceActivityFn_t)(
    TRITONSERVER_InferenceTrace* trace, TRITONSERVER_InferenceTraceActivity activity,
    uint64_t timestamp_ns, void* userp);

/// Reports a tensor of a trace or of one of its children. Trace, name, data and shape are valid
/// during the call.
typedef void (*TRITONSERVER_InferenceTraceTensorActivityFn_t)(
    TRITONSERVER_InferenceTrace* trace, TRITONSERVER_InferenceTraceActivity activity,
    const char* name, TRITONSERVER_DataType datatype, const void* base, size_t byte_size,
    const int64_t* shape, uint64_t dim_count, TRITONSERVER_MemoryType memory_type,
    int64_t memory_type_id, void* userp);

/// Transfers a trace to the callback, once for each trace and each child. No further report
/// follows. The callback owns the trace and deletes it.
typedef void (*TRITONSERVER_InferenceTraceReleaseFn_t)(TRITONSERVER_InferenceTrace* trace,
                                                       void* userp);

/// Returns "DISABLED", "MIN", "MAX", "TIMESTAMPS", "TENSORS", or "<unknown>". The string is static.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_InferenceTraceLevelString(
    TRITONSERVER_InferenceTraceLevel level);

/// Returns the enumerator's name after TRITONSERVER_TRACE_, such as "QUEUE_START". The string is
/// static.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_InferenceTraceActivityString(
    TRITONSERVER_InferenceTraceActivity activity);

/// Creates a trace without tensor reports. `parent_id` is 0 for a trace without a parent. The
/// caller owns the trace until TRITONSERVER_ServerInferAsync takes it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceNew(
    TRITONSERVER_InferenceTrace** trace, TRITONSERVER_InferenceTraceLevel level, uint64_t parent_id,
    TRITONSERVER_InferenceTraceActivityFn_t activity_fn,
    TRITONSERVER_InferenceTraceReleaseFn_t release_fn, void* trace_userp);

/// Does the same as TRITONSERVER_InferenceTraceNew, with a callback for tensors.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceTensorNew(
    TRITONSERVER_InferenceTrace** trace, TRITONSERVER_InferenceTraceLevel level, uint64_t parent_id,
    TRITONSERVER_InferenceTraceActivityFn_t activity_fn,
    TRITONSERVER_InferenceTraceTensorActivityFn_t tensor_activity_fn,
    TRITONSERVER_InferenceTraceReleaseFn_t release_fn, void* trace_userp);

/// Reports an activity of the caller at `timestamp` nanoseconds of the steady clock. It is reported
/// as TRITONSERVER_TRACE_CUSTOM_ACTIVITY, and its name is stored in the trace's context under the
/// key "<timestamp>".
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceReportActivity(
    TRITONSERVER_InferenceTrace* trace, uint64_t timestamp, const char* activity_name);

/// Deletes a trace that was never submitted, or that its release callback received.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceDelete(
    TRITONSERVER_InferenceTrace* trace);

/// Returns the trace's id, which is at least 1 and unique in the process.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceId(
    TRITONSERVER_InferenceTrace* trace, uint64_t* id);

/// Returns the id of the parent trace, or 0.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceParentId(
    TRITONSERVER_InferenceTrace* trace, uint64_t* parent_id);

/// Returns the name of the traced model. The string belongs to the trace.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceModelName(
    TRITONSERVER_InferenceTrace* trace, const char** model_name);

/// Returns the version of the traced model.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceModelVersion(
    TRITONSERVER_InferenceTrace* trace, int64_t* model_version);

/// Returns the id of the traced request, or "" if it has none. The string belongs to the trace.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceRequestId(
    TRITONSERVER_InferenceTrace* trace, const char** request_id);

/// Creates a child trace with the same level, callbacks and user pointer. The caller owns it until
/// it submits it with a request.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceSpawnChildTrace(
    TRITONSERVER_InferenceTrace* trace, TRITONSERVER_InferenceTrace** child_trace);

/// Stores a copy of a text in the trace, by convention a JSON object.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceSetContext(
    TRITONSERVER_InferenceTrace* trace, const char* trace_context);

/// Returns the stored text. The string belongs to the trace.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceContext(
    TRITONSERVER_InferenceTrace* trace, const char** trace_context);

// ---- Inference requests -------------------------------------------------------------------------

// The life of a request: New, fill in, TRITONSERVER_ServerInferAsync. After a successful submission
// no function except Cancel and IsCancelled may be called until the release callback. Then the
// request may be changed and submitted again, or deleted.

/// Bits: the position of a request in its sequence.
typedef enum tritonserver_requestflag_enum {
  TRITONSERVER_REQUEST_FLAG_SEQUENCE_START = 1,
  TRITONSERVER_REQUEST_FLAG_SEQUENCE_END = 2
} TRITONSERVER_RequestFlag;

/// Bits: how a request is released.
typedef enum tritonserver_requestreleaseflag_enum {
  /// Completely: the server does not use the request and its input memory any more.
  TRITONSERVER_REQUEST_RELEASE_ALL = 1,
  /// To be queued again. Only backends use this flag; the sender of the request never gets it.
  TRITONSERVER_REQUEST_RELEASE_RESCHEDULE = 2
} TRITONSERVER_RequestReleaseFlag;

/// Returns a request to its sender, with TRITONSERVER_RequestReleaseFlag bits. The sender then owns
/// the request and the input memory again, and may reuse or delete them. Called in any order
/// relative to the responses.
typedef void (*TRITONSERVER_InferenceRequestReleaseFn_t)(TRITONSERVER_InferenceRequest* request,
                                                         uint32_t flags, void* userp);

/// Bits: the meaning of a response for its request.
typedef enum tritonserver_responsecompleteflag_enum {
  /// No response follows.
  TRITONSERVER_RESPONSE_COMPLETE_FINAL = 1
} TRITONSERVER_ResponseCompleteFlag;

/// Delivers a response, with TRITONSERVER_ResponseCompleteFlag bits. The callback owns the response
/// and deletes it. TRITONSERVER_RESPONSE_COMPLETE_FINAL is delivered exactly once for each request,
/// with the last response or with response NULL.
typedef void (*TRITONSERVER_InferenceResponseCompleteFn_t)(TRITONSERVER_InferenceResponse* response,
                                                           uint32_t flags, void* userp);

/// Creates an empty request for a model. With `model_version` -1 the model's version policy chooses
/// the version. The model stays loaded as long as the request exists. NOT_FOUND for an unknown
/// model, UNAVAILABLE for one that is not ready. The caller owns the request.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestNew(
    TRITONSERVER_InferenceRequest** inference_request, TRITONSERVER_Server* server,
    const char* model_name, int64_t model_version);

/// Deletes a request that was never submitted, or that its release callback received with
/// TRITONSERVER_REQUEST_RELEASE_ALL.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestDelete(
    TRITONSERVER_InferenceRequest* inference_request);

/// Returns the request's id, or "" if none was set. The string belongs to the request.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestId(
    TRITONSERVER_InferenceRequest* inference_request, const char** id);

/// Sets the id of the request and of its responses. The string is copied.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetId(
    TRITONSERVER_InferenceRequest* inference_request, const char* id);

/// Returns the request's TRITONSERVER_RequestFlag bits.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestFlags(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t* flags);

/// Sets the TRITONSERVER_RequestFlag bits.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetFlags(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t flags);

/// Returns the numeric correlation id, or 0 if none was set. INVALID_ARG if the request has a
/// string id.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestCorrelationId(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t* correlation_id);

/// Returns the correlation id string, which belongs to the request. INVALID_ARG if the request has
/// a numeric id.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestCorrelationIdString(
    TRITONSERVER_InferenceRequest* inference_request, const char** correlation_id);

/// Makes the request part of the sequence with that number. 0 means no sequence.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetCorrelationId(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t correlation_id);

/// Makes the request part of the sequence with that name, which is copied. UNSUPPORTED for more
/// than 128 characters.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetCorrelationIdString(
    TRITONSERVER_InferenceRequest* inference_request, const char* correlation_id);

/// Cancels the request if possible. It may still complete, and its callbacks are called in any
/// case. May be called from any thread, but only between a successful submission and the release
/// callback.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestCancel(
    TRITONSERVER_InferenceRequest* inference_request);

/// Returns whether the request was cancelled after the last submission.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestIsCancelled(
    TRITONSERVER_InferenceRequest* inference_request, bool* is_cancelled);

/// Deprecated; see the 64-bit form. INVALID_ARG if the priority needs more than 32 bits.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestPriority(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t* priority);

/// Returns the priority level; 0 means the model's default level.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestPriorityUInt64(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t* priority);

/// Deprecated; see the 64-bit form.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetPriority(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t priority);

/// Sets the priority level; 1 is the most urgent one. 0, or a level that the model does not have,
/// means the model's default level.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetPriorityUInt64(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t priority);

/// Returns the maximum microseconds for which the request may wait in the queue. 0 means no limit
/// of the request.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestTimeoutMicroseconds(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t* timeout_us);

/// Sets that limit. The model may ignore or reduce it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t timeout_us);

/// Adds an input tensor of `dim_count` dimensions; name and shape are copied. Its bytes are added
/// with TRITONSERVER_InferenceRequestAppendInputData. INVALID_ARG if the request already has that
/// input.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddInput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name,
    TRITONSERVER_DataType datatype, const int64_t* shape, uint64_t dim_count);

/// Adds the only input of the request, whose name, type and shape are taken from the model's
/// configuration and the size of the data at submission. INVALID_ARG if there is another input.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddRawInput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name);

/// Removes an input and its data. INVALID_ARG if the request does not have that input.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveInput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name);

/// Removes all inputs and their data.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllInputs(
    TRITONSERVER_InferenceRequest* inference_request);

/// Appends a buffer to an input's data. The bytes are not copied: they must stay valid and
/// unchanged until the release callback. The data of an input consists of its buffers in the order
/// of the calls.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestAppendInputData(
    TRITONSERVER_InferenceRequest* inference_request, const char* name, const void* base,
    size_t byte_size, TRITONSERVER_MemoryType memory_type, int64_t memory_type_id);

/// Appends a buffer that instances of that host policy use instead of the default data. The default
/// data is required nevertheless.
TRITONSERVER_DECLSPEC TRITONSERVER_Error*
TRITONSERVER_InferenceRequestAppendInputDataWithHostPolicy(
    TRITONSERVER_InferenceRequest* inference_request, const char* name, const void* base,
    size_t byte_size, TRITONSERVER_MemoryType memory_type, int64_t memory_type_id,
    const char* host_policy_name);

/// Does the same as TRITONSERVER_InferenceRequestAppendInputData. Size and location are taken from
/// the attributes, which are copied.
TRITONSERVER_DECLSPEC TRITONSERVER_Error*
TRITONSERVER_InferenceRequestAppendInputDataWithBufferAttributes(
    TRITONSERVER_InferenceRequest* inference_request, const char* name, const void* base,
    TRITONSERVER_BufferAttributes* buffer_attributes);

/// Removes an input's data and keeps the input.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllInputData(
    TRITONSERVER_InferenceRequest* inference_request, const char* name);

/// Requests an output. A request without requested outputs gets all outputs. INVALID_ARG if the
/// output was already requested.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddRequestedOutput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name);

/// Removes an output from the requested outputs.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveRequestedOutput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name);

/// Removes all requested outputs, so that all outputs are returned.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllRequestedOutputs(
    TRITONSERVER_InferenceRequest* inference_request);

/// Sets the callback that returns the request to the caller. Required before submission.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetReleaseCallback(
    TRITONSERVER_InferenceRequest* inference_request,
    TRITONSERVER_InferenceRequestReleaseFn_t request_release_fn, void* request_release_userp);

/// Sets the callback that receives the responses and the allocator of their buffers, each with its
/// user pointer. Required before submission. The caller keeps the ownership of the allocator.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetResponseCallback(
    TRITONSERVER_InferenceRequest* inference_request,
    TRITONSERVER_ResponseAllocator* response_allocator, void* response_allocator_userp,
    TRITONSERVER_InferenceResponseCompleteFn_t response_fn, void* response_userp);

/// Appends a string parameter; key and value are copied. A parameter with an existing key is added
/// to the earlier one and does not replace it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetStringParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, const char* value);

/// Appends an integer parameter.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetIntParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, int64_t value);

/// Appends a boolean parameter.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetBoolParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, bool value);

/// Appends a floating-point parameter.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetDoubleParameter(
    TRITONSERVER_InferenceRequest* request, const char* key, double value);

// ---- Inference responses ------------------------------------------------------------------------

/// Deletes a response and calls the allocator's release callback once for each output buffer. NULL
/// is permitted.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseDelete(
    TRITONSERVER_InferenceResponse* inference_response);

/// Returns the failure that the response reports, or NULL for success. The error belongs to the
/// response and must not be deleted.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseError(
    TRITONSERVER_InferenceResponse* inference_response);

/// Returns the model and the version that answered. The string belongs to the response.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseModel(
    TRITONSERVER_InferenceResponse* inference_response, const char** model_name,
    int64_t* model_version);

/// Returns the id of the request, or "" if it had none. The string belongs to the response.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseId(
    TRITONSERVER_InferenceResponse* inference_response, const char** request_id);

/// Returns the number of the response's parameters.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseParameterCount(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t* count);

/// Returns a parameter by index. `*vvalue` points to a NUL-terminated string, an int64_t, a bool or
/// a double, depending on `*type`, and belongs to the response. INVALID_ARG for an index out of
/// bounds.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseParameter(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t index, const char** name,
    TRITONSERVER_ParameterType* type, const void** vvalue);

/// Returns the number of outputs of the response.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutputCount(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t* count);

/// Returns an output by index: its name, type, shape, data and kind of memory, and the user pointer
/// that the allocator set for the buffer. All of it belongs to the response. INVALID_ARG for an
/// index out of bounds.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutput(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t index, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint64_t* dim_count, const void** base,
    size_t* byte_size, TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id, void** userp);

/// Returns the label of a class of an output, from the model's label file, or NULL if there is
/// none. The string belongs to the response.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutputClassificationLabel(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t index, size_t class_index,
    const char** label);

// ---- Buffer attributes --------------------------------------------------------------------------

/// Creates the attributes of an empty CPU buffer. The caller deletes them.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_BufferAttributesNew(
    TRITONSERVER_BufferAttributes** buffer_attributes);

/// Deletes attributes that TRITONSERVER_BufferAttributesNew created. Attributes that another
/// function returned must not be deleted.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_BufferAttributesDelete(
    TRITONSERVER_BufferAttributes* buffer_attributes);

/// Sets the id of the memory: the device number for GPU memory, else 0.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetMemoryTypeId(
    TRITONSERVER_BufferAttributes* buffer_attributes, int64_t memory_type_id);

/// Sets the kind of memory.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetMemoryType(
    TRITONSERVER_BufferAttributes* buffer_attributes, TRITONSERVER_MemoryType memory_type);

/// Sets the CUDA IPC handle, copied from the 64 bytes at `cuda_ipc_handle`.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetCudaIpcHandle(
    TRITONSERVER_BufferAttributes* buffer_attributes, void* cuda_ipc_handle);

/// Sets the size in bytes.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_BufferAttributesSetByteSize(
    TRITONSERVER_BufferAttributes* buffer_attributes, size_t byte_size);

/// Returns the id of the memory.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_BufferAttributesMemoryTypeId(
    TRITONSERVER_BufferAttributes* buffer_attributes, int64_t* memory_type_id);

/// Returns the kind of memory.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_BufferAttributesMemoryType(
    TRITONSERVER_BufferAttributes* buffer_attributes, TRITONSERVER_MemoryType* memory_type);

/// Returns the 64-byte CUDA IPC handle, which belongs to the attributes, or NULL if none was set.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_BufferAttributesCudaIpcHandle(
    TRITONSERVER_BufferAttributes* buffer_attributes, void** cuda_ipc_handle);

/// Returns the size in bytes.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_BufferAttributesByteSize(
    TRITONSERVER_BufferAttributes* buffer_attributes, size_t* byte_size);

// ---- Server options -----------------------------------------------------------------------------

/// When models are loaded.
typedef enum tritonserver_modelcontrolmode_enum {
  /// All models of the repositories are loaded, at start only.
  TRITONSERVER_MODEL_CONTROL_NONE = 0,
  /// The repositories are scanned again at each poll.
  TRITONSERVER_MODEL_CONTROL_POLL = 1,
  /// Models are loaded and unloaded on request.
  TRITONSERVER_MODEL_CONTROL_EXPLICIT = 2
} TRITONSERVER_ModelControlMode;

/// The mode of the rate limiter.
typedef enum tritonserver_ratelimitmode_enum {
  TRITONSERVER_RATE_LIMIT_OFF = 0,
  /// By priority and number of executions.
  TRITONSERVER_RATE_LIMIT_EXEC_COUNT = 1
} TRITONSERVER_RateLimitMode;

/// Creates options with the defaults that the functions below state. The caller deletes them, at
/// any time after TRITONSERVER_ServerNew.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsNew(
    TRITONSERVER_ServerOptions** options);

/// Deletes options. Servers that were made from them are not affected.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsDelete(
    TRITONSERVER_ServerOptions* options);

/// Sets the name of the server in its metadata. Default "triton".
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetServerId(
    TRITONSERVER_ServerOptions* options, const char* server_id);

/// Adds a model repository. At least one is required; a repeated path counts once.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelRepositoryPath(
    TRITONSERVER_ServerOptions* options, const char* model_repository_path);

/// Sets when models are loaded. Default TRITONSERVER_MODEL_CONTROL_POLL.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelControlMode(
    TRITONSERVER_ServerOptions* options, TRITONSERVER_ModelControlMode mode);

/// Adds a model to load at start. Has an effect only in TRITONSERVER_MODEL_CONTROL_EXPLICIT.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetStartupModel(
    TRITONSERVER_ServerOptions* options, const char* model_name);

/// Sets whether every model needs a complete configuration file. Default true. With false, backends
/// complete missing parts.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetStrictModelConfig(
    TRITONSERVER_ServerOptions* options, bool strict);

/// Makes the server use the file `configs/<name>.pbtxt` of a model's directory, if it exists,
/// instead of config.pbtxt. Default "": always config.pbtxt.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelConfigName(
    TRITONSERVER_ServerOptions* options, const char* model_config_name);

/// Sets how executions are limited. Default TRITONSERVER_RATE_LIMIT_OFF.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetRateLimiterMode(
    TRITONSERVER_ServerOptions* options, TRITONSERVER_RateLimitMode mode);

/// Declares a resource of the rate limiter; `device` -1 means every device. For a repeated resource
/// the smaller count applies.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsAddRateLimiterResource(
    TRITONSERVER_ServerOptions* options, const char* resource_name, size_t resource_count,
    int device);

/// Sets the size of the pool of pinned memory in bytes. Default 256 MiB.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetPinnedMemoryPoolByteSize(
    TRITONSERVER_ServerOptions* options, uint64_t size);

/// Sets the size of the pool on one GPU in bytes. Default 64 MiB.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCudaMemoryPoolByteSize(
    TRITONSERVER_ServerOptions* options, int gpu_device, uint64_t size);

/// Sets the bytes of address space that are reserved for growable memory on one GPU. Default 1 GiB.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCudaVirtualAddressSize(
    TRITONSERVER_ServerOptions* options, int gpu_device, size_t cuda_virtual_address_size);

/// Deprecated: the same as the cache "local" with the setting "size".
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetResponseCacheByteSize(
    TRITONSERVER_ServerOptions* options, uint64_t size);

/// Selects a response cache with its settings, a JSON object of strings. There may be one cache:
/// TRITONSERVER_ServerNew returns INVALID_ARG for two names.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCacheConfig(
    TRITONSERVER_ServerOptions* options, const char* cache_name, const char* config_json);

/// Sets the directory of the response caches. Default "/opt/tritonserver/caches".
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCacheDirectory(
    TRITONSERVER_ServerOptions* options, const char* cache_dir);

/// Sets the minimum compute capability of the GPUs to use.
TRITONSERVER_DECLSPEC TRITONSERVER_Error*
TRITONSERVER_ServerOptionsSetMinSupportedComputeCapability(TRITONSERVER_ServerOptions* options,
                                                           double cc);

/// Sets whether TRITONSERVER_ServerNew fails if a model cannot be loaded at start. Default true.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetExitOnError(
    TRITONSERVER_ServerOptions* options, bool exit);

/// Sets whether the server is ready only if all its models are ready. Default true.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetStrictReadiness(
    TRITONSERVER_ServerOptions* options, bool strict);

/// Sets the seconds for which a stopping server waits for requests in flight. Default 30.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetExitTimeout(
    TRITONSERVER_ServerOptions* options, unsigned int timeout);

/// Sets the number of threads that copy inputs and outputs; with 0 the calling thread copies.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetBufferManagerThreadCount(
    TRITONSERVER_ServerOptions* options, unsigned int thread_count);

/// Sets the number of models that may load at the same time. Default 4.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelLoadThreadCount(
    TRITONSERVER_ServerOptions* options, unsigned int thread_count);

/// Sets the number of retries after a failed load. Default 0.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelLoadRetryCount(
    TRITONSERVER_ServerOptions* options, unsigned int retry_count);

/// Sets whether models of the same name may come from different repositories. Default false.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelNamespacing(
    TRITONSERVER_ServerOptions* options, bool enable_namespace);

/// Sets whether GPUs may access each other's memory directly.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetEnablePeerAccess(
    TRITONSERVER_ServerOptions* options, bool enable_peer_access);

/// Writes the log to a file; "" returns to the standard streams. Applies at once and to the whole
/// process, like the five functions that follow; `options` may be NULL in all six.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogFile(
    TRITONSERVER_ServerOptions* options, const char* file);

/// Enables or disables messages of level INFO.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogInfo(
    TRITONSERVER_ServerOptions* options, bool log);

/// Enables or disables messages of level WARN.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogWarn(
    TRITONSERVER_ServerOptions* options, bool log);

/// Enables or disables messages of level ERROR.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogError(
    TRITONSERVER_ServerOptions* options, bool log);

/// Sets the format of log lines.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogFormat(
    TRITONSERVER_ServerOptions* options, TRITONSERVER_LogFormat format);

/// Sets the verbose level; 0 disables verbose messages.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogVerbose(
    TRITONSERVER_ServerOptions* options, int level);

/// Sets whether metrics are collected. Default true.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetrics(
    TRITONSERVER_ServerOptions* options, bool metrics);

/// Sets whether GPUs are measured. Default true; requires metrics.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetGpuMetrics(
    TRITONSERVER_ServerOptions* options, bool gpu_metrics);

/// Sets whether CPU and host memory are measured. Default true; requires metrics.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCpuMetrics(
    TRITONSERVER_ServerOptions* options, bool cpu_metrics);

/// Sets the milliseconds between two measurements of GPU and CPU. Default 2000.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetricsInterval(
    TRITONSERVER_ServerOptions* options, uint64_t metrics_interval_ms);

/// Sets the directory of the backends. Default "/opt/tritonserver/backends".
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetBackendDirectory(
    TRITONSERVER_ServerOptions* options, const char* backend_dir);

/// Sets the directory of the repository agents. Default "/opt/tritonserver/repoagents".
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetRepoAgentDirectory(
    TRITONSERVER_ServerOptions* options, const char* repoagent_dir);

/// Refuses to load a model while more than `fraction` of the device's memory is in use. INVALID_ARG
/// unless the kind is GPU, `device_id` is not negative, and `fraction` is between 0 and 1.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelLoadDeviceLimit(
    TRITONSERVER_ServerOptions* options, TRITONSERVER_InstanceGroupKind kind, int device_id,
    double fraction);

/// Sets a setting of one backend or, with `backend_name` "", of all backends. The setting of a
/// single backend takes precedence.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetBackendConfig(
    TRITONSERVER_ServerOptions* options, const char* backend_name, const char* setting,
    const char* value);

/// Sets a setting of a host policy: "numa-node" or "cpu-cores". UNSUPPORTED for other settings.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetHostPolicy(
    TRITONSERVER_ServerOptions* options, const char* policy_name, const char* setting,
    const char* value);

/// Sets a setting of one group of metrics or, with `name` "", of all metrics.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetricsConfig(
    TRITONSERVER_ServerOptions* options, const char* name, const char* setting, const char* value);

// ---- Custom metrics -----------------------------------------------------------------------------

// Metrics of the program or of a backend, which are shown beside the server's metrics. They belong
// to the process, not to one server. All functions except the Delete functions may be called from
// any thread.

/// The kind of a custom metric.
typedef enum TRITONSERVER_metrickind_enum {
  /// Only increases.
  TRITONSERVER_METRIC_KIND_COUNTER = 0,
  /// Increases and decreases.
  TRITONSERVER_METRIC_KIND_GAUGE = 1,
  /// Counts values in buckets.
  TRITONSERVER_METRIC_KIND_HISTOGRAM = 2
} TRITONSERVER_MetricKind;

/// Registers a family of metrics in the process. The same name, kind and description return the
/// same family; INVALID_ARG if only the name is equal. The caller deletes it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricFamilyNew(
    TRITONSERVER_MetricFamily** family, TRITONSERVER_MetricKind kind, const char* name,
    const char* description);

/// Deletes a family. INTERNAL while it has metrics, which must be deleted first.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricFamilyDelete(
    TRITONSERVER_MetricFamily* family);

/// Returns the kind of the family's metrics.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_GetMetricFamilyKind(
    TRITONSERVER_MetricFamily* family, TRITONSERVER_MetricKind* kind);

/// Creates empty arguments for TRITONSERVER_MetricNewWithArgs. The caller deletes them.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricArgsNew(
    TRITONSERVER_MetricArgs** args);

/// Sets the upper bounds of a histogram's buckets, in ascending order; they are copied.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricArgsSetHistogram(
    TRITONSERVER_MetricArgs* args, const double* buckets, uint64_t buckets_count);

/// Deletes arguments.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricArgsDelete(
    TRITONSERVER_MetricArgs* args);

/// Creates a metric of a family that is not a histogram. `labels` are STRING parameters, which are
/// copied. The caller deletes the metric before the family.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricNew(
    TRITONSERVER_Metric** metric, TRITONSERVER_MetricFamily* family,
    const TRITONSERVER_Parameter** labels, uint64_t label_count);

/// Does the same as TRITONSERVER_MetricNew, also for histograms, which need `args`; other kinds
/// accept NULL.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricNewWithArgs(
    TRITONSERVER_Metric** metric, TRITONSERVER_MetricFamily* family,
    const TRITONSERVER_Parameter** labels, uint64_t label_count,
    const TRITONSERVER_MetricArgs* args);

/// Deletes a metric. INTERNAL if its family was already deleted.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricDelete(TRITONSERVER_Metric* metric);

/// Returns the value of a counter or gauge. UNSUPPORTED for a histogram.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricValue(TRITONSERVER_Metric* metric,
                                                                   double* value);

/// Adds to a counter, which refuses negative values (INVALID_ARG), or to a gauge. UNSUPPORTED for a
/// histogram.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricIncrement(TRITONSERVER_Metric* metric,
                                                                       double value);

/// Sets a gauge. UNSUPPORTED for other kinds.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricSet(TRITONSERVER_Metric* metric,
                                                                 double value);

/// Records one value in a histogram. UNSUPPORTED for other kinds.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricObserve(TRITONSERVER_Metric* metric,
                                                                     double value);

/// Returns the metric's kind.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_GetMetricKind(TRITONSERVER_Metric* metric,
                                                                     TRITONSERVER_MetricKind* kind);

// ---- Server -------------------------------------------------------------------------------------

/// Bits: how a model batches.
typedef enum tritonserver_batchflag_enum {
  TRITONSERVER_BATCH_UNKNOWN = 1,
  TRITONSERVER_BATCH_FIRST_DIM = 2
} TRITONSERVER_ModelBatchFlag;

/// Bits: the models that a repository index lists.
typedef enum tritonserver_modelindexflag_enum {
  /// Only ready models.
  TRITONSERVER_INDEX_FLAG_READY = 1
} TRITONSERVER_ModelIndexFlag;

/// Bits: how many responses a request has.
typedef enum tritonserver_txn_property_flag_enum {
  TRITONSERVER_TXN_ONE_TO_ONE = 1,
  /// Any number, at any time.
  TRITONSERVER_TXN_DECOUPLED = 2
} TRITONSERVER_ModelTxnPropertyFlag;

/// Creates a server. Returns when the models of the start are loaded or have failed. With
/// exit-on-error, a failed model causes an error and there is no server; without it the failure is
/// logged. The caller deletes the server and keeps the ownership of the options.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerNew(
    TRITONSERVER_Server** server, TRITONSERVER_ServerOptions* options);

/// Stops the server if it runs, and deletes it. INTERNAL if the exit timeout expired: the server
/// then still exists, because requests use it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerDelete(TRITONSERVER_Server* server);

/// Refuses new requests, completes those in flight and unloads the models. INTERNAL if the exit
/// timeout expired. A stopped server cannot be started again.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerStop(TRITONSERVER_Server* server);

/// Changes the seconds for which TRITONSERVER_ServerStop waits.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerSetExitTimeout(
    TRITONSERVER_Server* server, unsigned int timeout);

/// Adds a repository. In each of the `mapping_count` STRING parameters the name is a directory of
/// the repository and the value is the model's name. UNSUPPORTED except in
/// TRITONSERVER_MODEL_CONTROL_EXPLICIT.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerRegisterModelRepository(
    TRITONSERVER_Server* server, const char* repository_path,
    const TRITONSERVER_Parameter** name_mapping, uint32_t mapping_count);

/// Removes a repository; its loaded models stay loaded. UNSUPPORTED except in
/// TRITONSERVER_MODEL_CONTROL_EXPLICIT.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerUnregisterModelRepository(
    TRITONSERVER_Server* server, const char* repository_path);

/// Scans the repositories, and loads, reloads and unloads the models that have changed. UNAVAILABLE
/// except in TRITONSERVER_MODEL_CONTROL_POLL.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerPollModelRepository(
    TRITONSERVER_Server* server);

/// Returns whether the server responds. UNAVAILABLE while it stops.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerIsLive(TRITONSERVER_Server* server,
                                                                    bool* live);

/// Returns whether the server accepts requests; with strict readiness, whether all models are
/// ready, too.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerIsReady(TRITONSERVER_Server* server,
                                                                     bool* ready);

/// Returns whether a model version accepts requests; -1 means the version that the version policy
/// chooses.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerModelIsReady(
    TRITONSERVER_Server* server, const char* model_name, int64_t model_version, bool* ready);

/// Returns TRITONSERVER_BATCH_FIRST_DIM if the model batches along its first dimension, else
/// TRITONSERVER_BATCH_UNKNOWN. `*voidp` is set to NULL; a later version may use it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerModelBatchProperties(
    TRITONSERVER_Server* server, const char* model_name, int64_t model_version, uint32_t* flags,
    void** voidp);

/// Returns TRITONSERVER_TXN_DECOUPLED if a request may have any number of responses, else
/// TRITONSERVER_TXN_ONE_TO_ONE. `*voidp` is set to NULL.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerModelTransactionProperties(
    TRITONSERVER_Server* server, const char* model_name, int64_t model_version, uint32_t* txn_flags,
    void** voidp);

/// Returns the server metadata as the HTTP protocol's JSON object. The caller deletes the message;
/// this also applies to the four functions that follow.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerMetadata(
    TRITONSERVER_Server* server, TRITONSERVER_Message** server_metadata);

/// Returns the metadata of a model version.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerModelMetadata(
    TRITONSERVER_Server* server, const char* model_name, int64_t model_version,
    TRITONSERVER_Message** model_metadata);

/// Returns the statistics of a model version or, with the name "", of all ready models. INVALID_ARG
/// for an unknown model.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerModelStatistics(
    TRITONSERVER_Server* server, const char* model_name, int64_t model_version,
    TRITONSERVER_Message** model_stats);

/// Returns the completed configuration of a model version, in configuration version 1, the only
/// one.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerModelConfig(
    TRITONSERVER_Server* server, const char* model_name, int64_t model_version,
    uint32_t config_version, TRITONSERVER_Message** model_config);

/// Returns the models of the repositories with their states. TRITONSERVER_ModelIndexFlag bits
/// restrict the list.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerModelIndex(
    TRITONSERVER_Server* server, uint32_t flags, TRITONSERVER_Message** model_index);

/// Loads or reloads a model. Returns when it is ready or has failed. Only in
/// TRITONSERVER_MODEL_CONTROL_EXPLICIT.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerLoadModel(TRITONSERVER_Server* server,
                                                                       const char* model_name);

/// Does the same as TRITONSERVER_ServerLoadModel, with a configuration ("config", a STRING of JSON)
/// and files ("file:<path>", BYTES) that replace those of the repository. The caller keeps the
/// ownership of the parameters.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerLoadModelWithParameters(
    TRITONSERVER_Server* server, const char* model_name, const TRITONSERVER_Parameter** parameters,
    uint64_t parameter_count);

/// Begins to unload a model. Does not wait for requests in flight. An unknown model is not an
/// error. Only in TRITONSERVER_MODEL_CONTROL_EXPLICIT.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerUnloadModel(
    TRITONSERVER_Server* server, const char* model_name);

/// Does the same as TRITONSERVER_ServerUnloadModel, also for the models that were loaded only
/// because this model needs them.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerUnloadModelAndDependents(
    TRITONSERVER_Server* server, const char* model_name);

/// Returns a snapshot of all metrics. The caller deletes it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerMetrics(
    TRITONSERVER_Server* server, TRITONSERVER_Metrics** metrics);

/// Submits a request and returns before it completes. On success the server owns the request until
/// its release callback. After an error the caller still owns it, and no callback is called.
/// `trace` may be NULL. The server takes a trace in either case and calls its release callback
/// once; if this function returns an error, before it returns.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerInferAsync(
    TRITONSERVER_Server* server, TRITONSERVER_InferenceRequest* inference_request,
    TRITONSERVER_InferenceTrace* trace);

#ifdef __cplusplus
}  // extern "C"
#endif
