// SPDX-License-Identifier: Apache-2.0
// The part of Runner that writes the results of a run to responses and states.
#include "framework/runner.h"
#include "nereid/backend/bytes_tensor.h"
#include "nereid/backend/output.h"
#include "nereid/backend/sequence.h"

namespace nereid::framework {

using backend::Batch;
using backend::OutputPart;

/// Checks a result against the plan. It is not trusted, because a model may return something
/// different from what it declares.
Error Runner::CheckResult(const PlannedOutput& plan, const OutputTensor& result) const {
  const std::string what = "output '" + plan.name + "' of model '" + plan_->model_name + "'";
  if (result.data_type != plan.data_type) {
    return Error::InvalidArgument(
        what + " is of type " + TRITONSERVER_DataTypeString(result.data_type) +
        ", but the configuration says " + TRITONSERVER_DataTypeString(plan.data_type));
  }
  const int64_t count = backend::ElementCount(result.shape);
  const bool fits = plan.text() ? count == static_cast<int64_t>(result.texts.size())
                                : backend::TensorByteSize(plan.data_type, result.shape) ==
                                      static_cast<int64_t>(result.size);
  if (count < 0 || !fits) {
    return Error::Internal(what + " has the impossible shape " + backend::ShapeText(result.shape));
  }
  return {};
}

/// Sets the parts of a result for the requests.
Error Runner::Cut(Batch* batch, std::span<const size_t> members, size_t result) {
  const PlannedOutput& plan = OutputOf(result);
  OutputTensor& tensor = results_[result];
  NEREID_BACKEND_TRY(CheckResult(plan, tensor));
  if (tensor.shape.empty() && !plan_->batching) {
    tensor.shape.assign(1, 1);  // the protocol has no rank 0
  }
  if (plan.shape_tensor) {
    parts_[result].assign(members.size(), {tensor.shape, 0, backend::ElementCount(tensor.shape)});
    return {};
  }
  batch_sizes_.clear();
  int64_t total = 0;
  for (const size_t i : members) {
    batch_sizes_.push_back(plan_->batching ? static_cast<int64_t>((*batch)[i].batch_size)
                                           : tensor.shape[0]);
    total += batch_sizes_.back();
  }
  if (tensor.shape.empty() || tensor.shape[0] != total) {
    return Error::InvalidArgument("output '" + plan.name + "' of model '" + plan_->model_name +
                                  "' has the shape " + backend::ShapeText(tensor.shape) +
                                  ", whose first dimension should be the batch size " +
                                  std::to_string(total));
  }
  return backend::ScatterAlongBatch(plan.name, tensor.shape, batch_sizes_, &parts_[result]);
}

Error Runner::Scatter(Batch* batch, std::span<const size_t> members) {
  // All results are checked before the first output is written. After a failure the responses are
  // still empty, and the requests can run again one by one.
  parts_.resize(std::max(parts_.size(), results_.size()));
  for (size_t i = 0; i < results_.size(); ++i) {
    NEREID_BACKEND_TRY(Cut(batch, members, i));
  }
  for (size_t i = 0; i < results_.size(); ++i) {
    for (size_t k = 0; k < members.size(); ++k) {
      // If the buffer of a response cannot be allocated, only that request fails.
      batch->Fail(members[k], Give(batch, members[k], i, parts_[i][k]));
    }
  }
  return {};
}

/// Writes one request's part of a result, as an output, a state or both.
Error Runner::Give(Batch* batch, size_t member, size_t result, const OutputPart& part) {
  const PlannedOutput& plan = OutputOf(result);
  const OutputTensor& tensor = results_[result];
  const unsigned char wanted = plan_->open_outputs
                                   ? kAnswer
                                   : wanted_[member * plan_->outputs.size() + run_outputs_[result]];
  const auto first = static_cast<size_t>(part.first);
  const auto count = static_cast<size_t>(part.count);
  uint64_t size = 0;
  if (plan.text()) {
    for (size_t i = first; i < first + count; ++i) {
      size += sizeof(uint32_t) + tensor.texts[i].size();
    }
  } else {
    size = count * TRITONSERVER_DataTypeByteSize(plan.data_type);
  }
  const auto write = [&](char* out) {
    if (!plan.text()) {
      if (size != 0) {
        std::memcpy(out, tensor.data + first * TRITONSERVER_DataTypeByteSize(plan.data_type), size);
      }
      return;
    }
    for (size_t i = first; i < first + count; ++i) {
      out = backend::WriteBytesElement(tensor.texts[i], out);
    }
  };
  char* buffer = nullptr;
  if ((wanted & kAnswer) != 0) {
    NEREID_BACKEND_TRY(backend::AllocateOutput((*batch)[member].response, plan.name.c_str(),
                                               plan.data_type, part.shape, size, &buffer));
    write(buffer);
  }
  if ((wanted & kState) != 0) {
    TRITONBACKEND_State* state = nullptr;
    NEREID_BACKEND_TRY(backend::AllocateState((*batch)[member].request, plan.name.c_str(),
                                              plan.data_type, part.shape, size, &state, &buffer));
    write(buffer);
    NEREID_BACKEND_TRY(TRITONBACKEND_StateUpdate(state));
  }
  return {};
}

}  // namespace nereid::framework
