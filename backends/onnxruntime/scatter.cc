// SPDX-License-Identifier: Apache-2.0
// The part of Runner that writes the results of a run to responses and states.
#include <algorithm>
#include <cstring>

#include "nereid/backend/bytes_tensor.h"
#include "nereid/backend/output.h"
#include "nereid/backend/sequence.h"
#include "onnxruntime/runner.h"

namespace nereid::onnxruntime {
namespace {

template <typename Write>
Error WriteTextState(TRITONBACKEND_Request* request, const OutputPlan& plan,
                     std::span<const int64_t> shape, size_t size, const Write& write) {
  TRITONBACKEND_State* state = nullptr;
  char* out = nullptr;
  NEREID_BACKEND_TRY(backend::AllocateState(request, plan.name.c_str(), plan.data_type, shape, size,
                                            &state, &out));
  write(out);
  return Error(TRITONBACKEND_StateUpdate(state));
}

}  // namespace

/// Sets shape_ to the shape of a result, and checks its type.
Error Runner::ReadShape(const OutputPlan& plan, const OrtValue& value) {
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
  return {};
}

/// Sets the parts of an output, with the shapes for the responses.
Error Runner::CutOutput(Batch* batch, const Group& group, size_t output) {
  const OutputPlan& plan = plan_->outputs[output_plans_[output]];
  std::vector<backend::OutputPart>* parts = &parts_[output];
  NEREID_BACKEND_TRY(ReadShape(plan, *output_values_[output]));
  if (plan.scatter) {
    NEREID_BACKEND_TRY(ReadSources(group, plan.scatter->source));
    return backend::ScatterWithInputShape(plan.name, plan.scatter->dims, sources_,
                                          backend::ElementCount(shape_), parts);
  }
  if (shape_.empty() && !plan_->batching) {
    shape_.assign(1, 1);  // the protocol has no rank 0
  }
  batch_sizes_.clear();
  if (!plan_->batching) {
    batch_sizes_.push_back(shape_[0]);  // the only request receives the whole output
    NEREID_BACKEND_TRY(backend::ScatterAlongBatch(plan.name, shape_, batch_sizes_, parts));
    if (plan.scalar && shape_ == std::vector<int64_t>{1}) {
      parts->front().shape.clear();
    }
    return {};
  }
  if (shape_.empty() || shape_[0] != group.batch_size) {
    return Error::Internal("output '" + plan.name + "' of model '" + plan_->model_name +
                           "' has the shape " + backend::ShapeText(shape_) +
                           ", whose first dimension should be the batch size " +
                           std::to_string(group.batch_size));
  }
  for (const size_t i : group.members) {
    batch_sizes_.push_back(static_cast<int64_t>((*batch)[i].batch_size));
  }
  return backend::ScatterAlongBatch(plan.name, shape_, batch_sizes_, parts);
}

Error Runner::Scatter(Batch* batch, const Group& group) {
  // All results are checked before the first output is written. After a failure the responses are
  // still empty, and the requests can run again one by one.
  parts_.resize(std::max(parts_.size(), output_plans_.size()));
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
      NEREID_BACKEND_TRY(CutOutput(batch, group, i));
    }
  }
  for (size_t i = 0; i < output_plans_.size(); ++i) {
    NEREID_BACKEND_TRY(ScatterOutput(batch, group, i));
  }
  return {};
}

Error Runner::ScatterOutput(Batch* batch, const Group& group, size_t output) {
  const OutputPlan& plan = plan_->outputs[output_plans_[output]];
  if (output_direct_[output] != 0) {
    return plan.state ? CompleteState(batch, group.members[0], output) : Error();
  }
  return plan.text() ? ScatterTexts(batch, group, output) : ScatterNumbers(batch, group, output);
}

