// SPDX-License-Identifier: Apache-2.0
#include "framework/placement.h"

#include "device/cuda_driver.h"

namespace nereid::framework {

Error ReadPlacement(TRITONBACKEND_ModelInstance* instance, Placement* placement) {
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_CPU;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceKind(instance, &kind));
  *placement = Placement();
  if (kind != TRITONSERVER_INSTANCEGROUPKIND_GPU) {
    return {};
  }
  int32_t ordinal = 0;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceDeviceId(instance, &ordinal));
  placement->gpu = ordinal;
  return {};
}

Placement FirstPlacement(const backend::ModelConfig& config, bool prefers_gpu) {
  const backend::InstanceGroupConfig automatic;
  const backend::InstanceGroupConfig& group =
      config.instance_groups.empty() ? automatic : config.instance_groups.front();
  const bool on_gpu = group.kind == "KIND_GPU" || (group.kind == "KIND_AUTO" && prefers_gpu);
  if (!on_gpu) {
    return {};
  }
  return {group.gpus.empty() ? 0 : static_cast<int>(group.gpus.front())};
}

std::string DriverProblem() {
  const auto driver = device::CudaDriver::Get();
  return driver.ok() ? "" : driver.status().message();
}

}  // namespace nereid::framework
