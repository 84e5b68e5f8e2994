// SPDX-License-Identifier: Apache-2.0
// Compares the output of nereid explain with golden files. NEREID_UPDATE_GOLDEN=1 rewrites them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "app/tools/explain_threads.h"
#include "app/tools/testing/golden.h"
#include "app/tools/tool.h"

namespace nereid::app::tools {
namespace {

namespace fs = std::filesystem;

class ExplainTest : public testing::Test {
 protected:
  void SetUp() override { fs::current_path(SourceDirectory() + "/src/app/tools/golden"); }
  void TearDown() override { fs::current_path(SourceDirectory()); }

  static ToolResult Explain(std::vector<std::string> words, const ToolContext& context = {}) {
    return RunExplain(words, context);
  }
};

TEST_F(ExplainTest, PrintsTheOriginOfEachField) {
  const ToolResult result = Explain({"explained"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  ExpectGolden("explained.txt", result.out);
}

TEST_F(ExplainTest, PrintsJson) {
  ExpectGolden("explained.json", Explain({"explained/", "--format=json"}).out);
}

TEST_F(ExplainTest, PrintsTheResponseOfTheConfigEndpoint) {
  ExpectGolden("explained.config.json", Explain({"explained", "--format", "config-json"}).out);
}

TEST_F(ExplainTest, SelectsFields) {
  EXPECT_EQ(Explain({"explained", "--field=input[0].dims"}).out,
            "input[0].dims[0]: 3   explained/config.pbtxt:7:13\n"
            "input[0].dims[1]: -1  explained/config.pbtxt:7:16\n");
  EXPECT_EQ(Explain({"explained", "--field=response_cache.enable"}).out,
            "response_cache.enable: false  default: it is not set\n");
  const ToolResult wrong = Explain({"explained", "--field=inputs"});
  EXPECT_EQ(wrong.exit_code, kCannotRun);
  EXPECT_THAT(wrong.errors,
              testing::StartsWith("nereid explain: the configuration has no field 'inputs'\n"));
}

TEST_F(ExplainTest, AnEnsembleIsDecoupledIfOneOfItsModelsIs) {
  fs::current_path("ensembles");
  EXPECT_EQ(Explain({"outer", "--field=model_transaction_policy"}).out,
            "model_transaction_policy.decoupled: true  derived: the models that the ensemble calls "
            "[derive.decoupled]\n");
  EXPECT_THAT(Explain({"outer", "--format=config-json"}).out,
              testing::HasSubstr("\"model_transaction_policy\":{\"decoupled\":true}"));
  // The ensemble's file contains decoupled: true, but no model that it calls is decoupled, and one
  // of them does not exist.
  EXPECT_THAT(Explain({"boasts", "--format=config-json"}).out,
              testing::HasSubstr("\"model_transaction_policy\":{\"decoupled\":false}"));
  EXPECT_EQ(Explain({"round", "--field=model_transaction_policy"}).exit_code, 0);
}

TEST_F(ExplainTest, AsksTheBackend) {
  ToolContext context;
  context.backend_directory = "/backends";
  context.load =
      [](const ToolContext::LoadRequest& request) -> base::Result<config::ModelConfigPtr> {
    EXPECT_EQ(request.model_directory, fs::current_path().string() + "/explained");
    EXPECT_EQ(request.backend_directory, "/backends");
    return base::Status::Unavailable("not today");
  };
  const ToolResult result = Explain({"explained", "--load"}, context);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.errors, "nereid explain: not today\n");
}

TEST_F(ExplainTest, ReportsWhyItCannotRun) {
  const auto error = [](const std::vector<std::string>& words, int code) {
    const ToolResult result = Explain(words);
    EXPECT_EQ(result.exit_code, code);
    EXPECT_EQ(result.out, "");
    return result.errors.substr(0, result.errors.find('\n'));
  };
  EXPECT_EQ(error({}, 2), "nereid explain: expected one model directory");
  EXPECT_EQ(error({"a", "b"}, 2), "nereid explain: expected one model directory");
  EXPECT_EQ(error({"/no/such"}, 2), "nereid explain: no such directory: /no/such");
  EXPECT_EQ(error({"explained", "--load"}, 2), "nereid explain: this program cannot load models");
  EXPECT_EQ(error({"explained", "--format=x"}, 2),
            "nereid explain: --format must be text, json or config-json, not 'x'");
  EXPECT_EQ(error({"ten_faults/models/wrong_type"}, 1),
            "nereid explain: ten_faults/models/wrong_type/config.pbtxt:6:16: unknown value "
            "'TYPE_FLOAT' of 'data_type'; nereid check lists all problems");
  EXPECT_THAT(error({"ten_faults/backends"}, 1),
              testing::StartsWith("nereid explain: Invalid model name: Could not determine"));
}

TEST(ThreadsTextTest, SaysHowManyThreadsAndWhy) {
  const std::string page =
      "# HELP nereid_cpu_threads x\n"
      "nereid_cpu_threads{model=\"bert\",reason=\"idle\",version=\"1\"} 2\n"
      "nereid_cpu_threads{model=\"other\",reason=\"short\",version=\"1\"} 1\n"
      "nereid_cpu_threads_decisions_total{model=\"bert\",threads=\"1\",version=\"1\"} 7\n"
      "nereid_cpu_threads_decisions_total{model=\"bert\",threads=\"2\",version=\"1\"} 90\n"
      "nereid_cpu_threads_execution_us{model=\"bert\",threads=\"1\",version=\"1\"} 100000\n"
      "nereid_cpu_threads_execution_us{model=\"bert\",threads=\"2\",version=\"1\"} 0\n";
  EXPECT_EQ(ThreadsText(page, "bert"),
            "Version 1: the last execution that was decided about had 2 threads: CPUs are idle, "
            "and this number is the fastest\n"
            "  1 thread: decided 7 times, mean duration 100000 us\n"
            "  2 threads: decided 90 times, mean duration unknown\n");
  EXPECT_EQ(ThreadsText(page, "other"),
            "Version 1: the last execution that was decided about had 1 thread: executions are "
            "too short for several threads\n");
}

TEST(ThreadsTextTest, APageThatIsNoMetricsPageHasNoPlan) {
  for (const char* page : {"", "nereid_cpu_threads{", "nereid_cpu_threads{model=\"m\" } 1",
                           "nereid_cpu_threads} {", "<html>\n\n", "nereid_cpu_threads{x=\"} 1"}) {
    EXPECT_THAT(ThreadsText(page, "bert"), testing::HasSubstr("no CPU plan for model 'bert'"))
        << page;
  }
}

TEST_F(ExplainTest, TheMetricsPageNeedsText) {
  const ToolResult result = Explain({"explained", "--format=json", "--metrics-url=localhost"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, testing::HasSubstr("--metrics-url needs --format=text"));
}

}  // namespace
}  // namespace nereid::app::tools
