// SPDX-License-Identifier: Apache-2.0
#pragma once

// The C API of backends: a shared library libtriton_<name>.so that executes models. The library
// implements the first group of functions; the server provides the others.
//
// The rules at the top of tritonserver.h apply here, too. In addition:
//  - Instances execute in parallel; one instance executes one batch at a time.
//  - A request belongs to the backend from a successful TRITONBACKEND_ModelInstanceExecute until
//    TRITONBACKEND_RequestRelease. A backend may release a request before or after it sends the
//    responses; to send responses after the release it needs a TRITONBACKEND_ResponseFactory.
//  - A backend must send the final flag of every request exactly once, and release it exactly once.

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

// Symbol visibility: DECLSPEC marks the functions that the server provides, ISPEC those that a
// backend implements. _COMPILING_TRITONBACKEND is defined only where the server library is
// compiled.
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

/// The source of scratch memory for a backend.
typedef struct TRITONBACKEND_MemoryManager TRITONBACKEND_MemoryManager;
/// An input of a request. Belongs to the request.
typedef struct TRITONBACKEND_Input TRITONBACKEND_Input;
/// An output of a response. Belongs to the response.
typedef struct TRITONBACKEND_Output TRITONBACKEND_Output;
/// A state of a sequence. Belongs to the request.
typedef struct TRITONBACKEND_State TRITONBACKEND_State;
/// A request, for the backend.
typedef struct TRITONBACKEND_Request TRITONBACKEND_Request;
/// Creates responses that may outlive the request.
typedef struct TRITONBACKEND_ResponseFactory TRITONBACKEND_ResponseFactory;
/// A response, for the backend that creates it.
typedef struct TRITONBACKEND_Response TRITONBACKEND_Response;
/// A loaded backend.
typedef struct TRITONBACKEND_Backend TRITONBACKEND_Backend;
/// One version of a model.
typedef struct TRITONBACKEND_Model TRITONBACKEND_Model;
/// One of the instances of a model.
typedef struct TRITONBACKEND_ModelInstance TRITONBACKEND_ModelInstance;
/// The times of one response.
typedef struct TRITONBACKEND_ModelInstanceResponseStatistics
    TRITONBACKEND_ModelInstanceResponseStatistics;
/// The properties of a backend.
typedef struct TRITONBACKEND_BackendAttribute TRITONBACKEND_BackendAttribute;
/// An object of a batching library.
typedef struct TRITONBACKEND_Batcher TRITONBACKEND_Batcher;

/// The kind of location of a backend or a model.
typedef enum TRITONBACKEND_artifacttype_enum {
  /// A directory, given by its absolute path.
  TRITONBACKEND_ARTIFACT_FILESYSTEM = 0
} TRITONBACKEND_ArtifactType;

/// The thread that calls TRITONBACKEND_ModelInstanceExecute.
typedef enum TRITONBACKEND_execpolicy_enum {
  /// One thread for each instance.
  TRITONBACKEND_EXECUTION_BLOCKING = 0,
  /// One thread for all instances on a device.
  TRITONBACKEND_EXECUTION_DEVICE_BLOCKING = 1
} TRITONBACKEND_ExecutionPolicy;

// ---- Implemented by the backend -----------------------------------------------------------------

/// Optional. Called once, before any other function of the backend, to check versions and to set
/// the backend's state and execution policy. If it returns an error, the backend is not loaded.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend);

/// Optional. Called once, after all models of the backend are finalized.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend);

/// Optional. Called once for each model version before its instances are created. An error fails
/// the load.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model);

/// Optional. Called once for each model version after its instances are finalized, also if the load
/// failed later.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model);

/// Optional. Called once for each instance. The calls for one model do not overlap unless the
/// backend's attributes permit parallel loading. An error fails the load.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(
    TRITONBACKEND_ModelInstance* instance);

/// Optional. Called once for each instance after its last execution.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(
    TRITONBACKEND_ModelInstance* instance);

