// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <latch>
#include <sstream>
#include <thread>

#include "repository/load_gate.h"
#include "server/inference_server.h"
#include "server/model_metrics.h"
#include "server/model_reaper.h"
#include "server/repository_control.h"
#include "server/server_metadata.h"

namespace nereid::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ModelMetricsTest, NamesTypesAndLabelsArePinned) {
  telemetry::ModelStatistics statistics;
  statistics.name = "m";
  statistics.version = "2";
  statistics.inference_count = 7;
  statistics.execution_count = 3;
  statistics.inference_stats.success = {5, 12'345'999};
  statistics.inference_stats.queue = {5, 2'000};
  statistics.inference_stats.compute_input = {5, 3'000};
  statistics.inference_stats.compute_infer = {5, 4'999};
  statistics.inference_stats.compute_output = {5, 999};
  statistics.failures_by_reason = {1, 2, 3, 4};
  statistics.pending_requests = 9;
  statistics.batches_closed = {{"preferred", 6}, {"delay", 0}};
  telemetry::MetricWriter writer;
  WriteModelMetrics(statistics, ModelLabels(statistics, "", {{"team", "a"}}), true, writer);
  std::string samples;
  for (std::istringstream lines(writer.Text()); !lines.eof();) {
    std::string line;
    std::getline(lines, line);
    if (!line.empty() && (line[0] != '#' || line.rfind("# TYPE", 0) == 0)) samples += line + "\n";
  }
  const std::string labels = R"({_team="a",model="m",version="2"})";
  const auto failure = [](const std::string& reason, int count) {
    return R"(nv_inference_request_failure{_team="a",model="m",reason=")" + reason +
           R"(",version="2"} )" + std::to_string(count) + "\n";
  };
  const auto closed = [](const std::string& reason, int count) {
    return R"(nereid_batch_closed_total{_team="a",model="m",reason=")" + reason +
           R"(",version="2"} )" + std::to_string(count) + "\n";
  };
  EXPECT_EQ(samples,
            "# TYPE nv_inference_request_success counter\n"
            "nv_inference_request_success" +
                labels +
                " 5\n"
                "# TYPE nv_inference_request_failure counter\n" +
                failure("REJECTED", 1) + failure("CANCELED", 2) + failure("BACKEND", 3) +
                failure("OTHER", 4) +
                "# TYPE nv_inference_count counter\n"
                "nv_inference_count" +
                labels +
                " 7\n"
                "# TYPE nv_inference_exec_count counter\n"
                "nv_inference_exec_count" +
                labels +
                " 3\n"
                "# TYPE nereid_batch_closed_total counter\n" +
                closed("preferred", 6) + closed("delay", 0) +
                "# TYPE nv_inference_request_duration_us counter\n"
                "nv_inference_request_duration_us" +
                labels +
                " 12345\n"
                "# TYPE nv_inference_queue_duration_us counter\n"
                "nv_inference_queue_duration_us" +
                labels +
                " 2\n"
                "# TYPE nv_inference_compute_input_duration_us counter\n"
                "nv_inference_compute_input_duration_us" +
                labels +
                " 3\n"
                "# TYPE nv_inference_compute_infer_duration_us counter\n"
                "nv_inference_compute_infer_duration_us" +
                labels +
                " 4\n"
                "# TYPE nv_inference_compute_output_duration_us counter\n"
                "nv_inference_compute_output_duration_us" +
                labels +
                " 0\n"
                "# TYPE nv_inference_pending_request_count gauge\n"
                "nv_inference_pending_request_count" +
                labels + " 9\n");
}

