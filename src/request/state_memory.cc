// SPDX-License-Identifier: Apache-2.0
#include "request/state_memory.h"

#include <cstring>
#include <utility>

namespace nereid::request {

using base::Status;
using memory::CopyBatch;

StateMemory StateMemory::OnHostUnset(size_t size) {
  StateMemory memory;
  memory.host_ = memory::HostBuffer::Allocate(size);
  return memory;
}

StateMemory StateMemory::OnHost(size_t size) {
  StateMemory memory = OnHostUnset(size);
  if (memory.host_) std::memset(memory.host_.data(), 0, size);
  return memory;
}

base::Result<StateMemory> StateMemory::OnGpu(int64_t gpu, size_t size, bool growable) {
  StateMemory memory;
  if (growable) {
    NEREID_ASSIGN_OR_RETURN(memory.growable_, memory::GrowableBuffer::Create(gpu));
    NEREID_RETURN_IF_ERROR(memory.growable_.Grow(size));
  } else {
    NEREID_ASSIGN_OR_RETURN(memory.device_, memory::DeviceBuffer::OnGpu(gpu, size));
  }
  NEREID_RETURN_IF_ERROR(memory.Clear());
  return memory;
}

Status StateMemory::Clear() {
  CopyBatch batch;
  NEREID_RETURN_IF_ERROR(batch.AddZeros({data(), type(), type_id()}, size()));
  return batch.Wait();
}

Status StateMemory::CopyFrom(const CopyBatch::Source& from, size_t size) {
  return memory::CopyBytes({data(), type(), type_id()}, from, size);
}

Status StateMemory::GrowInPlace(size_t size) {
  if (!growable_) return Status::Unsupported("the memory of the state cannot grow");
  const size_t before = growable_.size();
  NEREID_RETURN_IF_ERROR(growable_.Grow(size));
  CopyBatch batch;
  NEREID_RETURN_IF_ERROR(
      batch.AddZeros({data() + before, type(), type_id()}, growable_.size() - before));
  return batch.Wait();
}

char* StateMemory::data() const {
  if (device_) return device_.data();
  if (growable_) return growable_.data();
  return const_cast<char*>(host_.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

size_t StateMemory::size() const {
  if (device_) return device_.size();
  return growable_ ? growable_.size() : host_.size();
}

StatePlace StateMemory::place() const {
  if (device_) return device_.memory_type_id();
  if (growable_) return growable_.gpu();
  return std::nullopt;
}

}  // namespace nereid::request
