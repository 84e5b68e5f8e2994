// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <utility>

#include "backend/testing/copy_backend.h"
#include "request/binding.h"
#include "request/normalize.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"

namespace nereid::model {
namespace {

using ::testing::HasSubstr;

constexpr const char* kConfig = R"(
  name: "m" backend: "copy" max_batch_size: 4
  input { name: "IN" data_type: TYPE_INT8 dims: [ -1 ] }
  output { name: "OUT0" data_type: TYPE_INT8 dims: [ -1 ] }
  instance_group { kind: KIND_CPU count: 1 })";

class ModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(backends_.AddBuiltIn("copy", backend::MakeCopyBackend()).ok());
  }
  void TearDown() override {
    if (sink_ != nullptr) sink_->Clear();
  }

  base::Result<std::unique_ptr<Model>> Load(const std::string& config) {
    ModelSource source;
    source.name = "m";
    source.version = 3;
    source.directory = "/nonexistent";
    source.version_directory = "/nonexistent/3";
    source.config = request::MakeModel(config)->config;
    source.configured = configured_;
    ModelEnvironment environment{backends_, base::SteadyClock(), timers_};
    environment.histogram_latencies = histogram_latencies_;
    return Model::Create(environment, source);
  }
  void Use(const std::string& config) {
    auto model = Load(config);
    ASSERT_TRUE(model.ok()) << model.status().message();
    model_ = std::move(model).value();
  }
  /// Sends one request with three bytes and waits for its end.
  void Infer(std::vector<request::Parameter> parameters = {}) {
    Submit(std::move(parameters));
    sink_->WaitUntilDone();
  }
  void Submit(std::vector<request::Parameter> parameters = {}) {
    if (sink_ != nullptr) sink_->Clear();
    sink_ = std::make_shared<request::RecordingSink>();
    auto request = std::make_unique<request::InferenceRequest>();
    request->parameters = std::move(parameters);
    request->AddInput("IN", tensor::DataType::kInt8, {1, 3}).value()->Append("abc", 3);
    request->SetSink(sink_);
    request::BindRequest(
        *request, std::shared_ptr<const request::ModelIdentity>(&model_->identity(), [](auto*) {}));
    ASSERT_TRUE(request::Normalize(*request).ok());
    request->times.start_ns = base::SteadyClock().NowNs();
    ASSERT_TRUE(model_->Enqueue(request).ok());
  }

  backend::BackendRegistry backends_{{"/nonexistent", true, 0, {}}};
  base::ThreadTimerQueue timers_;
  bool histogram_latencies_ = false;
  bool configured_ = true;
  std::unique_ptr<Model> model_;
  std::shared_ptr<request::RecordingSink> sink_;
};

TEST_F(ModelTest, AnswersThroughTheBackend) {
  Use(kConfig);
  Infer();
  ASSERT_EQ(sink_->responses().size(), 1u);
  const auto& output = *sink_->responses()[0]->outputs()[0];
  EXPECT_EQ(output.name, "OUT0");
  EXPECT_EQ(std::string_view(output.data, output.size), "abc");
  EXPECT_EQ(output.shape, (tensor::Shape{1, 3}));
}

TEST_F(ModelTest, CountsWhatHappened) {
  Use(kConfig);
  Infer();
  Infer();
  Infer({{"fail", std::string("on purpose")}});
  EXPECT_EQ(sink_->errors()[0].message(), "on purpose");
  const auto statistics = model_->Statistics();
  EXPECT_EQ(statistics.version, "3");
  EXPECT_EQ(statistics.inference_stats.success.count, 2u);
  EXPECT_EQ(statistics.inference_stats.fail.count, 1u);
  EXPECT_EQ(statistics.inference_stats.queue.count, 2u);
  EXPECT_EQ(statistics.inference_count, 2u);
  EXPECT_EQ(statistics.failures_by_reason[2], 1u);
  EXPECT_GT(statistics.inference_stats.success.ns, 0u);
}

TEST_F(ModelTest, ARequestThatIsAnsweredWithAnErrorHasFailedWhateverTheBackendReports) {
  Use(kConfig);
  Infer({{"fail", std::string("on purpose")}, {"good", true}});
  Infer({{"good", true}});
  const auto statistics = model_->Statistics();
  EXPECT_EQ(statistics.inference_stats.success.count, 1u);
  EXPECT_EQ(statistics.inference_stats.fail.count, 1u);
  EXPECT_EQ(statistics.failures_by_reason[2], 1u);
}

