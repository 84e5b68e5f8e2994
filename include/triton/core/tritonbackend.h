// SPDX-License-Identifier: Apache-2.0
#pragma once

// The C API of backends: a shared library libtriton_<name>.so that runs models. The first group of
// functions is implemented by the library, the others are provided by the server.
//
// The rules at the top of tritonserver.h hold here too. Besides:
//  - Instances execute at the same time as one another; one instance runs one batch at a time.
//  - A request belongs to the backend from a successful TRITONBACKEND_ModelInstanceExecute until
//    TRITONBACKEND_RequestRelease. Release and the sending of responses come in any order; to send
//    after the release, hold a TRITONBACKEND_ResponseFactory.
//  - Every request gets the final flag exactly once and is released exactly once.

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

// Symbol visibility: DECLSPEC marks what the server provides, ISPEC what a backend implements.
// _COMPILING_TRITONBACKEND is defined only where the server library is compiled.
#if defined(_MSC_VER)
#ifdef _COMPILING_TRITONBACKEND
#define TRITONBACKEND_DECLSPEC __declspec(dllexport)
#define TRITONBACKEND_ISPEC __declspec(dllimport)
#else
#define TRITONBACKEND_DECLSPEC __declspec(dllimport)
#define TRITONBACKEND_ISPEC __declspec(dllexport)
#endif
#elif defined(__GNUC__) && defined(_COMPILING_TRITONBACKEND)
#define TRITONBACKEND_DECLSPEC __attribute__((__visibility__("default")))
#define TRITONBACKEND_ISPEC
#elif defined(__GNUC__)
#define TRITONBACKEND_DECLSPEC
#define TRITONBACKEND_ISPEC __attribute__((__visibility__("default")))
#else
#define TRITONBACKEND_DECLSPEC
#define TRITONBACKEND_ISPEC
#endif

/// The version of this API that the header describes. See TRITONBACKEND_ApiVersion.
#define TRITONBACKEND_API_VERSION_MAJOR 1
#define TRITONBACKEND_API_VERSION_MINOR 19

/// Where a backend gets scratch memory.
typedef struct TRITONBACKEND_MemoryManager TRITONBACKEND_MemoryManager;
/// An input of a request. Belongs to the request.
typedef struct TRITONBACKEND_Input TRITONBACKEND_Input;
/// An output of a response. Belongs to the response.
typedef struct TRITONBACKEND_Output TRITONBACKEND_Output;
/// A state of a sequence. Belongs to the request.
typedef struct TRITONBACKEND_State TRITONBACKEND_State;
/// A request, as the backend sees it.
typedef struct TRITONBACKEND_Request TRITONBACKEND_Request;
/// Makes responses that may outlive the request.
typedef struct TRITONBACKEND_ResponseFactory TRITONBACKEND_ResponseFactory;
/// A response, as the backend makes it.
typedef struct TRITONBACKEND_Response TRITONBACKEND_Response;
/// A loaded backend.
typedef struct TRITONBACKEND_Backend TRITONBACKEND_Backend;
/// One version of a model.
typedef struct TRITONBACKEND_Model TRITONBACKEND_Model;
/// One of the places where a model runs.
typedef struct TRITONBACKEND_ModelInstance TRITONBACKEND_ModelInstance;
/// The times of one response.
typedef struct TRITONBACKEND_ModelInstanceResponseStatistics
    TRITONBACKEND_ModelInstanceResponseStatistics;
/// What a backend says about itself.
typedef struct TRITONBACKEND_BackendAttribute TRITONBACKEND_BackendAttribute;
/// A batching library's own object.
typedef struct TRITONBACKEND_Batcher TRITONBACKEND_Batcher;

/// What a backend's or model's location is.
typedef enum TRITONBACKEND_artifacttype_enum {
  /// A directory, given by its absolute path.
  TRITONBACKEND_ARTIFACT_FILESYSTEM = 0
} TRITONBACKEND_ArtifactType;

/// Which thread calls TRITONBACKEND_ModelInstanceExecute, and when the next call may follow.
typedef enum TRITONBACKEND_execpolicy_enum {
  /// One thread per instance.
  TRITONBACKEND_EXECUTION_BLOCKING = 0,
  /// One thread for all instances on a device.
  TRITONBACKEND_EXECUTION_DEVICE_BLOCKING = 1
} TRITONBACKEND_ExecutionPolicy;

