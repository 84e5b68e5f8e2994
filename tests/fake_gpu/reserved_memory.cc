// SPDX-License-Identifier: Apache-2.0
// Addresses that are reserved first and get memory later: cuMemAddressReserve and its kin. Memory
// that is shared with other processes is a file whose name has the number of the GPU.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

#include "device_memory.h"
#include "settings.h"

namespace nereid::fake_gpu {
namespace {

using namespace device;  // the results

constexpr CuPointer kReservations = 0x400000000000;
constexpr char kSharedName[] = "fake-gpu-shared-";

/// Returns the number of the GPU, among all of the machine, whose shared memory a file is; -1 if it
/// is none.
int GpuOfFile(int file) {
  char link[64];
  char name[256] = {};
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  if (readlink(link, name, sizeof(name) - 1) <= 0) return -1;
  const std::string prefix = std::string("/memfd:") + kSharedName;
  int physical = -1;
  if (std::strncmp(name, prefix.c_str(), prefix.size()) != 0 ||
      std::sscanf(name + prefix.size(), "%d", &physical) != 1) {
    return -1;
  }
  return physical;
}

int OrdinalOfGpu(int physical) {
  const auto& visible = Settings::Get().visible;
  for (size_t i = 0; i < visible.size(); ++i) {
    if (visible[i].physical == physical) return static_cast<int>(i);
  }
  return -1;
}

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

CuResult DeviceMemory::Create(int device, size_t size, bool is_shared, CuMemoryHandle* handle) {
  if (size == 0 || size % kGranularity != 0) return kCudaInvalidValue;
  const std::unique_lock lock(mutex_);
  if (is_shared) {
    Arena& arena = arenas_[static_cast<size_t>(device)];
    if (size > arena.size - arena.used) return kCudaOutOfMemory;
    const int physical = Settings::Get().visible[static_cast<size_t>(device)].physical;
    const int file = memfd_create((kSharedName + std::to_string(physical)).c_str(), MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) return kCudaOutOfMemory;
    const CuResult added = AddShared({device, 0, size, 1, file, nullptr, false}, handle);
    if (added == kCudaSuccess) {
      arena.used += size;
      std::memset(physical_[*handle].alias, 0xcd, size);
    }
    return added;
  }
  size_t offset = 0;
  if (const CuResult result = Take(device, size, &offset); result != 0) return result;
  *handle = next_handle_++;
  physical_[*handle] = {device, offset, size, 1, -1, nullptr, false};
  return kCudaSuccess;
}

CuResult DeviceMemory::AddShared(Physical memory, CuMemoryHandle* handle) {
  void* const alias =
      mmap(nullptr, memory.size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.file, 0);
  if (alias == MAP_FAILED) {
    close(memory.file);
    return kCudaOutOfMemory;
  }
  memory.alias = static_cast<char*>(alias);
  *handle = next_handle_++;
  physical_[*handle] = memory;
  return kCudaSuccess;
}

CuResult DeviceMemory::ExportPhysical(CuMemoryHandle handle, int* file) const {
  const std::shared_lock lock(mutex_);
  const auto found = physical_.find(handle);
  if (found == physical_.end() || found->second.file < 0) return kCudaInvalidValue;
  *file = fcntl(found->second.file, F_DUPFD, 0);  // a child inherits it
  return *file < 0 ? kCudaOutOfMemory : kCudaSuccess;
}

CuResult DeviceMemory::ImportPhysical(int file, CuMemoryHandle* handle) {
  const int device = OrdinalOfGpu(GpuOfFile(file));
  struct stat status {};
  if (device < 0 || fstat(file, &status) != 0) return kCudaInvalidValue;
  const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return kCudaOutOfMemory;
  const std::unique_lock lock(mutex_);
  return AddShared({device, 0, static_cast<size_t>(status.st_size), 1, own, nullptr, true}, handle);
}

void DeviceMemory::Drop(CuMemoryHandle handle) {
  const auto found = physical_.find(handle);
  if (--found->second.references > 0) return;
  const Physical& memory = found->second;
  if (memory.file < 0) {
    Give(memory.device, memory.offset);
  } else {
    munmap(memory.alias, memory.size);
    close(memory.file);
    if (!memory.is_imported) arenas_[static_cast<size_t>(memory.device)].used -= memory.size;
  }
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
  const Physical& memory = found->second;
  char* const alias = memory.file >= 0
                          ? memory.alias
                          : arenas_[static_cast<size_t>(memory.device)].alias + memory.offset;
  ranges_[address] = {size, memory.device, alias, Origin::kMapped, handle, false};
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
