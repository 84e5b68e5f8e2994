// SPDX-License-Identifier: Apache-2.0
#pragma once

// The C API of the server: start one inside your own process, manage its models and send it
// requests. Front ends use it; so do backends, for errors, messages and requests of their own.
//
// What holds everywhere, unless a function says otherwise:
//  - Errors. A function returning TRITONSERVER_Error* gives NULL on success; an error belongs to
//    whoever receives it, who deletes it. Out pointers are set only on success. An error that a
//    callback returns belongs to the server.
//  - Ownership. What a function ...New makes is deleted with the matching ...Delete. Strings and
//    arrays passed in are copied. Strings and pointers handed out belong to the object that was
//    asked and die with it.
//  - Threads. Functions on a server may be called from any thread at any time. Any other object is
//    used by one thread at a time. Callbacks come on any of the server's threads, several at once;
//    they must not throw and must not block for long.
//  - Time. Time stamps are nanoseconds of the steady (monotonic) clock.
//  - Version -1 of a model is the version that its version policy picks.

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

/// Where a buffer lies and how large it is.
typedef struct TRITONSERVER_BufferAttributes TRITONSERVER_BufferAttributes;
/// A failure: a code and a message.
typedef struct TRITONSERVER_Error TRITONSERVER_Error;
/// One inference request, as its sender sees it.
typedef struct TRITONSERVER_InferenceRequest TRITONSERVER_InferenceRequest;
/// One response, as the receiver sees it.
typedef struct TRITONSERVER_InferenceResponse TRITONSERVER_InferenceResponse;
/// What is reported about the way of one request.
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
/// What a server is made from.
typedef struct TRITONSERVER_ServerOptions TRITONSERVER_ServerOptions;
/// One time series of a family.
typedef struct TRITONSERVER_Metric TRITONSERVER_Metric;
/// Metrics of one name that differ in their labels.
typedef struct TRITONSERVER_MetricFamily TRITONSERVER_MetricFamily;
/// What a metric needs besides its labels.
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
  /// Byte strings of any length, each behind a 4-byte little-endian length.
  TRITONSERVER_TYPE_BYTES = 13,
  /// The upper half of an FP32.
  TRITONSERVER_TYPE_BF16 = 14
} TRITONSERVER_DataType;

/// Where a buffer lies. Its memory type id is the device number for GPU memory, else 0.
typedef enum TRITONSERVER_memorytype_enum {
  TRITONSERVER_MEMORY_CPU = 0,
  /// Host memory that a GPU can copy from and to by itself.
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

/// Where the instances of a group run. The order differs from that of the model configuration's
/// protobuf enum.
typedef enum TRITONSERVER_instancegroupkind_enum {
  /// On GPUs where there are any that the backend can use, else on the CPU.
  TRITONSERVER_INSTANCEGROUPKIND_AUTO = 0,
  TRITONSERVER_INSTANCEGROUPKIND_CPU = 1,
  TRITONSERVER_INSTANCEGROUPKIND_GPU = 2,
  /// Where the model itself decides.
  TRITONSERVER_INSTANCEGROUPKIND_MODEL = 3
} TRITONSERVER_InstanceGroupKind;

/// The level of a log message.
typedef enum TRITONSERVER_loglevel_enum {
  TRITONSERVER_LOG_INFO = 0,
  TRITONSERVER_LOG_WARN = 1,
  TRITONSERVER_LOG_ERROR = 2,
  TRITONSERVER_LOG_VERBOSE = 3
} TRITONSERVER_LogLevel;

/// The form of the log's lines.
typedef enum TRITONSERVER_logformat_enum {
  /// Level letter, month and day, local time.
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
  /// Not now; may work later.
  TRITONSERVER_ERROR_UNAVAILABLE = 4,
  /// Never, in this server or for this object.
  TRITONSERVER_ERROR_UNSUPPORTED = 5,
  TRITONSERVER_ERROR_ALREADY_EXISTS = 6,
  TRITONSERVER_ERROR_CANCELLED = 7
} TRITONSERVER_Error_Code;

/// The version of this API that the running library provides. Never fails. A program built for
/// (major, minor) runs when the major numbers are equal and the library's minor number is not
/// smaller.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ApiVersion(uint32_t* major, uint32_t* minor);

/// The protocol's name of a type, such as "FP32"; "<invalid>" for a value outside the enum. A
/// static string.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_DataTypeString(TRITONSERVER_DataType datatype);

/// The type with that protocol name ("BOOL" ... "BYTES", "BF16"; case matters), or
/// TRITONSERVER_TYPE_INVALID.
TRITONSERVER_DECLSPEC TRITONSERVER_DataType TRITONSERVER_StringToDataType(const char* dtype);

/// Bytes of one element: 1, 2, 4 or 8. Zero for BYTES, whose elements vary, and for INVALID.
TRITONSERVER_DECLSPEC uint32_t TRITONSERVER_DataTypeByteSize(TRITONSERVER_DataType datatype);

/// "CPU", "CPU_PINNED", "GPU", or "<invalid>". A static string.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_MemoryTypeString(TRITONSERVER_MemoryType memtype);

/// "STRING", "INT", "BOOL", "DOUBLE", "BYTES", or "<invalid>". A static string.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_ParameterTypeString(
    TRITONSERVER_ParameterType paramtype);

/// Makes a parameter holding copies of `name` and of the value. `value` points to a NUL-terminated
/// string, an int64_t, a bool or a double, as `type` says. The caller deletes the result. Returns
/// NULL for TRITONSERVER_PARAMETER_BYTES; see the next function.
TRITONSERVER_DECLSPEC TRITONSERVER_Parameter* TRITONSERVER_ParameterNew(
    const char* name, TRITONSERVER_ParameterType type, const void* value);

