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

/// The path of a model's custom batching library, "" if it has none: what the parameter
/// TRITON_BATCH_STRATEGY_PATH says, which must lie in the model's directory (a relative path starts
/// there), else batchstrategy.so in the version's directory, the model's, or the backend's.
base::Result<std::string> FindBatchingLibrary(const config::ModelConfig& config,
                                              const std::string& model_directory,
                                              const std::string& version_directory,
                                              const std::string& backend_directory);

/// A custom batching library at work for one model (TRITONBACKEND_ModelBatch*). A failure of the
/// library is logged, and the batch is formed as if it had not been asked.
class BatchingLibrary final : public schedule::BatchStrategy {
 public:
  /// NOT_FOUND if the library cannot be opened or lacks one of its five functions; else what its
  /// ModelBatcherInitialize says. `model` must outlive the result.
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
  bool in_batch_ = false;  // between begin and end
  void* batch_ = nullptr;  // the library's, of the batch
};

}  // namespace nereid::model
