// SPDX-License-Identifier: Apache-2.0
// The C functions of the fake server.
#include <atomic>
#include <map>

#include "nereid/backend/lent_output.h"
#include "testing/fake_server.h"

using nereid::backend::testing::FakeAnswer;
using nereid::backend::testing::FakeOutput;
using nereid::backend::testing::Faults;
using nereid::backend::testing::GpuBuffers;
using nereid::backend::testing::ParameterValue;
using nereid::backend::testing::PinnedBuffers;

namespace {
std::atomic<int> live_errors{0};
std::atomic<int> live_messages{0};
std::atomic<int> live_responses{0};
}  // namespace

namespace nereid::backend::testing {
int LiveErrors() { return live_errors; }
int LiveMessages() { return live_messages; }
int LiveResponses() { return live_responses; }

FakeFaults& Faults() {
  static FakeFaults faults;
  return faults;
}

std::vector<std::string>& LogLines() {
  static std::vector<std::string> lines;
  return lines;
}
}  // namespace nereid::backend::testing

struct TRITONSERVER_Error {
  TRITONSERVER_Error_Code code;
  std::string message;
};

struct TRITONSERVER_Message {
  std::string text;
};

struct TRITONBACKEND_Output {
  FakeOutput* output;
};

struct TRITONBACKEND_Response {
  TRITONBACKEND_Request* request = nullptr;
  FakeAnswer answer;
  std::deque<TRITONBACKEND_Output> handles;
};

TRITONBACKEND_Backend::TRITONBACKEND_Backend() = default;
TRITONBACKEND_Backend::~TRITONBACKEND_Backend() = default;

namespace {

TRITONSERVER_Error* Fail(const std::string& message) {
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INVALID_ARG, message.c_str());
}

template <typename T>
TRITONSERVER_Error* Put(T* to, const T& value) {
  *to = value;
  return nullptr;
}

struct TypeRow {
  TRITONSERVER_DataType type;
  const char* name;
  uint32_t size;
};
constexpr TypeRow kTypes[] = {
    {TRITONSERVER_TYPE_BOOL, "BOOL", 1},     {TRITONSERVER_TYPE_UINT8, "UINT8", 1},
    {TRITONSERVER_TYPE_UINT16, "UINT16", 2}, {TRITONSERVER_TYPE_UINT32, "UINT32", 4},
    {TRITONSERVER_TYPE_UINT64, "UINT64", 8}, {TRITONSERVER_TYPE_INT8, "INT8", 1},
    {TRITONSERVER_TYPE_INT16, "INT16", 2},   {TRITONSERVER_TYPE_INT32, "INT32", 4},
    {TRITONSERVER_TYPE_INT64, "INT64", 8},   {TRITONSERVER_TYPE_FP16, "FP16", 2},
    {TRITONSERVER_TYPE_FP32, "FP32", 4},     {TRITONSERVER_TYPE_FP64, "FP64", 8},
    {TRITONSERVER_TYPE_BYTES, "BYTES", 0},   {TRITONSERVER_TYPE_BF16, "BF16", 2}};

}  // namespace

extern "C" {

// ---- tritonserver.h

TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code, const char* message) {
  ++live_errors;
  return new TRITONSERVER_Error{code, message};
}
void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error) {
  live_errors -= error == nullptr ? 0 : 1;
  delete error;
}
TRITONSERVER_Error_Code TRITONSERVER_ErrorCode(TRITONSERVER_Error* error) { return error->code; }
const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error) { return error->message.c_str(); }

const char* TRITONSERVER_DataTypeString(TRITONSERVER_DataType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) {
      return row.name;
    }
  }
  return "<invalid>";
}
TRITONSERVER_DataType TRITONSERVER_StringToDataType(const char* name) {
  for (const TypeRow& row : kTypes) {
    if (std::string(row.name) == name) {
      return row.type;
    }
  }
  return TRITONSERVER_TYPE_INVALID;
}
uint32_t TRITONSERVER_DataTypeByteSize(TRITONSERVER_DataType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) {
      return row.size;
    }
  }
  return 0;
}