class InstanceLoadTest : public ModelTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(backends_.AddBuiltIn("copy", backend::MakeCopyBackend(GetParam())).ok());
  }
  static std::string TwoInstances(const std::string& parameter) {
    return std::string(kConfig) +
           " instance_group { kind: KIND_CPU count: 1 } parameters { key: \"" + parameter +
           "\" value: { string_value: \"yes\" } }";
  }
};
INSTANTIATE_TEST_SUITE_P(OneByOneAndAtOnce, InstanceLoadTest, ::testing::Bool());

TEST_P(InstanceLoadTest, InstancesAreInitializedAtOnceIfTheBackendPermitsIt) {
  base::Status status = base::Status::Internal("not loaded");
  std::thread load([&] { status = Load(TwoInstances("hold_load")).status(); });
  // Returns when so many initializations wait at the same time, which it ends.
  if (GetParam()) {
    backend::ReleaseHeld(2);
  } else {
    backend::ReleaseHeld(1);
    backend::ReleaseHeld(1);
  }
  load.join();
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_P(InstanceLoadTest, AnInstanceThatFailsFailsTheLoad) {
  EXPECT_EQ(Load(TwoInstances("fail_instances")).status().message(),
            "the instance was told to fail");
}

TEST_F(ModelTest, ABackendThatCompletesItsConfigurationReadsItCompletedAndNormalised) {
  const auto model = Load(R"(name: "m" backend: "copy" max_batch_size: 4
      parameters { key: "complete_and_tell" value: { string_value: "yes" } })");
  ASSERT_FALSE(model.ok());
  const std::string& read = model.status().message();
  EXPECT_THAT(read, HasSubstr(R"("max_batch_size":8)"));
  EXPECT_THAT(read, HasSubstr(R"("name":"OUT0","data_type":"TYPE_INT8")"));
  EXPECT_THAT(read, HasSubstr(R"("preferred_batch_size":[8])"));
  EXPECT_THAT(read, HasSubstr(R"("complete_and_tell")")) << "the rest stays";
  EXPECT_THAT(read, HasSubstr(R"("instance_group":[{)"));
}

TEST_F(ModelTest, WhatABackendCannotMergeIsItsOwnError) {
  const auto model = Load(R"(name: "m" backend: "copy" sequence_batching {}
      parameters { key: "complete_and_tell" value: { string_value: "yes" } })");
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(), HasSubstr("Cannot update scheduling choice"));
}

TEST_F(ModelTest, NeitherAFileNorABackendConfigures) {
  configured_ = false;
  const auto model = Load(kConfig);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), base::StatusCode::kNotFound);
  EXPECT_EQ(model.status().message(), "model configuration is not provided for model 'm'");
}

TEST_F(ModelTest, FirstResponsesAreCountedWhereTheServerWantsThem) {
  const std::string config = std::string(kConfig) + R"( model_metrics { metric_control {
      metric_identifier { family: "nv_inference_first_response_histogram_ms" }
      histogram_options { buckets: [ 3600000 ] } } })";
  Use(config);
  Infer();
  EXPECT_FALSE(model_->Statistics().first_response_ms);
  histogram_latencies_ = true;
  Use(config);
  Infer();
  Infer({{"fail", std::string("on purpose")}});
  const auto histogram = model_->Statistics().first_response_ms;
  ASSERT_TRUE(histogram);
  EXPECT_THAT(histogram->bounds, testing::ElementsAre(3600000));
  EXPECT_THAT(histogram->counts, testing::ElementsAre(2, 0));
}

TEST_F(ModelTest, APlugInThatBreaksTheRulesHarmsOnlyItself) {
  Use(kConfig);
  Infer({{"silent", true}});
  EXPECT_THAT(sink_->errors()[0].message(), HasSubstr("without sending its final response"));
  Infer({{"twice", true}});
  EXPECT_EQ(sink_->responses().size(), 1u);
  EXPECT_EQ(sink_->finals(), 1u);
}

TEST_F(ModelTest, AFailedExecuteAnswersEveryRequest) {
  Use(std::string(kConfig) + R"( parameters { key: "fail_execute" value { string_value: "1" } })");
  Infer();
  EXPECT_EQ(sink_->errors()[0].code(), base::StatusCode::kUnavailable);
  EXPECT_EQ(sink_->errors()[0].message(), "execute failed");
  EXPECT_EQ(model_->Statistics().inference_stats.fail.count, 1u);
}

