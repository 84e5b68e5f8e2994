// SPDX-License-Identifier: Apache-2.0
#include "app/tables.h"

#include <gtest/gtest.h>

namespace nereid::app {
namespace {

TEST(RenderTableTest, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(RenderTable({"A", "Long header"}, {{"wide cell", ""}, {"x"}, {"y", "1", "left out"}}),
            "+-----------+-------------+\n"
            "| A         | Long header |\n"
            "+-----------+-------------+\n"
            "| wide cell |             |\n"
            "| x         |             |\n"
            "| y         | 1           |\n"
            "+-----------+-------------+\n");
}

TEST(RenderTableTest, LinesControlCharactersAndUtf8) {
  EXPECT_EQ(RenderTable({"Model", "Status"}, {{"模型é", "first\nsecond\tline\x1b"}, {"b", "R"}}),
            "+-------+--------------+\n"
            "| Model | Status       |\n"
            "+-------+--------------+\n"
            "| 模型é   | first        |\n"
            "|       | second?line? |\n"
            "| b     | R            |\n"
            "+-------+--------------+\n");
}

TEST(TablesTest, WithoutRows) {
  EXPECT_EQ(RepositoryAgentTable({}),
            "+------------------+------+\n"
            "| Repository Agent | Path |\n"
            "+------------------+------+\n"
            "+------------------+------+\n");
}

TEST(TablesTest, BackendsAndModels) {
  EXPECT_EQ(BackendTable({{"identity", "/b/libtriton_identity.so", "{\"cmdline\":{}}"}}),
            "+----------+--------------------------+----------------+\n"
            "| Backend  | Path                     | Config         |\n"
            "+----------+--------------------------+----------------+\n"
            "| identity | /b/libtriton_identity.so | {\"cmdline\":{}} |\n"
            "+----------+--------------------------+----------------+\n");
  EXPECT_EQ(ModelTable({{"a", "1", "READY"}, {"b", "", "UNAVAILABLE: no file"}}),
            "+-------+---------+----------------------+\n"
            "| Model | Version | Status               |\n"
            "+-------+---------+----------------------+\n"
            "| a     | 1       | READY                |\n"
            "| b     |         | UNAVAILABLE: no file |\n"
            "+-------+---------+----------------------+\n");
}

TEST(TablesTest, TheStatusIsCutToTheLine) {
  EXPECT_EQ(ModelTable({{"abcdefg", "1", "UNAVAILABLE: no file"}, {"b", "2", "READY"}}, 40),
            "+---------+---------+------------------+\n"
            "| Model   | Version | Status           |\n"
            "+---------+---------+------------------+\n"
            "| abcdefg | 1       | UNAVAILABLE: no… |\n"
            "| b       | 2       | READY            |\n"
            "+---------+---------+------------------+\n");
  EXPECT_NE(ModelTable({{"a", "1", "UNAVAILABLE: no file"}}, 5).find("| UNAVAILABLE… |"),
            std::string::npos);
}

TEST(TablesTest, Gpus) {
  const size_t gib = size_t{1} << 30;
  const device::Gpus gpus({{0, "New", 9, 0, 3 * gib / 2, "0000:01:00.0", "GPU-1"},
                           {1, "Old", 5, 2, gib, "0000:02:00.0", "GPU-2"}},
                          6.0);
  EXPECT_EQ(GpuTable(gpus),
            "+-----+------+--------------------+---------+--------------+-------+-------------+\n"
            "| GPU | Name | Compute capability | Memory  | PCI id       | UUID  | Used        |\n"
            "+-----+------+--------------------+---------+--------------+-------+-------------+\n"
            "| 0   | New  | 9.0                | 1.5 GiB | 0000:01:00.0 | GPU-1 | yes         |\n"
            "| 1   | Old  | 5.2                | 1.0 GiB | 0000:02:00.0 | GPU-2 | no: too old |\n"
            "+-----+------+--------------------+---------+--------------+-------+-------------+\n");
}

TEST(TablesTest, CpuPlan) {
  EXPECT_EQ(CpuPlanTable({{"a", "1", "2", "4", "any", "plan"}}),
            "+-------+---------+---------------+--------------+------+--------+\n"
            "| Model | Version | CPU instances | Threads each | CPUs | Set by |\n"
            "+-------+---------+---------------+--------------+------+--------+\n"
            "| a     | 1       | 2             | 4            | any  | plan   |\n"
            "+-------+---------+---------------+--------------+------+--------+\n");
}

TEST(TablesTest, SettingsOfAFullCommandLine) {
  ServerOptions options;
  options.repository.paths = {"/b", "/a"};
  options.repository.control_mode = ModelControlMode::kExplicit;
  options.repository.startup_models = {"m"};
  options.rate_limit.mode = RateLimitMode::kExecutionCount;
  options.rate_limit.resources = {{"R", 4, 1}, {"S", 2, std::nullopt}};
  options.devices.cuda_memory_pool_byte_size = {{0, 64}};
  options.devices.min_supported_compute_capability = 6;
  options.plugins.cache_name = "local";
  EXPECT_EQ(SettingsTable(options, {"1.2.3", {"classification", "sequence"}}),
            "+----------------------------------+-------------------------+\n"
            "| Option                           | Value                   |\n"
            "+----------------------------------+-------------------------+\n"
            "| server_id                        | triton                  |\n"
            "| server_version                   | 1.2.3                   |\n"
            "| server_extensions                | classification sequence |\n"
            "| model_repository_path[0]         | /a                      |\n"
            "| model_repository_path[1]         | /b                      |\n"
            "| model_control_mode               | MODE_EXPLICIT           |\n"
            "| startup_models_0                 | m                       |\n"
            "| strict_model_config              | 0                       |\n"
            "| model_config_name                |                         |\n"
            "| rate_limit                       | EXEC_COUNT              |\n"
            "| rate_limit_resource[0]           | R:4:1                   |\n"
            "| rate_limit_resource[1]           | S:2                     |\n"
            "| pinned_memory_pool_byte_size     | 268435456               |\n"
            "| cuda_memory_pool_byte_size{0}    | 64                      |\n"
            "| min_supported_compute_capability | 6.0                     |\n"
            "| strict_readiness                 | 1                       |\n"
            "| exit_timeout                     | 30                      |\n"
            "| cache_enabled                    | 1                       |\n"
            "+----------------------------------+-------------------------+\n");
}

}  // namespace
}  // namespace nereid::app