// ---- Implemented by the backend -----------------------------------------------------------------

/// Optional. Called once, before any other function of the backend. The place to check versions and
/// to set the backend's state and execution policy. An error leaves the backend unloaded.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend);

/// Optional. Called once, after all models of the backend are finalized.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend);

/// Optional. Called once per model version before its instances are made. An error fails the load.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model);

/// Optional. Called once per model version after its instances are finalized, also when the load
/// failed later on.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model);

/// Optional. Called once per instance; one at a time within a model unless the backend's attributes
/// allow parallel loading. An error fails the load.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(
    TRITONBACKEND_ModelInstance* instance);

/// Optional. Called once per instance after its last execution.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(
    TRITONBACKEND_ModelInstance* instance);

/// Required. Runs a batch. Never called twice at the same time for one instance. `requests`, the
/// array, is valid only during the call. Returning NULL takes the request objects over: each is
/// released exactly once, now or later. Returning an error leaves all of them with the server,
/// which fails them; none may have been released or answered by then.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
    uint32_t request_count);

/// Optional. Asked when readiness is checked: an error says that the instance cannot serve at
/// present.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady(
    TRITONBACKEND_ModelInstance* instance);

/// Optional. Called after TRITONBACKEND_Initialize for the backend to fill in its attributes, which
/// are valid only during the call.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_GetBackendAttribute(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_BackendAttribute* backend_attributes);

/// Optional, all five of the batching functions or none. Makes the batcher of a model; what it
/// points to is the backend's own.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatcherInitialize(
    TRITONBACKEND_Batcher** batcher, TRITONBACKEND_Model* model);

/// Deletes what TRITONBACKEND_ModelBatcherInitialize made.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatcherFinalize(
    TRITONBACKEND_Batcher* batcher);

/// Decides whether a request joins the batch that is being formed. The request is lent for the
/// call. `userp` is the batch's.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchIncludeRequest(
    TRITONBACKEND_Request* request, void* userp, bool* should_include);

/// Begins a batch; `*userp` is handed to the two other batch functions.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchInitialize(
    const TRITONBACKEND_Batcher* batcher, void** userp);

/// Ends a batch and deletes what `userp` points to.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchFinalize(void* userp);

// ---- Version and memory manager -----------------------------------------------------------------

/// The version of this API that the running server provides. Never fails. A backend built for
/// (major, minor) runs when the major numbers are equal and the server's minor number is not
/// smaller.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t* major,
                                                                    uint32_t* minor);

/// Allocates `byte_size` bytes. UNSUPPORTED when the server can never provide that kind of memory,
/// UNAVAILABLE when its pool is used up for now. Any thread.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_MemoryManagerAllocate(
    TRITONBACKEND_MemoryManager* manager, void** buffer, TRITONSERVER_MemoryType memory_type,
    int64_t memory_type_id, uint64_t byte_size);

/// Frees a buffer; type and id are those of its allocation. Any thread.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_MemoryManagerFree(
    TRITONBACKEND_MemoryManager* manager, void* buffer, TRITONSERVER_MemoryType memory_type,
    int64_t memory_type_id);

// ---- Inputs and outputs -------------------------------------------------------------------------

/// An input's properties; each out pointer may be NULL. `byte_size` counts the bytes that the
/// request supplied, in `buffer_count` buffers. Strings and shape belong to the request.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InputProperties(
    TRITONBACKEND_Input* input, const char** name, TRITONSERVER_DataType* datatype,
    const int64_t** shape, uint32_t* dims_count, uint64_t* byte_size, uint32_t* buffer_count);

/// As TRITONBACKEND_InputProperties for the data of a host policy, or for the default data when
/// that policy has none.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InputPropertiesForHostPolicy(
    TRITONBACKEND_Input* input, const char* host_policy_name, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint32_t* dims_count,
    uint64_t* byte_size, uint32_t* buffer_count);

