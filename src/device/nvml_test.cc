// SPDX-License-Identifier: Apache-2.0
#include "device/nvml.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "device/gpus.h"

namespace nereid::device {
namespace {

const std::string failures = [] {
  const std::string path = ::testing::TempDir() + "nvml_failures";
  std::ofstream(path) << "";
  setenv("NEREID_FAKE_NVML_FAIL_FILE", path.c_str(), 1);
  return path;
}();

/// Makes NVML fail until the object is gone. The fake reads the file again when its time changes.
class NvmlFailure {
 public:
  explicit NvmlFailure(const std::string& text) { Write(text); }
  ~NvmlFailure() { Write(""); }

 private:
  static void Write(const std::string& text) {
    static int64_t version = 0;
    std::ofstream(failures) << text << "\n";
    std::filesystem::last_write_time(
        failures, std::filesystem::file_time_type() + std::chrono::seconds(++version));
  }
};

class NvmlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto nvml = Nvml::Get();
    ASSERT_TRUE(nvml.ok()) << nvml.status().message();
    nvml_ = *nvml;
    auto device = nvml_->FindDevice("0000:01:00.0");
    ASSERT_TRUE(device.ok()) << device.status().message();
    device_ = *device;
  }
  const Nvml* nvml_ = nullptr;
  NvmlDevice device_ = nullptr;
};

TEST_F(NvmlTest, Reads) {
  const GpuReadings first = nvml_->Read(device_);
  EXPECT_EQ(first.error, "");
  EXPECT_DOUBLE_EQ(*first.utilization, 0.25);
  EXPECT_EQ(*first.memory_total_bytes, uint64_t{1} << 30);
  EXPECT_TRUE(first.memory_used_bytes.has_value());
  EXPECT_DOUBLE_EQ(*first.power_watts, 100);
  EXPECT_DOUBLE_EQ(*first.power_limit_watts, 350);
  EXPECT_DOUBLE_EQ(*nvml_->Read(device_).energy_joules - *first.energy_joules, 100);
}

TEST_F(NvmlTest, DoesNotFindAnUnknownGpu) {
  const auto device = nvml_->FindDevice("0000:77:00.0");
  EXPECT_EQ(device.status().message(),
            "cannot find the GPU at PCI id 0000:77:00.0: Unknown Error (NVML 6)");
}

TEST_F(NvmlTest, AQuantityThatIsNotSupportedIsAbsent) {
  const NvmlFailure failure("nvmlDeviceGetPowerUsage=3,nvmlDeviceGetUtilizationRates=3");
  const GpuReadings readings = nvml_->Read(device_);
  EXPECT_EQ(readings.error, "");
  EXPECT_FALSE(readings.power_watts.has_value());
  EXPECT_FALSE(readings.utilization.has_value());
  EXPECT_TRUE(readings.power_limit_watts.has_value());
}

TEST_F(NvmlTest, ALostGpuIsAnErrorOfEachReading) {
  const NvmlFailure failure("nvmlDeviceGetUtilizationRates=15,nvmlDeviceGetMemoryInfo=15");
  const GpuReadings readings = nvml_->Read(device_);
  EXPECT_EQ(readings.error, "cannot read the utilization: GPU is lost (NVML 15)");
  EXPECT_FALSE(readings.memory_total_bytes.has_value());
  EXPECT_TRUE(readings.power_watts.has_value());
}

}  // namespace
}  // namespace nereid::device
