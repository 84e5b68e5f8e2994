// SPDX-License-Identifier: Apache-2.0
#include "framework/runner.h"

#include <algorithm>

#include "nereid/backend/output.h"

namespace nereid::framework {

using backend::Batch;
using backend::BatchMember;
using backend::Input;

Runner::Runner(std::shared_ptr<const RunPlan> plan, std::unique_ptr<Session> session)
    : plan_(std::move(plan)),
      session_(std::move(session)),
      run_inputs_(plan_->inputs.size()),
      shapes_(plan_->inputs.size()),
      texts_(plan_->inputs.size()),
      gathered_(plan_->inputs.size()) {}

void Runner::Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
                     uint32_t count) {
  Batch batch(instance, requests, count, &members_);
  const Error failure = backend::Catching([&]() -> Error {
    inputs_.assign(count * plan_->inputs.size(), Input());
    wanted_.assign(count * plan_->outputs.size(), 0);
    runnable_.clear();
    batch.FailCancelled();
    for (size_t i = 0; i < batch.size(); ++i) {
      if (!batch.failed(i)) {
        batch.Fail(i, backend::Catching([&] { return Prepare(i, &batch[i]); }));
      }
      if (!batch.failed(i)) {
        runnable_.push_back(i);
      }
    }
    if (runnable_.size() == 1 || (plan_->batching && runnable_.size() > 1)) {
      // First all requests together. If that fails, the loop below runs them one by one, so that
      // only the bad ones fail. A model without batching always runs them one by one.
      Error error = backend::Catching([&] { return RunGroup(&batch, runnable_); });
      if (error.ok()) {
        return {};
      }
      if (runnable_.size() == 1) {
        batch.Fail(runnable_[0], std::move(error));
        return {};
      }
    }
    for (const size_t& i : runnable_) {
      batch.Fail(i, backend::Catching([&] { return RunGroup(&batch, {&i, 1}); }));
    }
    return {};
  });
  if (!failure.ok()) {
    batch.FailAll(failure);
  }
  ClearResults();
  for (backend::AlignedBuffer& buffer : gathered_) {
    buffer.Trim();
  }
}

void Runner::ClearResults() {
  for (OutputTensor& result : results_) {
    result.Clear();
  }
}

Error Runner::Prepare(size_t index, BatchMember* member) {
  bool sized = false;
  for (size_t i = 0; i < plan_->inputs.size(); ++i) {
    const PlannedInput& plan = plan_->inputs[i];
    Input* input = &InputOf(index, i);
    NEREID_BACKEND_TRY(backend::FindOptionalInput(member->request, plan.name.c_str(), input));
    if (input->handle != nullptr) {
      NEREID_BACKEND_TRY(PrepareInput(plan, input, member, &sized));
    } else if (!plan.has_default) {
      return Error::InvalidArgument("the request lacks the input '" + plan.name +
                                    "', for which model '" + plan_->model_name +
                                    "' has no default");
    }
  }
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    wanted_[index * plan_->outputs.size() + i] = plan_->outputs[i].state ? kState : 0;
  }
  return backend::ForEachRequestedOutput(member->request, [&](const char* name) -> Error {
    const int output = plan_->FindListed(name);
    if (output < 0) {
      return Error::InvalidArgument("model '" + plan_->model_name + "' has no output '" + name +
                                    "'");
    }
    wanted_[index * plan_->outputs.size() + static_cast<size_t>(output)] |= kAnswer;
    return {};
  });
}

Error Runner::PrepareInput(const PlannedInput& plan, Input* input, BatchMember* member,
                           bool* sized) {
  if (plan.data_type != TRITONSERVER_TYPE_INVALID && input->data_type != plan.data_type) {
    return Error::InvalidArgument("input '" + plan.name + "' of model '" + plan_->model_name +
                                  "' is of type " + TRITONSERVER_DataTypeString(plan.data_type) +
                                  ", not " + TRITONSERVER_DataTypeString(input->data_type));
  }
  NEREID_BACKEND_TRY(backend::CheckInputSize(*input));
  if (!plan_->batching || plan.shape_tensor) {
    return {};
  }
  if (input->shape.empty()) {
    return Error::InvalidArgument("input '" + plan.name + "' lacks the batch dimension");
  }
  const auto batch_size = static_cast<uint64_t>(input->shape[0]);
  if (*sized && batch_size != member->batch_size) {
    return Error::InvalidArgument("input '" + plan.name + "' has the batch size " +
                                  std::to_string(batch_size) + ", other inputs of the request " +
                                  std::to_string(member->batch_size));
  }
  member->batch_size = batch_size;
  *sized = true;
  return {};
}

Error Runner::RunGroup(Batch* batch, std::span<const size_t> members) {
  NEREID_BACKEND_TRY(Gather(members));
  if (plan_->open_outputs) {
    return RunOpen(batch, members);
  }
  run_outputs_.clear();
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    if (std::any_of(members.begin(), members.end(),
                    [&](size_t member) { return Wants(member, i); })) {
      run_outputs_.push_back(i);
    }
  }
  results_.resize(run_outputs_.size());
  ClearResults();
  batch->ComputeStarts();
  if (run_outputs_.empty()) {
    batch->ComputeEnds();
    return {};
  }
  Error error =
      backend::Catching([&] { return session_->Run(run_inputs_, run_outputs_, results_); });
  batch->ComputeEnds();
  return error.ok() ? Scatter(batch, members) : std::move(error);
}

Error Runner::RunOpen(Batch* batch, std::span<const size_t> members) {
  results_.clear();
  open_outputs_.clear();
  batch->ComputeStarts();
  Error error = backend::Catching([&] { return session_->RunOpen(run_inputs_, &results_); });
  batch->ComputeEnds();
  NEREID_BACKEND_TRY(std::move(error));
  for (const OutputTensor& result : results_) {
    open_outputs_.push_back({result.name, result.data_type, 0, true, false});
  }
  return Scatter(batch, members);
}

}  // namespace nereid::framework