/// Makes a BYTES parameter that refers to `size` bytes at `byte_ptr` without copying them: the
/// caller keeps them alive and unchanged until the parameter is deleted.
TRITONSERVER_DECLSPEC TRITONSERVER_Parameter* TRITONSERVER_ParameterBytesNew(const char* name,
                                                                             const void* byte_ptr,
                                                                             uint64_t size);

/// Deletes a parameter.
TRITONSERVER_DECLSPEC void TRITONSERVER_ParameterDelete(TRITONSERVER_Parameter* parameter);

/// "AUTO", "CPU", "GPU", "MODEL", or "<invalid>". A static string.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_InstanceGroupKindString(
    TRITONSERVER_InstanceGroupKind kind);

/// Whether messages of the level are written at present. VERBOSE counts as on from verbose level 1.
TRITONSERVER_DECLSPEC bool TRITONSERVER_LogIsEnabled(TRITONSERVER_LogLevel level);

/// Writes one message to the server's log, attributed to `filename` and `line`. A VERBOSE message
/// is of verbose level 1. INVALID_ARG for a value outside the enum. Any thread.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_LogMessage(TRITONSERVER_LogLevel level,
                                                                  const char* filename, int line,
                                                                  const char* msg);

/// Makes an error with a copy of `msg`. The caller owns it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code,
                                                                const char* msg);

/// Deletes an error. NULL is allowed.
TRITONSERVER_DECLSPEC void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error);

/// The error's code.
TRITONSERVER_DECLSPEC TRITONSERVER_Error_Code TRITONSERVER_ErrorCode(TRITONSERVER_Error* error);

/// The code in words: "Unknown", "Internal", "Not found", "Invalid argument", "Unavailable",
/// "Unsupported", "Already exists". A code without a text of its own, CANCELLED among them, gives
/// "<invalid code>". A static string.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_ErrorCodeString(TRITONSERVER_Error* error);

/// The error's message, which lives as long as the error.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error);

// ---- Response allocator -------------------------------------------------------------------------

/// Provides the buffer of an output, once per output, also when byte_size is 0. The callee sets all
/// four out pointers; it prefers the asked memory but may give another kind. An error leaves the
/// response without that output and stays with the server.
typedef TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorAllocFn_t)(
    TRITONSERVER_ResponseAllocator* allocator, const char* tensor_name, size_t byte_size,
    TRITONSERVER_MemoryType memory_type, int64_t memory_type_id, void* userp, void** buffer,
    void** buffer_userp, TRITONSERVER_MemoryType* actual_memory_type,
    int64_t* actual_memory_type_id);

/// Completes the attributes of a buffer that was just allocated, such as a CUDA IPC handle. The
/// attributes are lent for the call.
typedef TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorBufferAttributesFn_t)(
    TRITONSERVER_ResponseAllocator* allocator, const char* tensor_name,
    TRITONSERVER_BufferAttributes* buffer_attributes, void* userp, void* buffer_userp);

/// Tells, before any allocation, where a buffer would lie. tensor_name and byte_size may be NULL
/// when unknown. Memory type and id carry the preference in and the answer out.
typedef TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorQueryFn_t)(
    TRITONSERVER_ResponseAllocator* allocator, void* userp, const char* tensor_name,
    size_t* byte_size, TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// Takes a buffer back, once per allocated buffer, when the response is deleted. It is not called
/// again after an error.
typedef TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorReleaseFn_t)(
    TRITONSERVER_ResponseAllocator* allocator, void* buffer, void* buffer_userp, size_t byte_size,
    TRITONSERVER_MemoryType memory_type, int64_t memory_type_id);

/// Announces a new response object, before any allocation for it: with decoupled models an
/// allocator can so tell the responses of one request apart.
typedef TRITONSERVER_Error* (*TRITONSERVER_ResponseAllocatorStartFn_t)(
    TRITONSERVER_ResponseAllocator* allocator, void* userp);

/// Makes an allocator of output buffers. `alloc_fn` and `release_fn` are required, `start_fn` may
/// be NULL. The caller keeps the allocator until every request that was given it has had its final
/// response, and until those responses are deleted.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorNew(
    TRITONSERVER_ResponseAllocator** allocator, TRITONSERVER_ResponseAllocatorAllocFn_t alloc_fn,
    TRITONSERVER_ResponseAllocatorReleaseFn_t release_fn,
    TRITONSERVER_ResponseAllocatorStartFn_t start_fn);

/// Adds the callback that completes a buffer's attributes right after each allocation.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorSetBufferAttributesFunction(
    TRITONSERVER_ResponseAllocator* allocator,
    TRITONSERVER_ResponseAllocatorBufferAttributesFn_t buffer_attributes_fn);

/// Adds the callback that answers TRITONBACKEND_RequestOutputBufferProperties. Without it, that
/// function gives UNAVAILABLE.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorSetQueryFunction(
    TRITONSERVER_ResponseAllocator* allocator, TRITONSERVER_ResponseAllocatorQueryFn_t query_fn);

/// Deletes an allocator that no request or response refers to any longer.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ResponseAllocatorDelete(
    TRITONSERVER_ResponseAllocator* allocator);

// ---- Messages and metrics -----------------------------------------------------------------------

/// The text format of a metrics snapshot.
typedef enum tritonserver_metricformat_enum {
  /// Prometheus text exposition.
  TRITONSERVER_METRIC_PROMETHEUS = 0
} TRITONSERVER_MetricFormat;

/// Parses a copy of `byte_size` bytes of JSON text at `base` into a message that the caller
/// deletes. INVALID_ARG when the text is no JSON document.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(
    TRITONSERVER_Message** message, const char* base, size_t byte_size);

/// Deletes a message, and with it the text that it handed out.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message* message);

/// The message as JSON text. The text belongs to the message; its end is given by `byte_size`, not
/// by a NUL.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(
    TRITONSERVER_Message* message, const char** base, size_t* byte_size);

