// SPDX-License-Identifier: Apache-2.0
#include "server/gpu_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "server/server_settings.h"

namespace nereid::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

const bool environment = [] {
  setenv("NEREID_FAKE_GPUS", "1", 1);
  return true;
}();

TEST(GpuMetrics, AreReadOnceInAnInterval) {
  telemetry::Registry registry;
  base::FakeClock clock;
  const auto metrics = GpuMetrics::Create(registry, device::Gpus::Find(0), 2000, clock);
  ASSERT_NE(metrics, nullptr);
  const std::string uuid = "{gpu_uuid=\"GPU-fa4e0000-0000-4000-8000-000000000001\"} ";
  const std::string first = registry.Render();
  EXPECT_THAT(first, HasSubstr("\nnv_gpu_power_usage" + uuid + "100\n"));
  EXPECT_THAT(first, HasSubstr("\nnv_energy_consumption" + uuid + "0\n"));
  clock.Advance(1'999'999'999);
  EXPECT_EQ(registry.Render(), first);
  clock.Advance(1);
  EXPECT_THAT(registry.Render(), HasSubstr("\nnv_energy_consumption" + uuid + "100\n"));
}

TEST(GpuMetrics, NeedGpus) {
  telemetry::Registry registry;
  EXPECT_EQ(GpuMetrics::Create(registry, device::Gpus(), 2000), nullptr);
}

TEST(GpuMetrics, AGpuThatNvmlDoesNotKnowIsLeftOut) {
  telemetry::Registry registry;
  device::Gpu gpu = device::Gpus::Find(0).used().at(0);
  device::Gpu unknown = gpu;
  unknown.ordinal = 1;
  unknown.pci_id = "0000:99:00.0";
  unknown.uuid = "GPU-unknown";
  const auto metrics = GpuMetrics::Create(registry, device::Gpus({gpu, unknown}, 0), 2000);
  ASSERT_NE(metrics, nullptr);
  EXPECT_THAT(registry.Render(), HasSubstr("nv_gpu_power_limit"));
  EXPECT_THAT(registry.Render(), Not(HasSubstr("GPU-unknown")));
}

TEST(GpuLoadLimits, AreSettingsOfAllBackends) {
  ServerSettings settings;
  EXPECT_TRUE(GpuLoadLimitsOf(settings)->empty());
  SetGpuLoadLimit(settings, 3, 0.25);
  settings.backend_config[""].emplace_back("model-load-gpu-limit-device-0", "1");
  settings.backend_config["onnxruntime"].emplace_back("model-load-gpu-limit-device-1", "0");
  EXPECT_THAT(*GpuLoadLimitsOf(settings), ElementsAre(Pair(0, 1.0), Pair(3, 0.25)));
  SetGpuLoadLimit(settings, 3, 0.5);
  EXPECT_THAT(*GpuLoadLimitsOf(settings), ElementsAre(Pair(0, 1.0), Pair(3, 0.5)));
}

TEST(GpuLoadLimits, OtherValuesAreRefused) {
  for (const auto& [setting, value] : std::vector<std::pair<std::string, std::string>>{
           {"model-load-gpu-limit-device-0", "1.5"},
           {"model-load-gpu-limit-device-0", "-0.1"},
           {"model-load-gpu-limit-device-0", "nan"},
           {"model-load-gpu-limit-device-0", ""},
           {"model-load-gpu-limit-device-0", "0.5x"},
           {"model-load-gpu-limit-device-", "0.5"},
           {"model-load-gpu-limit-device-x", "0.5"},
           {"model-load-gpu-limit-device--1", "0.5"}}) {
    ServerSettings settings;
    settings.backend_config[""].emplace_back(setting, value);
    const auto limits = GpuLoadLimitsOf(settings);
    EXPECT_EQ(limits.status().code(), base::StatusCode::kInvalidArgument) << setting << value;
    EXPECT_THAT(limits.status().message(), HasSubstr("'" + setting + "=" + value + "'"));
  }
}

}  // namespace
}  // namespace nereid::server