/// Required. Executes a batch. Calls for one instance never overlap. The array `requests` is valid
/// only during the call. If the function returns NULL, the backend owns the requests and must
/// release each exactly once, during the call or later. If it returns an error, the server owns all
/// requests and fails them; the backend must not have released or answered any of them.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
    uint32_t request_count);

/// Optional. Called when readiness is checked. An error means that the instance cannot serve at
/// this time.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady(
    TRITONBACKEND_ModelInstance* instance);

/// Optional. Called after TRITONBACKEND_Initialize, so that the backend sets its attributes, which
/// are valid only during the call.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_GetBackendAttribute(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_BackendAttribute* backend_attributes);

/// Optional: a backend implements all five batching functions or none. Creates the batcher of a
/// model, which belongs to the backend.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatcherInitialize(
    TRITONBACKEND_Batcher** batcher, TRITONBACKEND_Model* model);

/// Deletes the batcher that TRITONBACKEND_ModelBatcherInitialize created.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatcherFinalize(
    TRITONBACKEND_Batcher* batcher);

/// Decides whether a request joins the batch that is being formed. The request is valid during the
/// call. `userp` is the pointer of the batch.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchIncludeRequest(
    TRITONBACKEND_Request* request, void* userp, bool* should_include);

/// Begins a batch. The two other batch functions get `*userp`.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchInitialize(
    const TRITONBACKEND_Batcher* batcher, void** userp);

/// Ends a batch and deletes the object at `userp`.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelBatchFinalize(void* userp);

// ---- Version and memory manager -----------------------------------------------------------------

/// Returns the version of this API that the running server provides. Never fails. A backend that
/// was built for (major, minor) can be used if the major numbers are equal and the server's minor
/// number is not smaller.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t* major,
                                                                    uint32_t* minor);

/// Allocates `byte_size` bytes. UNSUPPORTED if the server cannot provide that kind of memory,
/// UNAVAILABLE if its pool is exhausted. May be called from any thread.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_MemoryManagerAllocate(
    TRITONBACKEND_MemoryManager* manager, void** buffer, TRITONSERVER_MemoryType memory_type,
    int64_t memory_type_id, uint64_t byte_size);

/// Frees a buffer; type and id must be those of its allocation. May be called from any thread.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_MemoryManagerFree(
    TRITONBACKEND_MemoryManager* manager, void* buffer, TRITONSERVER_MemoryType memory_type,
    int64_t memory_type_id);

// ---- Inputs and outputs -------------------------------------------------------------------------

/// Returns an input's properties; each out pointer may be NULL. `byte_size` is the number of bytes
/// in the request, in `buffer_count` buffers. Strings and shape belong to the request.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InputProperties(
    TRITONBACKEND_Input* input, const char** name, TRITONSERVER_DataType* datatype,
    const int64_t** shape, uint32_t* dims_count, uint64_t* byte_size, uint32_t* buffer_count);

/// Does the same as TRITONBACKEND_InputProperties for the data of a host policy, or for the default
/// data if that policy has none.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InputPropertiesForHostPolicy(
    TRITONBACKEND_Input* input, const char* host_policy_name, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint32_t* dims_count,
    uint64_t* byte_size, uint32_t* buffer_count);

/// Returns one buffer of an input's data, which is valid until the request is released.
/// `*memory_type` and `*memory_type_id` are the backend's preference at the call and the actual
/// location at the return.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InputBuffer(
    TRITONBACKEND_Input* input, uint32_t index, const void** buffer, uint64_t* buffer_byte_size,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// Does the same as TRITONBACKEND_InputBuffer for the data of a host policy, or for the default
/// data if that policy has none.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InputBufferForHostPolicy(
    TRITONBACKEND_Input* input, const char* host_policy_name, uint32_t index, const void** buffer,
    uint64_t* buffer_byte_size, TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// Returns one buffer of an input's data, with attributes that belong to the input.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InputBufferAttributes(
    TRITONBACKEND_Input* input, uint32_t index, const void** buffer,
    TRITONSERVER_BufferAttributes** buffer_attributes);

