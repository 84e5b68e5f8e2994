// SPDX-License-Identifier: Apache-2.0
#include "model/gpu_load_limits.h"

#include <string>

#include "device/gpus.h"

namespace nereid::model {

base::Status GpuLoadLimits::Check(const InstanceSpec& spec) const {
  if (spec.description.kind != config::InstanceKind::kGpu) return base::Status::Ok();
  const auto limit = fractions_.find(spec.description.device_id);
  if (limit == fractions_.end()) return base::Status::Ok();
  NEREID_ASSIGN_OR_RETURN(const device::GpuMemory memory, device::ReadGpuMemory(limit->first));
  const double allowed = static_cast<double>(memory.total_bytes) * limit->second;
  if (static_cast<double>(memory.total_bytes - memory.free_bytes) <= allowed) {
    return base::Status::Ok();
  }
  return base::Status::Unavailable("can not create model '" + spec.description.name +
                                   "': memory limit set for GPU " + std::to_string(limit->first) +
                                   " has exceeded, model loading is rejected.");
}

}  // namespace nereid::model