/// One buffer of an input's data, valid until the request is released. `*memory_type` and
/// `*memory_type_id` carry the backend's preference in and the actual place out.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InputBuffer(
    TRITONBACKEND_Input* input, uint32_t index, const void** buffer, uint64_t* buffer_byte_size,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// As TRITONBACKEND_InputBuffer for the data of a host policy, or for the default data when that
/// policy has none.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InputBufferForHostPolicy(
    TRITONBACKEND_Input* input, const char* host_policy_name, uint32_t index, const void** buffer,
    uint64_t* buffer_byte_size, TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// One buffer of an input's data, with attributes that belong to the input.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InputBufferAttributes(
    TRITONBACKEND_Input* input, uint32_t index, const void** buffer,
    TRITONSERVER_BufferAttributes** buffer_attributes);

/// Gets the buffer to write an output to, once per output (ALREADY_EXISTS after that).
/// `*memory_type` and `*memory_type_id` carry the backend's preference in and the actual place out.
/// The buffer belongs to the response and is not to be touched once that is sent.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(
    TRITONBACKEND_Output* output, void** buffer, uint64_t buffer_byte_size,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// The attributes of the output's buffer; they belong to the output. Only after
/// TRITONBACKEND_OutputBuffer.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_OutputBufferAttributes(
    TRITONBACKEND_Output* output, TRITONSERVER_BufferAttributes** buffer_attributes);

// ---- Requests -----------------------------------------------------------------------------------

/// The request's id, "" when it has none. What this and the functions below return belongs to the
/// request and ends with its release.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestId(TRITONBACKEND_Request* request,
                                                                   const char** id);

/// Whether the client has given the request up. The backend then answers with a CANCELLED error and
/// the final flag, and releases the request.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestIsCancelled(
    TRITONBACKEND_Request* request, bool* is_cancelled);

/// The numeric correlation id, 0 when there is none. INVALID_ARG when it is a string.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationId(
    TRITONBACKEND_Request* request, uint64_t* id);

/// The request's queue time limit in microseconds; 0 is none.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InferenceRequestTimeoutMicroseconds(
    TRITONBACKEND_Request* request, uint64_t* timeout);

/// The correlation id string. INVALID_ARG when it is a number.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationIdString(
    TRITONBACKEND_Request* request, const char** id);

/// The request's TRITONSERVER_RequestFlag bits.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestFlags(
    TRITONBACKEND_Request* request, uint32_t* flags);

/// The number of the request's parameters.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestParameterCount(
    TRITONBACKEND_Request* request, uint32_t* count);

/// A parameter by index. `*vvalue` points to a NUL-terminated string, an int64_t, a bool or a
/// double, as `*type` says.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestParameter(
    TRITONBACKEND_Request* request, uint32_t index, const char** key,
    TRITONSERVER_ParameterType* type, const void** vvalue);

/// The number of inputs.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(
    TRITONBACKEND_Request* request, uint32_t* count);

/// The name of an input by index. INVALID_ARG for an index out of bounds.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestInputName(
    TRITONBACKEND_Request* request, uint32_t index, const char** input_name);

/// An input by name. INVALID_ARG when the request has no such input.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestInput(
    TRITONBACKEND_Request* request, const char* name, TRITONBACKEND_Input** input);

/// An input by index. INVALID_ARG for an index out of bounds.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(
    TRITONBACKEND_Request* request, uint32_t index, TRITONBACKEND_Input** input);

/// The number of outputs that the client wants: those it named, or else all.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(
    TRITONBACKEND_Request* request, uint32_t* count);

/// The name of a wanted output by index. INVALID_ARG for an index out of bounds.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(
    TRITONBACKEND_Request* request, uint32_t index, const char** output_name);

/// Where the buffer of an output would preferably lie; `name` and `byte_size` may be NULL. A hint
/// only. UNAVAILABLE when the client's allocator cannot be asked.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestOutputBufferProperties(
    TRITONBACKEND_Request* request, const char* name, size_t* byte_size,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// Gives the request back, exactly once; it and all that it lent are then gone, and its statistics
/// must have been reported. With TRITONSERVER_REQUEST_RELEASE_RESCHEDULE the server queues it again
/// for its model's next iteration. On an error the backend still owns the request.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestRelease(
    TRITONBACKEND_Request* request, uint32_t release_flags);

