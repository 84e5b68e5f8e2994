// SPDX-License-Identifier: Apache-2.0
// Addresses that are reserved first and get memory later: cuMemAddressReserve and its kin.
#include <sys/mman.h>

#include <mutex>

#include "device_memory.h"

namespace nereid::fake_gpu {
namespace {

using namespace device;  // the results

constexpr CuPointer kReservations = 0x400000000000;

}  // namespace

CuResult DeviceMemory::Reserve(size_t size, CuPointer* address) {
  if (size == 0 || size % kGranularity != 0) return kCudaInvalidValue;
  // Addresses are aligned to the granularity; the rest of the mapping is never used.
  void* const data = mmap(reinterpret_cast<void*>(kReservations), size + kGranularity, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return kCudaOutOfMemory;
  const auto start = reinterpret_cast<CuPointer>(data);
  const std::unique_lock lock(mutex_);
  *address = (start + kGranularity - 1) / kGranularity * kGranularity;
  reservations_[*address] = size;
  areas_[*address] = size;
  return kCudaSuccess;
}

// The addresses stay unmapped: a later use of them is still found to be an error.
CuResult DeviceMemory::FreeReserved(CuPointer address, size_t size) {
  const std::unique_lock lock(mutex_);
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second != size) return kCudaInvalidValue;
  const auto mapped = ranges_.lower_bound(address);
  if (mapped != ranges_.end() && mapped->first < address + size) return kCudaInvalidValue;
  reservations_.erase(found);
  return kCudaSuccess;
}

CuResult DeviceMemory::Create(int device, size_t size, CuMemoryHandle* handle) {
  if (size == 0 || size % kGranularity != 0) return kCudaInvalidValue;
  const std::unique_lock lock(mutex_);
  size_t offset = 0;
  if (const CuResult result = Take(device, size, &offset); result != 0) return result;
  *handle = next_handle_++;
  physical_[*handle] = {device, offset, size, 1};
  return kCudaSuccess;
}

void DeviceMemory::Drop(CuMemoryHandle handle) {
  const auto found = physical_.find(handle);
  if (--found->second.references > 0) return;
  Give(found->second.device, found->second.offset);
  physical_.erase(found);
}

CuResult DeviceMemory::Release(CuMemoryHandle handle) {
  const std::unique_lock lock(mutex_);
  if (physical_.count(handle) == 0) return kCudaInvalidValue;
  Drop(handle);
  return kCudaSuccess;
}

CuResult DeviceMemory::Map(CuPointer address, size_t size, CuMemoryHandle handle) {
  const std::unique_lock lock(mutex_);
  const auto found = physical_.find(handle);
  if (found == physical_.end() || found->second.size != size) return kCudaInvalidValue;
  auto reserved = reservations_.upper_bound(address);
  if (reserved == reservations_.begin()) return kCudaInvalidValue;
  --reserved;
  const CuPointer end = reserved->first + reserved->second;
  if (address >= end || size > end - address) return kCudaInvalidValue;
  const auto next = ranges_.lower_bound(address);
  if (Containing(address) != ranges_.end()) return kCudaInvalidValue;
  if (next != ranges_.end() && next->first < address + size) return kCudaInvalidValue;
  ++found->second.references;
  const Arena& arena = arenas_[static_cast<size_t>(found->second.device)];
  ranges_[address] = {
      size, found->second.device, arena.alias + found->second.offset, Origin::kMapped, handle,
      false};
  return kCudaSuccess;
}

CuResult DeviceMemory::Unmap(CuPointer address, size_t size) {
  const std::unique_lock lock(mutex_);
  auto range = ranges_.find(address);
  if (range == ranges_.end()) return kCudaInvalidValue;
  while (range != ranges_.end() && range->first < address + size) {
    if (range->second.origin != Origin::kMapped) return kCudaInvalidValue;
    if (range->first + range->second.size > address + size) return kCudaInvalidValue;
    Drop(range->second.handle);
    range = ranges_.erase(range);
  }
  return kCudaSuccess;
}

CuResult DeviceMemory::SetAccess(CuPointer address, size_t size) {
  const std::unique_lock lock(mutex_);
  size_t given = 0;
  for (auto range = ranges_.find(address); range != ranges_.end() && range->first < address + size;
       ++range) {
    range->second.accessible = true;
    given += range->second.size;
  }
  return given == size ? kCudaSuccess : kCudaInvalidValue;
}

}  // namespace nereid::fake_gpu