/// Returns the buffer for an output, once for each output (ALREADY_EXISTS after that).
/// `*memory_type` and `*memory_type_id` are the backend's preference at the call and the actual
/// location at the return. The buffer belongs to the response and must not be used after the
/// response is sent.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(
    TRITONBACKEND_Output* output, void** buffer, uint64_t buffer_byte_size,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// Returns the attributes of the output's buffer, which belong to the output. May be called only
/// after TRITONBACKEND_OutputBuffer.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_OutputBufferAttributes(
    TRITONBACKEND_Output* output, TRITONSERVER_BufferAttributes** buffer_attributes);

// ---- Requests -----------------------------------------------------------------------------------

/// Returns the request's id, or "" if it has none. The results of this and the functions below
/// belong to the request and are valid until its release.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestId(TRITONBACKEND_Request* request,
                                                                   const char** id);

/// Returns whether the client has cancelled the request. The backend should then answer with a
/// CANCELLED error and the final flag, and release the request.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestIsCancelled(
    TRITONBACKEND_Request* request, bool* is_cancelled);

/// Returns the numeric correlation id, or 0 if there is none. INVALID_ARG if the id is a string.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationId(
    TRITONBACKEND_Request* request, uint64_t* id);

/// Returns the request's limit for its time in the queue, in microseconds; 0 means none.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InferenceRequestTimeoutMicroseconds(
    TRITONBACKEND_Request* request, uint64_t* timeout);

/// Returns the correlation id string. INVALID_ARG if the id is a number.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestCorrelationIdString(
    TRITONBACKEND_Request* request, const char** id);

/// Returns the request's TRITONSERVER_RequestFlag bits.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestFlags(
    TRITONBACKEND_Request* request, uint32_t* flags);

/// Returns the number of the request's parameters.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestParameterCount(
    TRITONBACKEND_Request* request, uint32_t* count);

/// Returns a parameter by index. `*vvalue` points to a NUL-terminated string, an int64_t, a bool or
/// a double, depending on `*type`.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestParameter(
    TRITONBACKEND_Request* request, uint32_t index, const char** key,
    TRITONSERVER_ParameterType* type, const void** vvalue);

/// Returns the number of inputs.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(
    TRITONBACKEND_Request* request, uint32_t* count);

/// Returns the name of an input by index. INVALID_ARG for an index out of bounds.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestInputName(
    TRITONBACKEND_Request* request, uint32_t index, const char** input_name);

/// Returns an input by name. INVALID_ARG if the request does not have it.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestInput(
    TRITONBACKEND_Request* request, const char* name, TRITONBACKEND_Input** input);

/// Returns an input by index. INVALID_ARG for an index out of bounds.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(
    TRITONBACKEND_Request* request, uint32_t index, TRITONBACKEND_Input** input);

/// Returns the number of requested outputs: those that the client named, or all outputs.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(
    TRITONBACKEND_Request* request, uint32_t* count);

/// Returns the name of a requested output by index. INVALID_ARG for an index out of bounds.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(
    TRITONBACKEND_Request* request, uint32_t index, const char** output_name);

/// Returns the preferred location of the buffer of an output; `name` and `byte_size` may be NULL.
/// The result is only a hint. UNAVAILABLE if the client's allocator has no such callback.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestOutputBufferProperties(
    TRITONBACKEND_Request* request, const char* name, size_t* byte_size,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// Releases the request, exactly once. The request and its objects are not valid afterwards, and
/// its statistics must have been reported before. With TRITONSERVER_REQUEST_RELEASE_RESCHEDULE the
/// server queues it again for the next iteration. After an error the backend still owns the
/// request.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestRelease(
    TRITONBACKEND_Request* request, uint32_t release_flags);

/// Returns the request's trace, which belongs to the request, or NULL.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_RequestTrace(
    TRITONBACKEND_Request* request, TRITONSERVER_InferenceTrace** trace);

