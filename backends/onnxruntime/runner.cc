// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/runner.h"

#include <algorithm>
#include <cstring>

#include "nereid/backend/bytes_tensor.h"
#include "nereid/backend/output.h"

namespace nereid::onnxruntime {

Runner::Runner(std::shared_ptr<const Plan> plan, std::shared_ptr<OrtSession> session,
               Owned<OrtRunOptions> run_options, Owned<OrtMemoryInfo> memory)
    : plan_(std::move(plan)),
      session_(std::move(session)),
      run_options_(std::move(run_options)),
      memory_(std::move(memory)),
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
  for (AlignedBuffer& buffer : gathered_) {
    buffer.Trim();
  }
  texts_.Trim();
}

Error Runner::Prepare(size_t index, BatchMember* member) {
  bool sized = false;
  for (size_t i = 0; i < plan_->inputs.size(); ++i) {
    const InputPlan& plan = plan_->inputs[i];
    Input* input = &inputs_[index * plan_->inputs.size() + i];
    if (Error found = backend::FindInput(member->request, plan.name.c_str(), input); !found.ok()) {
      *input = Input();
      if (plan.has_default) {
        continue;
      }
      return Error::InvalidArgument("the request lacks the input '" + plan.name +
                                    "', which model '" + plan_->model_name + "' needs");
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
  // Perhaps the model gives other shapes than it declares; let ONNX Runtime make the outputs.
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

Error Runner::BindInputs(const Group& group) {
  input_names_.clear();
  input_values_.clear();
  input_pointers_.clear();
  for (size_t i = 0; i < plan_->inputs.size(); ++i) {
    NEREID_BACKEND_TRY(BindInput(group, i));
  }
  return {};
}

Error Runner::BindInput(const Group& group, size_t index) {
  const InputPlan& plan = plan_->inputs[index];
  same_input_.clear();
  for (const size_t member : group.members) {
    if (const Input& input = InputOf(member, index); input.handle != nullptr) {
      same_input_.push_back(input);
    }
  }
  if (same_input_.empty()) {
    return {};
  }
  if (same_input_.size() != group.members.size()) {
    return Error::InvalidArgument("only some requests of the batch have the input '" + plan.name +
                                  "'");
  }
  NEREID_BACKEND_TRY(InputShape(group, plan, same_input_));
  backend::Gathered gathered;
  NEREID_BACKEND_TRY(
      backend::GatherInputs(same_input_, plan.element_size, &gathered_[index], &gathered));
  Owned<OrtValue> value;
  if (plan.text()) {
    NEREID_BACKEND_TRY(BindText(plan, same_input_, gathered.data, &value));
  } else {
    OrtValue* made = nullptr;
    // ONNX Runtime does not write to the memory of an input; its C API only lacks the const.
    NEREID_ORT_TRY(Api().CreateTensorWithDataAsOrtValue(
        memory_.get(), const_cast<char*>(gathered.data), gathered.size, shape_.data(),
        shape_.size(), plan.element_type, &made));
    value.reset(made);
  }
  input_names_.push_back(plan.name.c_str());
  input_pointers_.push_back(value.get());
  input_values_.push_back(std::move(value));
  return {};
}

/// Sets shape_ to the shape of the inputs put together.
Error Runner::InputShape(const Group& group, const InputPlan& plan, std::span<const Input> inputs) {
  if (plan.ragged) {
    int64_t elements = 0;
    for (const Input& input : inputs) {
      elements += backend::ElementCount(input.shape);
    }
    shape_.assign(1, elements);
    return {};
  }
  const std::span<const int64_t> first = inputs[0].shape;
  if (plan.scalar) {
    if (backend::ElementCount(first) != 1) {
      return Error::InvalidArgument("input '" + plan.name + "' must hold one element, not shape " +
                                    backend::ShapeText(first));
    }
    shape_.clear();
    return {};
  }
  shape_.assign(first.begin(), first.end());
  if (plan_->batching) {
    shape_[0] = group.batch_size;
    for (const Input& input : inputs.subspan(1)) {
      if (!std::equal(first.begin() + 1, first.end(), input.shape.begin() + 1, input.shape.end())) {
        return Error::InvalidArgument("the requests of the batch have different shapes of input '" +
                                      plan.name + "'");
      }
    }
  }
  return {};
}

/// Makes a tensor of texts of shape_; `data` is the inputs' content one after the other.
Error Runner::BindText(const InputPlan& plan, std::span<const Input> inputs, const char* data,
                       Owned<OrtValue>* value) {
  OrtAllocator* allocator = nullptr;
  NEREID_ORT_TRY(Api().GetAllocatorWithDefaultOptions(&allocator));
  OrtValue* made = nullptr;
  NEREID_ORT_TRY(Api().CreateTensorAsOrtValue(allocator, shape_.data(), shape_.size(),
                                              ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, &made));
  value->reset(made);
  size_t first = 0;
  for (const Input& input : inputs) {
    const int64_t count = backend::ElementCount(input.shape);
    Error failure;
    NEREID_BACKEND_TRY(backend::ForEachBytesElement(
        data, input.byte_size, count, plan.name, [&](int64_t i, std::string_view element) {
          char* place = nullptr;
          if (Error got = ToError(Api().GetResizedStringTensorElementBuffer(
                  made, first + static_cast<size_t>(i), element.size(), &place));
              !got.ok()) {
            failure = std::move(got);
          } else if (!element.empty()) {
            std::memcpy(place, element.data(), element.size());
          }
        }));
    if (!failure.ok()) {
      return failure;
    }
    first += static_cast<size_t>(count);
    data += input.byte_size;
  }
  return {};
}

Error Runner::BindOutputs(Batch* batch, const Group& group, bool direct) {
  output_plans_.clear();
  output_direct_.clear();
  output_names_.clear();
  output_values_.clear();
  output_pointers_.clear();
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    const bool wanted = std::any_of(group.members.begin(), group.members.end(),
                                    [&](size_t member) { return Wants(member, i); });
    if (!wanted) {
      continue;
    }
    const OutputPlan& plan = plan_->outputs[i];
    Owned<OrtValue> value;
    output_plans_.push_back(i);
    output_buffers_.emplace_back();
    if (direct && plan.direct && DirectShape(group, plan)) {
      NEREID_BACKEND_TRY(BindDirect(&(*batch)[group.members[0]], plan, &value));
    }
    output_direct_.push_back(value != nullptr ? 1 : 0);
    output_names_.push_back(plan.name.c_str());
    output_pointers_.push_back(value.get());
    output_values_.push_back(std::move(value));
  }
  return {};
}

/// Asks for the response's buffer of an output of shape_. `*value` stays null where the model
/// cannot write there.
Error Runner::BindDirect(BatchMember* member, const OutputPlan& plan, Owned<OrtValue>* value) {
  const int64_t size = backend::TensorByteSize(plan.data_type, shape_);
  if (size <= 0) {
    return {};
  }
  char* buffer = nullptr;
  const auto bytes = static_cast<size_t>(size);
  NEREID_BACKEND_TRY(backend::AllocateOutput(member->response, plan.name.c_str(), plan.data_type,
                                             shape_, bytes, &buffer));
  output_buffers_.back() = {buffer, bytes};
  if (reinterpret_cast<uintptr_t>(buffer) % TRITONSERVER_DataTypeByteSize(plan.data_type) != 0) {
    return {};
  }
  OrtValue* made = nullptr;
  NEREID_ORT_TRY(Api().CreateTensorWithDataAsOrtValue(memory_.get(), buffer, bytes, shape_.data(),
                                                      shape_.size(), plan.element_type, &made));
  value->reset(made);
  return {};
}

/// Sets shape_ to the shape that the output will have; false where a dimension cannot be known.
bool Runner::DirectShape(const Group& group, const OutputPlan& plan) {
  shape_.clear();
  for (const DimPlan& dim : plan.dims) {
    switch (dim.kind) {
      case DimPlan::Kind::kFixed:
        shape_.push_back(dim.size);
        break;
      case DimPlan::Kind::kBatch:
        shape_.push_back(group.batch_size);
        break;
      case DimPlan::Kind::kInputDim: {
        const Input& input = InputOf(group.members[0], dim.input);
        if (input.handle == nullptr || dim.dim >= input.shape.size()) {
          return false;
        }
        shape_.push_back(input.shape[dim.dim]);
        break;
      }
      case DimPlan::Kind::kUnknown:
        return false;
    }
  }
  return true;
}

}  // namespace nereid::onnxruntime