TEST_F(ModelTest, EveryRequestOfABrokenBatchIsAnsweredOnce) {
  Use(std::string(kConfig) + " dynamic_batching { }");
  const auto flag = [](const char* name) { return std::vector<request::Parameter>{{name, true}}; };
  struct Case {
    std::vector<std::vector<request::Parameter>> batch;
    std::vector<std::string> errors;  // part of the text; "" = answered well
  };
  const std::vector<Case> cases = {
      {{{}, flag("silent"), {}}, {"", "without sending its final response", ""}},
      {{{}, flag("throw"), {}}, {"", "threw: thrown on purpose", "threw: thrown on purpose"}},
      {{flag("silent"), flag("answer_throw"), flag("twice")},
       {"threw: something", "", "threw: something"}},
      {{flag("twice"), {{"fail", std::string("told so")}}}, {"", "told so"}},
  };
  for (const Case& broken : cases) {
    // They wait behind one that holds the instance, and are executed together.
    Submit(flag("hold"));
    const auto holding = std::exchange(sink_, nullptr);
    std::vector<std::shared_ptr<request::RecordingSink>> sinks;
    for (const auto& parameters : broken.batch) {
      Submit(parameters);
      sinks.push_back(std::exchange(sink_, nullptr));
    }
    backend::ReleaseHeld();
    holding->WaitUntilDone();
    holding->Clear();
    for (size_t i = 0; i < sinks.size(); ++i) {
      sinks[i]->WaitUntilDone();
      EXPECT_EQ(sinks[i]->finals(), 1u) << i;
      EXPECT_EQ(sinks[i]->released(), 1u) << i;
      ASSERT_EQ(sinks[i]->errors().size(), 1u) << i;
      const std::string message = sinks[i]->errors()[0].message();
      EXPECT_THAT(message, HasSubstr(broken.errors[i]));
      EXPECT_EQ(message.empty(), broken.errors[i].empty()) << message;
      sinks[i]->Clear();
    }
  }
  Infer();  // the instance goes on
  EXPECT_TRUE(sink_->errors()[0].ok());
}

TEST_F(ModelTest, AnAnswerMayComeAfterTheExecution) {
  Use(kConfig);
  Submit({{"late", true}});
  const auto late = std::exchange(sink_, nullptr);
  Infer();  // the instance is free for the next
  EXPECT_EQ(late->finals(), 0u);
  backend::ReleaseHeld();
  late->WaitUntilDone();
  EXPECT_TRUE(late->errors()[0].ok());
  late->Clear();
}

TEST_F(ModelTest, BatchesAreCountedByWhatClosedThem) {
  Use(std::string(kConfig) + " dynamic_batching { }");
  Infer();
  std::map<std::string, uint64_t> closed;
  for (const auto& [reason, count] : model_->Statistics().batches_closed) closed[reason] = count;
  EXPECT_EQ(closed["no_delay"], 1u);
  EXPECT_EQ(closed["full"], 0u);
  EXPECT_EQ(closed.size(), schedule::kBatchReasonCount);
}

TEST_F(ModelTest, TheWatchdogsLimitIsCheckedWhenTheModelIsLoaded) {
  const std::string parameter = R"( parameters { key: "execution_watchdog_secs" value )";
  EXPECT_EQ(Load(kConfig + parameter + R"({ string_value: "soon" } })").status().message(),
            "model 'm': parameter 'execution_watchdog_secs' must be a whole number of seconds, got "
            "'soon'");
  Use(kConfig + parameter + R"({ string_value: "3600" } })");
  EXPECT_TRUE(model_->CheckReady().ok());
}

TEST_F(ModelTest, WhatWaitsIsPending) {
  Use(kConfig);
  Submit({{"hold", true}});
  const auto first = sink_;
  Submit();
  EXPECT_EQ(model_->Statistics().pending_requests, 1u);
  backend::ReleaseHeld();
  first->WaitUntilDone();
  sink_->WaitUntilDone();
  first->Clear();
  EXPECT_EQ(model_->Statistics().pending_requests, 0u);
}

TEST_F(ModelTest, ALatencyObjectiveIsCheckedUsedAndReported) {
  const auto with = [](const std::string& value) {
    return " parameters { key: \"latency_objective_us\" value { string_value: \"" + value +
           "\" } }";
  };
  const std::string plain =
      "name: \"m\" backend: \"copy\" max_batch_size: 4 "
      "input { name: \"IN\" data_type: TYPE_INT8 dims: [ 3 ] } "
      "output { name: \"OUT\" data_type: TYPE_INT8 dims: [ 3 ] } ";
  EXPECT_THAT(Load(plain + "dynamic_batching { }" + with("soon")).status().message(),
              HasSubstr("parameter 'latency_objective_us' is 'soon', but must be an integer"));
  EXPECT_THAT(Load(plain + with("20000")).status().message(),
              HasSubstr("parameter 'latency_objective_us' needs dynamic_batching"));
  Use(plain + "dynamic_batching { max_queue_delay_microseconds: 3600000000 }" + with("20000"));
  EXPECT_EQ(model_->Statistics().adaptive_batching.objective_us, 20000u);
  EXPECT_EQ(model_->Statistics().adaptive_batching.size_limit, 4u);
  Infer();  // it is not held back for the hour of the delay
}