/// Deletes a snapshot of the metrics, and the text that it handed out.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricsDelete(TRITONSERVER_Metrics* metrics);

/// The snapshot in the asked format. The text belongs to the snapshot; its end is given by
/// `byte_size`. INVALID_ARG for an unknown format.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricsFormatted(
    TRITONSERVER_Metrics* metrics, TRITONSERVER_MetricFormat format, const char** base,
    size_t* byte_size);

// ---- Traces -------------------------------------------------------------------------------------

/// What a trace reports. TIMESTAMPS and TENSORS are bits and may be combined.
typedef enum tritonserver_tracelevel_enum {
  TRITONSERVER_TRACE_LEVEL_DISABLED = 0,
  /// Deprecated.
  TRITONSERVER_TRACE_LEVEL_MIN = 1,
  /// Deprecated.
  TRITONSERVER_TRACE_LEVEL_MAX = 2,
  TRITONSERVER_TRACE_LEVEL_TIMESTAMPS = 4,
  TRITONSERVER_TRACE_LEVEL_TENSORS = 8
} TRITONSERVER_InferenceTraceLevel;

/// A point on the way of a request.
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

/// Reports an activity of a trace or of one of its children; compare ids to tell them apart. The
/// trace is lent for the call. timestamp_ns is of the steady clock.
typedef void (*TRITONSERVER_InferenceTraceActivityFn_t)(
    TRITONSERVER_InferenceTrace* trace, TRITONSERVER_InferenceTraceActivity activity,
    uint64_t timestamp_ns, void* userp);

/// Reports a tensor of a trace or of one of its children. Trace, name, data and shape are lent for
/// the call.
typedef void (*TRITONSERVER_InferenceTraceTensorActivityFn_t)(
    TRITONSERVER_InferenceTrace* trace, TRITONSERVER_InferenceTraceActivity activity,
    const char* name, TRITONSERVER_DataType datatype, const void* base, size_t byte_size,
    const int64_t* shape, uint64_t dim_count, TRITONSERVER_MemoryType memory_type,
    int64_t memory_type_id, void* userp);

/// Hands over a trace, once for each trace and each child; no further report follows. The callee
/// owns the trace and deletes it.
typedef void (*TRITONSERVER_InferenceTraceReleaseFn_t)(TRITONSERVER_InferenceTrace* trace,
                                                       void* userp);

/// "DISABLED", "MIN", "MAX", "TIMESTAMPS", "TENSORS", or "<unknown>". A static string.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_InferenceTraceLevelString(
    TRITONSERVER_InferenceTraceLevel level);

/// The enumerator's name after TRITONSERVER_TRACE_, such as "QUEUE_START". A static string.
TRITONSERVER_DECLSPEC const char* TRITONSERVER_InferenceTraceActivityString(
    TRITONSERVER_InferenceTraceActivity activity);

/// Makes a trace without tensor reports; `parent_id` is 0 for a trace that has no parent. The
/// caller owns it until TRITONSERVER_ServerInferAsync takes it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceNew(
    TRITONSERVER_InferenceTrace** trace, TRITONSERVER_InferenceTraceLevel level, uint64_t parent_id,
    TRITONSERVER_InferenceTraceActivityFn_t activity_fn,
    TRITONSERVER_InferenceTraceReleaseFn_t release_fn, void* trace_userp);

/// Like TRITONSERVER_InferenceTraceNew, with a callback for tensors besides.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceTensorNew(
    TRITONSERVER_InferenceTrace** trace, TRITONSERVER_InferenceTraceLevel level, uint64_t parent_id,
    TRITONSERVER_InferenceTraceActivityFn_t activity_fn,
    TRITONSERVER_InferenceTraceTensorActivityFn_t tensor_activity_fn,
    TRITONSERVER_InferenceTraceReleaseFn_t release_fn, void* trace_userp);

/// Reports an activity of the caller's own at `timestamp` nanoseconds of the steady clock. It
/// arrives as TRITONSERVER_TRACE_CUSTOM_ACTIVITY, and its name is kept in the trace's context under
/// the key "<timestamp>".
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceReportActivity(
    TRITONSERVER_InferenceTrace* trace, uint64_t timestamp, const char* activity_name);

/// Deletes a trace: one that was never submitted, or one that its release callback handed over.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceDelete(
    TRITONSERVER_InferenceTrace* trace);

/// The trace's id, at least 1 and unique in the process.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceId(
    TRITONSERVER_InferenceTrace* trace, uint64_t* id);

/// The id of the parent trace, or 0.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceParentId(
    TRITONSERVER_InferenceTrace* trace, uint64_t* parent_id);

/// The name of the traced model. The string belongs to the trace.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceModelName(
    TRITONSERVER_InferenceTrace* trace, const char** model_name);

/// The version of the traced model.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceModelVersion(
    TRITONSERVER_InferenceTrace* trace, int64_t* model_version);

/// The id of the traced request, "" when it has none. The string belongs to the trace.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceRequestId(
    TRITONSERVER_InferenceTrace* trace, const char** request_id);

/// Makes a child trace with the same level, callbacks and user pointer. The caller owns it unless
/// it passes it on with a request.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceSpawnChildTrace(
    TRITONSERVER_InferenceTrace* trace, TRITONSERVER_InferenceTrace** child_trace);

/// Attaches a copy of a free text, by custom a JSON object, to the trace.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceSetContext(
    TRITONSERVER_InferenceTrace* trace, const char* trace_context);

/// The attached text. The string belongs to the trace.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceTraceContext(
    TRITONSERVER_InferenceTrace* trace, const char** trace_context);

// ---- Inference requests -------------------------------------------------------------------------

// A request goes: New, fill in, TRITONSERVER_ServerInferAsync. After a successful submission it is
// not touched (but for Cancel and IsCancelled) until its release callback; then it may be changed
// and submitted again, or deleted.

