// SPDX-License-Identifier: Apache-2.0
// A backend that calls every function that the server provides to backends and checks the results,
// without the kit. tests/capi/backend_api_test.c writes its model and sends the requests. Every
// unexpected result fails the load or the request, with the line in the message.
#include <chrono>
#include <cstring>
#include <string>

#include "checks.h"
#include "triton/core/tritonbackend.h"

namespace {

/// Checks that the call is refused.
#define REFUSED(call)                    \
  do {                                   \
    TRITONSERVER_Error* error_ = (call); \
    EXPECT(error_ != nullptr);           \
    TRITONSERVER_ErrorDelete(error_);    \
  } while (false)

bool Same(const char* text, const char* expected) { return std::strcmp(text, expected) == 0; }

std::string TextOf(TRITONSERVER_Message* message) {
  const char* base = nullptr;
  size_t size = 0;
  if (TRITONSERVER_Error* error = TRITONSERVER_MessageSerializeToJson(message, &base, &size)) {
    TRITONSERVER_ErrorDelete(error);
    return "";
  }
  return std::string(base, size);
}

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

uint64_t NowNs() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

int backend_state = 1;
int model_state = 2;
int instance_state = 3;

TRITONSERVER_Error* CheckMemoryManager(TRITONBACKEND_Backend* backend) {
  TRITONBACKEND_MemoryManager* manager = nullptr;
  void* buffer = nullptr;
  TRY(TRITONBACKEND_BackendMemoryManager(backend, &manager));
  TRY(TRITONBACKEND_MemoryManagerAllocate(manager, &buffer, TRITONSERVER_MEMORY_CPU, 0, 1000));
  EXPECT(buffer != nullptr);
  std::memset(buffer, 1, 1000);
  TRY(TRITONBACKEND_MemoryManagerFree(manager, buffer, TRITONSERVER_MEMORY_CPU, 0));
  REFUSED(TRITONBACKEND_MemoryManagerAllocate(manager, &buffer, TRITONSERVER_MEMORY_GPU, 0, 10));
  return nullptr;
}

TRITONSERVER_Error* CheckBackend(TRITONBACKEND_Backend* backend) {
  uint32_t major = 0, minor = 0;
  TRY(TRITONBACKEND_ApiVersion(&major, &minor));
  EXPECT(major == TRITONBACKEND_API_VERSION_MAJOR && minor >= TRITONBACKEND_API_VERSION_MINOR);
  const char* text = nullptr;
  TRY(TRITONBACKEND_BackendName(backend, &text));
  EXPECT(Same(text, "every_call"));
  TRITONSERVER_Message* config = nullptr;
  TRY(TRITONBACKEND_BackendConfig(backend, &config));
  EXPECT(Contains(TextOf(config), "\"asked\":\"for\""));
  TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  TRY(TRITONBACKEND_BackendArtifacts(backend, &type, &text));
  EXPECT(type == TRITONBACKEND_ARTIFACT_FILESYSTEM && text[0] == '/');
  TRITONBACKEND_ExecutionPolicy policy = TRITONBACKEND_EXECUTION_DEVICE_BLOCKING;
  TRY(TRITONBACKEND_BackendExecutionPolicy(backend, &policy));
  EXPECT(policy == TRITONBACKEND_EXECUTION_BLOCKING);
  TRY(TRITONBACKEND_BackendSetExecutionPolicy(backend, TRITONBACKEND_EXECUTION_BLOCKING));
  void* state = nullptr;
  TRY(TRITONBACKEND_BackendSetState(backend, &backend_state));
  TRY(TRITONBACKEND_BackendState(backend, &state));
  EXPECT(state == &backend_state);
  return CheckMemoryManager(backend);
}

TRITONSERVER_Error* ReportMemory(TRITONBACKEND_Model* model,
                                 TRITONBACKEND_ModelInstance* instance) {
  TRITONSERVER_BufferAttributes* usage = nullptr;
  TRY(TRITONSERVER_BufferAttributesNew(&usage));
  TRY(TRITONSERVER_BufferAttributesSetMemoryType(usage, TRITONSERVER_MEMORY_CPU));
  TRY(TRITONSERVER_BufferAttributesSetMemoryTypeId(usage, 0));
  TRY(TRITONSERVER_BufferAttributesSetByteSize(usage, model != nullptr ? 4321 : 1234));
  if (model != nullptr) {
    TRY(TRITONBACKEND_ModelReportMemoryUsage(model, &usage, 1));
  } else {
    // The last report counts. One with an invalid entry changes nothing.
    TRITONSERVER_BufferAttributes* two[] = {usage, usage};
    TRY(TRITONBACKEND_ModelInstanceReportMemoryUsage(instance, two, 2));
    TRY(TRITONBACKEND_ModelInstanceReportMemoryUsage(instance, &usage, 1));
    two[1] = nullptr;
    REFUSED(TRITONBACKEND_ModelInstanceReportMemoryUsage(instance, two, 2));
  }
  return TRITONSERVER_BufferAttributesDelete(usage);
}

/// Completes the output, which the configuration does not contain.
TRITONSERVER_Error* Complete(TRITONBACKEND_Model* model) {
  bool may_complete = false;
  TRY(TRITONBACKEND_ModelAutoCompleteConfig(model, &may_complete));
  EXPECT(may_complete);
  TRITONSERVER_Message* config = nullptr;
  TRY(TRITONBACKEND_ModelConfig(model, 1, &config));
  std::string text = TextOf(config);
  TRY(TRITONSERVER_MessageDelete(config));
  REFUSED(TRITONBACKEND_ModelConfig(model, 2, &config));
  const size_t at = text.find("\"output\":[]");
  EXPECT(at != std::string::npos);
  text.replace(at, 11, R"("output":[{"name":"OUTPUT0","data_type":"TYPE_FP32","dims":[-1]}])");
  TRY(TRITONSERVER_MessageNewFromSerializedJson(&config, text.data(), text.size()));
  TRY(TRITONBACKEND_ModelSetConfig(model, 1, config));
  return TRITONSERVER_MessageDelete(config);
}

TRITONSERVER_Error* CheckModel(TRITONBACKEND_Model* model) {
  const char* text = nullptr;
  TRY(TRITONBACKEND_ModelName(model, &text));
  EXPECT(Same(text, "every"));
  uint64_t version = 0;
  TRY(TRITONBACKEND_ModelVersion(model, &version));
  EXPECT(version == 1);
  TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  TRY(TRITONBACKEND_ModelRepository(model, &type, &text));
  EXPECT(Contains(text, "/every"));
  TRITONSERVER_Server* server = nullptr;
  TRY(TRITONBACKEND_ModelServer(model, &server));
  EXPECT(server != nullptr);
  TRITONBACKEND_Backend* backend = nullptr;
  void* state = nullptr;
  TRY(TRITONBACKEND_ModelBackend(model, &backend));
  TRY(TRITONBACKEND_BackendState(backend, &state));
  EXPECT(state == &backend_state);
  TRY(TRITONBACKEND_ModelSetState(model, &model_state));
  TRY(TRITONBACKEND_ModelState(model, &state));
  EXPECT(state == &model_state);
  TRY(ReportMemory(model, nullptr));
  return Complete(model);
}

TRITONSERVER_Error* CheckInstance(TRITONBACKEND_ModelInstance* instance) {
  const char* text = nullptr;
  TRY(TRITONBACKEND_ModelInstanceName(instance, &text));
  EXPECT(Same(text, "the_group_0"));
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_AUTO;
  TRY(TRITONBACKEND_ModelInstanceKind(instance, &kind));
  EXPECT(kind == TRITONSERVER_INSTANCEGROUPKIND_CPU);
  int32_t device = -1;
  TRY(TRITONBACKEND_ModelInstanceDeviceId(instance, &device));
  EXPECT(device == 0);
  TRITONSERVER_Message* policy = nullptr;
  TRY(TRITONBACKEND_ModelInstanceHostPolicy(instance, &policy));
  EXPECT(Contains(TextOf(policy), "\"here\""));
  bool passive = true;
  TRY(TRITONBACKEND_ModelInstanceIsPassive(instance, &passive));
  EXPECT(!passive);
  uint32_t count = 9;
  TRY(TRITONBACKEND_ModelInstanceProfileCount(instance, &count));
  EXPECT(count == 0);  // only models of TensorRT may have profiles
  REFUSED(TRITONBACKEND_ModelInstanceProfileName(instance, 0, &text));
  TRY(TRITONBACKEND_ModelInstanceSecondaryDeviceCount(instance, &count));
  EXPECT(count == 1);
  int64_t id = -1;
  TRY(TRITONBACKEND_ModelInstanceSecondaryDeviceProperties(instance, 0, &text, &id));
  EXPECT(Same(text, "KIND_NVDLA") && id == 5);
  REFUSED(TRITONBACKEND_ModelInstanceSecondaryDeviceProperties(instance, 1, &text, &id));
  TRITONBACKEND_Model* model = nullptr;
  void* state = nullptr;
  TRY(TRITONBACKEND_ModelInstanceModel(instance, &model));
  TRY(TRITONBACKEND_ModelState(model, &state));
  EXPECT(state == &model_state);
  TRY(TRITONBACKEND_ModelInstanceSetState(instance, &instance_state));
  TRY(TRITONBACKEND_ModelInstanceState(instance, &state));
  EXPECT(state == &instance_state);
  return ReportMemory(nullptr, instance);
}

/// Checks the properties of the request other than tensors.
TRITONSERVER_Error* CheckSettings(TRITONBACKEND_Request* request) {
  const char* text = nullptr;
  TRY(TRITONBACKEND_RequestId(request, &text));
  EXPECT(Same(text, "the id"));
  uint64_t number = 0;
  REFUSED(TRITONBACKEND_RequestCorrelationId(request, &number));
  TRY(TRITONBACKEND_RequestCorrelationIdString(request, &text));
  EXPECT(Same(text, "the sequence"));
  TRY(TRITONBACKEND_InferenceRequestTimeoutMicroseconds(request, &number));
  EXPECT(number == 60000000);
  uint32_t flags = 0;
  TRY(TRITONBACKEND_RequestFlags(request, &flags));
  EXPECT(flags == TRITONSERVER_REQUEST_FLAG_SEQUENCE_START);
  bool cancelled = true;
  TRY(TRITONBACKEND_RequestIsCancelled(request, &cancelled));
  EXPECT(!cancelled);
  uint32_t count = 0;
  TRY(TRITONBACKEND_RequestParameterCount(request, &count));
  EXPECT(count == 4);
  TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
  const void* value = nullptr;
  TRY(TRITONBACKEND_RequestParameter(request, 3, &text, &type, &value));
  EXPECT(Same(text, "half") && type == TRITONSERVER_PARAMETER_DOUBLE);
  EXPECT(*static_cast<const double*>(value) == 0.5);
  REFUSED(TRITONBACKEND_RequestParameter(request, 4, &text, &type, &value));
  TRITONSERVER_InferenceTrace* trace = nullptr;
  TRY(TRITONBACKEND_RequestTrace(request, &trace));
  EXPECT(trace != nullptr);
  TRY(TRITONBACKEND_RequestOutputCount(request, &count));
  EXPECT(count == 1);
  TRY(TRITONBACKEND_RequestOutputName(request, 0, &text));
  EXPECT(Same(text, "OUTPUT0"));
  REFUSED(TRITONBACKEND_RequestOutputName(request, 1, &text));
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_GPU;
  int64_t id = 7;
  size_t size = 12;
  TRY(TRITONBACKEND_RequestOutputBufferProperties(request, "OUTPUT0", &size, &memory, &id));
  EXPECT(memory == TRITONSERVER_MEMORY_CPU && id == 0);
  return nullptr;
}

/// Checks the input, which has two buffers, and one buffer for the policy "here".
TRITONSERVER_Error* CheckInput(TRITONBACKEND_Request* request, TRITONBACKEND_Input* input) {
  const char* name = nullptr;
  uint32_t count = 0;
  TRY(TRITONBACKEND_RequestInputCount(request, &count));
  EXPECT(count == 1);
  TRY(TRITONBACKEND_RequestInputName(request, 0, &name));
  EXPECT(Same(name, "INPUT0"));
  REFUSED(TRITONBACKEND_RequestInputName(request, 1, &name));
  TRITONBACKEND_Input* same = nullptr;
  TRY(TRITONBACKEND_RequestInputByIndex(request, 0, &same));
  EXPECT(same == input);
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  const int64_t* shape = nullptr;
  uint32_t rank = 0, buffers = 0;
  uint64_t size = 0;
  TRY(TRITONBACKEND_InputProperties(input, &name, &type, &shape, &rank, &size, &buffers));
  EXPECT(type == TRITONSERVER_TYPE_FP32 && rank == 2 && shape[0] == 1 && shape[1] == 3);
  EXPECT(size == 12 && buffers == 2);
  TRY(TRITONBACKEND_InputPropertiesForHostPolicy(input, "here", nullptr, nullptr, nullptr, nullptr,
                                                 &size, &buffers));
  EXPECT(size == 12 && buffers == 1);
  TRY(TRITONBACKEND_InputPropertiesForHostPolicy(input, "elsewhere", &name, nullptr, nullptr,
                                                 nullptr, &size, &buffers));
  EXPECT(Same(name, "INPUT0") && size == 12 && buffers == 2);

  const void* buffer = nullptr;
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_GPU;
  int64_t id = 9;
  TRY(TRITONBACKEND_InputBuffer(input, 1, &buffer, &size, &memory, &id));
  EXPECT(size == 8 && memory == TRITONSERVER_MEMORY_CPU && id == 0);
  EXPECT(static_cast<const float*>(buffer)[1] == 3.0f);
  REFUSED(TRITONBACKEND_InputBuffer(input, 2, &buffer, &size, &memory, &id));
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  size_t attribute_size = 0;
  TRY(TRITONBACKEND_InputBufferAttributes(input, 1, &buffer, &attributes));
  TRY(TRITONSERVER_BufferAttributesByteSize(attributes, &attribute_size));
  EXPECT(attribute_size == 8);
  TRY(TRITONBACKEND_InputBufferForHostPolicy(input, "here", 0, &buffer, &size, &memory, &id));
  EXPECT(size == 12);
  REFUSED(TRITONBACKEND_InputBufferForHostPolicy(input, "here", 1, &buffer, &size, &memory, &id));
  const void* other = nullptr;
  TRY(TRITONBACKEND_InputBufferForHostPolicy(input, "elsewhere", 0, &other, &size, &memory, &id));
  EXPECT(size == 4 && other != buffer);
  return nullptr;
}

/// Checks that the model has no state.
TRITONSERVER_Error* CheckNoState(TRITONBACKEND_Request* request) {
  TRITONBACKEND_State* state = nullptr;
  const int64_t shape[1] = {1};
  void* buffer = nullptr;
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
  int64_t id = 0;
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  REFUSED(TRITONBACKEND_StateNew(&state, request, "none", TRITONSERVER_TYPE_FP32, shape, 1));
  REFUSED(TRITONBACKEND_StateUpdate(nullptr));
  REFUSED(TRITONBACKEND_StateBuffer(nullptr, &buffer, 4, &memory, &id));
  REFUSED(TRITONBACKEND_StateBufferAttributes(nullptr, &attributes));
  return nullptr;
}

/// Fills the response with the content of the policy's buffer.
TRITONSERVER_Error* Fill(TRITONBACKEND_Response* response, TRITONBACKEND_Input* input) {
  const int64_t shape[2] = {1, 3};
  TRITONBACKEND_Output* output = nullptr;
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  TRY(TRITONBACKEND_ResponseOutput(response, &output, "OUTPUT0", TRITONSERVER_TYPE_FP32, shape, 2));
  REFUSED(TRITONBACKEND_OutputBufferAttributes(output, &attributes));
  void* buffer = nullptr;
  TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_GPU;
  int64_t id = 0;
  TRY(TRITONBACKEND_OutputBuffer(output, &buffer, 12, &memory, &id));
  EXPECT(memory == TRITONSERVER_MEMORY_CPU);
  REFUSED(TRITONBACKEND_OutputBuffer(output, &buffer, 12, &memory, &id));
  TRY(TRITONBACKEND_OutputBufferAttributes(output, &attributes));
  size_t size = 0;
  TRY(TRITONSERVER_BufferAttributesByteSize(attributes, &size));
  EXPECT(size == 12);
  const void* from = nullptr;
  uint64_t from_size = 0;
  TRY(TRITONBACKEND_InputBufferForHostPolicy(input, "here", 0, &from, &from_size, &memory, &id));
  std::memcpy(buffer, from, 12);

  TRY(TRITONBACKEND_ResponseSetStringParameter(response, "text", "a text"));
  TRY(TRITONBACKEND_ResponseSetIntParameter(response, "number", -5));
  TRY(TRITONBACKEND_ResponseSetBoolParameter(response, "flag", true));
  TRY(TRITONBACKEND_ResponseSetDoubleParameter(response, "half", 0.5));

  const char* name = nullptr;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
  const int64_t* dims = nullptr;
  uint64_t rank = 0;
  TRY(TRITONBACKEND_InferenceResponseOutput(response, 0, &name, &type, &dims, &rank));
  EXPECT(Same(name, "OUTPUT0") && type == TRITONSERVER_TYPE_FP32 && rank == 2 && dims[1] == 3);
  REFUSED(TRITONBACKEND_InferenceResponseOutput(response, 1, &name, &type, &dims, &rank));
  rank = 0;
  TRY(TRITONBACKEND_InferenceResponseOutputByName(response, "OUTPUT0", &type, &dims, &rank));
  EXPECT(rank == 2);
  REFUSED(TRITONBACKEND_InferenceResponseOutputByName(response, "other", &type, &dims, &rank));
  return nullptr;
}

TRITONSERVER_Error* ReportResponse(TRITONBACKEND_ModelInstance* instance,
                                   TRITONBACKEND_ResponseFactory* factory, uint64_t start_ns) {
  TRITONBACKEND_ModelInstanceResponseStatistics* statistics = nullptr;
  TRY(TRITONBACKEND_ModelInstanceResponseStatisticsNew(&statistics));
  REFUSED(TRITONBACKEND_ModelInstanceReportResponseStatistics(statistics));
  TRY(TRITONBACKEND_ModelInstanceResponseStatisticsSetModelInstance(statistics, instance));
  TRY(TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseFactory(statistics, factory));
  TRY(TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseStart(statistics, start_ns));
  TRY(TRITONBACKEND_ModelInstanceResponseStatisticsSetComputeOutputStart(statistics,
                                                                         start_ns + 10));
  TRY(TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseEnd(statistics, start_ns + 30));
  TRY(TRITONBACKEND_ModelInstanceResponseStatisticsSetError(statistics, nullptr));
  TRY(TRITONBACKEND_ModelInstanceReportResponseStatistics(statistics));
  return TRITONBACKEND_ModelInstanceResponseStatisticsDelete(statistics);
}

/// Sends the response from a factory, and the final flag separately.
TRITONSERVER_Error* Answer(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request,
                           TRITONBACKEND_ResponseFactory* factory) {
  const uint64_t start_ns = NowNs();
  TRY(CheckSettings(request));
  TRITONBACKEND_Input* input = nullptr;
  TRY(TRITONBACKEND_RequestInput(request, "INPUT0", &input));
  TRITONBACKEND_Input* none = nullptr;
  REFUSED(TRITONBACKEND_RequestInput(request, "INPUT1", &none));
  TRY(CheckInput(request, input));
  TRY(CheckNoState(request));
  bool cancelled = true;
  TRY(TRITONBACKEND_ResponseFactoryIsCancelled(factory, &cancelled));
  EXPECT(!cancelled);
  TRITONBACKEND_Response* response = nullptr;
  TRY(TRITONBACKEND_ResponseNew(&response, request));
  TRY(TRITONBACKEND_ResponseDelete(response));
  TRY(TRITONBACKEND_ResponseNewFromFactory(&response, factory));
  TRY(Fill(response, input));
  TRY(ReportResponse(instance, factory, start_ns));
  TRY(TRITONBACKEND_ModelInstanceReportStatistics(instance, request, true, start_ns, start_ns + 1,
                                                  start_ns + 2, start_ns + 3));
  TRY(TRITONBACKEND_ModelInstanceReportBatchStatistics(instance, 1, start_ns, start_ns + 1,
                                                       start_ns + 2, start_ns + 3));
  TRY(TRITONBACKEND_ResponseSend(response, 0, nullptr));
  return TRITONBACKEND_ResponseFactorySendFlags(factory, TRITONSERVER_RESPONSE_COMPLETE_FINAL);
}

/// Answers and releases a request. An error is the answer.
TRITONSERVER_Error* Serve(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request) {
  TRITONBACKEND_ResponseFactory* factory = nullptr;
  TRY(TRITONBACKEND_ResponseFactoryNew(&factory, request));
  if (TRITONSERVER_Error* error = Answer(instance, request, factory)) {
    TRITONBACKEND_Response* response = nullptr;
    TRY(TRITONBACKEND_ResponseNewFromFactory(&response, factory));
    TRY(TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error));
    TRITONSERVER_ErrorDelete(error);
  }
  REFUSED(TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_RESCHEDULE));
  TRY(TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_ALL));
  return TRITONBACKEND_ResponseFactoryDelete(factory);
}

}  // namespace

