// SPDX-License-Identifier: Apache-2.0
#include "memory/shared/cuda_mapping.h"

#include <climits>
#include <cstring>

#include "device/context.h"
#include "device/cuda_driver.h"

namespace nereid::memory {
namespace {

using base::Status;
using device::CudaDriver;
using device::CuPointer;
using device::ScopedDevice;

Status Refused(const CudaRegion& region, const std::string& why) {
  return Status::InvalidArgument(
      "failed to register shared memory region: invalid args (CUDA shared memory region '" +
      region.name + "': " + why + ")");
}

}  // namespace

base::Result<CudaMapping> CudaMapping::Open(CudaRegion region) {
  CudaMapping mapping(std::move(region));
  NEREID_RETURN_IF_ERROR(mapping.OpenHandle());
  return mapping;
}

Status CudaMapping::OpenHandle() {
  NEREID_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
  const int64_t device = region_.device_id;
  if (region_.byte_size == 0) return Refused(region_, "its byte_size is 0");
  if (device < 0 || device > INT_MAX) {
    return Refused(region_, "there is no GPU with the device_id " + std::to_string(device));
  }
  auto current = ScopedDevice::Enter(static_cast<int>(device));
  if (!current.ok()) return Refused(region_, current.status().message());
  device::CuIpcHandle handle = {};
  if (region_.raw_handle.size() != sizeof(handle.bytes)) {
    return Refused(region_, "its handle has " + std::to_string(region_.raw_handle.size()) +
                                " bytes, expected " + std::to_string(sizeof(handle.bytes)));
  }
  std::memcpy(handle.bytes, region_.raw_handle.data(), sizeof(handle.bytes));
  CuPointer opened = 0;
  Status status =
      driver->ToStatus(driver->IpcOpenMemHandle(&opened, handle, device::kCudaIpcLazyPeerAccess),
                       "open the handle of the memory on GPU " + std::to_string(device));
  if (!status.ok()) return Refused(region_, status.message());
  data_ = reinterpret_cast<char*>(opened);  // from here on the destructor closes it
  CuPointer begin = 0;
  size_t size = 0;
  status = driver->ToStatus(driver->MemGetAddressRange(&begin, &size, opened),
                            "read the size of the memory");
  if (!status.ok()) return Refused(region_, status.message());
  const uint64_t available = size - (opened - begin);
  if (region_.byte_size <= available) return Status::Ok();
  return Refused(region_, "its byte_size is " + std::to_string(region_.byte_size) +
                              ", but the memory has only " + std::to_string(available) + " bytes");
}

CudaMapping::~CudaMapping() {
  if (data_ == nullptr) return;
  const auto driver = CudaDriver::Get();
  const auto current = ScopedDevice::Enter(static_cast<int>(region_.device_id));
  if (driver.ok() && current.ok()) {
    (*driver)->IpcCloseMemHandle(reinterpret_cast<CuPointer>(data_));
  }
}

}  // namespace nereid::memory