/// The request's trace, which belongs to the request, or NULL.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestTrace(
    TRITONBACKEND_Request* request, TRITONSERVER_InferenceTrace** trace);

// ---- Responses ----------------------------------------------------------------------------------

/// Whether the client has given up the request that the factory answers.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryIsCancelled(
    TRITONBACKEND_ResponseFactory* factory, bool* is_cancelled);

/// Makes a factory, by which responses can be made and sent after the request is released. The
/// backend deletes it.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryNew(
    TRITONBACKEND_ResponseFactory** factory, TRITONBACKEND_Request* request);

/// Deletes a factory, after the final flag was sent.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryDelete(
    TRITONBACKEND_ResponseFactory* factory);

/// Sends flags without a response, in practice TRITONSERVER_RESPONSE_COMPLETE_FINAL.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseFactorySendFlags(
    TRITONBACKEND_ResponseFactory* factory, uint32_t send_flags);

/// Makes an empty response to a request. The backend owns it until it is sent. Outputs and buffers
/// of one response are complete before the next is made, and are added from one thread; the order
/// of sending is free.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseNew(
    TRITONBACKEND_Response** response, TRITONBACKEND_Request* request);

/// As TRITONBACKEND_ResponseNew, from a factory.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseNewFromFactory(
    TRITONBACKEND_Response** response, TRITONBACKEND_ResponseFactory* factory);

/// Deletes a response that was not sent.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseDelete(
    TRITONBACKEND_Response* response);

/// Adds a string parameter; name and value are copied.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseSetStringParameter(
    TRITONBACKEND_Response* response, const char* name, const char* value);

/// Adds an integer parameter.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseSetIntParameter(
    TRITONBACKEND_Response* response, const char* name, int64_t value);

/// Adds a boolean parameter.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseSetBoolParameter(
    TRITONBACKEND_Response* response, const char* name, bool value);

/// Adds a floating-point parameter.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseSetDoubleParameter(
    TRITONBACKEND_Response* response, const char* name, double value);

/// Adds an output; name and shape are copied. The output belongs to the response.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(
    TRITONBACKEND_Response* response, TRITONBACKEND_Output** output, const char* name,
    TRITONSERVER_DataType datatype, const int64_t* shape, uint32_t dims_count);

/// Sends a response, which is taken in every case, also when sending fails. A non-NULL `error`
/// makes it a failed response and stays with the backend. TRITONSERVER_RESPONSE_COMPLETE_FINAL goes
/// out exactly once per request, with its last response or by
/// TRITONBACKEND_ResponseFactorySendFlags.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseSend(
    TRITONBACKEND_Response* response, uint32_t send_flags, TRITONSERVER_Error* error);

/// An output that was added to the response, by name; NOT_FOUND when there is none. Provided by the
/// server. Name and shape belong to the response.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InferenceResponseOutputByName(
    TRITONBACKEND_Response* response, const char* name, TRITONSERVER_DataType* datatype,
    const int64_t** shape, uint64_t* dim_count);

/// An output that was added to the response, by index. Provided by the server. Name and shape
/// belong to the response.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InferenceResponseOutput(
    TRITONBACKEND_Response* response, uint32_t index, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint64_t* dim_count);

// ---- Sequence state -----------------------------------------------------------------------------

/// Makes the next state of the request's sequence. INVALID_ARG unless the model's sequence batching
/// declares a state of that name. The state belongs to the request.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_StateNew(
    TRITONBACKEND_State** state, TRITONBACKEND_Request* request, const char* name,
    TRITONSERVER_DataType datatype, const int64_t* shape, uint32_t dims_count);

/// Puts the new state in the place of the old one. Without this call the old state stays. The
/// object is not to be used afterwards.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_StateUpdate(TRITONBACKEND_State* state);

/// Gets the buffer to write the state to. `*memory_type` and `*memory_type_id` carry the backend's
/// preference in and the actual place out.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_StateBuffer(
    TRITONBACKEND_State* state, void** buffer, uint64_t buffer_byte_size,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// The attributes of the state's buffer; they belong to the state.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_StateBufferAttributes(
    TRITONBACKEND_State* state, TRITONSERVER_BufferAttributes** buffer_attributes);

