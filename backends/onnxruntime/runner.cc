// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/runner.h"

#include <algorithm>

#include "nereid/backend/output.h"

namespace nereid::onnxruntime {

Runner::Runner(std::shared_ptr<const Plan> plan, std::shared_ptr<OrtSession> session,
               Owned<OrtRunOptions> run_options, Owned<OrtMemoryInfo> memory)
    : plan_(std::move(plan)),
      session_(std::move(session)),
      run_options_(std::move(run_options)),
      memory_(std::move(memory)),
      gathered_(plan_->inputs.size()),
      described_(plan_->batch_inputs.size()) {}

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
    // First all requests together. If that fails, the loop below runs them one by one, so that only
    // the bad ones fail. A model without batching always runs them one by one.
    const bool together = runnable_.size() == 1 || (plan_->batching && runnable_.size() > 1);
    if (together) {
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
  for (std::vector<AlignedBuffer>* buffers : {&gathered_, &described_}) {
    for (AlignedBuffer& buffer : *buffers) {
      buffer.Trim();
    }
  }
  texts_.Trim();
}

Error Runner::Prepare(size_t index, BatchMember* member) {
  bool sized = false;
  for (size_t i = 0; i < plan_->inputs.size(); ++i) {
    const InputPlan& plan = plan_->inputs[i];
    Input* input = &inputs_[index * plan_->inputs.size() + i];
    NEREID_BACKEND_TRY(backend::FindOptionalInput(member->request, plan.name.c_str(), input));
    if (input->handle == nullptr) {
      if (plan.has_default) {
        continue;
      }
      return Error::InvalidArgument("the request lacks the input '" + plan.name +
                                    "', for which model '" + plan_->model_name +
                                    "' has no default");
    }
    NEREID_BACKEND_TRY(PrepareInput(plan, input, member, &sized));
  }
  return backend::ForEachRequestedOutput(member->request, [&](const char* name) -> Error {
    const int output = plan_->FindOutput(name);
    if (output < 0) {
      return Error::InvalidArgument("model '" + plan_->model_name + "' has no output '" + name +
                                    "'");
    }
    wanted_[index * plan_->outputs.size() + static_cast<size_t>(output)] = 1;
    return {};
  });
}

Error Runner::PrepareInput(const InputPlan& plan, Input* input, BatchMember* member, bool* sized) {
  if (input->data_type != plan.data_type) {
    return Error::InvalidArgument("input '" + plan.name + "' of model '" + plan_->model_name +
                                  "' is of type " + TRITONSERVER_DataTypeString(plan.data_type) +
                                  ", not " + TRITONSERVER_DataTypeString(input->data_type));
  }
  NEREID_BACKEND_TRY(backend::CheckInputSize(*input));
  if (!plan_->batching) {
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
  Group group{members, 0};
  for (const size_t i : members) {
    if (__builtin_add_overflow(group.batch_size, (*batch)[i].batch_size, &group.batch_size)) {
      return Error::InvalidArgument("the batch is too large");
    }
  }
  const bool direct = direct_ && members.size() == 1;
  Error error = RunOnce(batch, group, direct);
  const bool wrote = std::any_of(output_buffers_.begin(), output_buffers_.end(),
                                 [](std::span<char> buffer) { return buffer.data() != nullptr; });
  if (error.ok() || !direct || !wrote) {
    return error;
  }
  // The model may return shapes that it does not declare. A second run lets ONNX Runtime allocate
  // the outputs.
  NEREID_BACKEND_TRY(batch->RenewResponse(members[0]));
  NEREID_BACKEND_TRY(RunOnce(batch, group, false));
  direct_ = false;
  return {};
}

Error Runner::RunOnce(Batch* batch, const Group& group, bool direct) {
  output_buffers_.clear();
  NEREID_BACKEND_TRY(BindInputs(group));
  NEREID_BACKEND_TRY(BindOutputs(batch, group, direct));
  batch->ComputeStarts();
  if (output_names_.empty()) {
    batch->ComputeEnds();
    return {};
  }
  Error error = ToError(Api().Run(
      session_.get(), run_options_.get(), input_names_.data(), input_pointers_.data(),
      input_pointers_.size(), output_names_.data(), output_names_.size(), output_pointers_.data()));
  batch->ComputeEnds();
  for (size_t i = 0; i < output_pointers_.size(); ++i) {
    if (output_values_[i] == nullptr) {
      output_values_[i].reset(output_pointers_[i]);
    }
  }
  if (error.ok()) {
    error = Scatter(batch, group);
  }
  input_values_.clear();
  output_values_.clear();
  return error;
}

}  // namespace nereid::onnxruntime
