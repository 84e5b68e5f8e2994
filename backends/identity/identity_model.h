// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "identity/custom_trace.h"
#include "nereid/backend/batch.h"
#include "nereid/backend/error.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/plugin.h"

namespace nereid::identity {

using backend::Batch;
using backend::Error;
using backend::ModelConfig;
using backend::TensorConfig;

/// An output, and the input that it repeats.
struct Pair {
  TensorConfig input;
  TensorConfig output;
};

/// The settings that all models share.
struct IdentityBackend {
  /// Reads the settings of the backend.
  Error Load(TRITONBACKEND_Backend* backend);

  /// Whether each response carries some parameters, as an example.
  bool example_parameters = true;
};

/// A version of a model. Immutable after Load, so instances share it without a lock.
class IdentityModel {
 public:
  explicit IdentityModel(IdentityBackend* backend)
      : example_parameters_(backend->example_parameters) {}

  /// Reads the configuration and the parameters, and sleeps for `creation_delay_sec`.
  Error Load(TRITONBACKEND_Model* model);

  /// Returns the index of a new instance: 0, 1, ... in the order of creation.
  uint64_t NextInstanceIndex() { return instances_.fetch_add(1); }

  /// Returns how long instance `index` waits in each execution.
  std::chrono::milliseconds ExecuteDelay(uint64_t index) const;

  const std::vector<Pair>& pairs() const { return pairs_; }
  const std::vector<backend::StateConfig>& states() const { return config_.states; }
  bool batching() const { return config_.batching(); }
  bool echo_parameters() const { return echo_parameters_; }
  bool example_parameters() const { return example_parameters_; }
  const CustomTrace& custom_trace() const { return custom_trace_; }

 private:
  Error PairTensors();
  bool IsState(const std::string& output) const;
  Error ReadParameters();

  ModelConfig config_;
  std::vector<Pair> pairs_;
  int64_t creation_delay_sec_ = 0;
  int64_t execute_delay_ms_ = 0;
  int64_t delay_multiplier_ = 0;
  bool echo_parameters_ = false;
  const bool example_parameters_;
  CustomTrace custom_trace_;
  std::atomic<uint64_t> instances_{0};
};

/// An instance. Executes on one thread at a time.
class IdentityInstance {
 public:
  explicit IdentityInstance(IdentityModel* model)
      : model_(*model), delay_(model->ExecuteDelay(model->NextInstanceIndex())) {}

  Error Load(TRITONBACKEND_ModelInstance*) { return {}; }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count);

 private:
  Error Prepare(backend::BatchMember* member);
  void Wait(Batch* batch) const;
  Error Trace(backend::BatchMember* member);
  Error Copy(backend::BatchMember* member);
  Error KeepStates(backend::BatchMember* member);

  const IdentityModel& model_;
  const std::chrono::milliseconds delay_;
  std::vector<backend::BatchMember> members_;
};

}  // namespace nereid::identity
