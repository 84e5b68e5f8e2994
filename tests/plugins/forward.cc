// SPDX-License-Identifier: Apache-2.0
// A backend that calls another model of the server during its execution, with the API that programs
// use. INPUT0 and the requested outputs are passed on unchanged; the other model writes into the
// buffers of the response, so nothing is copied.
//
// Parameters of the model:
//   to     the model to call
//   wait   "true": Execute waits for the answer. Otherwise the answer is sent when it arrives.
//
// The request's parameter `depth` (0) is how often the model calls itself before it calls `to`. Its
// text parameters are passed on. While Execute waits, a cancellation is passed on as well.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "nereid/backend/input.h"
#include "nereid/backend/log.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/plugin.h"

namespace nereid::forward {
namespace {

using backend::Error;
using backend::NoBackendState;

constexpr std::chrono::milliseconds kPoll{1};

void Log(const char* action, TRITONSERVER_Error* failure) {
  if (const Error error(failure); !error.ok()) {
    NEREID_BACKEND_LOG(ERROR, std::string("forward: ") + action + ": " + error.message());
  }
}

uint64_t NowNs() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// One request, and the request to another model that it causes.
class Errand {
 public:
  Errand(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request)
      : instance_(instance), outer_(request), start_ns_(NowNs()) {}

  /// Sends the inner request. After an error no callback follows.
  Error Start(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator,
              const std::string& own_name, const std::string& to) {
    NEREID_BACKEND_TRY(TRITONBACKEND_ResponseNew(&answer_, outer_));
    NEREID_BACKEND_TRY(backend::FindInput(outer_, "INPUT0", &input_));
    int64_t depth = 0;
    NEREID_BACKEND_TRY(ReadDepth(&depth));
    const std::string& model = depth > 0 ? own_name : to;
    NEREID_BACKEND_TRY(TRITONSERVER_InferenceRequestNew(&inner_, server, model.c_str(), -1));
    NEREID_BACKEND_TRY(Fill());
    if (depth > 0) {
      NEREID_BACKEND_TRY(TRITONSERVER_InferenceRequestSetIntParameter(inner_, "depth", depth - 1));
    }
    NEREID_BACKEND_TRY(TRITONSERVER_InferenceRequestSetReleaseCallback(inner_, OnReleased, this));
    NEREID_BACKEND_TRY(TRITONSERVER_InferenceRequestSetResponseCallback(inner_, allocator, this,
                                                                        OnResponse, this));
    TRITONSERVER_InferenceTrace* trace = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_RequestTrace(outer_, &trace));
    if (trace != nullptr) {
      NEREID_BACKEND_TRY(TRITONSERVER_InferenceTraceReportActivity(trace, NowNs(), "FORWARD"));
      NEREID_BACKEND_TRY(TRITONSERVER_InferenceTraceSpawnChildTrace(trace, &trace));
    }
    return Error(TRITONSERVER_ServerInferAsync(server, inner_, trace));
  }

  /// Waits until the other model has answered; passes a cancellation on.
  void Wait() {
    std::unique_lock lock(mutex_);
    bool cancelled = false;
    while (!changed_.wait_for(lock, kPoll, [this] { return done_; })) {
      if (cancelled) {
        continue;
      }
      lock.unlock();
      Log("ask", TRITONBACKEND_RequestIsCancelled(outer_, &cancelled));
      if (cancelled) {
        Log("cancel", TRITONSERVER_InferenceRequestCancel(inner_));
      }
      lock.lock();
    }
  }

