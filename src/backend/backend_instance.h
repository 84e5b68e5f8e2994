// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "abi/message.h"
#include "backend/backend_model.h"
#include "backend/statistics_observer.h"
#include "config/model_config.h"
#include "request/inference_request.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

/// One instance of a model as its backend sees it (TRITONBACKEND_ModelInstance).
class BackendInstance {
 public:
  struct Description {
    std::string name;
    config::InstanceKind kind = config::InstanceKind::kCpu;
    int32_t device_id = 0;
    bool passive = false;
    std::string host_policy_json;  // {"<policy>":{setting:value}}
    std::vector<std::string> profiles;
    std::vector<config::SecondaryDevice> secondary_devices;
  };
  /// `model` and `observer` must outlive the instance.
  BackendInstance(BackendModel& model, Description description, StatisticsObserver& observer)
      : model_(model),
        description_(std::move(description)),
        host_policy_(description_.host_policy_json),
        observer_(observer) {}
  ~BackendInstance();
  BackendInstance(const BackendInstance&) = delete;
  BackendInstance& operator=(const BackendInstance&) = delete;

  /// Calls the library's ModelInstanceInitialize.
  base::Status Initialize();

  /// Passes requests to the backend and returns when its Execute has returned; responses may follow
  /// later. If Execute fails or throws, every request that the backend has not answered or released
  /// is answered with the error. Must not be called by two threads at a time.
  void Execute(std::vector<std::unique_ptr<request::InferenceRequest>> requests);

  /// Returns whether Execute would return without waiting for earlier batches, as far as the
  /// backend knows; true if it has no such function. Must not be called during Execute.
  bool HasRoom();

  /// Tells the backend how many threads the next executions use, if it wants to know. Must be
  /// called by the thread that calls Execute next.
  void SetThreads(int threads);

  /// Returns the backend's error if it reports the instance as not ready; OK if it has no such
  /// function. Blocks until the backend answers, so an event loop gets INTERNAL.
  base::Status CheckReady();

  const Description& description() const { return description_; }
  BackendModel& model() { return model_; }
  TRITONSERVER_Message& host_policy() { return host_policy_; }
  StatisticsObserver& observer() { return observer_; }

  void* state = nullptr;

  TRITONBACKEND_ModelInstance* handle() {
    return reinterpret_cast<TRITONBACKEND_ModelInstance*>(this);
  }
  static BackendInstance* From(TRITONBACKEND_ModelInstance* handle) {
    return reinterpret_cast<BackendInstance*>(handle);
  }

 private:
  /// What is known of a request while the backend has its handle. The request itself may be
  /// destroyed or with another instance.
  struct HandedOut {
    std::shared_ptr<request::ResponseFactory> factory;
    uint32_t execution;  // of the request, see ResponseFactory::execution()
  };

  BackendModel& model_;
  Description description_;
  TRITONSERVER_Message host_policy_;
  StatisticsObserver& observer_;
  /// Calls the library's Execute and turns an exception into an error.
  base::Status CallExecute();
  /// Answers a request that the backend still had with `error` and releases it.
  void Refuse(TRITONBACKEND_Request* request_handle, const base::Status& error);

  // Members instead of locals, to reuse their memory.
  std::vector<TRITONBACKEND_Request*> handles_;
  std::vector<HandedOut> handed_out_;
  bool initialized_ = false;
};

}  // namespace nereid::backend
