// SPDX-License-Identifier: Apache-2.0
// The part of Runner that collects the inputs of the requests.
#include <algorithm>

#include "framework/runner.h"
#include "nereid/backend/bytes_tensor.h"

namespace nereid::framework {

Error Runner::Gather(std::span<const size_t> members) {
  for (size_t i = 0; i < plan_->inputs.size(); ++i) {
    NEREID_BACKEND_TRY(GatherInput(members, i));
  }
  return {};
}

Error Runner::GatherInput(std::span<const size_t> members, size_t index) {
  const PlannedInput& plan = plan_->inputs[index];
  InputTensor* tensor = &run_inputs_[index];
  *tensor = InputTensor();
  same_input_.clear();
  for (const size_t member : members) {
    if (const backend::Input& input = InputOf(member, index); input.handle != nullptr) {
      same_input_.push_back(input);
    }
  }
  if (same_input_.empty()) {
    return {};
  }
  if (same_input_.size() != members.size()) {
    return Error::InvalidArgument("only some requests of the batch have the input '" + plan.name +
                                  "'");
  }
  NEREID_BACKEND_TRY(GatherShape(plan, &shapes_[index]));
  tensor->present = true;
  tensor->data_type = same_input_[0].data_type;
  tensor->shape = shapes_[index];
  const size_t alignment = std::max<size_t>(1, TRITONSERVER_DataTypeByteSize(tensor->data_type));
  backend::Gathered gathered;
  NEREID_BACKEND_TRY(backend::GatherInputs(same_input_, alignment, &gathered_[index], &gathered));
  tensor->data = gathered.data;
  tensor->size = gathered.size;
  if (plan.shape_tensor) {
    NEREID_BACKEND_TRY(KeepOne(plan, tensor));
  }
  if (tensor->data_type == TRITONSERVER_TYPE_BYTES) {
    NEREID_BACKEND_TRY(SplitTexts(plan, gathered.data, &texts_[index]));
    tensor->texts = texts_[index];
  }
  return {};
}

/// Sets `shape` to the shape of the concatenated tensors in same_input_.
Error Runner::GatherShape(const PlannedInput& plan, std::vector<int64_t>* shape) {
  if (plan_->batching && !plan.shape_tensor) {
    return backend::ConcatenatedShape(same_input_, shape);
  }
  const std::span<const int64_t> only = same_input_[0].shape;
  shape->assign(only.begin(), only.end());
  if (plan.scalar) {
    if (backend::ElementCount(only) != 1) {
      return Error::InvalidArgument("input '" + plan.name + "' must hold one element, not shape " +
                                    backend::ShapeText(only));
    }
    shape->clear();
  }
  return {};
}

/// Checks that the tensors in same_input_, which `tensor` holds one after the other, are all equal,
/// and keeps the first.
Error Runner::KeepOne(const PlannedInput& plan, InputTensor* tensor) const {
  tensor->size = same_input_[0].byte_size;
  const char* next = tensor->data;
  for (const backend::Input& input : same_input_) {
    if (input.byte_size != tensor->size ||
        (tensor->size != 0 && std::memcmp(tensor->data, next, tensor->size) != 0)) {
      return Error::InvalidArgument("the requests of the batch differ in the shape tensor '" +
                                    plan.name + "'");
    }
    next += input.byte_size;
  }
  return {};
}

/// Splits `data`, the concatenated tensors in same_input_, into elements.
Error Runner::SplitTexts(const PlannedInput& plan, const char* data,
                         std::vector<std::string_view>* texts) {
  texts->clear();
  for (const backend::Input& input : same_input_) {
    NEREID_BACKEND_TRY(backend::ForEachBytesElement(
        data, input.byte_size, backend::ElementCount(input.shape), plan.name,
        [&](int64_t, std::string_view element) { texts->push_back(element); }));
    data += input.byte_size;
  }
  return {};
}

}  // namespace nereid::framework