/// Bits: the place of a request in its sequence.
typedef enum tritonserver_requestflag_enum {
  TRITONSERVER_REQUEST_FLAG_SEQUENCE_START = 1,
  TRITONSERVER_REQUEST_FLAG_SEQUENCE_END = 2
} TRITONSERVER_RequestFlag;

/// Bits: how a request is released.
typedef enum tritonserver_requestreleaseflag_enum {
  /// Wholly: the request and its input memory are free.
  TRITONSERVER_REQUEST_RELEASE_ALL = 1,
  /// To be queued again; used by backends, never seen by the request's sender.
  TRITONSERVER_REQUEST_RELEASE_RESCHEDULE = 2
} TRITONSERVER_RequestReleaseFlag;

/// Hands a request back, with TRITONSERVER_RequestReleaseFlag bits. From here the sender owns
/// request and input memory again: it may reuse or delete them. Comes in any order with the
/// responses.
typedef void (*TRITONSERVER_InferenceRequestReleaseFn_t)(TRITONSERVER_InferenceRequest* request,
                                                         uint32_t flags, void* userp);

/// Bits: what a response means for its request.
typedef enum tritonserver_responsecompleteflag_enum {
  /// No response follows.
  TRITONSERVER_RESPONSE_COMPLETE_FINAL = 1
} TRITONSERVER_ResponseCompleteFlag;

/// Hands over a response, with TRITONSERVER_ResponseCompleteFlag bits. The callee owns the response
/// and deletes it. TRITONSERVER_RESPONSE_COMPLETE_FINAL comes exactly once per request, with the
/// last response or with response NULL.
typedef void (*TRITONSERVER_InferenceResponseCompleteFn_t)(TRITONSERVER_InferenceResponse* response,
                                                           uint32_t flags, void* userp);

/// Makes an empty request for a model; `model_version` -1 leaves the choice to the model's version
/// policy. The model stays loaded while the request lives. NOT_FOUND for an unknown model,
/// UNAVAILABLE for one that is not ready. The caller owns the request.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestNew(
    TRITONSERVER_InferenceRequest** inference_request, TRITONSERVER_Server* server,
    const char* model_name, int64_t model_version);

/// Deletes a request that was never submitted, or that its release callback handed back with
/// TRITONSERVER_REQUEST_RELEASE_ALL.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestDelete(
    TRITONSERVER_InferenceRequest* inference_request);

/// The request's id, "" when none was set. The string belongs to the request.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestId(
    TRITONSERVER_InferenceRequest* inference_request, const char** id);

/// Sets the id, copied, that the responses will carry.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetId(
    TRITONSERVER_InferenceRequest* inference_request, const char* id);

/// The request's TRITONSERVER_RequestFlag bits.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestFlags(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t* flags);

/// Sets the TRITONSERVER_RequestFlag bits.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetFlags(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t flags);

/// The numeric correlation id, 0 when unset. INVALID_ARG when the request has a string instead.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestCorrelationId(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t* correlation_id);

/// The correlation id string, which belongs to the request. INVALID_ARG when the request has a
/// number instead.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestCorrelationIdString(
    TRITONSERVER_InferenceRequest* inference_request, const char** correlation_id);

/// Makes the request part of the sequence with that number. 0 means no sequence.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetCorrelationId(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t correlation_id);

/// Makes the request part of the sequence with that name, copied. UNSUPPORTED beyond 128
/// characters.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetCorrelationIdString(
    TRITONSERVER_InferenceRequest* inference_request, const char* correlation_id);

/// Asks for the request to be given up. Best effort: it may still complete, and its callbacks still
/// come. Any thread; only between a successful submission and the release callback.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestCancel(
    TRITONSERVER_InferenceRequest* inference_request);

/// Whether cancellation has been asked for since the last submission.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestIsCancelled(
    TRITONSERVER_InferenceRequest* inference_request, bool* is_cancelled);

/// Deprecated, see the 64-bit form. INVALID_ARG when the priority needs more than 32 bits.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestPriority(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t* priority);

/// The priority level; 0 stands for the model's default level.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestPriorityUInt64(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t* priority);

/// Deprecated, see the 64-bit form.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetPriority(
    TRITONSERVER_InferenceRequest* inference_request, uint32_t priority);

/// Sets the priority level, 1 being the most urgent. 0, or a level that the model does not have,
/// stands for the model's default level.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetPriorityUInt64(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t priority);

/// How many microseconds the request may wait in the queue. 0 is no limit of its own.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestTimeoutMicroseconds(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t* timeout_us);

/// Sets that limit; a model may forbid or cap it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(
    TRITONSERVER_InferenceRequest* inference_request, uint64_t timeout_us);

/// Adds an input tensor of `dim_count` dimensions; name and shape are copied, its bytes follow with
/// TRITONSERVER_InferenceRequestAppendInputData. INVALID_ARG when the request has that input
/// already.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddInput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name,
    TRITONSERVER_DataType datatype, const int64_t* shape, uint64_t dim_count);

/// Adds the only input of the request, whose name, type and shape are taken from the model's
/// configuration and the size of the data at submission. INVALID_ARG when there is another input.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddRawInput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name);

/// Removes an input and its data. INVALID_ARG when the request has no such input.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveInput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name);

/// Removes all inputs and their data.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllInputs(
    TRITONSERVER_InferenceRequest* inference_request);

/// Appends a buffer to an input's data. The bytes are not copied: they stay alive and unchanged
/// until the release callback. The data of an input is its buffers in the order of the calls.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestAppendInputData(
    TRITONSERVER_InferenceRequest* inference_request, const char* name, const void* base,
    size_t byte_size, TRITONSERVER_MemoryType memory_type, int64_t memory_type_id);

