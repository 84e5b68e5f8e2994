// SPDX-License-Identifier: Apache-2.0
#include "device/shared_allocation.h"

#include <fcntl.h>

#include <cstdint>
#include <string>
#include <utility>

#include "device/context.h"
#include "device/cuda_driver.h"
#include "device/virtual_memory.h"

namespace nereid::device {
namespace {

std::string SharedBytes(size_t size, int ordinal) {
  return std::to_string(size) + " bytes of shared memory on GPU " + std::to_string(ordinal);
}

}  // namespace

base::Status SharedAllocation::Map(CuMemoryHandle handle, const std::string& what) {
  NEREID_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
  base::Status mapped =
      driver->ToStatus(driver->MemAddressReserve(&address_, size_, 0, 0, 0), what);
  if (mapped.ok()) {
    mapped = MapMemory(*driver, address_, size_, handle, ordinal_, what);
    mapped_ = mapped.ok();
  }
  driver->MemRelease(handle);
  return mapped;
}

base::Result<std::unique_ptr<SharedAllocation>> SharedAllocation::Create(int ordinal, size_t size,
                                                                         base::UniqueFd* file) {
  NEREID_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
  NEREID_ASSIGN_OR_RETURN(const ScopedDevice current, ScopedDevice::Enter(ordinal));
  const std::string what = "allocate " + SharedBytes(size, ordinal);
  NEREID_ASSIGN_OR_RETURN(const size_t unit, MemoryUnit(*driver, ordinal, what));
  if (size == 0 || size > SIZE_MAX / 2) return base::Status::Unavailable("cannot " + what);
  const size_t rounded = (size + unit - 1) / unit * unit;
  std::unique_ptr<SharedAllocation> made(new SharedAllocation(ordinal, rounded));
  const CuMemoryProperties properties = PhysicalMemoryOf(ordinal, kCudaHandleFile);
  CuMemoryHandle handle = 0;
  NEREID_RETURN_IF_ERROR(
      driver->ToStatus(driver->MemCreate(&handle, rounded, &properties, 0), what));
  int exported = -1;
  base::Status shared = driver->ToStatus(
      driver->MemExportToShareableHandle(&exported, handle, kCudaHandleFile, 0), what);
  if (!shared.ok()) {
    driver->MemRelease(handle);
    return shared;
  }
  file->Reset(exported);
  fcntl(exported, F_SETFD, FD_CLOEXEC);  // no other child gets it
  NEREID_RETURN_IF_ERROR(made->Map(handle, what));
  return made;
}

base::Result<std::unique_ptr<SharedAllocation>> SharedAllocation::Open(int ordinal, size_t size,
                                                                       int file) {
  NEREID_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
  NEREID_ASSIGN_OR_RETURN(const ScopedDevice current, ScopedDevice::Enter(ordinal));
  const std::string what = "open " + SharedBytes(size, ordinal);
  std::unique_ptr<SharedAllocation> opened(new SharedAllocation(ordinal, size));
  CuMemoryHandle handle = 0;
  // The driver takes the descriptor in the place of a pointer.
  void* const exported = reinterpret_cast<void*>(static_cast<intptr_t>(file));  // NOLINT
  NEREID_RETURN_IF_ERROR(driver->ToStatus(
      driver->MemImportFromShareableHandle(&handle, exported, kCudaHandleFile), what));
  NEREID_RETURN_IF_ERROR(opened->Map(handle, what));
  return opened;
}

SharedAllocation::~SharedAllocation() {
  const auto driver = CudaDriver::Get();
  if (!driver.ok() || address_ == 0) return;
  const auto current = ScopedDevice::Enter(ordinal_);
  if (mapped_) (*driver)->MemUnmap(address_, size_);
  (*driver)->MemAddressFree(address_, size_);
}

base::Result<CuUuid> UuidOf(int ordinal) {
  NEREID_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
  const std::string what = "read the UUID of GPU " + std::to_string(ordinal);
  CuDevice device = 0;
  CuUuid uuid = {};
  NEREID_RETURN_IF_ERROR(driver->ToStatus(driver->DeviceGet(&device, ordinal), what));
  NEREID_RETURN_IF_ERROR(driver->ToStatus(driver->DeviceGetUuid(&uuid, device), what));
  return uuid;
}

}  // namespace nereid::device
