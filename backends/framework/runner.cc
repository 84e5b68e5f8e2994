// SPDX-License-Identifier: Apache-2.0
#include "framework/runner.h"

#include <utility>

#include "nereid/backend/log.h"

namespace nereid::framework {

using backend::Batch;
using backend::BatchMember;
using backend::Catching;

Runner::Runner(std::shared_ptr<const RunPlan> plan, std::unique_ptr<Session> session,
               TRITONBACKEND_ModelInstance* instance)
    : plan_(std::move(plan)),
      session_(std::move(session)),
      inputs_(*plan_, session_->gpu(), &copies_),
      outputs_(*plan_, &inputs_, session_->gpu(), &copies_) {
  TRITONBACKEND_MemoryManager* manager = nullptr;
  if (instance != nullptr && FindMemoryManager(instance, &manager).ok()) {
    inputs_.UsePinned(manager);
  }
}

void Runner::Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
                     uint32_t count) {
  Batch batch(instance, requests, count, &members_);
  if (const Error failure = Catching([&] { return ExecuteAll(&batch); }); !failure.ok()) {
    batch.FailAll(failure);
  }
  // Copies are left only after a failure. They refer to memory of the requests.
  const Error ignored = copies_.Wait();
  outputs_.Clear();
  inputs_.End();
}

Error Runner::CheckReady() const {
  const base::MutexLock lock(mutex_);
  return gpu_failure_.empty()
             ? Error()
             : Error(TRITONSERVER_ERROR_UNAVAILABLE,
                     "model '" + plan_->model_name + "': GPU " + std::to_string(session_->gpu()) +
                         " has failed: " + gpu_failure_ + "; restart the server");
}

void Runner::CheckGpu() {
  if (session_->gpu() < 0) {
    return;
  }
  const std::string failure = GpuFailure(session_->gpu());
  const base::MutexLock lock(mutex_);
  if (gpu_failure_.empty() && !failure.empty()) {
    gpu_failure_ = failure;
    NEREID_BACKEND_LOG(ERROR, "model '" + plan_->model_name + "': GPU " +
                                  std::to_string(session_->gpu()) + " has failed: " + failure +
                                  "; restart the server");
  }
}

Error Runner::ExecuteAll(Batch* batch) {
  inputs_.Begin(batch->size());
  outputs_.Begin(batch->size());
  runnable_.clear();
  batch->FailCancelled();
  for (size_t i = 0; i < batch->size(); ++i) {
    if (!batch->failed(i)) {
      batch->Fail(i, Catching([&] { return Prepare(i, &(*batch)[i]); }));
    }
    if (!batch->failed(i)) {
      runnable_.push_back(i);
    }
  }
  if (runnable_.size() == 1 || (plan_->batching && runnable_.size() > 1)) {
    // First all requests together. If that fails, the loop below runs them one by one, so that
    // only the bad ones fail. A model without batching always runs them one by one.
    Error error = Catching([&] { return RunGroup(batch, runnable_); });
    if (error.ok()) {
      return {};
    }
    CheckGpu();
    if (runnable_.size() == 1) {
      batch->Fail(runnable_[0], std::move(error));
      return {};
    }
    if (began_ && !session_->may_repeat()) {
      return error;  // the requests that have run would change the model's state twice
    }
  }
  for (const size_t& i : runnable_) {
    batch->Fail(i, Catching([&] { return RunGroup(batch, {&i, 1}); }));
  }
  return {};
}

Error Runner::Prepare(size_t index, BatchMember* member) {
  NEREID_BACKEND_TRY(inputs_.Find(index, member));
  return outputs_.Find(index, member->request);
}

Error Runner::RunGroup(Batch* batch, std::span<const size_t> members) {
  Group group{members, 0};
  for (const size_t i : members) {
    if (__builtin_add_overflow(group.batch_size, (*batch)[i].batch_size, &group.batch_size)) {
      return Error::InvalidArgument("the batch is too large");
    }
  }
  batch->ExecutionStarts(group.batch_size);
  Error error = RunOnce(batch, group, writes_in_place_ && members.size() == 1);
  if (error.ok() || !outputs_.reserved()) {
    return error;
  }
  // The model may return shapes that it does not declare. A second run lets the framework allocate
  // the outputs.
  NEREID_BACKEND_TRY(batch->RenewResponse(members[0]));
  NEREID_BACKEND_TRY(RunOnce(batch, group, false));
  writes_in_place_ = false;
  return {};
}

Error Runner::RunOnce(Batch* batch, const Group& group, bool in_place) {
  began_ = false;
  outputs_.Choose(batch, group.members);
  NEREID_BACKEND_TRY(inputs_.Gather(group.members));
  if (in_place) {
    NEREID_BACKEND_TRY(outputs_.Reserve(&(*batch)[group.members[0]], group));
  }
  batch->ComputeStarts();
  began_ = true;
  Error error;
  if (plan_->open_outputs) {
    error = Catching([&] { return session_->RunOpen(inputs_.tensors(), outputs_.open_results()); });
  } else if (!outputs_.chosen().empty()) {
    error = Catching(
        [&] { return session_->Run(inputs_.tensors(), outputs_.chosen(), outputs_.results()); });
  }
  batch->ComputeEnds();
  return error.ok() ? outputs_.Scatter(batch, group) : std::move(error);
}

}  // namespace nereid::framework