/// Appends a buffer that is used in place of the default data by instances of that host policy. The
/// default data is required all the same.
TRITONSERVER_DECLSPEC TRITONSERVER_Error*
TRITONSERVER_InferenceRequestAppendInputDataWithHostPolicy(
    TRITONSERVER_InferenceRequest* inference_request, const char* name, const void* base,
    size_t byte_size, TRITONSERVER_MemoryType memory_type, int64_t memory_type_id,
    const char* host_policy_name);

/// As TRITONSERVER_InferenceRequestAppendInputData, with size and place taken from the attributes,
/// which are copied.
TRITONSERVER_DECLSPEC TRITONSERVER_Error*
TRITONSERVER_InferenceRequestAppendInputDataWithBufferAttributes(
    TRITONSERVER_InferenceRequest* inference_request, const char* name, const void* base,
    TRITONSERVER_BufferAttributes* buffer_attributes);

/// Removes an input's data and keeps the input.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllInputData(
    TRITONSERVER_InferenceRequest* inference_request, const char* name);

/// Asks for an output. A request that asks for none gets all. INVALID_ARG when the output was asked
/// for already.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestAddRequestedOutput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name);

/// Takes back the wish for an output.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveRequestedOutput(
    TRITONSERVER_InferenceRequest* inference_request, const char* name);

/// Takes back all wishes, so that all outputs are returned.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestRemoveAllRequestedOutputs(
    TRITONSERVER_InferenceRequest* inference_request);

/// Sets the callback that hands the request back. Required before submission.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetReleaseCallback(
    TRITONSERVER_InferenceRequest* inference_request,
    TRITONSERVER_InferenceRequestReleaseFn_t request_release_fn, void* request_release_userp);

/// Sets the callback that receives the responses and the allocator of their buffers, each with its
/// user pointer. Required before submission. The allocator stays with the caller.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceRequestSetResponseCallback(
    TRITONSERVER_InferenceRequest* inference_request,
    TRITONSERVER_ResponseAllocator* response_allocator, void* response_allocator_userp,
    TRITONSERVER_InferenceResponseCompleteFn_t response_fn, void* response_userp);

/// Appends a string parameter; key and value are copied. A repeated key is kept beside the earlier
/// one.
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

/// Deletes a response, and calls the allocator's release callback once per output buffer. NULL is
/// allowed.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseDelete(
    TRITONSERVER_InferenceResponse* inference_response);

/// The failure that the response reports, or NULL when it succeeded. The error belongs to the
/// response: do not delete it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseError(
    TRITONSERVER_InferenceResponse* inference_response);

/// The model and version that answered. The string belongs to the response.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseModel(
    TRITONSERVER_InferenceResponse* inference_response, const char** model_name,
    int64_t* model_version);

/// The id of the request, "" when it had none. The string belongs to the response.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseId(
    TRITONSERVER_InferenceResponse* inference_response, const char** request_id);

/// The number of the response's parameters.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseParameterCount(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t* count);

/// A parameter by index. `*vvalue` points to a NUL-terminated string, an int64_t, a bool or a
/// double, as `*type` says, and belongs to the response. INVALID_ARG for an index out of bounds.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseParameter(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t index, const char** name,
    TRITONSERVER_ParameterType* type, const void** vvalue);

/// The number of outputs in the response.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutputCount(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t* count);

/// An output by index: its name, type, shape and data, where the data lies, and the user pointer
/// that the allocator gave for the buffer. All of it belongs to the response. INVALID_ARG for an
/// index out of bounds.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutput(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t index, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint64_t* dim_count, const void** base,
    size_t* byte_size, TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id, void** userp);

/// The label of a class of an output, from the model's label file; NULL when there is none. The
/// string belongs to the response.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_InferenceResponseOutputClassificationLabel(
    TRITONSERVER_InferenceResponse* inference_response, uint32_t index, size_t class_index,
    const char** label);

// ---- Buffer attributes --------------------------------------------------------------------------

/// Makes attributes of an empty CPU buffer. The caller deletes them.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_BufferAttributesNew(
    TRITONSERVER_BufferAttributes** buffer_attributes);

/// Deletes attributes that TRITONSERVER_BufferAttributesNew made. Those that a getter lends are
/// never deleted.
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

/// The id of the memory.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_BufferAttributesMemoryTypeId(
    TRITONSERVER_BufferAttributes* buffer_attributes, int64_t* memory_type_id);

/// The kind of memory.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_BufferAttributesMemoryType(
    TRITONSERVER_BufferAttributes* buffer_attributes, TRITONSERVER_MemoryType* memory_type);

/// The 64-byte CUDA IPC handle, which belongs to the attributes; NULL when none was set.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_BufferAttributesCudaIpcHandle(
    TRITONSERVER_BufferAttributes* buffer_attributes, void** cuda_ipc_handle);

/// The size in bytes.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_BufferAttributesByteSize(
    TRITONSERVER_BufferAttributes* buffer_attributes, size_t* byte_size);

// ---- Server options -----------------------------------------------------------------------------

/// Who decides which models are loaded.
typedef enum tritonserver_modelcontrolmode_enum {
  /// All models of the repositories, at start only.
  TRITONSERVER_MODEL_CONTROL_NONE = 0,
  /// The repositories, looked at again whenever polled.
  TRITONSERVER_MODEL_CONTROL_POLL = 1,
  /// Load and unload requests.
  TRITONSERVER_MODEL_CONTROL_EXPLICIT = 2
} TRITONSERVER_ModelControlMode;

/// How the rate limiter works.
typedef enum tritonserver_ratelimitmode_enum {
  TRITONSERVER_RATE_LIMIT_OFF = 0,
  /// By priority and number of executions.
  TRITONSERVER_RATE_LIMIT_EXEC_COUNT = 1
} TRITONSERVER_RateLimitMode;

