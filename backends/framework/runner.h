// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "framework/gather.h"
#include "framework/gpu_copies.h"
#include "framework/plan.h"
#include "framework/scatter.h"
#include "framework/session.h"
#include "nereid/backend/batch.h"

namespace nereid::framework {

/// Executes batches for one instance: puts the inputs of the requests together, runs the session,
/// and divides the results. If a batch fails, its requests run one by one, so that only the bad one
/// gets an error, unless the session may not repeat a run. The inputs of a request that runs alone
/// are read in place, and a session that can do so writes its outputs in place. Not thread-safe.
class Runner {
 public:
  /// `instance` is given for a session on a GPU that reads host memory: inputs that are put
  /// together are in pinned memory then.
  Runner(std::shared_ptr<const RunPlan> plan, std::unique_ptr<Session> session,
         TRITONBACKEND_ModelInstance* instance = nullptr);

  /// Sets the number of threads of the following executions; see Session::SetThreads.
  void SetThreads(uint32_t threads) noexcept { session_->SetThreads(threads); }

  /// Executes the requests, and answers and releases each of them.
  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count);

  /// Returns UNAVAILABLE, with the reason, if the session's GPU has failed for good. Any thread may
  /// call it.
  Error CheckReady() const;

 private:
  /// Finds and checks the inputs of a request and the outputs that it asks for.
  Error Prepare(size_t index, backend::BatchMember* member);
  Error ExecuteAll(backend::Batch* batch);
  /// Runs the given requests together.
  Error RunGroup(backend::Batch* batch, std::span<const size_t> members);
  /// Finds out after a failed run whether the GPU can be used any more.
  void CheckGpu();
  Error RunOnce(backend::Batch* batch, const Group& group, bool in_place);

  const std::shared_ptr<const RunPlan> plan_;
  const std::unique_ptr<Session> session_;
  GpuCopies copies_;
  InputGatherer inputs_;
  OutputScatterer outputs_;
  mutable base::Mutex mutex_;
  /// Why the GPU cannot be used, or empty.
  std::string gpu_failure_ NEREID_GUARDED_BY(mutex_);
  /// Whether the session has begun the last run.
  bool began_ = false;
  /// False after the model has returned a shape that it does not declare.
  bool writes_in_place_ = true;

  // Reused by each Execute.
  std::vector<backend::BatchMember> members_;
  std::vector<size_t> runnable_;
};

/// An instance of a model whose MakeRunner creates a runner for it. Executes on one thread at a
/// time.
template <typename Model>
class RunnerInstance {
 public:
  /// `model` must outlive the instance.
  explicit RunnerInstance(Model* model) : model_(*model) {}

  Error Load(TRITONBACKEND_ModelInstance* instance) {
    return model_.MakeRunner(instance, &runner_);
  }
  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    runner_->Execute(instance, requests, count);
  }
  void SetThreads(uint32_t threads) noexcept { runner_->SetThreads(threads); }
  Error CheckReady() const { return runner_->CheckReady(); }

 private:
  Model& model_;
  std::unique_ptr<Runner> runner_;
};

}  // namespace nereid::framework
