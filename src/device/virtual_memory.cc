// SPDX-License-Identifier: Apache-2.0
#include "device/virtual_memory.h"

namespace nereid::device {

CuMemoryProperties PhysicalMemoryOf(int ordinal, int handle_types) {
  CuMemoryProperties properties = {};
  properties.type = kCudaMemoryPinned;
  properties.handle_types = handle_types;
  properties.location = {kCudaLocationDevice, ordinal};
  return properties;
}

base::Result<size_t> MemoryUnit(const CudaDriver& driver, int ordinal, const std::string& what) {
  const CuMemoryProperties properties = PhysicalMemoryOf(ordinal);
  size_t unit = 0;
  NEREID_RETURN_IF_ERROR(driver.ToStatus(
      driver.MemGetAllocationGranularity(&unit, &properties, kCudaGranularityMinimum), what));
  return unit;
}

base::Status MapMemory(const CudaDriver& driver, CuPointer address, size_t size,
                       CuMemoryHandle handle, int ordinal, const std::string& what) {
  NEREID_RETURN_IF_ERROR(driver.ToStatus(driver.MemMap(address, size, 0, handle, 0), what));
  const CuMemoryAccess access = {{kCudaLocationDevice, ordinal}, kCudaAccessReadWrite};
  base::Status permitted = driver.ToStatus(driver.MemSetAccess(address, size, &access, 1), what);
  if (!permitted.ok()) driver.MemUnmap(address, size);
  return permitted;
}

}  // namespace nereid::device