TEST_F(ModelTest, LoadFailuresSayWhy) {
  EXPECT_EQ(
      Load(std::string(kConfig) + R"( parameters { key: "fail_load" value { string_value: "1" } })")
          .status()
          .message(),
      "told to fail");
  EXPECT_EQ(Load(std::string(kConfig) +
                 R"( parameters { key: "throw_load" value { string_value: "1" } })")
                .status()
                .message(),
            "the backend threw while model 'm' was loaded: thrown while loading");
  EXPECT_EQ(Load(std::string(kConfig) +
                 R"( parameters { key: "throw_number" value { string_value: "1" } })")
                .status()
                .message(),
            "the backend threw while model 'm' was loaded: something that is no std::exception");
  EXPECT_EQ(Load(R"(name: "m" backend: "other")").status().message(),
            "unable to find backend library for backend 'other', try specifying runtime on the "
            "model configuration.");
  EXPECT_THAT(Load(R"(name: "m" backend: "../../x")").status().message(),
              HasSubstr("must be plain names"));
  EXPECT_EQ(Load(R"(name: "m" backend: "other" runtime: "own.so")").status().message(),
            "unable to find backend library 'own.so' for model 'm', searched: '/nonexistent/3' "
            "'/nonexistent' '/nonexistent/other' ");
  EXPECT_THAT(Load(R"(name: "m" backend: "copy" sequence_batching { }
                      parameters { key: "sequence_end_notice" value { string_value: "yes" } })")
                  .status()
                  .message(),
              HasSubstr("'sequence_end_notice' must be 'true' or 'false', got 'yes'"));
  EXPECT_THAT(
      Load(R"(name: "m" backend: "copy" input { name: "A" data_type: TYPE_INT8 dims: [ 0 ] })")
          .status()
          .message(),
      HasSubstr("dimension must be integer >= 1"));
}

TEST_F(ModelTest, WhatIsWrongWithAConfigurationIsSaidBeforeWhatABackendMakesOfIt) {
  const std::string failing =
      R"(name: "m" backend: "copy" parameters { key: "fail_load" value { string_value: "1" } } )";
  EXPECT_EQ(
      Load(failing + R"(input { name: "A" data_type: TYPE_INT8 dims: [ -2 ] })").status().message(),
      "model input 'A' dimension must be integer >= 1, or -1 to indicate a variable-size "
      "dimension for m");
  EXPECT_EQ(Load(failing + R"(output { name: "A" dims: [ 1 ] })").status().message(),
            "model output 'A' must specify 'data_type' for m");
  // A failure of another kind is not hidden.
  EXPECT_EQ(Load(R"(name: "m" backend: "copy" output { name: "A" dims: [ 1 ] }
                 parameters { key: "fail_inside" value { string_value: "1" } } )")
                .status()
                .message(),
            "broken inside");
}

TEST_F(ModelTest, InitialStatesAreCheckedWhenAVersionIsLoaded) {
  const auto load = [&](const std::string& initial) {
    return Load(R"(name: "m" backend: "copy" sequence_batching { state { input_name: "s"
        output_name: "t" data_type: TYPE_INT8 dims: [ -1 ] initial_state { name: "i" )" +
                initial + " zero_data: true } } }")
        .status()
        .message();
  };
  EXPECT_EQ(load("data_type: TYPE_FP32 dims: [ 1 ]"),
            "The data type used for 'initial_state' field of state 's' does not match the state "
            "data type.");
  EXPECT_THAT(load("data_type: TYPE_INT8 dims: [ 1, 1 ]"),
              HasSubstr("Number of dimensions in 'initial_state' doesn't match"));
  EXPECT_EQ(load("data_type: TYPE_INT8 dims: [ -1 ]"),
            "'initial_state' field for state input name 's' contains variable dimensions.");
  EXPECT_EQ(load("data_type: TYPE_INT8 dims: [ 1 ]"), "");
}

}  // namespace
}  // namespace nereid::model
