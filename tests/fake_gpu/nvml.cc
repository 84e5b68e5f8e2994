// SPDX-License-Identifier: Apache-2.0
// libnvidia-ml.so.1: every GPU of the machine, also those that CUDA_VISIBLE_DEVICES hides.
#include <strings.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#include "calls.h"
#include "control.h"
#include "device/nvml_api.h"
#include "settings.h"

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

using namespace nereid::device;  // the signatures below use its names
using namespace nereid::fake_gpu;

#define FAKE_DECLARE(name, symbol, result, parameters) FAKE_EXPORT result symbol parameters;
NEREID_NVML_FUNCTIONS(FAKE_DECLARE)
#undef FAKE_DECLARE

namespace {

constexpr unsigned kMilliwatts = 100'000;
constexpr unsigned kLimitMilliwatts = 350'000;
constexpr unsigned long long kFirstMillijoules = 5'000'000;
constexpr unsigned long long kMillijoulesPerCall = 100'000;

std::atomic<bool> initialized{false};

NvmlResult Begin(const char* function) {
  static auto* const calls = new Calls("NEREID_FAKE_NVML_FAIL");
  const NvmlResult injected = calls->Begin(function);
  if (injected != kNvmlSuccess) return injected;
  return initialized || std::strcmp(function, "nvmlInit_v2") == 0 ? kNvmlSuccess : 1;
}

// The handle of a GPU is its physical number, plus 1.
int Physical(NvmlDevice device) { return static_cast<int>(reinterpret_cast<intptr_t>(device)) - 1; }

unsigned Percent(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::atoi(text));
}

}  // namespace

#define FAKE_BEGIN()                                                                   \
  if (const NvmlResult begin_result = Begin(__func__); begin_result != kNvmlSuccess) { \
    return begin_result;                                                               \
  }

NvmlResult nvmlInit_v2() {
  FAKE_BEGIN();
  if (Settings::Get().physical_count == 0) return kNvmlDriverNotLoaded;
  initialized = true;
  return kNvmlSuccess;
}

const char* nvmlErrorString(NvmlResult result) {
  switch (result) {
    case kNvmlSuccess:
      return "Success";
    case kNvmlNotSupported:
      return "Not Supported";
    case kNvmlDriverNotLoaded:
      return "Driver Not Loaded";
    case kNvmlGpuIsLost:
      return "GPU is lost";
    default:
      return "Unknown Error";
  }
}

NvmlResult nvmlDeviceGetHandleByPciBusId_v2(const char* id, NvmlDevice* device) {
  FAKE_BEGIN();
  for (int i = 0; i < Settings::Get().physical_count; ++i) {
    // NVML writes the domain with eight digits, and reads it with four or eight.
    const std::string known = GpuPciId(i);
    if (strcasecmp(id, known.c_str()) != 0 && strcasecmp(id, ("0000" + known).c_str()) != 0) {
      continue;
    }
    *device = reinterpret_cast<NvmlDevice>(static_cast<intptr_t>(i) + 1);
    return kNvmlSuccess;
  }
  return kNvmlNotFound;
}

NvmlResult nvmlDeviceGetUUID(NvmlDevice device, char* text, unsigned size) {
  FAKE_BEGIN();
  const std::string uuid = GpuUuid(Physical(device));
  if (size <= uuid.size()) return 7;  // NVML_ERROR_INSUFFICIENT_SIZE
  std::memcpy(text, uuid.c_str(), uuid.size() + 1);
  return kNvmlSuccess;
}

NvmlResult nvmlDeviceGetUtilizationRates(NvmlDevice, NvmlUtilization* utilization) {
  FAKE_BEGIN();
  *utilization = {Percent("NEREID_FAKE_GPU_UTILIZATION", 25), 10};
  return kNvmlSuccess;
}

NvmlResult nvmlDeviceGetMemoryInfo(NvmlDevice device, NvmlMemory* memory) {
  FAKE_BEGIN();
  const Settings& settings = Settings::Get();
  memory->total = settings.memory;
  memory->used = settings.used_by_others;
  for (size_t i = 0; i < settings.visible.size(); ++i) {
    if (settings.visible[i].physical == Physical(device)) {
      memory->used = fake_gpu_allocated_bytes(static_cast<int>(i));
    }
  }
  memory->free = memory->total - memory->used;
  return kNvmlSuccess;
}

NvmlResult nvmlDeviceGetPowerUsage(NvmlDevice, unsigned* milliwatts) {
  FAKE_BEGIN();
  *milliwatts = kMilliwatts;
  return kNvmlSuccess;
}

NvmlResult nvmlDeviceGetPowerManagementLimit(NvmlDevice, unsigned* milliwatts) {
  FAKE_BEGIN();
  *milliwatts = kLimitMilliwatts;
  return kNvmlSuccess;
}

NvmlResult nvmlDeviceGetTotalEnergyConsumption(NvmlDevice, unsigned long long* millijoules) {
  FAKE_BEGIN();
  static std::atomic<unsigned long long> energy{kFirstMillijoules};
  *millijoules = energy.fetch_add(kMillijoulesPerCall);
  return kNvmlSuccess;
}
