// SPDX-License-Identifier: Apache-2.0
#include "request/sequence_states.h"

#include <cstring>
#include <utility>

#include "request/inference_request.h"

namespace nereid::request {

SequenceStates::SequenceStates(std::shared_ptr<const StateLayout> layout)
    : layout_(std::move(layout)), values_(layout_->entries().size()) {}

base::Status SequenceStates::Reset() {
  for (size_t i = 0; i < values_.size(); ++i) {
    const StateLayout::Entry& entry = layout_->entries()[i];
    Value& value = values_[i];
    value.shape = entry.initial_shape;
    value.size = entry.initial_size;
    value.buffer = memory::HostBuffer::Allocate(value.size);
    if (value.size == 0) continue;
    if (!value.buffer) {
      return base::Status::Unavailable("no memory for state '" + entry.spec.input_name + "'");
    }
    if (entry.initial_bytes.empty()) {
      std::memset(value.buffer.data(), 0, value.size);
    } else {
      std::memcpy(value.buffer.data(), entry.initial_bytes.data(), value.size);
    }
  }
  return base::Status::Ok();
}

const tensor::Shape& SequenceStates::shape(size_t index) const { return values_[index].shape; }

void SequenceStates::AddInputsTo(InferenceRequest& request) const {
  for (size_t i = 0; i < values_.size(); ++i) {
    const config::StateSpec& spec = layout_->entries()[i].spec;
    Input* const input = request.AddServerInput(spec.input_name, spec.data_type, values_[i].shape);
    if (values_[i].size > 0) input->Append(values_[i].buffer.data(), values_[i].size);
  }
}

void SequenceStates::Commit() {
  for (const auto& output : outputs_) {
    if (!output->updated) continue;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (layout_->entries()[i].spec.output_name != output->name) continue;
      values_[i] = {std::move(output->shape), std::move(output->buffer), output->size};
    }
  }
  outputs_.clear();
}

void SequenceStates::Discard() { outputs_.clear(); }

}  // namespace nereid::request