// ---- Responses ----------------------------------------------------------------------------------

/// Returns whether the client has cancelled the request of the factory.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryIsCancelled(
    TRITONBACKEND_ResponseFactory* factory, bool* is_cancelled);

/// Creates a factory, which can create and send responses after the request is released. The
/// backend deletes it.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryNew(
    TRITONBACKEND_ResponseFactory** factory, TRITONBACKEND_Request* request);

/// Deletes a factory. The final flag must have been sent.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryDelete(
    TRITONBACKEND_ResponseFactory* factory);

/// Sends flags without a response, in practice TRITONSERVER_RESPONSE_COMPLETE_FINAL.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseFactorySendFlags(
    TRITONBACKEND_ResponseFactory* factory, uint32_t send_flags);

/// Creates an empty response to a request. The backend owns it until it is sent. The outputs and
/// buffers of one response must be complete before the next one is created, and must be added from
/// one thread. Responses may be sent in any order.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseNew(
    TRITONBACKEND_Response** response, TRITONBACKEND_Request* request);

/// Does the same as TRITONBACKEND_ResponseNew, from a factory.
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

/// Sends a response. The server owns it afterwards, also if sending fails. With a non-NULL `error`,
/// which the backend keeps, the response is a failure. TRITONSERVER_RESPONSE_COMPLETE_FINAL must be
/// sent exactly once for each request, with its last response or with
/// TRITONBACKEND_ResponseFactorySendFlags.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ResponseSend(
    TRITONBACKEND_Response* response, uint32_t send_flags, TRITONSERVER_Error* error);

/// Returns an output that was added to the response, by name; NOT_FOUND if there is none. The
/// server provides this function. Name and shape belong to the response.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InferenceResponseOutputByName(
    TRITONBACKEND_Response* response, const char* name, TRITONSERVER_DataType* datatype,
    const int64_t** shape, uint64_t* dim_count);

/// Returns an output that was added to the response, by index. The server provides this function.
/// Name and shape belong to the response.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_InferenceResponseOutput(
    TRITONBACKEND_Response* response, uint32_t index, const char** name,
    TRITONSERVER_DataType* datatype, const int64_t** shape, uint64_t* dim_count);

// ---- Sequence state -----------------------------------------------------------------------------

/// Creates the next state of the request's sequence. INVALID_ARG unless the model's sequence
/// batching declares a state of that name. The state belongs to the request.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_StateNew(
    TRITONBACKEND_State** state, TRITONBACKEND_Request* request, const char* name,
    TRITONSERVER_DataType datatype, const int64_t* shape, uint32_t dims_count);

/// Replaces the old state by the new one. Without this call the old state is kept. The object must
/// not be used afterwards.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_StateUpdate(TRITONBACKEND_State* state);

/// Returns the buffer for the state. `*memory_type` and `*memory_type_id` are the backend's
/// preference at the call and the actual location at the return.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_StateBuffer(
    TRITONBACKEND_State* state, void** buffer, uint64_t buffer_byte_size,
    TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id);

/// Returns the attributes of the state's buffer, which belong to the state.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_StateBufferAttributes(
    TRITONBACKEND_State* state, TRITONSERVER_BufferAttributes** buffer_attributes);

// ---- Backend ------------------------------------------------------------------------------------

/// Returns the backend's name. The results of this and the functions below belong to the server.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendName(TRITONBACKEND_Backend* backend,
                                                                     const char** name);

/// Returns the backend's settings, {"cmdline": {"<setting>": "<value>"}}. The message belongs to
/// the server and must not be deleted.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendConfig(
    TRITONBACKEND_Backend* backend, TRITONSERVER_Message** backend_config);

/// Returns the execution policy.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendExecutionPolicy(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_ExecutionPolicy* policy);

/// Sets the execution policy. May be called only inside TRITONBACKEND_Initialize. Models with
/// sequence batching always use TRITONBACKEND_EXECUTION_BLOCKING.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendSetExecutionPolicy(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_ExecutionPolicy policy);