/// Makes options with the defaults given below. The caller deletes them, at any time after
/// TRITONSERVER_ServerNew.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsNew(
    TRITONSERVER_ServerOptions** options);

/// Deletes options. Servers made from them are not affected.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsDelete(
    TRITONSERVER_ServerOptions* options);

/// The name of the server in its metadata. Default "triton".
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetServerId(
    TRITONSERVER_ServerOptions* options, const char* server_id);

/// Adds a model repository. At least one is required; a path given twice counts once.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelRepositoryPath(
    TRITONSERVER_ServerOptions* options, const char* model_repository_path);

/// Who decides which models are loaded. Default TRITONSERVER_MODEL_CONTROL_POLL.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelControlMode(
    TRITONSERVER_ServerOptions* options, TRITONSERVER_ModelControlMode mode);

/// Adds a model to load at start. Matters only in TRITONSERVER_MODEL_CONTROL_EXPLICIT.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetStartupModel(
    TRITONSERVER_ServerOptions* options, const char* model_name);

/// Whether every model needs a complete configuration file. Default true; with false, what is
/// missing is completed with the backend's help.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetStrictModelConfig(
    TRITONSERVER_ServerOptions* options, bool strict);

/// Prefers the file `configs/<name>.pbtxt` of a model's directory to its config.pbtxt. Default "":
/// always config.pbtxt.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelConfigName(
    TRITONSERVER_ServerOptions* options, const char* model_config_name);

/// How executions are limited. Default TRITONSERVER_RATE_LIMIT_OFF.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetRateLimiterMode(
    TRITONSERVER_ServerOptions* options, TRITONSERVER_RateLimitMode mode);

/// Declares a resource of the rate limiter; `device` -1 means on every device. Of a repeated
/// resource the smaller count holds.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsAddRateLimiterResource(
    TRITONSERVER_ServerOptions* options, const char* resource_name, size_t resource_count,
    int device);

/// Bytes of the pool of pinned memory. Default 256 MiB.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetPinnedMemoryPoolByteSize(
    TRITONSERVER_ServerOptions* options, uint64_t size);

/// Bytes of the pool on one GPU. Default 64 MiB.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCudaMemoryPoolByteSize(
    TRITONSERVER_ServerOptions* options, int gpu_device, uint64_t size);

/// Bytes of address space kept for growable memory on one GPU. Default 1 GiB.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCudaVirtualAddressSize(
    TRITONSERVER_ServerOptions* options, int gpu_device, size_t cuda_virtual_address_size);

/// Deprecated: the same as the cache "local" with the setting "size".
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetResponseCacheByteSize(
    TRITONSERVER_ServerOptions* options, uint64_t size);

/// Selects a response cache and gives it its settings, a JSON object of strings. One cache at most:
/// TRITONSERVER_ServerNew gives INVALID_ARG for two names.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCacheConfig(
    TRITONSERVER_ServerOptions* options, const char* cache_name, const char* config_json);

/// Where response caches are looked for. Default "/opt/tritonserver/caches".
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCacheDirectory(
    TRITONSERVER_ServerOptions* options, const char* cache_dir);

/// GPUs of a lower compute capability are not used.
TRITONSERVER_DECLSPEC TRITONSERVER_Error*
TRITONSERVER_ServerOptionsSetMinSupportedComputeCapability(TRITONSERVER_ServerOptions* options,
                                                           double cc);

/// Whether a model that fails to load at start fails TRITONSERVER_ServerNew. Default true.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetExitOnError(
    TRITONSERVER_ServerOptions* options, bool exit);

/// Whether the server is ready only when all its models are. Default true.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetStrictReadiness(
    TRITONSERVER_ServerOptions* options, bool strict);

/// Seconds that a stopping server waits for requests in flight. Default 30.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetExitTimeout(
    TRITONSERVER_ServerOptions* options, unsigned int timeout);

/// Threads that copy inputs and outputs; 0 copies in the caller's thread.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetBufferManagerThreadCount(
    TRITONSERVER_ServerOptions* options, unsigned int thread_count);

/// Models that may load at the same time. Default 4.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelLoadThreadCount(
    TRITONSERVER_ServerOptions* options, unsigned int thread_count);

/// How often a failed load is tried again. Default 0.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelLoadRetryCount(
    TRITONSERVER_ServerOptions* options, unsigned int retry_count);

/// Whether models of the same name may come from different repositories. Default false.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelNamespacing(
    TRITONSERVER_ServerOptions* options, bool enable_namespace);

/// Whether GPUs may reach each other's memory directly.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetEnablePeerAccess(
    TRITONSERVER_ServerOptions* options, bool enable_peer_access);

/// Sends the log to a file, "" back to standard error. Takes effect at once and for the whole
/// process, as do the five functions that follow; `options` may be NULL in all six.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogFile(
    TRITONSERVER_ServerOptions* options, const char* file);

/// Turns messages of level INFO on or off.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogInfo(
    TRITONSERVER_ServerOptions* options, bool log);

/// Turns messages of level WARN on or off.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogWarn(
    TRITONSERVER_ServerOptions* options, bool log);

/// Turns messages of level ERROR on or off.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogError(
    TRITONSERVER_ServerOptions* options, bool log);

/// Sets the form of the log's lines.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogFormat(
    TRITONSERVER_ServerOptions* options, TRITONSERVER_LogFormat format);

/// Sets the verbose level; 0 turns verbose messages off.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetLogVerbose(
    TRITONSERVER_ServerOptions* options, int level);

/// Whether metrics are collected. Default true.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetrics(
    TRITONSERVER_ServerOptions* options, bool metrics);

/// Whether GPUs are measured. Default true; needs metrics.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetGpuMetrics(
    TRITONSERVER_ServerOptions* options, bool gpu_metrics);

/// Whether CPU and host memory are measured. Default true; needs metrics.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetCpuMetrics(
    TRITONSERVER_ServerOptions* options, bool cpu_metrics);

