// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nereid::device {

// The part of NVIDIA's management library (NVML, libnvidia-ml.so.1) that the project uses, declared
// here as cuda_api.h declares CUDA: types, values and symbols as NVIDIA documents them.

/// A result of an NVML function (nvmlReturn_t); kNvmlSuccess, or the number of an error.
using NvmlResult = int;
using NvmlDevice = struct NvmlDeviceTag*;

/// Percentages of the last sample period in which the GPU and its memory were busy
/// (nvmlUtilization_t).
struct NvmlUtilization {
  unsigned gpu;
  unsigned memory;
};

/// Bytes of a device's memory (nvmlMemory_t).
struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

inline constexpr NvmlResult kNvmlSuccess = 0;
inline constexpr NvmlResult kNvmlInvalidArgument = 2;
inline constexpr NvmlResult kNvmlNotSupported = 3;
inline constexpr NvmlResult kNvmlNotFound = 6;
inline constexpr NvmlResult kNvmlDriverNotLoaded = 9;
inline constexpr NvmlResult kNvmlGpuIsLost = 15;

inline constexpr int kNvmlUuidSize = 96;  // NVML_DEVICE_UUID_V2_BUFFER_SIZE

/// Every function: X(NAME, SYMBOL, RETURN, (PARAMETERS)). Power is in milliwatts, energy in
/// millijoules since the driver was loaded.
#define NEREID_NVML_FUNCTIONS(X)                                                                \
  X(Init, nvmlInit_v2, NvmlResult, ())                                                          \
  X(ErrorString, nvmlErrorString, const char*, (NvmlResult result))                             \
  X(DeviceByPciBusId, nvmlDeviceGetHandleByPciBusId_v2, NvmlResult,                             \
    (const char* id, NvmlDevice* device))                                                       \
  X(DeviceUuid, nvmlDeviceGetUUID, NvmlResult, (NvmlDevice device, char* text, unsigned size))  \
  X(Utilization, nvmlDeviceGetUtilizationRates, NvmlResult,                                     \
    (NvmlDevice device, NvmlUtilization * utilization))                                         \
  X(Memory, nvmlDeviceGetMemoryInfo, NvmlResult, (NvmlDevice device, NvmlMemory * memory))      \
  X(PowerUsage, nvmlDeviceGetPowerUsage, NvmlResult, (NvmlDevice device, unsigned* milliwatts)) \
  X(PowerLimit, nvmlDeviceGetPowerManagementLimit, NvmlResult,                                  \
    (NvmlDevice device, unsigned* milliwatts))                                                  \
  X(Energy, nvmlDeviceGetTotalEnergyConsumption, NvmlResult,                                    \
    (NvmlDevice device, unsigned long long* millijoules))

}  // namespace nereid::device