/// Returns the directory of the backend's library and its other files.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendArtifacts(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_ArtifactType* artifact_type,
    const char** location);

/// Returns the memory manager of the server.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendMemoryManager(
    TRITONBACKEND_Backend* backend, TRITONBACKEND_MemoryManager** manager);

/// Returns the pointer that TRITONBACKEND_BackendSetState stored, or NULL.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendState(
    TRITONBACKEND_Backend* backend, void** state);

/// Stores a pointer of the backend. The server never reads the object.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendSetState(
    TRITONBACKEND_Backend* backend, void* state);

/// Adds a kind of instance group for models that name none, the most preferred one first; with
/// `count` 0 the server chooses the number. May be called only inside
/// TRITONBACKEND_GetBackendAttribute.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
    TRITONBACKEND_BackendAttribute* backend_attributes, TRITONSERVER_InstanceGroupKind kind,
    uint64_t count, const uint64_t* device_ids, uint64_t id_count);

/// Sets whether instances of one model may be initialized at the same time. Default false. May be
/// called only inside TRITONBACKEND_GetBackendAttribute.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error*
TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(
    TRITONBACKEND_BackendAttribute* backend_attributes, bool enabled);

// ---- Model instance -----------------------------------------------------------------------------

/// Returns the instance's name, "<group name>_<index in the group>"; the instances of a group on
/// several GPUs have the same names. The results of this and the functions below belong to the
/// instance.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceName(
    TRITONBACKEND_ModelInstance* instance, const char** name);

/// Returns the kind of device on which the instance runs: CPU, GPU or MODEL; never AUTO.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceKind(
    TRITONBACKEND_ModelInstance* instance, TRITONSERVER_InstanceGroupKind* kind);

/// Returns the GPU's number for an instance of kind GPU.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceDeviceId(
    TRITONBACKEND_ModelInstance* instance, int32_t* device_id);

/// Returns the instance's host policy, {"<policy>": {"<setting>": "<value>"}}. The message belongs
/// to the server and must not be deleted.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceHostPolicy(
    TRITONBACKEND_ModelInstance* instance, TRITONSERVER_Message** host_policy);

/// Returns whether the server never gives the instance requests.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceIsPassive(
    TRITONBACKEND_ModelInstance* instance, bool* is_passive);

/// Returns the number of optimization profiles of the instance's group.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceProfileCount(
    TRITONBACKEND_ModelInstance* instance, uint32_t* count);

/// Returns the name of an optimization profile by index. INVALID_ARG for an index out of bounds.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceProfileName(
    TRITONBACKEND_ModelInstance* instance, uint32_t index, const char** profile_name);

/// Returns the number of secondary devices of the instance's group.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSecondaryDeviceCount(
    TRITONBACKEND_ModelInstance* instance, uint32_t* count);

/// Returns the name of the kind and the id of a secondary device by index. INVALID_ARG for an index
/// out of bounds.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSecondaryDeviceProperties(
    TRITONBACKEND_ModelInstance* instance, uint32_t index, const char** kind, int64_t* id);

/// Returns the instance's model.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceModel(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Model** model);

/// Returns the pointer that TRITONBACKEND_ModelInstanceSetState stored, or NULL.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceState(
    TRITONBACKEND_ModelInstance* instance, void** state);

/// Stores a pointer of the backend. The server never reads the object.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSetState(
    TRITONBACKEND_ModelInstance* instance, void* state);

/// Reports the memory that the instance uses, one entry of `usage` for each location. Replaces an
/// earlier report. The array and its entries belong to the backend.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportMemoryUsage(
    TRITONBACKEND_ModelInstance* instance, TRITONSERVER_BufferAttributes** usage,
    uint32_t usage_size);

/// Reports one request's times, before its release. The execution is from exec_start to exec_end,
/// the model's computation from compute_start to compute_end. With `success` false the request
/// counts as failed and the times are ignored.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request, bool success,
    uint64_t exec_start_ns, uint64_t compute_start_ns, uint64_t compute_end_ns,
    uint64_t exec_end_ns);