/// Milliseconds between measurements of GPU and CPU. Default 2000.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetricsInterval(
    TRITONSERVER_ServerOptions* options, uint64_t metrics_interval_ms);

/// Where backends are looked for. Default "/opt/tritonserver/backends".
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetBackendDirectory(
    TRITONSERVER_ServerOptions* options, const char* backend_dir);

/// Where repository agents are looked for. Default "/opt/tritonserver/repoagents".
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetRepoAgentDirectory(
    TRITONSERVER_ServerOptions* options, const char* repoagent_dir);

/// Refuses to load a model when more than `fraction` of the device's memory is in use. INVALID_ARG
/// unless the kind is GPU, `device_id` is not negative, and `fraction` lies between 0 and 1.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetModelLoadDeviceLimit(
    TRITONSERVER_ServerOptions* options, TRITONSERVER_InstanceGroupKind kind, int device_id,
    double fraction);

/// A setting of one backend, or with `backend_name` "" of all; a backend's own setting wins over
/// that of all.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetBackendConfig(
    TRITONSERVER_ServerOptions* options, const char* backend_name, const char* setting,
    const char* value);

/// A setting of a host policy: "numa-node" or "cpu-cores". UNSUPPORTED for another one.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetHostPolicy(
    TRITONSERVER_ServerOptions* options, const char* policy_name, const char* setting,
    const char* value);

/// A setting of one group of metrics, or with `name` "" of all metrics.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerOptionsSetMetricsConfig(
    TRITONSERVER_ServerOptions* options, const char* name, const char* setting, const char* value);

// ---- Custom metrics -----------------------------------------------------------------------------

// Metrics of the program's or a backend's own, shown beside the server's. They belong to the
// process, not to one server. All functions but the Delete functions may be called from any thread.

/// The kind of a custom metric.
typedef enum TRITONSERVER_metrickind_enum {
  /// Only ever rises.
  TRITONSERVER_METRIC_KIND_COUNTER = 0,
  /// Rises and falls.
  TRITONSERVER_METRIC_KIND_GAUGE = 1,
  /// Counts values by size.
  TRITONSERVER_METRIC_KIND_HISTOGRAM = 2
} TRITONSERVER_MetricKind;

/// Registers a family of metrics in the process. The same name, kind and description again give the
/// same family; INVALID_ARG when only the name is the same. The caller deletes it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricFamilyNew(
    TRITONSERVER_MetricFamily** family, TRITONSERVER_MetricKind kind, const char* name,
    const char* description);

/// Deletes a family. INTERNAL while it has metrics, which must be deleted first.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricFamilyDelete(
    TRITONSERVER_MetricFamily* family);

/// The kind of the family's metrics.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_GetMetricFamilyKind(
    TRITONSERVER_MetricFamily* family, TRITONSERVER_MetricKind* kind);

/// Makes empty arguments for TRITONSERVER_MetricNewWithArgs. The caller deletes them.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricArgsNew(
    TRITONSERVER_MetricArgs** args);

/// Gives the upper bounds of a histogram's buckets, rising; they are copied.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricArgsSetHistogram(
    TRITONSERVER_MetricArgs* args, const double* buckets, uint64_t buckets_count);

/// Deletes arguments.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricArgsDelete(
    TRITONSERVER_MetricArgs* args);

/// Makes a metric of a family that is no histogram. `labels` are STRING parameters, copied. The
/// caller deletes the metric, and does so before the family.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricNew(
    TRITONSERVER_Metric** metric, TRITONSERVER_MetricFamily* family,
    const TRITONSERVER_Parameter** labels, uint64_t label_count);

/// As TRITONSERVER_MetricNew, and for histograms too, which need `args`; other kinds accept NULL.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricNewWithArgs(
    TRITONSERVER_Metric** metric, TRITONSERVER_MetricFamily* family,
    const TRITONSERVER_Parameter** labels, uint64_t label_count,
    const TRITONSERVER_MetricArgs* args);

/// Deletes a metric. INTERNAL when its family is gone already.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricDelete(TRITONSERVER_Metric* metric);

/// The value of a counter or gauge. UNSUPPORTED for a histogram.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricValue(TRITONSERVER_Metric* metric,
                                                                   double* value);

/// Adds to a counter, which takes no negative value (INVALID_ARG), or to a gauge. UNSUPPORTED for a
/// histogram.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricIncrement(TRITONSERVER_Metric* metric,
                                                                       double value);

/// Sets a gauge. UNSUPPORTED for other kinds.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricSet(TRITONSERVER_Metric* metric,
                                                                 double value);

/// Records one value in a histogram. UNSUPPORTED for other kinds.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_MetricObserve(TRITONSERVER_Metric* metric,
                                                                     double value);

/// The metric's kind.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_GetMetricKind(TRITONSERVER_Metric* metric,
                                                                     TRITONSERVER_MetricKind* kind);

// ---- Server -------------------------------------------------------------------------------------

/// Bits: how a model batches.
typedef enum tritonserver_batchflag_enum {
  TRITONSERVER_BATCH_UNKNOWN = 1,
  TRITONSERVER_BATCH_FIRST_DIM = 2
} TRITONSERVER_ModelBatchFlag;

/// Bits: what a repository index lists.
typedef enum tritonserver_modelindexflag_enum {
  /// Ready models only.
  TRITONSERVER_INDEX_FLAG_READY = 1
} TRITONSERVER_ModelIndexFlag;

/// Bits: how many responses a request has.
typedef enum tritonserver_txn_property_flag_enum {
  TRITONSERVER_TXN_ONE_TO_ONE = 1,
  /// Any number, at any time.
  TRITONSERVER_TXN_DECOUPLED = 2
} TRITONSERVER_ModelTxnPropertyFlag;