  /// Answers and releases the outer request, and deletes this object.
  void Finish(const Error& failure) {
    const std::unique_ptr<Errand> owned(this);
    const TRITONSERVER_Error* const error = failure.ok() ? failure_.get() : failure.get();
    const uint64_t now = NowNs();
    Log("statistics", TRITONBACKEND_ModelInstanceReportStatistics(
                          instance_, outer_, error == nullptr, start_ns_, start_ns_, now, now));
    if (answer_ != nullptr) {
      Log("send", TRITONBACKEND_ResponseSend(answer_, TRITONSERVER_RESPONSE_COMPLETE_FINAL,
                                             const_cast<TRITONSERVER_Error*>(error)));
    }
    Log("release", TRITONBACKEND_RequestRelease(outer_, TRITONSERVER_REQUEST_RELEASE_ALL));
    if (inner_ != nullptr) {
      Log("delete", TRITONSERVER_InferenceRequestDelete(inner_));
    }
  }

  /// If Execute does not wait, the last callback calls Finish.
  bool finish_when_done = true;

  /// The output of the other model is written into the buffer of the response.
  static TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator*, const char* name,
                                      size_t byte_size, TRITONSERVER_MemoryType type, int64_t id,
                                      void* userp, void** buffer, void** buffer_userp,
                                      TRITONSERVER_MemoryType* actual_type, int64_t* actual_id) {
    return backend::EntryPoint([&]() -> Error {
      const auto& errand = *static_cast<Errand*>(userp);
      const backend::Input& input = errand.input_;
      TRITONBACKEND_Output* output = nullptr;
      NEREID_BACKEND_TRY(TRITONBACKEND_ResponseOutput(errand.answer_, &output, name,
                                                      input.data_type, input.shape.data(),
                                                      static_cast<uint32_t>(input.shape.size())));
      *actual_type = type;
      *actual_id = id;
      *buffer_userp = nullptr;
      return Error(TRITONBACKEND_OutputBuffer(output, buffer, byte_size, actual_type, actual_id));
    });
  }

  /// The response owns the buffer.
  static TRITONSERVER_Error* Deallocate(TRITONSERVER_ResponseAllocator*, void*, void*, size_t,
                                        TRITONSERVER_MemoryType, int64_t) {
    return nullptr;
  }

 private:
  Error ReadDepth(int64_t* depth) {
    uint32_t count = 0;
    NEREID_BACKEND_TRY(TRITONBACKEND_RequestParameterCount(outer_, &count));
    for (uint32_t i = 0; i < count; ++i) {
      const char* key = nullptr;
      TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
      const void* value = nullptr;
      NEREID_BACKEND_TRY(TRITONBACKEND_RequestParameter(outer_, i, &key, &type, &value));
      if (type == TRITONSERVER_PARAMETER_INT && std::strcmp(key, "depth") == 0) {
        *depth = *static_cast<const int64_t*>(value);
      }
    }
    return {};
  }

