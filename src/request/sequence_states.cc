// SPDX-License-Identifier: Apache-2.0
#include "request/sequence_states.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/as_internal.h"
#include "base/byte_budget.h"
#include "base/log.h"
#include "tensor/bytes.h"

namespace nereid::request {
namespace {

using base::Status;
using tensor::DataType;

std::string Described(const StateLayout& layout, size_t index) {
  return "state '" + layout.entries()[index].spec.output_name + "' of model '" +
         layout.model_name() + "'";
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
      value.memory = StateMemory::OnHost(value.size);  // the backend writes to it
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
  // The caller may be an event loop, so initial values are set in host memory. Memory of a GPU is
  // kept for the first output.
  if (value.memory.place()) value.spare = std::exchange(value.memory, {});
  if (!Serves(value.memory.size(), entry.initial_size)) {
    value.memory = StateMemory::OnHostUnset(entry.initial_size);
  }
  if (entry.initial_size > 0 && !value.memory) return OutOfMemory(index, entry.initial_size);
  value.shape = entry.initial_shape;
  value.size = entry.initial_size;
  if (!value.memory) return Status::Ok();
  const size_t given = entry.initial_bytes.size();
  if (given > 0) std::memcpy(value.memory.data(), entry.initial_bytes.data(), given);
  // Clears the whole capacity: a later, larger value in place must not show old bytes.
  std::memset(value.memory.data() + given, 0, value.memory.size() - given);
  return Status::Ok();
}

void SequenceStates::AddTo(RequestInputs& inputs) const {
  for (size_t i = 0; i < size(); ++i) {
    const CurrentValue current = value(i);
    Input* const input =
        inputs.AddByServer(current.spec.input_name, current.spec.data_type, current.shape);
    if (current.size == 0) continue;
    if (current.place) {
      input->Append(current.data, current.size, memory::MemoryType::kGpu, *current.place);
    } else {
      input->Append(current.data, current.size);
    }
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
    return Status::Internal("state '" + std::string(name) + "' is not a valid state name.");
  }
  const StateLayout::Entry& entry = layout_->entries()[index];
  if (type != entry.spec.data_type) {
    return Status::Internal(Described(*layout_, index) + " is written as '" +
                            std::string(tensor::DataTypeName(type)) +
                            "', but its configuration says '" +
                            std::string(tensor::DataTypeName(entry.spec.data_type)) + "'");
  }
  if (!tensor::ShapeMatches(entry.full_dims, shape)) {
    return Status::Internal(Described(*layout_, index) + " is written with shape " +
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

base::Result<void*> SequenceStates::Buffer(OutputState* state, size_t size, StatePlace preferred) {
  if (state->has_buffer) {
    if (state->size == size) return static_cast<void*>(state->data);
    return Status::Internal(Described(*layout_, state->index) + " has a buffer of " +
                            std::to_string(state->size) + " bytes, but " + std::to_string(size) +
                            " are requested");
  }
  const StateLayout::Entry& entry = EntryOf(*state);
  if (entry.spec.data_type != DataType::kBytes) {
    const auto expected = tensor::ByteSize(entry.spec.data_type, state->shape);
    if (!expected || *expected != size) {
      return Status::Internal(Described(*layout_, state->index) + " with shape " +
                              tensor::ShapeText(state->shape) + " takes " +
                              (expected ? std::to_string(*expected) : "too many") + " bytes, but " +
                              std::to_string(size) + " are requested");
    }
  }
  if (preferred && (entry.spec.data_type == DataType::kBytes || !base::ThreadMayBlock())) {
    preferred.reset();
  }
  NEREID_RETURN_IF_ERROR(entry.spec.same_buffer ? ShareBuffer(state, size, preferred)
                                                : TakeBuffer(state, size, preferred));
  state->size = size;
  state->has_buffer = true;
  return static_cast<void*>(state->data);
}

base::Result<StateMemory> SequenceStates::NewMemory(size_t index, size_t size, size_t ahead,
                                                    StatePlace preferred) const {
  const config::StateSpec& spec = layout_->entries()[index].spec;
  if (preferred) {
    auto made = StateMemory::OnGpu(*preferred, size, spec.same_buffer && spec.growable_memory);
    if (made.ok()) return made;
    // Growable memory that reached its limit must not become a copy that grows further.
    if (spec.growable_memory) return made.status().WithPrefix(Described(*layout_, index) + ": ");
    LOG_VERBOSE(1) << Described(*layout_, index)
                   << " is in host memory: " << made.status().message();
  }
  StateMemory made = StateMemory::OnHost(std::max(size, ahead));
  if (!made) return OutOfMemory(index, size);
  return made;
}

// A spare that a previous sequence of the slot has written is cleared before it is given out.
base::Result<StateMemory> SequenceStates::TakeMemory(size_t index, size_t size, size_t ahead,
                                                     StatePlace preferred) {
  Value& value = values_[index];
  const bool serves = value.spare.is_growable() || Serves(value.spare.size(), size);
  if (!value.spare || value.spare.place() != preferred || !serves) {
    return NewMemory(index, size, ahead, preferred);
  }
  StateMemory taken = std::exchange(value.spare, {});
  if (value.spare_is_foreign) NEREID_RETURN_IF_ERROR(taken.Clear());
  if (taken.size() < size) {
    NEREID_RETURN_IF_ERROR(taken.GrowInPlace(size).WithPrefix(Described(*layout_, index) + ": "));
  }
  return taken;
}

// The backend reads the state from `memory` and writes the next value to `spare`; Commit swaps
// them. So a failed execution leaves the value untouched.
Status SequenceStates::TakeBuffer(OutputState* state, size_t size, StatePlace preferred) {
  if (size == 0) return Status::Ok();
  NEREID_ASSIGN_OR_RETURN(state->owned, TakeMemory(state->index, size, 0, preferred));
  state->data = state->owned.data();
  state->place = state->owned.place();
  return Status::Ok();
}

/// Uses the input's memory if it is large enough and where the backend wants it, else other memory
/// that begins with the same bytes. The old memory stays until the request ends, because the
/// backend may be reading it.
Status SequenceStates::ShareBuffer(OutputState* state, size_t size, StatePlace preferred) {
  Value& value = values_[state->index];
  const bool stays = value.memory.place() == preferred;
  const size_t capacity = value.memory.size();
  if (stays && size > capacity && value.memory.is_growable()) {
    NEREID_RETURN_IF_ERROR(
        value.memory.GrowInPlace(size).WithPrefix(Described(*layout_, state->index) + ": "));
  } else if (size > 0 && (!stays || size > capacity)) {
    const bool doubles = EntryOf(*state).spec.growable_memory && size > capacity;
    NEREID_ASSIGN_OR_RETURN(StateMemory moved, TakeMemory(state->index, std::max(size, value.size),
                                                          doubles ? 2 * capacity : 0, preferred));
    // The GPU may have no memory. Then the value stays where it is.
    if (size > capacity || moved.place() != value.memory.place()) {
      NEREID_RETURN_IF_ERROR(moved.CopyFrom(value.memory.source(), value.size));
      state->owned = std::move(moved);
    }
  }
  const StateMemory& used = state->owned ? state->owned : value.memory;
  state->data = used.data();
  state->place = used.place();
  return Status::Ok();
}

base::Result<memory::BufferAttributes*> SequenceStates::Attributes(OutputState* state) const {
  if (!state->has_buffer) {
    return Status::Internal(Described(*layout_, state->index) + " has no buffer yet");
  }
  if (state->attributes == nullptr) {
    state->attributes = std::make_unique<memory::BufferAttributes>();
    state->attributes->byte_size = state->size;
    if (state->place) {
      state->attributes->memory_type = memory::MemoryType::kGpu;
      state->attributes->memory_type_id = *state->place;
    }
  }
  return state->attributes.get();
}

Status SequenceStates::Update(OutputState* state) {
  const std::string subject = Described(*layout_, state->index);
  if (state->updated) return Status::Internal(subject + " was updated already");
  if (!state->has_buffer) {
    return Status::Internal(subject + " is updated before it was given a buffer");
  }
  if (EntryOf(*state).spec.data_type == DataType::kBytes) {
    const tensor::ByteSpan piece{state->data, state->size};
    NEREID_RETURN_IF_ERROR(base::AsInternal(tensor::CheckBytesElements(
        {&piece, 1}, tensor::ElementCount(state->shape).value_or(-1), subject)));
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
    if (output->owned) std::swap(value.memory, output->owned);
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
