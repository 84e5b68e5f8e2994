// SPDX-License-Identifier: Apache-2.0
// The judgement of a good and of a bad machine, and the parsers of the kernel's texts.
#include "app/tools/doctor/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "app/tools/testing/golden.h"
#include "app/tools/tool.h"

namespace nereid::app::tools {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

MachineFacts Good() {
  MachineFacts facts;
  facts.kernel = "Linux 6.1.0-13-amd64";
  facts.architecture = "x86_64";
  facts.cpu_model = "Intel(R) Xeon(R) Platinum 8481C";
  facts.cpu_flags = {"sse2", "fma", "avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile"};
  facts.cpus = facts.permitted_cpus = 8;
  facts.memory_bytes = facts.usable_memory_bytes = 32 * kGiB;
  facts.available_memory_bytes = 30 * kGiB;
  facts.transparent_huge_pages = "madvise";
  facts.has_shm = true;
  facts.shm_bytes = facts.shm_free_bytes = 16 * kGiB;
  facts.open_files = 1'048'576;
  facts.locked_bytes = 8 << 20;
  facts.clock_source = "tsc";
  facts.clock_synchronized = true;
  facts.ports = {{8000, "HTTP", "--http-port", ""}};
  facts.plugin_directory = "/opt/tritonserver/backends";
  facts.plugins = {{"onnxruntime", ""}};
  facts.libraries = {{"libcurl.so.4", "libcurl4", "traces", true}};
  facts.repositories = {{"/models", "", "ext4", 100 * kGiB}};
  facts.gpus = device::Gpus({{0, "NVIDIA H100", 9, 0, size_t{80} << 30, "", ""}}, 6.0);
  return facts;
}

MachineFacts Bad() {
  MachineFacts facts = Good();
  facts.cpu_flags = {"sse2"};
  facts.permitted_cpus = 4;
  facts.cpu_quota = 1.5;
  facts.usable_memory_bytes = kGiB / 2;
  facts.transparent_huge_pages = "never";
  facts.shm_bytes = facts.shm_free_bytes = 64 << 20;
  facts.open_files = 1024;
  facts.group_threads = 512;
  facts.clock_source = "hpet";
  facts.clock_synchronized = false;
  facts.ports[0].problem = "another program listens there";
  facts.plugins[0].problem = "no\x1b[2J\nlibrary";
  facts.libraries[0].is_there = false;
  facts.repositories = {{"/models", "", "nfs", 100 * kGiB},
                        {"/no\nwhere", "no such directory", "", 0}};
  return facts;
}

TEST(Doctor, AGoodMachine) {
  const std::string golden = SourceDirectory() + "/src/app/tools/golden/doctor/";
  ExpectGolden(golden + "good.txt", FindingsText(Diagnose(Good()), false));
}

TEST(Doctor, ABadMachine) {
  const std::string golden = SourceDirectory() + "/src/app/tools/golden/doctor/";
  const auto findings = Diagnose(Bad());
  ExpectGolden(golden + "bad.txt", FindingsText(findings, false));
  ExpectGolden(golden + "bad.json", FindingsJson(findings));
  for (const DoctorFinding& finding : findings) {
    EXPECT_TRUE(finding.severity < Severity::kWarning || !finding.remedy.empty()) << finding.text;
  }
  EXPECT_THAT(FindingsText(findings, true), ::testing::HasSubstr("\x1b[31merror\x1b[0m"));
}

TEST(Doctor, NothingIsKnown) {
  // No fact may be needed for a report.
  EXPECT_THAT(FindingsText(Diagnose({}), false), ::testing::HasSubstr("no directory of backends"));
}

TEST(Doctor, TextsOfTheKernel) {
  EXPECT_EQ(ProcValue("a\t: 1\nmodel name\t: X Y\nmodel\t: 2\n", "model name"), "X Y");
  EXPECT_EQ(ProcValue("model name\t: X\n", "model"), "");
  EXPECT_EQ(ProcValue("", "a"), "");
  EXPECT_EQ(BracketedWord("always [madvise] never"), "madvise");
  EXPECT_EQ(BracketedWord("] ["), "");
  EXPECT_EQ(FileSystemName(0xef53), "ext4");
  EXPECT_EQ(FileSystemName(1), "");
}

TEST(Doctor, AFrameworkOfAPackageHasACommand) {
  MachineFacts facts = Good();
  facts.plugins.push_back({"pytorch", "no libtorch_cpu.so", true});
  const auto findings = Diagnose(facts);
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const DoctorFinding& finding) {
    return finding.remedy == "Bring its framework: nereid-framework pytorch";
  }));
}

TEST(Doctor, TheTool) {
  ToolContext context;
  std::vector<std::string> asked;
  context.probe_backend = [&](const std::string&, const std::string& name) {
    asked.push_back(name);
    return base::Status::Unavailable("because");
  };
  const std::string backends = SourceDirectory() + "/src/app/tools/golden/ten_faults/backends";
  const auto run = [&](std::vector<std::string> words) { return RunDoctor(words, context); };
  const ToolResult report = run({"/nowhere", "--backend-directory=" + backends});
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_THAT(asked, ::testing::ElementsAre("identity", "onnxruntime"));
  EXPECT_THAT(report.out, ::testing::HasSubstr("onnxruntime does not load: because"));
  EXPECT_THAT(report.out, ::testing::HasSubstr("error    repository  /nowhere"));
  EXPECT_EQ(run({"--http-port=0"}).exit_code, kCannotRun);
  EXPECT_EQ(run({"--format=xml"}).exit_code, kCannotRun);
  EXPECT_EQ(run({"--help"}).exit_code, 0);
}

}  // namespace
}  // namespace nereid::app::tools