// ---- Backend ------------------------------------------------------------------------------------

/// The backend's name. What this and the functions below return belongs to the server.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendName(TRITONBACKEND_Backend* backend,
                                                                     const char** name);

/// The backend's settings, {"cmdline": {"<setting>": "<value>"}}. The message belongs to the
/// server: do not delete it.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendConfig(
    TRITONBACKEND_Backend* backend, TRITONSERVER_Message** backend_config);

/// The execution policy in force.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendExecutionPolicy(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_ExecutionPolicy* policy);

/// Chooses the execution policy; only inside TRITONBACKEND_Initialize. Models with sequence
/// batching are always run TRITONBACKEND_EXECUTION_BLOCKING.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendSetExecutionPolicy(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_ExecutionPolicy policy);

/// The directory that holds the backend's library and what came with it.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendArtifacts(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_ArtifactType* artifact_type,
    const char** location);

/// The memory manager of the server.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendMemoryManager(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_MemoryManager** manager);

/// The pointer that TRITONBACKEND_BackendSetState stored, or NULL.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendState(
    TRITONBACKEND_Backend* backend, void** state);

/// Stores a pointer of the backend's own. The server never reads what it points to.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendSetState(
    TRITONBACKEND_Backend* backend, void* state);

/// Adds a kind of instance group to use for models that name none, the most preferred one first;
/// `count` 0 leaves the number to the server. Only inside TRITONBACKEND_GetBackendAttribute.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
    TRITONBACKEND_BackendAttribute* backend_attributes, TRITONSERVER_InstanceGroupKind kind,
    uint64_t count, const uint64_t* device_ids, uint64_t id_count);

/// Whether instances of one model may be initialized at the same time. Default false. Only inside
/// TRITONBACKEND_GetBackendAttribute.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error*
TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(
    TRITONBACKEND_BackendAttribute* backend_attributes, bool enabled);

// ---- Model instance -----------------------------------------------------------------------------

/// The instance's name, "<group name>_<index in the group>"; the instances of a group on several
/// GPUs share names. What this and the functions below return belongs to the instance.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceName(
    TRITONBACKEND_ModelInstance* instance, const char** name);

/// Where the instance runs: CPU, GPU or MODEL; never AUTO.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceKind(
    TRITONBACKEND_ModelInstance* instance, TRITONSERVER_InstanceGroupKind* kind);

/// The GPU's number for an instance of kind GPU.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceDeviceId(
    TRITONBACKEND_ModelInstance* instance, int32_t* device_id);

/// The instance's host policy, {"<policy>": {"<setting>": "<value>"}}. The message belongs to the
/// server: do not delete it.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceHostPolicy(
    TRITONBACKEND_ModelInstance* instance, TRITONSERVER_Message** host_policy);

/// Whether the instance is never given requests by the server.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceIsPassive(
    TRITONBACKEND_ModelInstance* instance, bool* is_passive);

/// The number of optimization profiles of the instance's group.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceProfileCount(
    TRITONBACKEND_ModelInstance* instance, uint32_t* count);

/// The name of an optimization profile by index. INVALID_ARG for an index out of bounds.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceProfileName(
    TRITONBACKEND_ModelInstance* instance, uint32_t index, const char** profile_name);

/// The number of secondary devices of the instance's group.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSecondaryDeviceCount(
    TRITONBACKEND_ModelInstance* instance, uint32_t* count);

/// Kind, in words, and id of a secondary device by index. INVALID_ARG for an index out of bounds.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSecondaryDeviceProperties(
    TRITONBACKEND_ModelInstance* instance, uint32_t index, const char** kind, int64_t* id);

/// The instance's model.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceModel(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Model** model);

/// The pointer that TRITONBACKEND_ModelInstanceSetState stored, or NULL.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceState(
    TRITONBACKEND_ModelInstance* instance, void** state);

/// Stores a pointer of the backend's own. The server never reads what it points to.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSetState(
    TRITONBACKEND_ModelInstance* instance, void* state);

