// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "backend/backend_model.h"
#include "base/result.h"
#include "base/shared_library.h"
#include "config/model_config.h"
#include "schedule/dynamic/batch_strategy.h"

namespace nereid::model {

/// Returns the path of a model's custom batching library, or "" if it has none. The parameter
/// TRITON_BATCH_STRATEGY_PATH names it, relative to the model's directory, in which it must lie.
/// Without the parameter it is batchstrategy.so in the version's directory, else in the model's,
/// else in the backend's.
base::Result<std::string> FindBatchingLibrary(const config::ModelConfig& config,
                                              const std::string& model_directory,
                                              const std::string& version_directory,
                                              const std::string& backend_directory);

/// A custom batching library in use by one model (TRITONBACKEND_ModelBatch*). A failure of the
/// library is logged, and the batch is formed as if there were no library.
class BatchingLibrary final : public schedule::BatchStrategy {
 public:
  /// Opens the library and calls its ModelBatcherInitialize, whose error is returned. Returns
  /// NOT_FOUND if the library cannot be opened or lacks one of its five functions. `model` must
  /// outlive the result.
  static base::Result<std::shared_ptr<BatchingLibrary>> Open(const std::string& path,
                                                             backend::BackendModel& model);
  ~BatchingLibrary() override;

  void Begin() noexcept override;
  bool Includes(request::InferenceRequest& request) noexcept override;

 private:
  struct Functions {
    decltype(&TRITONBACKEND_ModelBatcherInitialize) initialize = nullptr;
    decltype(&TRITONBACKEND_ModelBatcherFinalize) finalize = nullptr;
    decltype(&TRITONBACKEND_ModelBatchIncludeRequest) include = nullptr;
    decltype(&TRITONBACKEND_ModelBatchInitialize) begin = nullptr;
    decltype(&TRITONBACKEND_ModelBatchFinalize) end = nullptr;
  };
  BatchingLibrary() = default;
  void End() noexcept;

  std::unique_ptr<base::SharedLibrary> library_;
  Functions functions_;
  TRITONBACKEND_Batcher* batcher_ = nullptr;
  bool initialized_ = false;
  bool in_batch_ = false;  // between `begin` and `end`
  void* batch_ = nullptr;  // the library's object for the present batch
};

}  // namespace nereid::model