extern "C" {

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend* backend) {
  return CheckBackend(backend);
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_Finalize(TRITONBACKEND_Backend* backend) {
  void* state = nullptr;
  TRY(TRITONBACKEND_BackendState(backend, &state));
  EXPECT(state == &backend_state);
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_GetBackendAttribute(
    TRITONBACKEND_Backend*, TRITONBACKEND_BackendAttribute* attributes) {
  TRY(TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
      attributes, TRITONSERVER_INSTANCEGROUPKIND_CPU, 3, nullptr, 0));
  return TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(attributes, true);
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model* model) {
  return CheckModel(model);
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model* model) {
  void* state = nullptr;
  return TRITONBACKEND_ModelState(model, &state);
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(
    TRITONBACKEND_ModelInstance* instance) {
  return CheckInstance(instance);
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(
    TRITONBACKEND_ModelInstance* instance) {
  void* state = nullptr;
  return TRITONBACKEND_ModelInstanceState(instance, &state);
}

/// Returns ready if the instance is valid.
TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReady(
    TRITONBACKEND_ModelInstance* instance) {
  void* state = nullptr;
  TRY(TRITONBACKEND_ModelInstanceState(instance, &state));
  EXPECT(state == &instance_state);
  return nullptr;
}

TRITONBACKEND_ISPEC TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    TRY(Serve(instance, requests[i]));
  }
  return nullptr;
}

}  // extern "C"
