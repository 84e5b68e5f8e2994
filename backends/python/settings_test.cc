// SPDX-License-Identifier: Apache-2.0
// Tests of what is decided before a worker runs: settings, environment, completed configurations,
// restarts, and of a process that is started.
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "base/temporary_directory.h"
#include "nereid/backend/json.h"
#include "python/backend_state.h"
#include "python/completion.h"
#include "python/environment.h"
#include "python/output_lines.h"
#include "python/responses.h"
#include "python/spawner.h"
#include "python/supervisor.h"

namespace nereid::python {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string SettingError(const char* key, const char* value) {
  BackendSettings settings;
  return ReadBackendSettings(backend::Parameters("backend 'python'", {{key, value}}), &settings)
      .message();
}

TEST(BackendSettingsTest, TheTextsAreTritons) {
  EXPECT_EQ(SettingError("shm-default-byte-size", "1024"),
            "shm-default-byte-size can't be smaller than 4 MiBs");
  EXPECT_EQ(SettingError("shm-growth-byte-size", "0"),
            "shm-growth-byte-size can't be smaller than or equal to zero.");
  EXPECT_EQ(SettingError("stub-timeout-seconds", "-1"),
            "stub-timeout-seconds can't be smaller than or equal to zero.");
  EXPECT_EQ(SettingError("thread-pool-size", "0"), "thread-pool-size can't be less than 1.");
  EXPECT_EQ(SettingError("shm-region-prefix-name", ""),
            "shm-region-prefix-name must at least contain one character.");
  EXPECT_EQ(SettingError("shm_message_queue_size", "many"), "stol");
  EXPECT_EQ(SettingError("shm-default-byte-size", " 4194304 "), "");
  EXPECT_EQ(SettingError("shm-default-byte-size", "64MB"),
            "shm-default-byte-size must be a whole number, not '64MB'");
  EXPECT_EQ(SettingError("stub-timeout-seconds", "2m"),
            "stub-timeout-seconds must be a whole number, not '2m'");
  EXPECT_EQ(SettingError("unknown", "x"), "");
}

TEST(BackendSettingsTest, FunctionsOfModelsHaveALimitOnlyIfItIsGiven) {
  BackendSettings settings;
  EXPECT_TRUE(ReadBackendSettings(backend::Parameters("backend 'python'", {}), &settings).ok());
  EXPECT_EQ(settings.stub_timeout_seconds, 0);
  EXPECT_TRUE(
      ReadBackendSettings(backend::Parameters("backend 'python'", {{"stub-timeout-seconds", "45"}}),
                          &settings)
          .ok());
  EXPECT_EQ(settings.stub_timeout_seconds, 45);
}

TEST(BackendSettingsTest, TheInterpreterIsTheSettingOrThePackagesOrTheFirstInPath) {
  const auto interpreter = [](backend::Parameters::Map given) {
    BackendSettings settings;
    const backend::Parameters parameters("backend 'python'", std::move(given));
    EXPECT_EQ(ReadBackendSettings(parameters, &settings).message(), "");
    return settings.interpreter;
  };
  EXPECT_EQ(interpreter({}), "python3");
  setenv(kInterpreterVariable, "/of/the/package", 1);
  EXPECT_EQ(interpreter({}), "/of/the/package");
  EXPECT_EQ(interpreter({{"interpreter", "/given"}}), "/given");
  unsetenv(kInterpreterVariable);
  EXPECT_THAT(SettingError("interpreter", ""), HasSubstr("interpreter must be a program"));
}

TEST(RestartDelayTest, GrowsFromNothingToHalfAMinute) {
  std::vector<int64_t> delays;
  for (int64_t failures = 1; failures <= 9; ++failures) {
    delays.push_back(RestartDelay(failures).count());
  }
  EXPECT_THAT(delays, ElementsAre(0, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000));
  EXPECT_EQ(RestartDelay(INT64_MAX).count(), 30000);
}

TEST(EnvironmentTest, ActivationChangesTheVariables) {
  std::vector<std::string> variables = {"PATH=/usr/bin", "PYTHONHOME=/old", "X=1"};
  Activate("/e/v", &variables);
  EXPECT_THAT(variables, ElementsAre("PATH=/e/v/bin:/usr/bin", "X=1", "VIRTUAL_ENV=/e/v",
                                     "VIRTUAL_ENV_PROMPT=v", "LD_LIBRARY_PATH=/e/v/lib"));
}

TEST(EnvironmentTest, TheModelDirectoryIsExpanded) {
  EXPECT_EQ(ExpandModelDirectory("$$TRITON_MODEL_DIRECTORY/env", "/r/m"), "/r/m/env");
  EXPECT_EQ(ExpandModelDirectory("/env", "/r/m"), "/env");
}

TEST(EnvironmentTest, AMissingFolderIsNamed) {
  Environments environments;
  std::string folder;
  EXPECT_EQ(environments.Find("/nonexistent/env", {}, nullptr, &folder).message(),
            "Failed to get the canonical path for /nonexistent/env.");
}

TEST(RequirementsTest, TheCacheIsBelowTheHomeOfTheUser) {
  EXPECT_EQ(DefaultRequirementsCache({"HOME=/h", "XDG_CACHE_HOME=/c"}), "/c/nereid/python");
  EXPECT_EQ(DefaultRequirementsCache({"HOME=/h"}), "/h/.cache/nereid/python");
  EXPECT_THAT(DefaultRequirementsCache({}), HasSubstr("/var/tmp/nereid-python-"));
}

TEST(RequirementsTest, SettingsAreChecked) {
  EXPECT_EQ(SettingError("install-requirements", "true"), "");
  EXPECT_THAT(SettingError("install-requirements", "perhaps"), HasSubstr("install-requirements"));
  EXPECT_THAT(SettingError("requirements-environments", "0"),
              HasSubstr("requirements-environments"));
  EXPECT_THAT(SettingError("requirements-timeout-seconds", "x"),
              HasSubstr("requirements-timeout-seconds"));
  BackendSettings settings;
  const backend::Parameters parameters(
      "backend 'python'",
      {{"install-requirements", "true"}, {"requirements-directory", "relative"}});
  EXPECT_EQ(ReadBackendSettings(parameters, &settings).message(),
            "requirements-directory must be an absolute path, not 'relative'");
}

TEST(RequirementsTest, TheFileOfTheVersionComesFirst) {
  const auto folder = base::TemporaryDirectory::Create();
  ASSERT_TRUE(folder.ok());
  const std::string model = folder.value()->path();
  const std::string version = model + "/1";
  std::filesystem::create_directory(version);
  EXPECT_EQ(FindRequirements(version, model), "");
  std::ofstream(model + "/requirements.txt") << "a";
  EXPECT_EQ(FindRequirements(version, model), model + "/requirements.txt");
  std::ofstream(version + "/requirements.txt") << "b";
  EXPECT_EQ(FindRequirements(version, model), version + "/requirements.txt");
}

std::string Merged(const std::string& config, const std::string& completed) {
  rapidjson::Document document;
  document.Parse(config.c_str());
  const backend::Error failed = MergeCompletion(completed, &document);
  if (!failed.ok()) {
    return failed.message();
  }
  rapidjson::StringBuffer text;
  rapidjson::Writer<rapidjson::StringBuffer> writer(text);
  document.Accept(writer);
  return text.GetString();
}

TEST(CompletionTest, OnlySomePartsAreTaken) {
  EXPECT_EQ(Merged(R"({"name":"m","max_batch_size":0})",
                   R"({"name":"other","max_batch_size":4,"input":[1],"dynamic_batching":{}})"),
            R"({"name":"m","max_batch_size":4,"input":[1],"dynamic_batching":{}})");
  EXPECT_EQ(Merged(R"({"sequence_batching":{}})", R"({"dynamic_batching":{}})"),
            "Cannot update scheduling choice from sequence_batching to sequence_batching when "
            "auto-completing.");
  EXPECT_THAT(Merged("{}", "[["), HasSubstr("no JSON object"));
}

TEST(ResponsesTest, SizeAndShapeMustAgree) {
  WireTensor tensor;
  tensor.name = "OUT";
  tensor.data_type = TRITONSERVER_TYPE_FP32;
  tensor.shape = {2, 3};
  tensor.size = 24;
  EXPECT_TRUE(CheckTensor(tensor).ok());
  tensor.size = 23;
  EXPECT_EQ(TRITONSERVER_ErrorCode(CheckTensor(tensor).get()), TRITONSERVER_ERROR_INTERNAL);
  EXPECT_THAT(CheckTensor(tensor).message(), HasSubstr("tensor 'OUT'"));
  tensor.shape = {INT64_MAX, INT64_MAX};
  EXPECT_FALSE(CheckTensor(tensor).ok());
  tensor.shape = {-1};
  EXPECT_FALSE(CheckTensor(tensor).ok());
  tensor.shape = {};
  tensor.data_type = 77;
  EXPECT_FALSE(CheckTensor(tensor).ok());
  tensor.data_type = TRITONSERVER_TYPE_BYTES;
  tensor.shape = {1};
  tensor.size = 5;
  EXPECT_TRUE(CheckTensor(tensor).ok());
  EXPECT_TRUE(CheckElements(tensor, "\1\0\0\0x").ok());
  EXPECT_EQ(TRITONSERVER_ErrorCode(CheckElements(tensor, "\2\0\0\0x").get()),
            TRITONSERVER_ERROR_INTERNAL);
}

TEST(ProcessTest, TheOutputAndTheEndOfAProcessAreKnown) {
  Process process;
  const Command command{{"/bin/sh", "-c", "echo told; exit 3"}, {}};
  ASSERT_EQ(StartProcess(command, &process).message(), "");
  pollfd ended{process.pid_file.get(), POLLIN, 0};
  poll(&ended, 1, -1);
  OutputLines lines("m_0", TRITONSERVER_LOG_INFO);
  EXPECT_TRUE(lines.Read(process.output.get()));
  EXPECT_FALSE(lines.Read(process.output.get()));
  EXPECT_EQ(lines.LastLines(), "\ntold");
  EXPECT_EQ(WaitForEnd(process.pid), "exited with code 3");
}

TEST(ProcessTest, TheSocketsTakeMessagesOfEachSize) {
  Process process;
  const Command command{{"/bin/true"}, {}};
  ASSERT_EQ(StartProcess(command, &process).message(), "");
  for (const int socket : {process.work.get(), process.call.get()}) {
    int size = 0;
    socklen_t length = sizeof(size);
    ASSERT_EQ(getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, &length), 0);
    EXPECT_GE(static_cast<size_t>(size), 4 * kMaxMessage)
        << "the size must not depend on the system's default";
  }
  EXPECT_EQ(WaitForEnd(process.pid), "exited with code 0");
}

