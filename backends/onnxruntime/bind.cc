// SPDX-License-Identifier: Apache-2.0
// The part of Runner that binds the inputs and the output buffers of a run.
#include <algorithm>
#include <cstring>

#include "nereid/backend/batch_input.h"
#include "nereid/backend/bytes_tensor.h"
#include "nereid/backend/output.h"
#include "nereid/backend/sequence.h"
#include "onnxruntime/runner.h"

namespace nereid::onnxruntime {

Error Runner::BindInputs(const Group& group) {
  input_names_.clear();
  input_values_.clear();
  input_pointers_.clear();
  for (size_t i = 0; i < plan_->inputs.size(); ++i) {
    NEREID_BACKEND_TRY(BindInput(group, i));
  }
  for (size_t i = 0; i < plan_->batch_inputs.size(); ++i) {
    NEREID_BACKEND_TRY(BindBatchInput(group, i));
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
  NEREID_BACKEND_TRY(InputShape(plan, same_input_));
  backend::Gathered gathered;
  NEREID_BACKEND_TRY(
      backend::GatherInputs(same_input_, plan.element_size, &gathered_[index], &gathered));
  Owned<OrtValue> value;
  if (plan.text()) {
    NEREID_BACKEND_TRY(BindText(plan, same_input_, gathered.data, &value));
  } else {
    NEREID_BACKEND_TRY(WrapInput(gathered.data, gathered.size, plan.element_type, &value));
  }
  AddInput(plan.name, std::move(value));
  return {};
}

Error Runner::BindBatchInput(const Group& group, size_t index) {
  const BatchInputPlan& plan = plan_->batch_inputs[index];
  NEREID_BACKEND_TRY(ReadSources(group, plan.source));
  size_t size = 0;
  NEREID_BACKEND_TRY(backend::MakeBatchInput(plan.config, sources_, plan.room, &described_[index],
                                             &shape_, &size));
  Owned<OrtValue> value;
  NEREID_BACKEND_TRY(WrapInput(described_[index].Reserve(0), size, plan.element_type, &value));
  AddInput(plan.name, std::move(value));
  return {};
}

/// Sets sources_ to the shapes of one input in the requests of the group.
Error Runner::ReadSources(const Group& group, size_t input) {
  sources_.clear();
  for (const size_t member : group.members) {
    const Input& source = InputOf(member, input);
    if (source.handle == nullptr) {
      return Error::InvalidArgument("the request lacks the input '" + plan_->inputs[input].name +
                                    "', from which model '" + plan_->model_name +
                                    "' derives its batch");
    }
    sources_.push_back(source.shape);
  }
  return {};
}

/// Creates a tensor with shape_ that refers to `data`. The memory must stay valid during the run.
Error Runner::WrapInput(const char* data, size_t size, ONNXTensorElementDataType type,
                        Owned<OrtValue>* value) {
  OrtValue* made = nullptr;
  // ONNX Runtime does not write to inputs, but its C API takes a non-const pointer.
  NEREID_ORT_TRY(Api().CreateTensorWithDataAsOrtValue(memory_.get(), const_cast<char*>(data), size,
                                                      shape_.data(), shape_.size(), type, &made));
  value->reset(made);
  return {};
}

void Runner::AddInput(const std::string& name, Owned<OrtValue> value) {
  input_names_.push_back(name.c_str());
  input_pointers_.push_back(value.get());
  input_values_.push_back(std::move(value));
}

/// Sets shape_ to the shape of the concatenated inputs.
Error Runner::InputShape(const InputPlan& plan, std::span<const Input> inputs) {
  if (plan.ragged) {
    return backend::FlattenedShape(inputs, &shape_);
  }
  if (plan_->batching) {
    return backend::ConcatenatedShape(inputs, &shape_);
  }
  const std::span<const int64_t> only = inputs[0].shape;
  shape_.assign(only.begin(), only.end());
  if (plan.scalar) {
    if (backend::ElementCount(only) != 1) {
      return Error::InvalidArgument("input '" + plan.name + "' must hold one element, not shape " +
                                    backend::ShapeText(only));
    }
    shape_.clear();
  }
  return {};
}

/// Creates a string tensor with shape_ from `data`, the concatenated content of the inputs.
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
  output_states_.clear();
  output_names_.clear();
  output_values_.clear();
  output_pointers_.clear();
  for (size_t i = 0; i < plan_->outputs.size(); ++i) {
    const OutputPlan& plan = plan_->outputs[i];
    const bool wanted = plan.state || std::any_of(group.members.begin(), group.members.end(),
                                                  [&](size_t member) { return Wants(member, i); });
    if (!wanted) {
      continue;
    }
    Owned<OrtValue> value;
    output_plans_.push_back(i);
    output_buffers_.emplace_back();
    output_states_.push_back(nullptr);
    if (direct && plan.direct && DirectShape(group, plan)) {
      NEREID_BACKEND_TRY(BindDirect(&(*batch)[group.members[0]], plan, &value));
    }
    output_direct_.push_back(value != nullptr ? 1 : 0);
    output_names_.push_back(plan.graph_name.c_str());
    output_pointers_.push_back(value.get());
    output_values_.push_back(std::move(value));
  }
  return {};
}

/// Allocates the buffer of an output or state with shape_ in advance and lets the model write to
/// it. `*value` stays null if the model cannot write there, because the buffer is not aligned.
Error Runner::BindDirect(BatchMember* member, const OutputPlan& plan, Owned<OrtValue>* value) {
  const int64_t size = backend::TensorByteSize(plan.data_type, shape_);
  if (size <= 0) {
    return {};
  }
  char* buffer = nullptr;
  const auto bytes = static_cast<size_t>(size);
  NEREID_BACKEND_TRY(AllocateDirect(member, plan, bytes, &buffer));
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

Error Runner::AllocateDirect(BatchMember* member, const OutputPlan& plan, size_t size,
                             char** buffer) {
  return plan.state ? backend::AllocateState(member->request, plan.name.c_str(), plan.data_type,
                                             shape_, size, &output_states_.back(), buffer)
                    : backend::AllocateOutput(member->response, plan.name.c_str(), plan.data_type,
                                              shape_, size, buffer);
}

/// Sets shape_ to the shape that the output will have. Returns false if a dimension is not known
/// before the run.
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
