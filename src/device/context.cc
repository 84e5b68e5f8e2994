// SPDX-License-Identifier: Apache-2.0
#include "device/context.h"

#include <map>
#include <string>

#include "base/mutex.h"

namespace nereid::device {
namespace {

/// The primary contexts that the process has retained, by ordinal.
struct Contexts {
  base::Mutex mutex;
  std::map<int, CuContext> by_ordinal NEREID_GUARDED_BY(mutex);
};

}  // namespace

base::Result<CuContext> PrimaryContext(int ordinal) {
  NEREID_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
  static auto* const contexts = new Contexts;  // GPUs are used until the process ends
  const base::MutexLock lock(contexts->mutex);
  const auto found = contexts->by_ordinal.find(ordinal);
  if (found != contexts->by_ordinal.end()) return found->second;
  const std::string what = "use GPU " + std::to_string(ordinal);
  CuDevice device = 0;
  CuContext context = nullptr;
  NEREID_RETURN_IF_ERROR(driver->ToStatus(driver->DeviceGet(&device, ordinal), what));
  NEREID_RETURN_IF_ERROR(driver->ToStatus(driver->PrimaryContextRetain(&context, device), what));
  contexts->by_ordinal.emplace(ordinal, context);
  return context;
}

base::Result<ScopedDevice> ScopedDevice::Enter(int ordinal) {
  NEREID_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
  NEREID_ASSIGN_OR_RETURN(CuContext context, PrimaryContext(ordinal));
  NEREID_RETURN_IF_ERROR(
      driver->ToStatus(driver->ContextPush(context), "use GPU " + std::to_string(ordinal)));
  return ScopedDevice(driver);
}

ScopedDevice::~ScopedDevice() {
  CuContext popped = nullptr;
  if (driver_ != nullptr) driver_->ContextPop(&popped);
}

}  // namespace nereid::device
