// SPDX-License-Identifier: Apache-2.0
#include "backend/testing/copy_backend.h"

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include "abi/message.h"
#include "base/mutex.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {
namespace {

base::Mutex hold_mutex;
base::ConditionVariable hold_changed;
int holding NEREID_GUARDED_BY(hold_mutex) = 0;
int released NEREID_GUARDED_BY(hold_mutex) = 0;
int gone NEREID_GUARDED_BY(hold_mutex) = 0;  // of those that were holding

uint64_t NowNs() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                               std::chrono::nanoseconds(1));
}

std::string Parameter(TRITONBACKEND_Request* request, const std::string& wanted) {
  uint32_t count = 0;
  TRITONBACKEND_RequestParameterCount(request, &count);
  for (uint32_t i = 0; i < count; ++i) {
    const char* key = nullptr;
    TRITONSERVER_ParameterType type;
    const void* value = nullptr;
    TRITONBACKEND_RequestParameter(request, i, &key, &type, &value);
    if (key != wanted) continue;
    return type == TRITONSERVER_PARAMETER_STRING ? static_cast<const char*>(value) : "true";
  }
  return "";
}

std::string ReadConfig(TRITONBACKEND_Model* model) {
  TRITONSERVER_Message* config = nullptr;
  TRITONBACKEND_ModelConfig(model, 1, &config);
  std::string json = config->json;
  delete config;
  return json;
}

bool ModelParameter(TRITONBACKEND_Model* model, const char* name) {
  return ReadConfig(model).find(std::string("\"") + name + "\"") != std::string::npos;
}

/// Sets a configuration with one input and one output, and fails with the one that it reads then.
TRITONSERVER_Error* CompleteAndTell(TRITONBACKEND_Model* model) {
  TRITONSERVER_Message completed(
      R"({"max_batch_size":8,"input":[{"name":"IN","data_type":"TYPE_INT8","dims":[3]}],)"
      R"("output":[{"name":"OUT0","data_type":"TYPE_INT8","dims":[3]}],"dynamic_batching":{}})");
  if (TRITONSERVER_Error* error = TRITONBACKEND_ModelSetConfig(model, 1, &completed)) return error;
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, ReadConfig(model).c_str());
}

TRITONSERVER_Error* ModelInitialize(TRITONBACKEND_Model* model) {
  if (ModelParameter(model, "complete_and_tell")) return CompleteAndTell(model);
  if (ModelParameter(model, "throw_load")) throw std::runtime_error("thrown while loading");
  if (ModelParameter(model, "throw_number")) throw 7;
  if (ModelParameter(model, "fail_inside")) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "broken inside");
  }
  if (!ModelParameter(model, "fail_load")) return nullptr;
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INVALID_ARG, "told to fail");
}

void CopyInputs(TRITONBACKEND_Request* request, TRITONBACKEND_Response* response) {
  uint32_t inputs = 0;
  TRITONBACKEND_RequestInputCount(request, &inputs);
  for (uint32_t i = 0; i < inputs; ++i) {
    TRITONBACKEND_Input* input = nullptr;
    TRITONBACKEND_RequestInputByIndex(request, i, &input);
    TRITONSERVER_DataType type;
    const int64_t* shape = nullptr;
    uint32_t dims = 0, buffers = 0;
    uint64_t size = 0;
    TRITONBACKEND_InputProperties(input, nullptr, &type, &shape, &dims, &size, &buffers);
    TRITONBACKEND_Output* output = nullptr;
    TRITONBACKEND_ResponseOutput(response, &output, ("OUT" + std::to_string(i)).c_str(), type,
                                 shape, dims);
    void* target = nullptr;
    TRITONSERVER_MemoryType memory = TRITONSERVER_MEMORY_CPU;
    int64_t id = 0;
    TRITONBACKEND_OutputBuffer(output, &target, size, &memory, &id);
    size_t offset = 0;
    for (uint32_t b = 0; b < buffers; ++b) {
      const void* data = nullptr;
      uint64_t bytes = 0;
      TRITONBACKEND_InputBuffer(input, b, &data, &bytes, &memory, &id);
      if (bytes > 0) std::memcpy(static_cast<char*>(target) + offset, data, bytes);
      offset += bytes;
    }
  }
}