bool TRITONSERVER_LogIsEnabled(TRITONSERVER_LogLevel level) {
  return level != TRITONSERVER_LOG_VERBOSE || nereid::backend::testing::Faults().logs_verbose;
}
TRITONSERVER_Error* TRITONSERVER_LogMessage(TRITONSERVER_LogLevel, const char*, int,
                                            const char* message) {
  nereid::backend::testing::LogLines().push_back(message);
  return nullptr;
}

TRITONSERVER_Error* TRITONSERVER_MessageNewFromSerializedJson(TRITONSERVER_Message** message,
                                                              const char* base, size_t size) {
  ++live_messages;
  *message = new TRITONSERVER_Message{std::string(base, size)};
  return nullptr;
}
TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message* message) {
  --live_messages;
  delete message;
  return nullptr;
}
TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message* message,
                                                        const char** base, size_t* size) {
  *base = message->text.data();
  *size = message->text.size();
  return nullptr;
}

// ---- Backend, model, instance

TRITONSERVER_Error* TRITONBACKEND_ApiVersion(uint32_t* major, uint32_t* minor) {
  *major = TRITONBACKEND_API_VERSION_MAJOR;
  *minor = TRITONBACKEND_API_VERSION_MINOR;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_BackendName(TRITONBACKEND_Backend* backend, const char** name) {
  return Put(name, backend->name.c_str());
}
TRITONSERVER_Error* TRITONBACKEND_BackendConfig(TRITONBACKEND_Backend* backend,
                                                TRITONSERVER_Message** config) {
  backend->message = std::make_unique<TRITONSERVER_Message>(TRITONSERVER_Message{backend->config});
  return Put(config, backend->message.get());
}
TRITONSERVER_Error* TRITONBACKEND_BackendArtifacts(TRITONBACKEND_Backend* backend,
                                                   TRITONBACKEND_ArtifactType* type,
                                                   const char** location) {
  *type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  return Put(location, backend->directory.c_str());
}
TRITONSERVER_Error* TRITONBACKEND_BackendSetExecutionPolicy(TRITONBACKEND_Backend* backend,
                                                            TRITONBACKEND_ExecutionPolicy policy) {
  return Put(&backend->policy, policy);
}
TRITONSERVER_Error* TRITONBACKEND_BackendState(TRITONBACKEND_Backend* backend, void** state) {
  return Put(state, backend->state);
}
TRITONSERVER_Error* TRITONBACKEND_BackendSetState(TRITONBACKEND_Backend* backend, void* state) {
  return Put(&backend->state, state);
}
TRITONSERVER_Error* TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
    TRITONBACKEND_BackendAttribute*, TRITONSERVER_InstanceGroupKind, uint64_t, const uint64_t*,
    uint64_t) {
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(
    TRITONBACKEND_BackendAttribute*, bool) {
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ModelName(TRITONBACKEND_Model* model, const char** name) {
  return Put(name, model->name.c_str());
}
TRITONSERVER_Error* TRITONBACKEND_ModelVersion(TRITONBACKEND_Model* model, uint64_t* version) {
  return Put(version, model->version);
}
TRITONSERVER_Error* TRITONBACKEND_ModelRepository(TRITONBACKEND_Model* model,
                                                  TRITONBACKEND_ArtifactType* type,
                                                  const char** location) {
  *type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  return Put(location, model->directory.c_str());
}
TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* model, uint32_t,
                                              TRITONSERVER_Message** config) {
  return TRITONSERVER_MessageNewFromSerializedJson(config, model->config.data(),
                                                   model->config.size());
}
TRITONSERVER_Error* TRITONBACKEND_ModelSetConfig(TRITONBACKEND_Model* model, uint32_t,
                                                 TRITONSERVER_Message* config) {
  return Put(&model->config, config->text);
}
TRITONSERVER_Error* TRITONBACKEND_ModelAutoCompleteConfig(TRITONBACKEND_Model* model,
                                                          bool* complete) {
  return Put(complete, model->auto_complete);
}
TRITONSERVER_Error* TRITONBACKEND_ModelBackend(TRITONBACKEND_Model* model,
                                               TRITONBACKEND_Backend** backend) {
  return Put(backend, model->backend);
}
TRITONSERVER_Error* TRITONBACKEND_ModelState(TRITONBACKEND_Model* model, void** state) {
  return Put(state, model->state);
}
TRITONSERVER_Error* TRITONBACKEND_ModelSetState(TRITONBACKEND_Model* model, void* state) {
  return Put(&model->state, state);
}

TRITONSERVER_Error* TRITONBACKEND_ModelServer(TRITONBACKEND_Model*, TRITONSERVER_Server** server) {
  return Put(server, static_cast<TRITONSERVER_Server*>(nullptr));
}
TRITONSERVER_Error* TRITONSERVER_ServerMetadata(TRITONSERVER_Server*,
                                                TRITONSERVER_Message** metadata) {
  constexpr std::string_view kMetadata = R"({"name":"fake","version":"1.2.3","extensions":[]})";
  return TRITONSERVER_MessageNewFromSerializedJson(metadata, kMetadata.data(), kMetadata.size());
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceName(TRITONBACKEND_ModelInstance* instance,
                                                    const char** name) {
  return Put(name, instance->name.c_str());
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceKind(TRITONBACKEND_ModelInstance* instance,
                                                    TRITONSERVER_InstanceGroupKind* kind) {
  return Put(kind, instance->kind);
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceDeviceId(TRITONBACKEND_ModelInstance* instance,
                                                        int32_t* device_id) {
  return Put(device_id, instance->device_id);
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceProfileCount(TRITONBACKEND_ModelInstance* instance,
                                                            uint32_t* count) {
  return Put(count, static_cast<uint32_t>(instance->profiles.size()));
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceProfileName(TRITONBACKEND_ModelInstance* instance,
                                                           uint32_t index, const char** name) {
  return Put(name, instance->profiles[index].c_str());
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSecondaryDeviceCount(
    TRITONBACKEND_ModelInstance* instance, uint32_t* count) {
  return Put(count, static_cast<uint32_t>(instance->dla_cores.size()));
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSecondaryDeviceProperties(
    TRITONBACKEND_ModelInstance* instance, uint32_t index, const char** kind, int64_t* id) {
  *kind = "KIND_NVDLA";
  return Put(id, instance->dla_cores[index]);
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceModel(TRITONBACKEND_ModelInstance* instance,
                                                     TRITONBACKEND_Model** model) {
  return Put(model, instance->model);
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceState(TRITONBACKEND_ModelInstance* instance,
                                                     void** state) {
  return Put(state, instance->state);
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSetState(TRITONBACKEND_ModelInstance* instance,
                                                        void* state) {
  return Put(&instance->state, state);
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request* request, bool success,
    uint64_t exec_start_ns, uint64_t compute_start_ns, uint64_t compute_end_ns,
    uint64_t exec_end_ns) {
  request->statistics.push_back(
      {success, exec_start_ns, compute_start_ns, compute_end_ns, exec_end_ns});
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance* instance, uint64_t batch_size, uint64_t, uint64_t, uint64_t,
    uint64_t) {
  instance->statistics.push_back({batch_size});
  return nullptr;
}

// ---- Requests

TRITONSERVER_Error* TRITONBACKEND_RequestTrace(TRITONBACKEND_Request* request,
                                               TRITONSERVER_InferenceTrace** trace) {
  return Put(trace, request->trace);
}
TRITONSERVER_Error* TRITONSERVER_InferenceTraceReportActivity(TRITONSERVER_InferenceTrace* trace,
                                                              uint64_t, const char* name) {
  trace->activities.emplace_back(name);
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestIsCancelled(TRITONBACKEND_Request* request,
                                                     bool* cancelled) {
  ++request->cancellation_polls;
  return Put(cancelled,
             request->cancelled || request->cancellation_polls == request->cancelled_at_poll);
}
TRITONSERVER_Error* TRITONBACKEND_RequestParameterCount(TRITONBACKEND_Request* request,
                                                        uint32_t* count) {
  return Put(count, static_cast<uint32_t>(request->parameters.size()));
}
TRITONSERVER_Error* TRITONBACKEND_RequestParameter(TRITONBACKEND_Request* request, uint32_t index,
                                                   const char** key,
                                                   TRITONSERVER_ParameterType* type,
                                                   const void** value) {
  if (index >= request->parameters.size()) {
    return Fail("no such parameter");
  }
  const auto& [name, content] = request->parameters[index];
  *key = name.c_str();
  *type = static_cast<TRITONSERVER_ParameterType>(content.index());
  *value =
      std::holds_alternative<std::string>(content)
          ? static_cast<const void*>(std::get<std::string>(content).c_str())
          : std::visit([](const auto& held) { return static_cast<const void*>(&held); }, content);
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestInput(TRITONBACKEND_Request* request, const char* name,
                                               TRITONBACKEND_Input** input) {
  for (TRITONBACKEND_Input& candidate : request->inputs) {
    if (candidate.name == name) {
      return Put(input, &candidate);
    }
  }
  return Fail(std::string("unknown request input name ") + name);
}
TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request* request,
                                                      uint32_t index, TRITONBACKEND_Input** input) {
  return index < request->inputs.size() ? Put(input, &request->inputs[index])
                                        : Fail("no such input");
}
TRITONSERVER_Error* TRITONBACKEND_BackendMemoryManager(TRITONBACKEND_Backend* backend,
                                                       TRITONBACKEND_MemoryManager** manager) {
  return Put(manager, reinterpret_cast<TRITONBACKEND_MemoryManager*>(backend));
}
TRITONSERVER_Error* TRITONBACKEND_MemoryManagerAllocate(TRITONBACKEND_MemoryManager*, void** buffer,
                                                        const TRITONSERVER_MemoryType type,
                                                        const int64_t, const uint64_t size) {
  if (type != TRITONSERVER_MEMORY_CPU_PINNED || !PinnedBuffers()) {
    return Fail("no such memory");
  }
  return Put<void*>(buffer, PinnedBuffers()(size));
}
TRITONSERVER_Error* TRITONBACKEND_MemoryManagerFree(TRITONBACKEND_MemoryManager*, void*,
                                                    const TRITONSERVER_MemoryType, const int64_t) {
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_RequestOutputBufferProperties(TRITONBACKEND_Request*, const char*,
                                                                size_t*,
                                                                TRITONSERVER_MemoryType* type,
                                                                int64_t*) {
  if (!GpuBuffers()) {
    *type = TRITONSERVER_MEMORY_CPU;
  }
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request* request,
                                                     uint32_t* count) {
  return Put(count, static_cast<uint32_t>(request->outputs.size()));
}
TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request* request, uint32_t index,
                                                    const char** name) {
  return index < request->outputs.size() ? Put(name, request->outputs[index].c_str())
                                         : Fail("no such output");
}
TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* request, uint32_t flags) {
  if (flags == TRITONSERVER_REQUEST_RELEASE_RESCHEDULE) {
    if (Faults().reschedule_fails) {
      return Fail("no rescheduling today");
    }
    ++request->reschedules;
  }
  ++request->releases;
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_InputProperties(TRITONBACKEND_Input* input, const char** name,
                                                  TRITONSERVER_DataType* type,
                                                  const int64_t** shape, uint32_t* rank,
                                                  uint64_t* size, uint32_t* count) {
  *name = input->name.c_str();
  *type = input->data_type;
  *shape = input->shape.data();
  *rank = static_cast<uint32_t>(input->shape.size());
  *size = input->byte_size;
  *count = static_cast<uint32_t>(input->pieces.size());
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_InputBuffer(TRITONBACKEND_Input* input, uint32_t index,
                                              const void** buffer, uint64_t* size,
                                              TRITONSERVER_MemoryType* type, int64_t* type_id) {
  if (index >= input->pieces.size()) {
    return Fail("no such buffer");
  }
  const std::vector<char>& piece = input->pieces[index];
  *buffer = piece.data() + input->offset;
  *size = piece.size() - input->offset;
  *type = input->memory_type;
  *type_id = 0;
  if (!input->gpu_pieces.empty() && input->gpu_pieces[index] != nullptr) {
    *buffer = input->gpu_pieces[index];
    *type = TRITONSERVER_MEMORY_GPU;
  }
  return nullptr;
}

// ---- States

TRITONSERVER_Error* TRITONBACKEND_StateNew(TRITONBACKEND_State** state,
                                           TRITONBACKEND_Request* request, const char* name,
                                           const TRITONSERVER_DataType type, const int64_t* shape,
                                           const uint32_t rank) {
  if (!request->has_states) {
    return Fail(std::string("unable to add state '") + name + "'");
  }
  return Put(state, &request->states.emplace_back(
                        TRITONBACKEND_State{name, type, {shape, shape + rank}, {}, false}));
}
TRITONSERVER_Error* TRITONBACKEND_StateBuffer(TRITONBACKEND_State* state, void** buffer,
                                              const uint64_t size, TRITONSERVER_MemoryType* type,
                                              int64_t* type_id) {
  if (*type == TRITONSERVER_MEMORY_GPU && GpuBuffers()) {
    state->gpu_data = GpuBuffers()(size);
    return Put<void*>(buffer, state->gpu_data);
  }
  state->data.assign(size, '\x5a');
  *type = TRITONSERVER_MEMORY_CPU;
  *type_id = 0;
  return Put<void*>(buffer, state->data.data());
}
TRITONSERVER_Error* TRITONBACKEND_StateUpdate(TRITONBACKEND_State* state) {
  if (state->updated) {
    return Fail("the state " + state->name + " was updated already");
  }
  state->updated = true;
  return nullptr;
}

// ---- Responses

TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response,
                                              TRITONBACKEND_Request* request) {
  if (Faults().response_new_fails) {
    return Fail("no response today");
  }
  ++live_responses;
  *response = new TRITONBACKEND_Response{request, {}, {}};
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ResponseDelete(TRITONBACKEND_Response* response) {
  --live_responses;
  delete response;
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response* response,
                                                 TRITONBACKEND_Output** output, const char* name,
                                                 TRITONSERVER_DataType type, const int64_t* shape,
                                                 uint32_t rank) {
  if (response->answer.outputs.count(name) != 0) {
    return Fail(std::string("output ") + name + " was added twice");
  }
  FakeOutput& made = response->answer.outputs[name];
  made.data_type = type;
  made.shape.assign(shape, shape + rank);
  return Put(output, &response->handles.emplace_back(TRITONBACKEND_Output{&made}));
}
TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output* output, void** buffer,
                                               uint64_t size, TRITONSERVER_MemoryType* type,
                                               int64_t* type_id) {
  if (Faults().output_buffer_fails) {
    return Fail("no buffer today");
  }
  FakeOutput& made = *output->output;
  if (*type == TRITONSERVER_MEMORY_GPU && GpuBuffers()) {
    made.gpu_data = GpuBuffers()(size);
    return Put<void*>(buffer, made.gpu_data);
  }
  made.offset = Faults().output_buffer_is_misaligned ? 1 : 0;
  made.data.assign(size + made.offset, '\x5a');
  *buffer = made.data.data() + made.offset;
  *type = Faults().output_buffer_is_gpu ? TRITONSERVER_MEMORY_GPU : TRITONSERVER_MEMORY_CPU;
  *type_id = 0;
  return nullptr;
}
TRITONSERVER_Error* NEREID_OutputLend(TRITONBACKEND_Output* output, const void* base, uint64_t size,
                                      void (*release)(void*), void* userp) {
  const auto* bytes = static_cast<const char*>(base);
  output->output->data.assign(bytes, bytes + size);
  release(userp);
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* response, uint32_t flags,
                                               TRITONSERVER_Error* error) {
  FakeAnswer& answer = response->answer;
  for (auto& [name, output] : answer.outputs) {
    output.data.erase(output.data.begin(),
                      output.data.begin() + static_cast<std::ptrdiff_t>(output.offset));
  }
  answer.final = (flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0;
  if (error != nullptr) {
    answer.failed = true;
    answer.code = error->code;
    answer.message = error->message;
  }
  response->request->answers.push_back(std::move(answer));
  return TRITONBACKEND_ResponseDelete(response);
}

#define NEREID_FAKE_SETTER(kind, type)                                                             \
  TRITONSERVER_Error* TRITONBACKEND_ResponseSet##kind##Parameter(TRITONBACKEND_Response* response, \
                                                                 const char* name, type value) {   \
    response->answer.parameters[name] = ParameterValue(value);                                     \
    return nullptr;                                                                                \
  }
NEREID_FAKE_SETTER(Int, int64_t)
NEREID_FAKE_SETTER(Bool, bool)
NEREID_FAKE_SETTER(Double, double)
TRITONSERVER_Error* TRITONBACKEND_ResponseSetStringParameter(TRITONBACKEND_Response* response,
                                                             const char* name, const char* value) {
  response->answer.parameters[name] = std::string(value);
  return nullptr;
}

}  // extern "C"
