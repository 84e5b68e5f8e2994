// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/tools/tool.h"
#include "base/temporary_directory.h"

namespace nereid::app::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

ToolResult Ask(std::vector<std::string> words, bool any = true) {
  ToolContext context;
  context.find_gpus = [any](double min_capability) {
    std::vector<device::Gpu> gpus;
    if (any)
      gpus = {{0, "New", 9, 0, 1 << 30, "0000:01:00.0", "GPU-1"},
              {1, "Old", 5, 2, 1 << 29, "0000:02:00.0", "GPU-2"}};
    return device::Gpus(gpus, min_capability);
  };
  return RunGpus(words, context);
}

TEST(GpusTool, ListsWhatAServerWouldFind) {
  const ToolResult result = Ask({});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("| 0   | New  | 9.0                | 1.0 GiB | 0000:01:00.0 "
                                    "| GPU-1 | yes         |\n"));
  EXPECT_THAT(result.out, HasSubstr("no: too old"));
  EXPECT_THAT(Ask({"--min-supported-compute-capability=0"}).out, Not(HasSubstr("no: too old")));
  EXPECT_EQ(Ask({"--min-supported-compute-capability=9.1"}).exit_code, 1);
}

TEST(GpusTool, IsReadableByPrograms) {
  EXPECT_EQ(Ask({"--format=json"}).out,
            "{\"gpus\":[\n"
            R"({"gpu":0,"name":"New","compute_capability":"9.0","memory_bytes":1073741824,)"
            R"("pci_id":"0000:01:00.0","uuid":"GPU-1","used":true},)"
            "\n"
            R"({"gpu":1,"name":"Old","compute_capability":"5.2","memory_bytes":536870912,)"
            R"("pci_id":"0000:02:00.0","uuid":"GPU-2","used":false}],)"
            R"("failures":[],"none_because":"","tensorrt_plugin":"missing"})"
            "\n");
}

TEST(GpusTool, SaysWhichTensorRtPluginItIs) {
  const auto folder = *base::TemporaryDirectory::Create();
  std::filesystem::create_directories(folder->path() + "/tensorrt");
  ToolContext context;
  context.backend_directory = folder->path();
  const auto ask = [&](const std::string& content) {
    std::ofstream(folder->path() + "/tensorrt/libtriton_tensorrt.so") << content;
    return RunGpus({}, context).out;
  };
  EXPECT_THAT(ask("ELF NEREIDBACKEND_BuiltWithoutFramework"),
              HasSubstr("TensorRT: the plug-in was built without TensorRT's headers"));
  EXPECT_THAT(ask("ELF TRITONBACKEND_Initialize"), HasSubstr("TensorRT: the plug-in runs plans\n"));
  EXPECT_THAT(RunGpus({}, {}).out, HasSubstr("TensorRT: there is no plug-in\n"));
}

TEST(GpusTool, NoneIsAnAnswer) {
  EXPECT_EQ(Ask({}, false).exit_code, 1);
  EXPECT_EQ(RunGpus({}, {}).exit_code, 1);
}

TEST(GpusTool, SaysWhatIsWrong) {
  EXPECT_THAT(Ask({"--format=xml"}).errors, HasSubstr("--format must be text or json. Got xml"));
  EXPECT_THAT(Ask({"x"}).errors, HasSubstr("expected no words"));
  EXPECT_THAT(Ask({"--min-supported-compute-capability=x"}).errors,
              StartsWith("nereid gpus: --min-supported-compute-capability: "));
  EXPECT_THAT(Ask({"--help"}).out, HasSubstr("Usage: nereid gpus"));
}

}  // namespace
}  // namespace nereid::app::tools