void Hold() {
  base::MutexLock lock(hold_mutex);
  ++holding;
  hold_changed.NotifyAll();
  const int turn = released;
  while (released <= turn) hold_changed.Wait(lock);
  --holding;
  ++gone;
  hold_changed.NotifyAll();
}

TRITONSERVER_Error* InstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  TRITONBACKEND_Model* model = nullptr;
  TRITONBACKEND_ModelInstanceModel(instance, &model);
  if (ModelParameter(model, "hold_load")) Hold();
  if (!ModelParameter(model, "fail_instances")) return nullptr;
  return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "the instance was told to fail");
}

TRITONSERVER_Error* LoadInParallel(TRITONBACKEND_Backend*,
                                   TRITONBACKEND_BackendAttribute* attributes) {
  return TRITONBACKEND_BackendAttributeSetParallelModelInstanceLoading(attributes, true);
}

/// Returns whether the request was answered well.
bool Answer(TRITONBACKEND_Request* request) {
  if (Parameter(request, "silent") == "true") return false;
  TRITONBACKEND_Response* response = nullptr;
  TRITONBACKEND_ResponseNew(&response, request);
  if (const std::string text = Parameter(request, "fail"); !text.empty()) {
    TRITONSERVER_Error* error = TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, text.c_str());
    TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error);
    TRITONSERVER_ErrorDelete(error);
    return false;
  }
  CopyInputs(request, response);
  TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, nullptr);
  if (Parameter(request, "twice") == "true") {
    TRITONBACKEND_ResponseNew(&response, request);
    TRITONBACKEND_ResponseSend(response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, nullptr);
  }
  return true;
}

TRITONSERVER_Error* Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
                            const uint32_t count) {
  TRITONBACKEND_Model* model = nullptr;
  TRITONBACKEND_ModelInstanceModel(instance, &model);
  if (ModelParameter(model, "fail_execute")) {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, "execute failed");
  }
  const uint64_t start = NowNs();
  for (uint32_t i = 0; i < count; ++i) {
    if (Parameter(requests[i], "throw") == "true") throw std::runtime_error("thrown on purpose");
    if (Parameter(requests[i], "late") == "true") {
      std::thread([request = requests[i]] {
        Hold();
        Answer(request);
        TRITONBACKEND_RequestRelease(request, TRITONSERVER_REQUEST_RELEASE_ALL);
      }).detach();
      continue;
    }
    if (Parameter(requests[i], "hold") == "true") Hold();
    const bool good = Answer(requests[i]) || Parameter(requests[i], "good") == "true";
    if (Parameter(requests[i], "answer_throw") == "true") throw 7;
    const uint64_t now = NowNs();
    TRITONBACKEND_ModelInstanceReportStatistics(instance, requests[i], good, start, start, now,
                                                now);
    TRITONBACKEND_RequestRelease(requests[i], TRITONSERVER_REQUEST_RELEASE_ALL);
  }
  const uint64_t end = NowNs();
  TRITONBACKEND_ModelInstanceReportBatchStatistics(instance, count, start, start, end, end);
  return nullptr;
}

}  // namespace

std::unique_ptr<BackendLibrary> MakeCopyBackend(bool parallel) {
  BackendEntryPoints entry;
  if (parallel) entry.attribute = LoadInParallel;
  entry.instance_initialize = InstanceInitialize;
  entry.model_initialize = ModelInitialize;
  entry.instance_execute = Execute;
  return BackendLibrary::FromEntryPoints("/built-in/copy", entry);
}

void ReleaseHeld(int count) {
  base::MutexLock lock(hold_mutex);
  while (holding < count) hold_changed.Wait(lock);
  ++released;
  hold_changed.NotifyAll();
  // Until then the next call would count them again.
  const int expected = gone + holding;
  while (gone < expected) hold_changed.Wait(lock);
}

}  // namespace nereid::backend