/// Completes a state whose next value is already in its own buffer.
Error Runner::CompleteState(Batch* batch, size_t member, size_t output) {
  const size_t index = output_plans_[output];
  const OutputPlan& plan = plan_->outputs[index];
  NEREID_BACKEND_TRY(TRITONBACKEND_StateUpdate(output_states_[output]));
  if (!Wants(member, index)) {
    return {};
  }
  NEREID_BACKEND_TRY(ReadShape(plan, *output_values_[output]));
  const std::span<char> buffer = output_buffers_[output];
  return backend::WriteOutput((*batch)[member].response, plan.name.c_str(), plan.data_type, shape_,
                              buffer.data(), buffer.size());
}

Error Runner::ScatterNumbers(Batch* batch, const Group& group, size_t output) {
  const size_t index = output_plans_[output];
  const OutputPlan& plan = plan_->outputs[index];
  const std::vector<backend::OutputPart>& parts = parts_[output];
  void* base = nullptr;
  NEREID_ORT_TRY(Api().GetTensorMutableData(output_values_[output].get(), &base));
  const char* data = static_cast<const char*>(base);
  if (const std::span<char> buffer = output_buffers_[output]; buffer.data() != nullptr) {
    if (backend::TensorByteSize(plan.data_type, parts[0].shape) !=
        static_cast<int64_t>(buffer.size())) {
      return Error::Internal("output '" + plan.name + "' of model '" + plan_->model_name +
                             "' has another shape than the model declares");
    }
    std::memcpy(buffer.data(), data, buffer.size());
    return plan.state ? CompleteState(batch, group.members[0], output) : Error();
  }
  for (size_t k = 0; k < parts.size(); ++k) {
    const size_t i = group.members[k];
    const int64_t size = backend::TensorByteSize(plan.data_type, parts[k].shape);
    if (size < 0) {
      return Error::Internal("output '" + plan.name + "' has an impossible shape");
    }
    // If a buffer cannot be allocated, only that request fails.
    if (plan.state) {
      batch->Fail(i, backend::WriteState((*batch)[i].request, plan.name.c_str(), plan.data_type,
                                         parts[k].shape, data, static_cast<uint64_t>(size)));
    }
    if (Wants(i, index)) {
      batch->Fail(i, backend::WriteOutput((*batch)[i].response, plan.name.c_str(), plan.data_type,
                                          parts[k].shape, data, static_cast<uint64_t>(size)));
    }
    data += size;
  }
  return {};
}

Error Runner::ScatterTexts(Batch* batch, const Group& group, size_t output) {
  const size_t index = output_plans_[output];
  const OutputPlan& plan = plan_->outputs[index];
  const std::vector<backend::OutputPart>& parts = parts_[output];
  const OrtValue* value = output_values_[output].get();
  const auto total = static_cast<size_t>(parts.back().first + parts.back().count);
  size_t length = 0;
  NEREID_ORT_TRY(Api().GetStringTensorDataLength(value, &length));
  offsets_.assign(total + 1, length);
  char* text = texts_.Reserve(length);
  if (total != 0) {
    NEREID_ORT_TRY(Api().GetStringTensorContent(value, text, length, offsets_.data(), total));
  }
  for (size_t k = 0; k < parts.size(); ++k) {
    const size_t i = group.members[k];
    const auto first = static_cast<size_t>(parts[k].first);
    const size_t last = first + static_cast<size_t>(parts[k].count);
    const size_t size = (last - first) * sizeof(uint32_t) + offsets_[last] - offsets_[first];
    const auto write = [&](char* out) {
      for (size_t n = first; n < last; ++n) {
        out = backend::WriteBytesElement({text + offsets_[n], offsets_[n + 1] - offsets_[n]}, out);
      }
    };
    if (plan.state) {
      batch->Fail(i, WriteTextState((*batch)[i].request, plan, parts[k].shape, size, write));
    }
    if (Wants(i, index)) {
      char* out = nullptr;
      Error allocated = backend::AllocateOutput((*batch)[i].response, plan.name.c_str(),
                                                plan.data_type, parts[k].shape, size, &out);
      if (allocated.ok()) {
        write(out);
      }
      batch->Fail(i, std::move(allocated));
    }
  }
  return {};
}

}  // namespace nereid::onnxruntime