TEST(ModelMetricsTest, AdaptiveBatchingShowsWhereItIsOn) {
  telemetry::ModelStatistics statistics;
  statistics.name = "m";
  statistics.version = "1";
  telemetry::MetricWriter without;
  WriteModelMetrics(statistics, ModelLabels(statistics, "", {}), true, without);
  EXPECT_EQ(without.Text().find("nereid_latency_objective_us"), std::string::npos);
  statistics.adaptive_batching = {20000, 12};
  telemetry::MetricWriter with;
  WriteModelMetrics(statistics, ModelLabels(statistics, "", {}), true, with);
  const std::string labels = R"({model="m",version="1"})";
  EXPECT_NE(with.Text().find("nereid_latency_objective_us" + labels + " 20000\n"),
            std::string::npos);
  EXPECT_NE(with.Text().find("nereid_adaptive_batch_size_limit" + labels + " 12\n"),
            std::string::npos);
}

TEST(ModelMetricsTest, FirstResponsesShowWhereTheyAreKept) {
  telemetry::ModelStatistics statistics;
  statistics.name = "m";
  statistics.version = "1";
  telemetry::MetricWriter without;
  WriteModelMetrics(statistics, ModelLabels(statistics, "", {}), true, without);
  EXPECT_THAT(without.Text(), Not(HasSubstr("first_response")));
  statistics.first_response_ms = telemetry::HistogramSnapshot{{0.5, 100}, {2, 3, 1}, 517};
  telemetry::MetricWriter with;
  WriteModelMetrics(statistics, ModelLabels(statistics, "", {{"team", "a"}}), true, with);
  const std::string name = "nv_inference_first_response_histogram_ms";
  const auto bucket = [&](const std::string& bound, int count) {
    return name + R"(_bucket{_team="a",model="m",version="1",le=")" + bound + "\"} " +
           std::to_string(count) + "\n";
  };
  const std::string labels = R"({_team="a",model="m",version="1"} )";
  EXPECT_THAT(
      with.Text(),
      HasSubstr("# HELP " + name +
                " Time from the arrival of requests to their first response, in "
                "milliseconds\n# TYPE " +
                name + " histogram\n" + name + "_count" + labels + "6\n" + name + "_sum" + labels +
                "517\n" + bucket("0.5", 2) + bucket("100", 5) + bucket("+Inf", 6)));
}

/// The samples alone, without HELP and TYPE.
std::string Samples(const telemetry::MetricWriter& writer) {
  std::string samples;
  std::istringstream lines(writer.Text());
  for (std::string line; std::getline(lines, line);) {
    if (line[0] != '#') samples += line + "\n";
  }
  return samples;
}

