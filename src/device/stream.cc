// SPDX-License-Identifier: Apache-2.0
#include "device/stream.h"

#include <string>

#include "device/context.h"
#include "device/cuda_driver.h"

namespace nereid::device {

base::Result<Stream> Stream::Create(int ordinal) {
  NEREID_ASSIGN_OR_RETURN(const ScopedDevice current, ScopedDevice::Enter(ordinal));
  NEREID_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
  CuStream handle = nullptr;
  NEREID_RETURN_IF_ERROR(driver->ToStatus(driver->StreamCreate(&handle, kCudaStreamNonBlocking),
                                          "create a stream of GPU " + std::to_string(ordinal)));
  return Stream(ordinal, handle);
}

Stream::~Stream() {
  if (handle_ == nullptr) return;
  const auto current = ScopedDevice::Enter(ordinal_);
  const auto driver = CudaDriver::Get();
  if (current.ok() && driver.ok()) (*driver)->StreamDestroy(handle_);
}

base::Status Stream::Wait() const {
  NEREID_ASSIGN_OR_RETURN(const ScopedDevice current, ScopedDevice::Enter(ordinal_));
  NEREID_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
  return driver->ToStatus(driver->StreamSynchronize(handle_),
                          "finish the work of a stream of GPU " + std::to_string(ordinal_));
}

}  // namespace nereid::device
