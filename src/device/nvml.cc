// SPDX-License-Identifier: Apache-2.0
#include "device/nvml.h"

#include "base/shared_library.h"

namespace nereid::device {
namespace {

using base::Status;

constexpr char kLibrary[] = "libnvidia-ml.so.1";

base::Result<const Nvml*> Load() {
  static Nvml nvml;
  auto opened = base::SharedLibrary::Open(kLibrary);
  if (!opened.ok()) return Status::Unavailable("there is no NVML: " + opened.status().message());
  base::SharedLibrary& library = **opened;
  const char* missing = nullptr;
  const auto find = [&](const char* symbol, auto* function) {
    library.Find(symbol, function);
    if (*function == nullptr) missing = symbol;
  };
#define NEREID_NVML_FIND(name, symbol, result, parameters) find(#symbol, &nvml.name);
  NEREID_NVML_FUNCTIONS(NEREID_NVML_FIND)
#undef NEREID_NVML_FIND
  if (missing != nullptr) {
    return Status::Unavailable(std::string("NVML is too old: ") + kLibrary + " lacks " + missing);
  }
  library.Leak();
  NEREID_RETURN_IF_ERROR(nvml.ToStatus(nvml.Init(), "initialize NVML"));
  return &nvml;
}

/// Keeps the first error of several readings.
class FirstError {
 public:
  explicit FirstError(const Nvml& nvml) : nvml_(nvml) {}

  /// Returns whether a reading succeeded.
  bool Check(NvmlResult result, const char* what) {
    const bool tell = result != kNvmlSuccess && result != kNvmlNotSupported;
    if (tell && text_.empty()) text_ = nvml_.ToStatus(result, what).message();
    return result == kNvmlSuccess;
  }
  const std::string& text() const { return text_; }

 private:
  const Nvml& nvml_;
  std::string text_;
};

}  // namespace

base::Result<const Nvml*> Nvml::Get() {
  static const base::Result<const Nvml*> nvml = Load();
  return nvml;
}

base::Result<NvmlDevice> Nvml::FindDevice(const std::string& pci_id) const {
  NvmlDevice device = nullptr;
  NEREID_RETURN_IF_ERROR(
      ToStatus(DeviceByPciBusId(pci_id.c_str(), &device), "find the GPU at PCI id " + pci_id));
  return device;
}

GpuReadings Nvml::Read(NvmlDevice device) const {
  GpuReadings readings;
  FirstError error(*this);
  NvmlUtilization use = {};
  if (error.Check(Utilization(device, &use), "read the utilization")) {
    readings.utilization = use.gpu / 100.0;
  }
  NvmlMemory bytes = {};
  if (error.Check(Memory(device, &bytes), "read the memory in use")) {
    readings.memory_total_bytes = bytes.total;
    readings.memory_used_bytes = bytes.used;
  }
  unsigned milliwatts = 0;
  if (error.Check(PowerUsage(device, &milliwatts), "read the power usage")) {
    readings.power_watts = milliwatts / 1000.0;
  }
  if (error.Check(PowerLimit(device, &milliwatts), "read the power limit")) {
    readings.power_limit_watts = milliwatts / 1000.0;
  }
  unsigned long long millijoules = 0;
  if (error.Check(Energy(device, &millijoules), "read the energy consumption")) {
    readings.energy_joules = static_cast<double>(millijoules) / 1000.0;
  }
  readings.error = error.text();
  return readings;
}

base::Status Nvml::ToStatus(NvmlResult result, const std::string& what) const {
  if (result == kNvmlSuccess) return Status::Ok();
  const char* text = ErrorString(result);
  return Status::Unavailable("cannot " + what + ": " +
                             (text == nullptr ? "unknown error" : std::string(text)) + " (NVML " +
                             std::to_string(result) + ")");
}

}  // namespace nereid::device