/// Makes a server and returns when the models of the start are loaded or have failed. With exit-on-
/// error a failed model gives an error and no server; without it the failure is logged. The caller
/// deletes the server; the options stay with the caller.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerNew(
    TRITONSERVER_Server** server, TRITONSERVER_ServerOptions* options);

/// Stops the server if nobody did, and deletes it. INTERNAL when the exit timeout ran out first:
/// the server then stays, for requests still run in it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerDelete(TRITONSERVER_Server* server);

/// Refuses new requests, lets those in flight finish and unloads the models. INTERNAL when the exit
/// timeout ran out first. A stopped server cannot be started again.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerStop(TRITONSERVER_Server* server);

/// Changes the seconds that TRITONSERVER_ServerStop waits.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerSetExitTimeout(
    TRITONSERVER_Server* server, unsigned int timeout);

/// Adds a repository. In each of the `mapping_count` STRING parameters the name is a directory of
/// the repository and the value the model's name. UNSUPPORTED outside of
/// TRITONSERVER_MODEL_CONTROL_EXPLICIT.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerRegisterModelRepository(
    TRITONSERVER_Server* server, const char* repository_path,
    const TRITONSERVER_Parameter** name_mapping, uint32_t mapping_count);

/// Removes a repository; its loaded models stay. UNSUPPORTED outside of
/// TRITONSERVER_MODEL_CONTROL_EXPLICIT.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerUnregisterModelRepository(
    TRITONSERVER_Server* server, const char* repository_path);

/// Looks at the repositories now and loads, reloads and unloads what changed. UNAVAILABLE outside
/// of TRITONSERVER_MODEL_CONTROL_POLL.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerPollModelRepository(
    TRITONSERVER_Server* server);

/// Whether the server answers. UNAVAILABLE while it stops.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerIsLive(TRITONSERVER_Server* server,
                                                                    bool* live);

/// Whether the server takes requests; with strict readiness, whether all models are ready too.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerIsReady(TRITONSERVER_Server* server,
                                                                     bool* ready);

/// Whether a model version takes requests; version -1 asks for the one that the version policy
/// picks.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerModelIsReady(
    TRITONSERVER_Server* server, const char* model_name, int64_t model_version, bool* ready);

/// TRITONSERVER_BATCH_FIRST_DIM when the model batches along its first dimension, else
/// TRITONSERVER_BATCH_UNKNOWN. `*voidp` is set to NULL; a later version may use it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerModelBatchProperties(
    TRITONSERVER_Server* server, const char* model_name, int64_t model_version, uint32_t* flags,
    void** voidp);

/// TRITONSERVER_TXN_DECOUPLED when a request may have any number of responses, else
/// TRITONSERVER_TXN_ONE_TO_ONE. `*voidp` is set to NULL.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerModelTransactionProperties(
    TRITONSERVER_Server* server, const char* model_name, int64_t model_version, uint32_t* txn_flags,
    void** voidp);

/// The server metadata as the HTTP protocol's JSON object. The caller deletes the message, here and
/// in the four functions that follow.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerMetadata(
    TRITONSERVER_Server* server, TRITONSERVER_Message** server_metadata);

/// The metadata of a model version.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerModelMetadata(
    TRITONSERVER_Server* server, const char* model_name, int64_t model_version,
    TRITONSERVER_Message** model_metadata);

/// The statistics of a model version, or with the name "" of all ready models. INVALID_ARG for an
/// unknown model.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerModelStatistics(
    TRITONSERVER_Server* server, const char* model_name, int64_t model_version,
    TRITONSERVER_Message** model_stats);

/// The completed configuration of a model version, in configuration version 1, the only one.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerModelConfig(
    TRITONSERVER_Server* server, const char* model_name, int64_t model_version,
    uint32_t config_version, TRITONSERVER_Message** model_config);

/// The models of the repositories with their states; TRITONSERVER_ModelIndexFlag bits narrow the
/// list.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerModelIndex(
    TRITONSERVER_Server* server, uint32_t flags, TRITONSERVER_Message** model_index);

/// Loads or reloads a model, and returns when it is ready or has failed. Only in
/// TRITONSERVER_MODEL_CONTROL_EXPLICIT.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerLoadModel(TRITONSERVER_Server* server,
                                                                       const char* model_name);

/// As TRITONSERVER_ServerLoadModel, with a configuration ("config", a STRING of JSON) and files
/// ("file:<path>", BYTES) that stand in for those of the repository. The parameters stay with the
/// caller.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerLoadModelWithParameters(
    TRITONSERVER_Server* server, const char* model_name, const TRITONSERVER_Parameter** parameters,
    uint64_t parameter_count);

/// Starts to unload a model, and returns without waiting for requests in flight. An unknown model
/// is no error. Only in TRITONSERVER_MODEL_CONTROL_EXPLICIT.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerUnloadModel(
    TRITONSERVER_Server* server, const char* model_name);

/// As TRITONSERVER_ServerUnloadModel, together with the models that were loaded only because this
/// one needs them.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerUnloadModelAndDependents(
    TRITONSERVER_Server* server, const char* model_name);

/// A snapshot of all metrics. The caller deletes it.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerMetrics(
    TRITONSERVER_Server* server, TRITONSERVER_Metrics** metrics);

/// Submits a request and returns before it completes. On success the request belongs to the server
/// until its release callback. On an error it stays with the caller and no callback comes. `trace`
/// may be NULL; one that is given is taken in either case: its release callback comes once, before
/// this returns if it returns an error.
TRITONSERVER_DECLSPEC TRITONSERVER_Error* TRITONSERVER_ServerInferAsync(
    TRITONSERVER_Server* server, TRITONSERVER_InferenceRequest* inference_request,
    TRITONSERVER_InferenceTrace* trace);

#ifdef __cplusplus
}  // extern "C"
#endif