/// Returns the CPU time that the thread has used.
std::chrono::nanoseconds UsedCpu() {
  timespec used{};
  EXPECT_EQ(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used), 0);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

TEST(ProcessTest, ACommandThatClosesItsPipesCostsNoTimeOfTheServer) {
  Spawner spawner;
  ASSERT_TRUE(spawner.Start().ok());
  const auto before = UsedCpu();
  const auto begin = std::chrono::steady_clock::now();
  const Command command{{"/bin/sh", "-c", "exec >&- 2>&-; sleep 0.3"}, {"PATH=/usr/bin:/bin"}};
  EXPECT_EQ(RunCommand(command, &spawner).message(), "");
  EXPECT_LT(UsedCpu() - before, (std::chrono::steady_clock::now() - begin) / 20);
}

TEST(ProcessTest, AMissingProgramIsNamed) {
  Process process;
  const Command command{{"python-of-nowhere"}, {"PATH=/nonexistent"}};
  EXPECT_THAT(StartProcess(command, &process).message(),
              HasSubstr("no program 'python-of-nowhere'"));
}

TEST(ProcessTest, TheReasonOfAFailedCommandIsItsErrorOutput) {
  Spawner spawner;
  ASSERT_TRUE(spawner.Start().ok());
  EXPECT_EQ(RunCommand({{"/bin/sh", "-c", "echo why >&2; exit 1"}, {}}, &spawner).message(), "why");
  EXPECT_TRUE(RunCommand({{"/bin/sh", "-c", "exit 0"}, {}}, &spawner).ok());
  EXPECT_THAT(RunCommand({{"/bin/sh", "-c", "kill -9 $$"}, {}}, &spawner).message(),
              HasSubstr("killed by signal 9"));
}

}  // namespace
}  // namespace nereid::python