/// Reports the memory that the instance uses, one entry of `usage` per place, in place of an
/// earlier report. The array and its entries stay with the backend.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportMemoryUsage(
    TRITONBACKEND_ModelInstance* instance, TRITONSERVER_BufferAttributes** usage,
    uint32_t usage_size);

/// Reports one request's times, before its release. Execution spans exec_start to exec_end, the
/// model's own work compute_start to compute_end. With `success` false the request counts as failed
/// and the times are ignored.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request, bool success,
    uint64_t exec_start_ns, uint64_t compute_start_ns, uint64_t compute_end_ns,
    uint64_t exec_end_ns);

/// Makes empty statistics of one response. The backend deletes them.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsNew(
    TRITONBACKEND_ModelInstanceResponseStatistics** response_statistics);

/// Deletes statistics. The objects that they refer to stay with the backend.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsDelete(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics);

/// The instance that made the response. Required.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error*
TRITONBACKEND_ModelInstanceResponseStatisticsSetModelInstance(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    TRITONBACKEND_ModelInstance* model_instance);

/// The factory that the response came from. Required; it may not be deleted before the report.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error*
TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseFactory(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    TRITONBACKEND_ResponseFactory* response_factory);

/// When work on the response began. Required.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error*
TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseStart(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics, uint64_t response_start);

/// When its outputs began to be written. 0 or unset marks an empty response.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error*
TRITONBACKEND_ModelInstanceResponseStatisticsSetComputeOutputStart(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    uint64_t compute_output_start);

/// When it was sent. Required.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error*
TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseEnd(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics, uint64_t response_end);

/// The error that was sent; NULL is success, CANCELLED counts as a cancellation. It stays with the
/// backend and may not be deleted before the report.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetError(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics, TRITONSERVER_Error* error);

/// Reports the statistics of one response under its number among the responses of its factory.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportResponseStatistics(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics);

/// Reports one execution of a batch of `batch_size`, once for all its requests.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance* instance, uint64_t batch_size, uint64_t exec_start_ns,
    uint64_t compute_start_ns, uint64_t compute_end_ns, uint64_t exec_end_ns);

// ---- Model --------------------------------------------------------------------------------------

/// The model's name. What this and the functions below return belongs to the model, unless said
/// otherwise.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelName(TRITONBACKEND_Model* model,
                                                                   const char** name);

/// The model's version.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model* model,
                                                                      uint64_t* version);

/// The model's own directory, which holds its version directories; a local copy when the repository
/// is remote.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelRepository(
    TRITONBACKEND_Model* model, TRITONBACKEND_ArtifactType* artifact_type, const char** location);

/// The model's configuration as JSON, in configuration version 1, the only one. The caller deletes
/// the message.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelConfig(
    TRITONBACKEND_Model* model, uint32_t config_version, TRITONSERVER_Message** model_config);

/// Whether the backend may complete the configuration; false under strict model configuration.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(
    TRITONBACKEND_Model* model, bool* auto_complete_config);

/// Replaces the configuration; only inside TRITONBACKEND_ModelInitialize. Inputs, outputs, the
/// largest batch size and a scheduler not set before may change, other fields not. The message
/// stays with the caller.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelSetConfig(
    TRITONBACKEND_Model* model, uint32_t config_version, TRITONSERVER_Message* model_config);

/// The server, by which a backend can send requests to other models.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelServer(TRITONBACKEND_Model* model,
                                                                     TRITONSERVER_Server** server);

/// The model's backend.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelBackend(
    TRITONBACKEND_Model* model, TRITONBACKEND_Backend** backend);

/// The pointer that TRITONBACKEND_ModelSetState stored, or NULL.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelState(TRITONBACKEND_Model* model,
                                                                    void** state);

/// Stores a pointer of the backend's own. The server never reads what it points to.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelSetState(TRITONBACKEND_Model* model,
                                                                       void* state);

/// Reports the memory that the model uses apart from its instances, one entry of `usage` per place,
/// in place of an earlier report. The array and its entries stay with the backend.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelReportMemoryUsage(
    TRITONBACKEND_Model* model, TRITONSERVER_BufferAttributes** usage, uint32_t usage_size);

#ifdef __cplusplus
}  // extern "C"
#endif
