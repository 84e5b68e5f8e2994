// SPDX-License-Identifier: Apache-2.0
#include "request/sequence_states.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tensor/bytes.h"

namespace nereid::request {
namespace {

using base::Status;
using tensor::DataType;

std::string Described(const StateLayout& layout, size_t index) {
  return "state '" + layout.entries()[index].spec.output_name + "' of model '" +
         layout.model_name() + "'";
}

/// Returns zeroed memory, or an empty buffer when memory is short.
memory::HostBuffer AllocateCleared(size_t size) {
  memory::HostBuffer buffer = memory::HostBuffer::Allocate(size);
  if (buffer) std::memset(buffer.data(), 0, size);
  return buffer;
}

/// Returns whether a buffer of this capacity is used for `size` bytes. A capacity of more than four
/// times the size is not: a state that became much smaller gives its memory back.
bool Serves(size_t capacity, size_t size) { return capacity >= size && capacity / 4 <= size; }

}  // namespace

SequenceStates::SequenceStates(std::shared_ptr<const StateLayout> layout)
    : layout_(std::move(layout)), values_(layout_->entries().size()) {}

base::Result<std::shared_ptr<SequenceStates>> SequenceStates::MakeDummy(
    const SequenceStates& reference, ZeroBlock& zeros) {
  auto dummy = std::make_shared<SequenceStates>(reference.layout_);
  for (size_t i = 0; i < reference.values_.size(); ++i) {
    const StateLayout::Entry& entry = reference.layout_->entries()[i];
    Value& value = dummy->values_[i];
    value.shape = reference.values_[i].shape;
    value.size = reference.values_[i].size;
    if (entry.spec.data_type == DataType::kBytes) {
      value.size = tensor::ZeroByteSize(DataType::kBytes, value.shape).value_or(0);
    }
    if (value.size == 0) continue;
    if (entry.spec.same_buffer) {
      value.buffer = AllocateCleared(value.size);  // the backend writes to it
    } else {
      value.zeros = zeros.AtLeast(value.size);
    }
    if (value.data() == nullptr) return reference.OutOfMemory(i, value.size);
  }
  dummy->is_set_ = true;
  return dummy;
}

Status SequenceStates::OutOfMemory(size_t index, size_t size) const {
  return Status::Unavailable("out of memory: " + Described(*layout_, index) + " needs " +
                             std::to_string(size) + " bytes");
}

Status SequenceStates::Reset() {
  Discard();
  is_set_ = false;
  for (size_t i = 0; i < values_.size(); ++i) NEREID_RETURN_IF_ERROR(SetInitial(i));
  is_set_ = true;
  return Status::Ok();
}

Status SequenceStates::SetInitial(size_t index) {
  const StateLayout::Entry& entry = layout_->entries()[index];
  Value& value = values_[index];
  value.zeros.reset();
  value.spare_is_foreign = true;
  if (!Serves(value.buffer.size(), entry.initial_size)) {
    value.buffer = memory::HostBuffer::Allocate(entry.initial_size);
  }
  if (entry.initial_size > 0 && !value.buffer) return OutOfMemory(index, entry.initial_size);
  value.shape = entry.initial_shape;
  value.size = entry.initial_size;
  if (!value.buffer) return Status::Ok();
  const size_t given = entry.initial_bytes.size();
  if (given > 0) std::memcpy(value.buffer.data(), entry.initial_bytes.data(), given);
  // Clears the whole capacity: a later, larger value in place must not show old bytes.
  std::memset(value.buffer.data() + given, 0, value.buffer.size() - given);
  return Status::Ok();
}

void SequenceStates::AddTo(RequestInputs& inputs) const {
  for (size_t i = 0; i < size(); ++i) {
    const CurrentValue current = value(i);
    Input* const input =
        inputs.AddByServer(current.spec.input_name, current.spec.data_type, current.shape);
    if (current.size > 0) input->Append(current.data, current.size);
  }
}

bool SequenceStates::HasShapesOf(const SequenceStates& other) const {
  return std::equal(values_.begin(), values_.end(), other.values_.begin(), other.values_.end(),
                    [](const Value& a, const Value& b) { return a.shape == b.shape; });
}

base::Result<OutputState*> SequenceStates::NewOutput(std::string_view name, DataType type,
                                                     tensor::Shape shape) {
  const size_t index = layout_->FindOutput(name);
  if (index == values_.size()) {
    return Status::InvalidArgument("state '" + std::string(name) + "' is not a valid state name.");
  }
  const StateLayout::Entry& entry = layout_->entries()[index];
  if (type != entry.spec.data_type) {
    return Status::InvalidArgument(Described(*layout_, index) + " is written as '" +
                                   std::string(tensor::DataTypeName(type)) +
                                   "', but its configuration says '" +
                                   std::string(tensor::DataTypeName(entry.spec.data_type)) + "'");
  }
  if (!tensor::ShapeMatches(entry.full_dims, shape)) {
    return Status::InvalidArgument(Described(*layout_, index) + " is written with shape " +
                                   tensor::ShapeText(shape) + ", but its configuration says " +
                                   tensor::ShapeText(entry.full_dims));
  }
  auto output = std::make_unique<OutputState>();
  output->owner = this;
  output->index = index;
  output->shape = std::move(shape);
  outputs_.push_back(std::move(output));
  return outputs_.back().get();
}

base::Result<void*> SequenceStates::Buffer(OutputState* state, size_t size) {
  if (state->has_buffer) {
    if (state->size == size) return static_cast<void*>(state->data);
    return Status::InvalidArgument(Described(*layout_, state->index) + " has a buffer of " +
                                   std::to_string(state->size) + " bytes, but " +
                                   std::to_string(size) + " are requested");
  }
  const StateLayout::Entry& entry = EntryOf(*state);
  if (entry.spec.data_type != DataType::kBytes) {
    const auto expected = tensor::ByteSize(entry.spec.data_type, state->shape);
    if (!expected || *expected != size) {
      return Status::InvalidArgument(Described(*layout_, state->index) + " with shape " +
                                     tensor::ShapeText(state->shape) + " takes " +
                                     (expected ? std::to_string(*expected) : "too many") +
                                     " bytes, but " + std::to_string(size) + " are requested");
    }
  }
  NEREID_RETURN_IF_ERROR(entry.spec.same_buffer ? ShareBuffer(state, size)
                                                : TakeBuffer(state, size));
  state->size = size;
  state->has_buffer = true;
  return static_cast<void*>(state->data);
}

// The backend reads the state from `buffer` and writes the next value to `spare`; Commit swaps
// them. So a failed execution leaves the value untouched. A spare that a previous sequence of the
// slot has written is cleared before it is given out.
Status SequenceStates::TakeBuffer(OutputState* state, size_t size) {
  if (size == 0) return Status::Ok();
  Value& value = values_[state->index];
  if (Serves(value.spare.size(), size)) {
    state->owned = std::move(value.spare);
    if (value.spare_is_foreign) std::memset(state->owned.data(), 0, state->owned.size());
  } else {
    state->owned = AllocateCleared(size);
    if (!state->owned) return OutOfMemory(state->index, size);
  }
  state->data = state->owned.data();
  return Status::Ok();
}

/// Uses the input's memory if it is large enough, else new memory that begins with the same bytes.
/// The old memory stays until the request ends, because the backend may be reading it.
Status SequenceStates::ShareBuffer(OutputState* state, size_t size) {
  Value& value = values_[state->index];
  const size_t capacity = value.buffer.size();
  if (size > capacity) {
    const bool ahead = EntryOf(*state).spec.growable_memory;
    state->owned = AllocateCleared(ahead ? std::max(size, 2 * capacity) : size);
    if (!state->owned) return OutOfMemory(state->index, size);
    if (value.size > 0) std::memcpy(state->owned.data(), value.data(), value.size);
  }
  state->data = state->owned ? state->owned.data() : value.buffer.data();
  return Status::Ok();
}

base::Result<memory::BufferAttributes*> SequenceStates::Attributes(OutputState* state) const {
  if (!state->has_buffer) {
    return Status::InvalidArgument(Described(*layout_, state->index) + " has no buffer yet");
  }
  if (state->attributes == nullptr) {
    state->attributes = std::make_unique<memory::BufferAttributes>();
    state->attributes->byte_size = state->size;
  }
  return state->attributes.get();
}

Status SequenceStates::Update(OutputState* state) {
  const std::string subject = Described(*layout_, state->index);
  if (state->updated) return Status::InvalidArgument(subject + " was updated already");
  if (!state->has_buffer) {
    return Status::InvalidArgument(subject + " is updated before it was given a buffer");
  }
  if (EntryOf(*state).spec.data_type == DataType::kBytes) {
    const tensor::ByteSpan piece{state->data, state->size};
    NEREID_RETURN_IF_ERROR(tensor::CheckBytesElements(
        {&piece, 1}, tensor::ElementCount(state->shape).value_or(-1), subject));
  }
  for (const auto& other : outputs_) {
    if (other->index == state->index) other->counts = false;
  }
  state->updated = true;
  state->counts = true;
  return Status::Ok();
}

void SequenceStates::Commit() {
  for (const auto& output : outputs_) {
    if (!output->counts) continue;
    Value& value = values_[output->index];
    value.shape = std::move(output->shape);
    value.size = output->size;
    value.zeros.reset();
    if (output->owned) std::swap(value.buffer, output->owned);
  }
  Discard();
}

void SequenceStates::Discard() {
  for (const auto& output : outputs_) {
    if (!output->owned || EntryOf(*output).spec.same_buffer) continue;
    Value& value = values_[output->index];
    // Either the discarded output or, after Commit, the previous value.
    value.spare = std::move(output->owned);
    value.spare_is_foreign = false;
  }
  outputs_.clear();
}

}  // namespace nereid::request