TEST(ModelMetricsTest, SummariesHaveQuantilesSumAndCount) {
  telemetry::ModelStatistics statistics;
  statistics.name = "m";
  statistics.version = "2";
  telemetry::LatencySummaries summaries;
  for (const uint64_t value : {10, 20, 60}) summaries.request.Observe(value, 0);
  summaries.queue.Observe(5, 0);
  summaries.cache_hit.Observe(7, 0);
  telemetry::MetricWriter writer;
  WriteModelSummaries(statistics, summaries, {{0.5, 0.99}, 0},
                      ModelLabels(statistics, "", {{"team", "a"}}), writer);
  const std::string text = Samples(writer);
  EXPECT_THAT(text,
              HasSubstr(R"(nv_inference_request_summary_us_count{_team="a",model="m",version="2"} 3
nv_inference_request_summary_us_sum{_team="a",model="m",version="2"} 90
nv_inference_request_summary_us{_team="a",model="m",version="2",quantile="0.5"} 20
nv_inference_request_summary_us{_team="a",model="m",version="2",quantile="0.99"} 60
)"));
  EXPECT_THAT(text, HasSubstr(R"(version="2",quantile="0.5"} 5)"));
  for (const char* part : {"compute_input", "compute_infer", "compute_output"}) {
    EXPECT_THAT(text,
                HasSubstr("nv_inference_" + std::string(part) +
                          R"(_summary_us{_team="a",model="m",version="2",quantile="0.5"} NaN)"));
  }
  EXPECT_THAT(text, Not(HasSubstr("nv_cache")));

  statistics.response_cache = true;
  telemetry::MetricWriter with_cache;
  WriteModelSummaries(statistics, summaries, {{0.5}, 0}, ModelLabels(statistics, "", {}),
                      with_cache);
  EXPECT_THAT(Samples(with_cache), Not(HasSubstr("nv_inference_request_summary_us")));
  EXPECT_THAT(
      Samples(with_cache),
      HasSubstr(R"(nv_cache_hit_summary_per_model{model="m",version="2",quantile="0.5"} 7)"));
  EXPECT_THAT(Samples(with_cache), HasSubstr("nv_cache_miss_summary_per_model_count"));
}

TEST(SummaryQuantilesTest, TheLastReadableValueCounts) {
  ServerSettings settings;
  EXPECT_THAT(SummaryQuantiles(settings), ElementsAre(0.5, 0.9, 0.95, 0.99, 0.999));
  auto& global = settings.metrics_config[""];
  global.emplace_back("summary_quantiles", "0.1:0.5,0.2:0.3,0.1:0.4,x:1,2:1,0.7,0.8x:1,0.9:1%");
  EXPECT_THAT(SummaryQuantiles(settings), ElementsAre(0.1, 0.2));
  global.emplace_back("summary_quantiles", "nonsense");
  EXPECT_THAT(SummaryQuantiles(settings), ElementsAre(0.1, 0.2));
}

TEST(MetricsSwitchTest, TheLastValueCounts) {
  ServerSettings settings;
  EXPECT_TRUE(MetricsSwitch(settings, "a", true));
  EXPECT_FALSE(MetricsSwitch(settings, "a", false));
  settings.metrics_config["other group"] = {{"a", "true"}};
  settings.metrics_config[""] = {{"b", "true"}};
  EXPECT_FALSE(MetricsSwitch(settings, "a", false));
  settings.metrics_config[""] = {{"a", "false"}, {"a", "true"}};
  EXPECT_TRUE(MetricsSwitch(settings, "a", false));
  settings.metrics_config[""] = {{"a", "true"}, {"a", "false"}};
  EXPECT_FALSE(MetricsSwitch(settings, "a", true));
  settings.metrics_config[""] = {{"a", "perhaps"}};
  EXPECT_TRUE(MetricsSwitch(settings, "a", true));
  EXPECT_FALSE(MetricsSwitch(settings, "a", false));
}

TEST(ModelMetricsTest, DurationsCanBeLeftOut) {
  telemetry::MetricWriter writer;
  WriteModelMetrics({}, ModelLabels({}, "", {}), false, writer);
  EXPECT_EQ(writer.Text().find("_duration_us"), std::string::npos);
  EXPECT_NE(writer.Text().find("nv_inference_count"), std::string::npos);
}

TEST(ModelMetricsTest, ModelsWithACacheHaveFourMore) {
  telemetry::ModelStatistics statistics;
  statistics.name = "m";
  statistics.version = "1";
  statistics.inference_stats.cache_hit = {3, 4'999};
  statistics.inference_stats.cache_miss = {2, 7'000};
  telemetry::MetricWriter without;
  WriteModelMetrics(statistics, ModelLabels(statistics, "", {}), true, without);
  EXPECT_EQ(without.Text().find("nv_cache"), std::string::npos);
  statistics.response_cache = true;
  telemetry::MetricWriter with;
  WriteModelMetrics(statistics, ModelLabels(statistics, "", {}), true, with);
  const std::string labels = R"({model="m",version="1"} )";
  for (const std::string& line : {"nv_cache_num_hits_per_model" + labels + "3\n",
                                  "nv_cache_num_misses_per_model" + labels + "2\n",
                                  "nv_cache_hit_duration_per_model" + labels + "4\n",
                                  "nv_cache_miss_duration_per_model" + labels + "7\n"}) {
    EXPECT_THAT(with.Text(), HasSubstr("\n" + line));
  }
  telemetry::MetricWriter counts_only;
  WriteModelMetrics(statistics, ModelLabels(statistics, "", {}), false, counts_only);
  EXPECT_EQ(counts_only.Text().find("nv_cache_hit_duration"), std::string::npos);
  EXPECT_THAT(counts_only.Text(), HasSubstr("nv_cache_num_hits_per_model"));
}

TEST(ModelReaperTest, GivesMemoryBackOnceEverythingIsDestroyed) {
  std::atomic<int> destroyed{0};
  std::vector<int> destroyed_when_done;
  {
    ModelReaper reaper([&] { destroyed_when_done.push_back(destroyed); });
    reaper.Post([&] {
      reaper.Post([&] { ++destroyed; });
      ++destroyed;
    });
  }
  EXPECT_EQ(destroyed_when_done, std::vector<int>{2});
}

TEST(ModelReaperTest, RunsEverythingBeforeItEnds) {
  std::atomic<int> destroyed{0};
  std::thread::id on;
  {
    ModelReaper reaper;
    reaper.Post([&] {
      on = std::this_thread::get_id();
      // What is destroyed may let go of more.
      reaper.Post([&] { ++destroyed; });
    });
    for (int i = 0; i < 10; ++i) reaper.Post([&] { ++destroyed; });
  }
  EXPECT_EQ(destroyed, 11);
  EXPECT_NE(on, std::this_thread::get_id());
}

TEST(ModelReaperTest, OneThatTakesLongDoesNotKeepTheOthers) {
  std::latch second_ran(1);
  ModelReaper reaper;
  reaper.Post([&] { second_ran.wait(); });
  reaper.Post([&] { second_ran.count_down(); });
}

class ServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ =
        std::filesystem::temp_directory_path() / ("nereid_server_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(root_);
    settings_.model_repository_paths = {root_.string()};
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::filesystem::path root_;
  ServerSettings settings_;
};

TEST_F(ServerTest, AnEmptyRepositoryServesNothingAndIsReady) {
  auto server = InferenceServer::Create(settings_);
  ASSERT_TRUE(server.ok()) << server.status().message();
  EXPECT_TRUE(*(*server)->IsServerReady());
  EXPECT_TRUE((*server)->GetRepositoryIndex(false)->empty());
  EXPECT_TRUE((*server)->GetModelStatistics("", -1)->empty());
  EXPECT_EQ((*server)->GetModelStatistics("x", -1).status().message(),
            "requested model 'x' is not available");
  EXPECT_EQ((*server)->FindModel("x", -1).status().code(), base::StatusCode::kNotFound);
  EXPECT_FALSE(*(*server)->IsModelReady("x", -1));
  EXPECT_EQ((*server)->LoadModel("x", {}, {}).message(),
            "explicit model load / unload is not allowed if polling is enabled");
  EXPECT_THAT((*server)->RenderMetrics(), HasSubstr("nv_cpu_memory_total_bytes"));
}

TEST_F(ServerTest, StoppingRefusesWork) {
  auto server = InferenceServer::Create(settings_);
  ASSERT_TRUE(server.ok());
  ASSERT_TRUE((*server)->Stop().ok());
  EXPECT_EQ((*server)->IsServerLive().status().message(), "Server exiting");
  auto request = std::make_unique<request::InferenceRequest>();
  EXPECT_EQ((*server)->Infer(request).code(), base::StatusCode::kUnavailable);
  EXPECT_NE(request, nullptr);
}

TEST_F(ServerTest, AFailedModelEndsTheStartOnlyWhenAsked) {
  std::filesystem::create_directories(root_ / "m" / "1");
  auto failed = InferenceServer::Create(settings_);
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.status().message(), HasSubstr("failed to load all models"));
  EXPECT_THAT(failed.status().message(), HasSubstr("'m'"));
  settings_.exit_on_error = false;
  EXPECT_TRUE(InferenceServer::Create(settings_).ok());
}

TEST_F(ServerTest, ARepositoryThatIsMissingIsFatalOnlyWhenAsked) {
  settings_.model_repository_paths = {(root_ / "none").string()};
  EXPECT_THAT(InferenceServer::Create(settings_).status().message(), HasSubstr("none"));
  settings_.exit_on_error = false;
  auto server = InferenceServer::Create(settings_);
  ASSERT_TRUE(server.ok());
  EXPECT_FALSE(*(*server)->IsServerLive());
  EXPECT_FALSE(*(*server)->IsServerReady());
  for (const base::Status& status :
       {(*server)->GetRepositoryIndex(false).status(), (*server)->IsModelReady("m", -1).status(),
        (*server)->FindModel("m", -1).status(), (*server)->LoadModel("m", {}, {})}) {
    EXPECT_EQ(status.message(), "Server not ready");
  }
  const api::Readiness readiness = (*server)->health()->ExplainServer();
  ASSERT_EQ(readiness.reasons.size(), 1u);
  EXPECT_EQ(readiness.reasons[0].cause, "failed");
  EXPECT_THAT(readiness.reasons[0].text, HasSubstr("none"));
  EXPECT_TRUE((*server)->Stop().ok());
}

TEST_F(ServerTest, WhileItEndsItIsAliveAndNotReady) {
  auto server = InferenceServer::Create(settings_);
  ASSERT_TRUE(server.ok());
  (*server)->BeginStop();
  EXPECT_TRUE(*(*server)->IsServerLive());
  EXPECT_EQ((*server)->IsServerReady().status().message(), "Server exiting");
  EXPECT_EQ((*server)->IsModelReady("m", -1).status().message(), "Server not ready");
  EXPECT_EQ((*server)->FindModel("m", -1).status().code(), base::StatusCode::kNotFound);
  EXPECT_TRUE((*server)->WaitUntilIdle(0));
  EXPECT_TRUE((*server)->Stop().ok());
  EXPECT_EQ((*server)->IsServerLive().status().message(), "Server exiting");
}

TEST_F(ServerTest, ADrainMakesItUnreadyUntilItEnds) {
  settings_.model_control_mode = ModelControlMode::kExplicit;
  auto created = InferenceServer::Create(settings_);
  ASSERT_TRUE(created.ok());
  InferenceServer& server = **created;
  EXPECT_FALSE(server.health()->Drain().draining);
  const auto begun = server.health()->ChangeDrain({});
  ASSERT_TRUE(begun.ok());
  EXPECT_TRUE(begun->draining);
  EXPECT_EQ(begun->left_ns, std::nullopt);
  EXPECT_EQ(begun->in_flight, 0u);
  EXPECT_FALSE(*server.IsServerReady());
  EXPECT_TRUE(*server.IsServerLive());
  ASSERT_EQ(server.health()->ExplainServer().reasons.size(), 1u);
  EXPECT_EQ(server.health()->ExplainServer().reasons[0].cause, "draining");
  // Everything else is served.
  EXPECT_TRUE(server.GetRepositoryIndex(false).ok());
  EXPECT_TRUE(server.UnloadModel("m", false).ok());
  const auto timed = server.health()->ChangeDrain({.seconds = 3600});
  ASSERT_TRUE(timed->left_ns.has_value());
  EXPECT_LE(*timed->left_ns, 3'600'000'000'000u);
  EXPECT_FALSE(server.health()->ChangeDrain({.drain = false})->draining);
  EXPECT_TRUE(*server.IsServerReady());
  EXPECT_TRUE(server.health()->ExplainServer().ready);
  server.BeginStop();
  EXPECT_EQ(server.health()->ChangeDrain({}).status().message(), "Server exiting");
}

TEST_F(ServerTest, ExplainsWhyItIsNotReady) {
  settings_.exit_on_error = false;
  std::filesystem::create_directories(root_ / "m" / "1");
  std::ofstream(root_ / "m" / "config.pbtxt") << "backend: \"absent\"\nmax_batch_size: 0\n";
  auto server = InferenceServer::Create(settings_);
  ASSERT_TRUE(server.ok());
  const api::Readiness readiness = (*server)->health()->ExplainServer();
  EXPECT_EQ(readiness.ready, *(*server)->IsServerReady());
  ASSERT_EQ(readiness.reasons.size(), 1u);
  EXPECT_EQ(readiness.reasons[0].model, "m");
  EXPECT_EQ((*server)->health()->ExplainModel("m", -1).ready, *(*server)->IsModelReady("m", -1));
}

TEST_F(ServerTest, AStartCanBeBrokenOff) {
  std::filesystem::create_directories(root_ / "m" / "1");
  settings_.load_gate = std::make_shared<repository::LoadGate>();
  settings_.load_gate->Close();
  const auto server = InferenceServer::Create(settings_);
  EXPECT_EQ(server.status().message(), "the server was stopped while its models were being loaded");
}

TEST_F(ServerTest, OneCacheThatIsThere) {
  settings_.cache_directory = root_.string();
  settings_.cache_config["absent"] = "{}";
  const auto absent = InferenceServer::Create(settings_).status();
  EXPECT_EQ(absent.code(), base::StatusCode::kNotFound);
  EXPECT_THAT(absent.message(), HasSubstr("unable to find 'libtritoncache_absent.so' for cache. "
                                          "Searched: " +
                                          root_.string() + "/absent"));
  settings_.cache_config["second"] = "{}";
  const auto two = InferenceServer::Create(settings_).status();
  EXPECT_EQ(two.code(), base::StatusCode::kInvalidArgument);
  EXPECT_THAT(two.message(), HasSubstr("'absent' 'second'"));
}

TEST_F(ServerTest, AMissingRepositoryIsFoundLater) {
  settings_.model_repository_paths = {(root_ / "later").string()};
  settings_.model_control_mode = ModelControlMode::kPoll;
  EXPECT_EQ(InferenceServer::Create(settings_).status().message(),
            "failed to stat file " + (root_ / "later").string());
  settings_.exit_on_error = false;
  const auto server = InferenceServer::Create(settings_);
  ASSERT_TRUE(server.ok()) << server.status().message();
  EXPECT_FALSE(*(*server)->IsServerLive());
  EXPECT_FALSE(*(*server)->IsServerReady());
  EXPECT_EQ((*server)->GetServerMetadata().name, "triton");
  EXPECT_FALSE((*server)->repositories().Poll().ok());
  std::filesystem::create_directories(root_ / "later");
  EXPECT_TRUE((*server)->repositories().Poll().ok());
  EXPECT_TRUE(*(*server)->IsServerLive());
  EXPECT_TRUE(*(*server)->IsServerReady());
}

TEST_F(ServerTest, AStartUpModelThatIsNowhereFailsTheStart) {
  settings_.model_control_mode = ModelControlMode::kExplicit;
  settings_.startup_models = {"absent"};
  EXPECT_THAT(InferenceServer::Create(settings_).status().message(),
              HasSubstr("failed to load all models"));
}

TEST(ServerMetadataTest, ExtensionsAreInTritonsOrder) {
  EXPECT_THAT(
      MakeServerMetadata("s").extensions,
      ElementsAre("classification", "sequence", "model_repository",
                  "model_repository(unload_dependents)", "schedule_policy", "model_configuration",
                  "system_shared_memory", "cuda_shared_memory", "binary_tensor_data", "parameters",
                  "statistics", "trace", "logging", "generate"));
}

TEST_F(ServerTest, NeedsARepository) {
  EXPECT_EQ(InferenceServer::Create({}).status().message(), "--model-repository must be specified");
}

}  // namespace
}  // namespace nereid::server
