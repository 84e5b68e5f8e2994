// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/mutex.h"
#include "base/result.h"
#include "memory/buffer_attributes.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

/// One model version as its backend sees it (TRITONBACKEND_Model).
class BackendModel {
 public:
  struct Description {
    std::string name;
    uint64_t version = 0;
    std::string directory;  // of the model, not of the version
    bool auto_complete = true;
    TRITONSERVER_Server* server = nullptr;
  };
  /// `config_json` is the output of DescribeModelConfigJson.
  BackendModel(std::shared_ptr<Backend> backend, Description description, std::string config_json)
      : backend_(std::move(backend)),
        description_(std::move(description)),
        config_json_(std::move(config_json)) {}
  ~BackendModel();
  BackendModel(const BackendModel&) = delete;
  BackendModel& operator=(const BackendModel&) = delete;

  /// Takes the configuration that a backend sets, as JSON, and returns the configuration that the
  /// backend reads from then on.
  using Completion = std::function<base::Result<std::string>(std::string_view json)>;

  /// Calls the library's ModelInitialize. Each configuration that the backend sets during that call
  /// is passed to `complete` before the backend's call returns; the backend gets its error.
  base::Status Initialize(Completion complete);

  /// Lets the backend prepare the model for executions with `threads` threads. UNSUPPORTED if it
  /// cannot change their number. Thread-safe after Initialize; may take as long as a load.
  base::Status PrepareThreads(int threads);

  /// Returns whether the backend says that further instances on the CPU cost little and change no
  /// answer. Called after PrepareThreads(1) has succeeded.
  bool InstancesShare();

  /// Passes a configuration from the backend to the Completion. Returns UNSUPPORTED unless the
  /// model is being initialized.
  base::Status Complete(std::string_view json);

  /// Returns whether a configuration set by the backend was accepted.
  bool completed() const { return completed_; }

  /// Sets the configuration that the backend reads. It changes by completion and when the instances
  /// of a serving model change.
  void SetConfigJson(std::string json) {
    const base::MutexLock lock(mutex_);
    config_json_ = std::move(json);
  }
  std::string config_json() const {
    const base::MutexLock lock(mutex_);
    return config_json_;
  }

  const Description& description() const { return description_; }
  Backend& backend() { return *backend_; }
  const std::shared_ptr<Backend>& shared_backend() const { return backend_; }

  /// Sets the latest report of the model's memory usage.
  void SetMemoryUsage(std::vector<memory::BufferAttributes> usage) {
    const base::MutexLock lock(mutex_);
    memory_usage_ = std::move(usage);
  }
  std::vector<memory::BufferAttributes> memory_usage() const {
    const base::MutexLock lock(mutex_);
    return memory_usage_;
  }

  void* state = nullptr;

  TRITONBACKEND_Model* handle() { return reinterpret_cast<TRITONBACKEND_Model*>(this); }
  static BackendModel* From(TRITONBACKEND_Model* handle) {
    return reinterpret_cast<BackendModel*>(handle);
  }

 private:
  std::shared_ptr<Backend> backend_;
  Description description_;
  Completion complete_;  // empty except during Initialize
  bool completed_ = false;
  bool initialized_ = false;
  mutable base::Mutex mutex_;
  std::string config_json_ NEREID_GUARDED_BY(mutex_);
  std::vector<memory::BufferAttributes> memory_usage_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::backend
