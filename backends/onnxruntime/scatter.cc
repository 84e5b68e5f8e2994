// SPDX-License-Identifier: Apache-2.0
// The half of Runner that gives the results of a run to the responses.
#include <algorithm>
#include <cstring>

#include "nereid/backend/bytes_tensor.h"
#include "nereid/backend/output.h"
#include "onnxruntime/runner.h"

namespace nereid::onnxruntime {

/// Sets shape_ to the result's shape, as the response will show it.
Error Runner::ReadShape(const Group& group, const OutputPlan& plan, const OrtValue& value) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  NEREID_ORT_TRY(Api().GetTensorTypeAndShape(&value, &info));
  const Owned<OrtTensorTypeAndShapeInfo> owner(info);
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  NEREID_ORT_TRY(Api().GetTensorElementType(info, &type));
  size_t rank = 0;
  NEREID_ORT_TRY(Api().GetDimensionsCount(info, &rank));
  shape_.resize(rank);
  NEREID_ORT_TRY(Api().GetDimensions(info, shape_.data(), rank));
  if (type != plan.element_type) {
    return Error::Internal("output '" + plan.name + "' of model '" + plan_->model_name +
                           "' is of another type than the model declares");
  }
  if (plan_->batching && (rank == 0 || shape_[0] != group.batch_size)) {
    return Error::Internal("output '" + plan.name + "' of model '" + plan_->model_name +
                           "' has the shape " + backend::ShapeText(shape_) +
                           ", whose first dimension should be the batch size " +
                           std::to_string(group.batch_size));
  }
  if (rank == 0) {
    shape_.assign(1, 1);  // the protocol has no rank 0
  }
  return {};
}

Error Runner::Scatter(Batch* batch, const Group& group) {
  // All checks come before the first output, so that a failure leaves the responses empty and the
  // requests can run again one by one.
  for (size_t i = 0; i < output_plans_.size(); ++i) {
    const OutputPlan& plan = plan_->outputs[output_plans_[i]];
    int is_tensor = 0;
    if (output_values_[i] != nullptr) {
      NEREID_ORT_TRY(Api().IsTensor(output_values_[i].get(), &is_tensor));
    }
    if (is_tensor == 0) {
      return Error::Internal("model '" + plan_->model_name + "' gave no tensor for output '" +
                             plan.name + "'");
    }
    if (output_direct_[i] == 0) {
      NEREID_BACKEND_TRY(ReadShape(group, plan, *output_values_[i]));
    }
  }
  for (size_t i = 0; i < output_plans_.size(); ++i) {
    if (output_direct_[i] != 0) {
      continue;
    }
    if (plan_->outputs[output_plans_[i]].text()) {
      NEREID_BACKEND_TRY(ScatterTexts(batch, group, i));
    } else {
      NEREID_BACKEND_TRY(ScatterNumbers(batch, group, i));
    }
  }
  return {};
}

Error Runner::ScatterNumbers(Batch* batch, const Group& group, size_t output) {
  const size_t index = output_plans_[output];
  const OutputPlan& plan = plan_->outputs[index];
  OrtValue* value = output_values_[output].get();
  NEREID_BACKEND_TRY(ReadShape(group, plan, *value));
  void* base = nullptr;
  NEREID_ORT_TRY(Api().GetTensorMutableData(value, &base));
  const char* data = static_cast<const char*>(base);
  if (const std::span<char> buffer = output_buffers_[output]; buffer.data() != nullptr) {
    if (backend::TensorByteSize(plan.data_type, shape_) != static_cast<int64_t>(buffer.size())) {
      return Error::Internal("output '" + plan.name + "' of model '" + plan_->model_name +
                             "' has another shape than the model declares");
    }
    std::memcpy(buffer.data(), data, buffer.size());
    return {};
  }
  for (const size_t i : group.members) {
    BatchMember& member = (*batch)[i];
    if (plan_->batching) {
      shape_[0] = static_cast<int64_t>(member.batch_size);
    }
    const int64_t size = backend::TensorByteSize(plan.data_type, shape_);
    if (size < 0) {
      return Error::Internal("output '" + plan.name + "' has an impossible shape");
    }
    if (Wants(i, index)) {
      // Only this request's answer suffers where its buffer cannot be had.
      batch->Fail(i, backend::WriteOutput(member.response, plan.name.c_str(), plan.data_type,
                                          shape_, data, static_cast<uint64_t>(size)));
    }
    data += size;
  }
  return {};
}

Error Runner::ScatterTexts(Batch* batch, const Group& group, size_t output) {
  const size_t index = output_plans_[output];
  const OutputPlan& plan = plan_->outputs[index];
  const OrtValue* value = output_values_[output].get();
  NEREID_BACKEND_TRY(ReadShape(group, plan, *value));
  const auto total = static_cast<size_t>(std::max<int64_t>(0, backend::ElementCount(shape_)));
  size_t length = 0;
  NEREID_ORT_TRY(Api().GetStringTensorDataLength(value, &length));
  offsets_.assign(total + 1, length);
  char* text = texts_.Reserve(length);
  if (total != 0) {
    NEREID_ORT_TRY(Api().GetStringTensorContent(value, text, length, offsets_.data(), total));
  }
  size_t first = 0;
  for (const size_t i : group.members) {
    BatchMember& member = (*batch)[i];
    if (plan_->batching) {
      shape_[0] = static_cast<int64_t>(member.batch_size);
    }
    const auto count = static_cast<size_t>(backend::ElementCount(shape_));
    const size_t last = first + count;
    if (Wants(i, index)) {
      const size_t size = count * sizeof(uint32_t) + offsets_[last] - offsets_[first];
      char* out = nullptr;
      Error allocated = backend::AllocateOutput(member.response, plan.name.c_str(), plan.data_type,
                                                shape_, size, &out);
      for (size_t k = first; allocated.ok() && k < last; ++k) {
        out = backend::WriteBytesElement({text + offsets_[k], offsets_[k + 1] - offsets_[k]}, out);
      }
      batch->Fail(i, std::move(allocated));
    }
    first = last;
  }
  return {};
}

}  // namespace nereid::onnxruntime