  /// Copies the outer request to the inner one.
  Error Fill() {
    const char* id = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_RequestId(outer_, &id));
    NEREID_BACKEND_TRY(TRITONSERVER_InferenceRequestSetId(inner_, id));
    NEREID_BACKEND_TRY(TRITONSERVER_InferenceRequestAddInput(
        inner_, input_.name, input_.data_type, input_.shape.data(), input_.shape.size()));
    for (uint32_t i = 0; i < input_.buffer_count; ++i) {
      const void* data = nullptr;
      uint64_t size = 0;
      TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
      int64_t type_id = 0;
      NEREID_BACKEND_TRY(
          TRITONBACKEND_InputBuffer(input_.handle, i, &data, &size, &type, &type_id));
      NEREID_BACKEND_TRY(TRITONSERVER_InferenceRequestAppendInputData(inner_, input_.name, data,
                                                                      size, type, type_id));
    }
    uint32_t outputs = 0;
    NEREID_BACKEND_TRY(TRITONBACKEND_RequestOutputCount(outer_, &outputs));
    for (uint32_t i = 0; i < outputs; ++i) {
      const char* name = nullptr;
      NEREID_BACKEND_TRY(TRITONBACKEND_RequestOutputName(outer_, i, &name));
      NEREID_BACKEND_TRY(TRITONSERVER_InferenceRequestAddRequestedOutput(inner_, name));
    }
    uint32_t count = 0;
    NEREID_BACKEND_TRY(TRITONBACKEND_RequestParameterCount(outer_, &count));
    for (uint32_t i = 0; i < count; ++i) {
      const char* key = nullptr;
      TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
      const void* value = nullptr;
      NEREID_BACKEND_TRY(TRITONBACKEND_RequestParameter(outer_, i, &key, &type, &value));
      if (type == TRITONSERVER_PARAMETER_STRING) {
        NEREID_BACKEND_TRY(TRITONSERVER_InferenceRequestSetStringParameter(
            inner_, key, static_cast<const char*>(value)));
      }
    }
    return {};
  }

  static void OnReleased(TRITONSERVER_InferenceRequest*, uint32_t, void* userp) {
    static_cast<Errand*>(userp)->OnNews();
  }

  static void OnResponse(TRITONSERVER_InferenceResponse* response, uint32_t flags, void* userp) {
    auto& errand = *static_cast<Errand*>(userp);
    if (response != nullptr) {
      if (TRITONSERVER_Error* error = TRITONSERVER_InferenceResponseError(response)) {
        errand.failure_ = Error(TRITONSERVER_ErrorCode(error), TRITONSERVER_ErrorMessage(error));
      }
      Log("delete response", TRITONSERVER_InferenceResponseDelete(response));
    }
    if ((flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0) {
      errand.OnNews();
    }
  }

  /// Called for the final response and for the release; the second of the two ends the inner
  /// request.
  void OnNews() {
    if (news_.fetch_add(1) == 0) {
      return;
    }
    if (finish_when_done) {
      Finish({});
      return;
    }
    // Notified under the lock, because the waiting thread deletes this object as soon as the lock
    // is free.
    std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_one();
  }

  TRITONBACKEND_ModelInstance* const instance_;
  TRITONBACKEND_Request* const outer_;
  const uint64_t start_ns_;
  TRITONBACKEND_Response* answer_ = nullptr;
  TRITONSERVER_InferenceRequest* inner_ = nullptr;
  backend::Input input_;
  Error failure_;  // of the other model
  std::atomic<int> news_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;  // guarded by mutex_
};

struct ForwardModel {
  explicit ForwardModel(NoBackendState*) {}
  ~ForwardModel() {
    if (allocator != nullptr) {
      Log("allocator", TRITONSERVER_ResponseAllocatorDelete(allocator));
    }
  }

  Error Load(TRITONBACKEND_Model* model) {
    backend::ModelConfig config;
    NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config));
    const std::string* const target = config.parameters.Find("to");
    if (target == nullptr) {
      return Error::InvalidArgument("the forward backend needs the parameter 'to'");
    }
    to = *target;
    const std::string* const waits = config.parameters.Find("wait");
    wait = waits != nullptr && *waits == "true";
    const char* own_name = nullptr;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelName(model, &own_name));
    name = own_name;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelServer(model, &server));
    return Error(TRITONSERVER_ResponseAllocatorNew(&allocator, Errand::Allocate, Errand::Deallocate,
                                                   nullptr));
  }

  std::string name;
  std::string to;
  bool wait = false;
  TRITONSERVER_Server* server = nullptr;
  TRITONSERVER_ResponseAllocator* allocator = nullptr;
};

struct ForwardInstance {
  explicit ForwardInstance(const ForwardModel* owner) : model(*owner) {}
  Error Load(TRITONBACKEND_ModelInstance*) { return {}; }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      auto* const errand = new Errand(instance, requests[i]);  // deletes itself in Finish
      errand->finish_when_done = !model.wait;
      const Error refused = errand->Start(model.server, model.allocator, model.name, model.to);
      if (!refused.ok()) {
        errand->Finish(refused);
      } else if (model.wait) {
        errand->Wait();
        errand->Finish({});
      }
    }
  }

  const ForwardModel& model;
};

}  // namespace
}  // namespace nereid::forward

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::forward::ForwardModel,
                      nereid::forward::ForwardInstance);
