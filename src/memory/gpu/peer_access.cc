// SPDX-License-Identifier: Apache-2.0
#include "memory/gpu/peer_access.h"

#include <set>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/mutex.h"
#include "device/context.h"
#include "device/cuda_driver.h"
#include "memory/gpu/gpu_pools.h"

namespace nereid::memory {
namespace {

using device::CudaDriver;
using device::ScopedDevice;

struct Pairs {
  base::Mutex mutex;
  std::set<std::pair<int, int>> tried NEREID_GUARDED_BY(mutex);
};

/// Returns whether `gpu` has access to `peer` after the call.
base::Result<bool> Enable(const CudaDriver& driver, int gpu, int peer) {
  const std::string what =
      "give GPU " + std::to_string(gpu) + " access to GPU " + std::to_string(peer);
  device::CuDevice device = 0, other = 0;
  NEREID_RETURN_IF_ERROR(driver.ToStatus(driver.DeviceGet(&device, gpu), what));
  NEREID_RETURN_IF_ERROR(driver.ToStatus(driver.DeviceGet(&other, peer), what));
  int can = 0;
  NEREID_RETURN_IF_ERROR(driver.ToStatus(driver.DeviceCanAccessPeer(&can, device, other), what));
  if (can == 0) return false;
  NEREID_ASSIGN_OR_RETURN(const device::CuContext context, device::PrimaryContext(peer));
  NEREID_ASSIGN_OR_RETURN(const ScopedDevice current, ScopedDevice::Enter(gpu));
  const device::CuResult result = driver.ContextEnablePeerAccess(context, 0);
  if (result == device::kCudaPeerAccessEnabled) return true;
  NEREID_RETURN_IF_ERROR(driver.ToStatus(result, what));
  return true;
}

}  // namespace

void EnablePeerAccess(int gpu, int peer) {
  static auto* const pairs = new Pairs;
  const base::MutexLock lock(pairs->mutex);
  if (!pairs->tried.emplace(gpu, peer).second || !GpuPools::Get().settings().peer_access) return;
  const auto driver = CudaDriver::Get();
  if (!driver.ok()) return;
  const auto enabled = Enable(**driver, gpu, peer);
  if (!enabled.ok()) {
    LOG_WARNING << enabled.status().message() << "; copies between them go through the host";
  } else {
    LOG_VERBOSE(1) << "GPU " << gpu << (*enabled ? " has access to" : " cannot access")
                   << " the memory of GPU " << peer;
  }
}

}  // namespace nereid::memory