/// Creates empty statistics of one response. The backend deletes them.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsNew(
    TRITONBACKEND_ModelInstanceResponseStatistics** response_statistics);

/// Deletes statistics. The objects to which they refer belong to the backend.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsDelete(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics);

/// Sets the instance that created the response. Required.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error*
TRITONBACKEND_ModelInstanceResponseStatisticsSetModelInstance(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    TRITONBACKEND_ModelInstance* model_instance);

/// Sets the factory that created the response. Required; the factory must exist until the report.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error*
TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseFactory(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    TRITONBACKEND_ResponseFactory* response_factory);

/// Sets the time at which the work on the response began. Required.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error*
TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseStart(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics, uint64_t response_start);

/// Sets the time at which the output of the response began. 0 or unset means an empty response.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error*
TRITONBACKEND_ModelInstanceResponseStatisticsSetComputeOutputStart(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics,
    uint64_t compute_output_start);

/// Sets the time at which the response was sent. Required.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error*
TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseEnd(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics, uint64_t response_end);

/// Sets the error that was sent; NULL means success, CANCELLED counts as a cancellation. The error
/// belongs to the backend and must exist until the report.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetError(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics, TRITONSERVER_Error* error);

/// Reports the statistics of one response, under its index among the responses of its factory.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportResponseStatistics(
    TRITONBACKEND_ModelInstanceResponseStatistics* response_statistics);

/// Reports one execution of a batch of `batch_size`, once for all its requests.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance* instance, uint64_t batch_size, uint64_t exec_start_ns,
    uint64_t compute_start_ns, uint64_t compute_end_ns, uint64_t exec_end_ns);

// ---- Model --------------------------------------------------------------------------------------

/// Returns the model's name. The results of this and the functions below belong to the model,
/// unless stated otherwise.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelName(TRITONBACKEND_Model* model,
                                                                   const char** name);

/// Returns the model's version.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model* model,
                                                                      uint64_t* version);

/// Returns the model's directory, which contains its version directories; a local copy if the
/// repository is remote.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelRepository(
    TRITONBACKEND_Model* model, TRITONBACKEND_ArtifactType* artifact_type, const char** location);

/// Returns the model's configuration as JSON, in configuration version 1, the only one. The caller
/// deletes the message.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelConfig(
    TRITONBACKEND_Model* model, uint32_t config_version, TRITONSERVER_Message** model_config);

/// Returns whether the backend may complete the configuration; false with strict model
/// configuration.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(
    TRITONBACKEND_Model* model, bool* auto_complete_config);

/// Replaces the configuration. May be called only inside TRITONBACKEND_ModelInitialize. Inputs,
/// outputs, the maximum batch size and a scheduler that was not set may change; other fields may
/// not. The caller keeps the ownership of the message.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelSetConfig(
    TRITONBACKEND_Model* model, uint32_t config_version, TRITONSERVER_Message* model_config);

/// Returns the server, with which a backend can send requests to other models.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelServer(TRITONBACKEND_Model* model,
                                                                     TRITONSERVER_Server** server);

/// Returns the model's backend.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelBackend(
    TRITONBACKEND_Model* model, TRITONBACKEND_Backend** backend);

/// Returns the pointer that TRITONBACKEND_ModelSetState stored, or NULL.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelState(TRITONBACKEND_Model* model,
                                                                    void** state);

/// Stores a pointer of the backend. The server never reads the object.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelSetState(TRITONBACKEND_Model* model,
                                                                       void* state);

/// Reports the memory that the model uses without its instances, one entry of `usage` for each
/// location. Replaces an earlier report. The array and its entries belong to the backend.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* TRITONBACKEND_ModelReportMemoryUsage(
    TRITONBACKEND_Model* model, TRITONSERVER_BufferAttributes** usage, uint32_t usage_size);

#ifdef __cplusplus
}  // extern "C"
#endif
