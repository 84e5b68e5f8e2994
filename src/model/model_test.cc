// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/testing/copy_backend.h"
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
    ModelEnvironment environment{backends_, base::SteadyClock(), timers_};
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
    request->Bind(std::shared_ptr<const request::ModelIdentity>(&model_->identity(), [](auto*) {}));
    ASSERT_TRUE(request::Normalize(*request).ok());
    request->times.start_ns = base::SteadyClock().NowNs();
    ASSERT_TRUE(model_->Enqueue(request).ok());
  }

  backend::BackendRegistry backends_{{"/nonexistent", true, 0, {}}};
  base::ThreadTimerQueue timers_;
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

TEST_F(ModelTest, LoadFailuresSayWhy) {
  EXPECT_EQ(
      Load(std::string(kConfig) + R"( parameters { key: "fail_load" value { string_value: "1" } })")
          .status()
          .message(),
      "told to fail");
  EXPECT_EQ(Load(R"(name: "m" backend: "other")").status().message(),
            "unable to find backend library for backend 'other', try specifying runtime on the "
            "model configuration.");
  EXPECT_THAT(Load(R"(name: "m" backend: "../../x")").status().message(),
              HasSubstr("must be plain names"));
  EXPECT_THAT(Load(R"(name: "m" backend: "copy" sequence_batching { })").status().message(),
              HasSubstr("sequence batching is not supported"));
  EXPECT_THAT(
      Load(R"(name: "m" backend: "copy" input { name: "A" data_type: TYPE_INT8 dims: [ 0 ] })")
          .status()
          .message(),
      HasSubstr("dimension must be integer >= 1"));
}

}  // namespace
}  // namespace nereid::model
