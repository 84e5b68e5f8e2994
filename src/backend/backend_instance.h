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

  /// Hands requests to the backend and returns when its Execute returned; the answers may come
  /// later. An Execute that fails or throws answers every request with the failure, as far as it
  /// has not answered or released them itself. Never called twice at a time.
  void Execute(std::vector<std::unique_ptr<request::InferenceRequest>> requests);

  /// Whether the backend says that the instance can work; true where it has no opinion.
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
  BackendModel& model_;
  Description description_;
  TRITONSERVER_Message host_policy_;
  StatisticsObserver& observer_;
  /// Calls the library; an exception of it becomes a failure.
  base::Status CallExecute();
  void Refuse(TRITONBACKEND_Request* request_handle, const base::Status& error);

  // Reused from one Execute to the next.
  std::vector<TRITONBACKEND_Request*> handles_;
  std::vector<std::shared_ptr<request::ResponseFactory>> factories_;
  bool initialized_ = false;
};

}  // namespace nereid::backend
