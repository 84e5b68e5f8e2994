// SPDX-License-Identifier: Apache-2.0
// The parts of SequenceStates that copy values out of a server and into another one.
#include <cstring>
#include <vector>

#include "memory/gpu/copy.h"
#include "request/sequence_states.h"
#include "tensor/bytes.h"

namespace nereid::request {

using base::Status;

base::Result<std::vector<SavedState>> SequenceStates::Save() const {
  std::vector<SavedState> saved;
  saved.reserve(size());
  for (size_t i = 0; i < size(); ++i) {
    const CurrentValue current = value(i);
    SavedState& copy = saved.emplace_back();
    copy.name = current.spec.output_name;
    copy.data_type = current.spec.data_type;
    copy.shape = current.shape;
    copy.bytes.resize(current.size);
    if (current.size == 0) continue;
    const auto type = current.place ? memory::MemoryType::kGpu : memory::MemoryType::kCpu;
    NEREID_RETURN_IF_ERROR(memory::CopyBytes({copy.bytes.data(), memory::MemoryType::kCpu, 0},
                                             {current.data, type, current.place.value_or(0)},
                                             current.size));
  }
  return saved;
}

Status SequenceStates::Restore(const std::vector<SavedState>& saved) {
  Discard();
  is_set_ = false;
  if (saved.size() != size()) {
    return Status::InvalidArgument("the sequence has " + std::to_string(saved.size()) +
                                   " states, but model '" + layout_->model_name() + "' has " +
                                   std::to_string(size()));
  }
  std::vector<bool> is_known(size(), false);
  for (const SavedState& state : saved) {
    const size_t index = layout_->FindOutput(state.name);
    if (index == size() || is_known[index]) {
      return Status::InvalidArgument("the sequence has a state '" + state.name +
                                     (index == size() ? "', which model '" : "' twice; model '") +
                                     layout_->model_name() + "' has " +
                                     (index == size() ? "not" : "it once"));
    }
    is_known[index] = true;
    NEREID_RETURN_IF_ERROR(RestoreOne(index, state));
  }
  is_set_ = true;
  return Status::Ok();
}

Status SequenceStates::RestoreOne(size_t index, const SavedState& saved) {
  const StateLayout::Entry& entry = layout_->entries()[index];
  const std::string subject = "state '" + saved.name + "' of model '" + layout_->model_name() + "'";
  if (saved.data_type != entry.spec.data_type ||
      !tensor::ShapeMatches(entry.full_dims, saved.shape)) {
    return Status::InvalidArgument(
        subject + " is " + std::string(tensor::DataTypeName(saved.data_type)) + " " +
        tensor::ShapeText(saved.shape) + " in the sequence, but its configuration says " +
        std::string(tensor::DataTypeName(entry.spec.data_type)) + " " +
        tensor::ShapeText(entry.full_dims));
  }
  if (saved.data_type == tensor::DataType::kBytes) {
    const tensor::ByteSpan piece{saved.bytes.data(), saved.bytes.size()};
    NEREID_RETURN_IF_ERROR(tensor::CheckBytesElements(
        {&piece, 1}, tensor::ElementCount(saved.shape).value_or(-1), subject));
  } else if (tensor::ByteSize(saved.data_type, saved.shape) != saved.bytes.size()) {
    return Status::InvalidArgument(subject + " with shape " + tensor::ShapeText(saved.shape) +
                                   " cannot have " + std::to_string(saved.bytes.size()) + " bytes");
  }
  StateMemory memory = StateMemory::OnHostUnset(saved.bytes.size());
  if (!saved.bytes.empty()) {
    if (!memory) return OutOfMemory(index, saved.bytes.size());
    std::memcpy(memory.data(), saved.bytes.data(), saved.bytes.size());
    // The capacity may be larger: a later value that grows in place must not show old bytes.
    std::memset(memory.data() + saved.bytes.size(), 0, memory.size() - saved.bytes.size());
  }
  Value& value = values_[index];
  value.memory = std::move(memory);
  value.zeros.reset();
  value.shape = saved.shape;
  value.size = saved.bytes.size();
  return Status::Ok();
}

}  // namespace nereid::request
