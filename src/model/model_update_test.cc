// SPDX-License-Identifier: Apache-2.0
// A model whose instances change while it serves, and the warm-up of what is new.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/testing/copy_backend.h"
#include "base/thread_shortage.h"
#include "model/model.h"
#include "request/binding.h"
#include "request/normalize.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"

namespace nereid::model {
namespace {

using ::testing::HasSubstr;

constexpr const char* kConfig = R"(
  name: "m" backend: "copy" max_batch_size: 4
  input { name: "IN" data_type: TYPE_INT8 dims: [ 3 ] }
  output { name: "OUT0" data_type: TYPE_INT8 dims: [ 3 ] } )";
constexpr const char* kWarmup = R"(
  model_warmup { name: "s" batch_size: 3 count: 2
                 inputs { key: "IN" value { data_type: TYPE_INT8 dims: [ 3 ] zero_data: true } } })";

class ModelUpdateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(backends_.AddBuiltIn("copy", backend::MakeCopyBackend()).ok());
  }
  void TearDown() override {
    for (const auto& sink : sinks_) sink->Clear();
  }
  base::Result<std::unique_ptr<Model>> Load(const std::string& config) {
    ModelSource source;
    source.name = "m";
    source.version = 1;
    source.directory = source.version_directory = "/nonexistent";
    source.config = request::MakeModel(config)->config;
    return Model::Create({backends_, base::SteadyClock(), timers_}, source);
  }
  void Use(const std::string& config) {
    auto model = Load(config);
    ASSERT_TRUE(model.ok()) << model.status().message();
    model_ = std::move(model).value();
  }
  config::ModelConfigPtr Update(const std::string& config) {
    auto update = model_->PrepareUpdate(*request::MakeModel(config)->config);
    EXPECT_TRUE(update.ok()) << update.status().message();
    const config::ModelConfigPtr updated = update->config;
    model_->ApplyUpdate(std::move(update).value());
    return updated;
  }
  std::shared_ptr<request::RecordingSink> Submit(std::vector<request::Parameter> parameters = {},
                                                 uint64_t correlation_id = 0, uint32_t flags = 0) {
    auto sink = sinks_.emplace_back(std::make_shared<request::RecordingSink>());
    auto request = std::make_unique<request::InferenceRequest>();
    request->parameters = std::move(parameters);
    request->correlation_id = correlation_id;
    request->flags = flags;
    request->AddInput("IN", tensor::DataType::kInt8, {1, 3}).value()->Append("abc", 3);
    request->SetSink(sink);
    request::BindRequest(
        *request, std::shared_ptr<const request::ModelIdentity>(&model_->identity(), [](auto*) {}));
    EXPECT_TRUE(request::Normalize(*request).ok());
    EXPECT_TRUE(model_->Enqueue(request).ok());
    return sink;
  }
  uint64_t Successes() { return model_->Statistics().inference_stats.success.count; }

  backend::BackendRegistry backends_{{"/nonexistent", true, 0, {}}};
  base::ThreadTimerQueue timers_;
  std::unique_ptr<Model> model_;
  std::vector<std::shared_ptr<request::RecordingSink>> sinks_;
};

std::string Groups(int count) {
  return kConfig + ("instance_group { kind: KIND_CPU count: " + std::to_string(count) + " }");
}

TEST_F(ModelUpdateTest, WarmupRunsOnEveryInstanceAndCounts) {
  Use(Groups(2) + kWarmup);
  const auto statistics = model_->Statistics();
  EXPECT_EQ(statistics.inference_count, 12u);
  EXPECT_EQ(statistics.execution_count, 4u);
  ASSERT_EQ(statistics.batch_stats.size(), 1u);
  EXPECT_EQ(statistics.batch_stats[0].batch_size, 3u);
}

TEST_F(ModelUpdateTest, PassiveInstancesAreNotWarmedUp) {
  Use(std::string(kConfig) + "instance_group { kind: KIND_CPU passive: true }" + kWarmup);
  EXPECT_EQ(model_->Statistics().execution_count, 0u);
}

TEST_F(ModelUpdateTest, AFailedWarmupFailsTheLoad) {
  const auto failed = Load(Groups(1) + kWarmup +
                           R"(parameters { key: "fail_execute" value { string_value: "1" } })");
  EXPECT_EQ(failed.status().message(),
            "failed to run warmup sample 's': execute failed; execute failed; execute failed; ");
}

TEST_F(ModelUpdateTest, MoreInstancesServeAtOnceAndNothingIsForgotten) {
  Use(Groups(1));
  Submit()->WaitUntilDone();
  EXPECT_EQ(Update(Groups(2))->instance_groups()[0].count, 2);
  EXPECT_EQ(Successes(), 1u);
  // Two requests that hold can only both be running if there are two instances.
  const auto first = Submit({{"hold", true}}), second = Submit({{"hold", true}});
  // An instance is free a moment after its answer, so the second one may wait for that moment.
  while (model_->Statistics().pending_requests > 0) std::this_thread::yield();
  backend::ReleaseHeld(2);
  first->WaitUntilDone();
  second->WaitUntilDone();
  EXPECT_EQ(Successes(), 3u);
}

TEST_F(ModelUpdateTest, WithoutThreadsALoadWithSequencesFailsAndAnUpdateChangesNothing) {
  const std::string sequences = "sequence_batching { direct { } }";
  {
    const base::ThreadShortage shortage(1);
    const auto failed = Load(Groups(2) + sequences);
    EXPECT_EQ(failed.status().code(), base::StatusCode::kUnavailable);
    EXPECT_THAT(failed.status().message(),
                HasSubstr("model 'm', instance 2 of 2: cannot start the thread 'm_0_1'"));
  }
  Use(Groups(1) + sequences);
  {
    const base::ThreadShortage shortage(1);
    const auto update = model_->PrepareUpdate(*request::MakeModel(Groups(4) + sequences)->config);
    EXPECT_EQ(update.status().code(), base::StatusCode::kUnavailable);
  }
  EXPECT_EQ(Update(Groups(2) + sequences)->instance_groups()[0].count, 2);
}

TEST_F(ModelUpdateTest, AModelIsLoadedWithoutThreadsAndServesWhenThereAreSome) {
  {
    const base::ThreadShortage shortage(0);
    Use(Groups(2));
    const auto refused = Submit();
    refused->WaitUntilDone();
    EXPECT_THAT(refused->errors()[0].message(), HasSubstr("cannot start the thread 'm_0_"));
  }
  const auto served = Submit();
  served->WaitUntilDone();
  EXPECT_TRUE(served->errors()[0].ok());
}

TEST_F(ModelUpdateTest, RemovedInstancesFinishAndTheirCountsStay) {
  Use(Groups(2));
  const auto first = Submit({{"hold", true}}), second = Submit({{"hold", true}});
  std::thread updating([&] { Update(Groups(1)); });
  backend::ReleaseHeld(2);
  updating.join();
  first->WaitUntilDone();
  second->WaitUntilDone();
  EXPECT_TRUE(first->errors()[0].ok() && second->errors()[0].ok());
  EXPECT_EQ(Successes(), 2u);
  Submit()->WaitUntilDone();
  EXPECT_EQ(Successes(), 3u);
}

TEST_F(ModelUpdateTest, SequencesStayOnARemovedInstance) {
  const auto config = [](int count) {
    return Groups(count) + " sequence_batching { max_sequence_idle_microseconds: 3600000000 }";
  };
  const auto send = [this](uint64_t id, uint32_t flags) {
    return Submit({}, id, flags)->WaitUntilDone();
  };
  constexpr uint32_t kStart = request::kFlagSequenceStart, kEnd = request::kFlagSequenceEnd;
  Use(config(2));
  send(1, kStart);
  send(2, kStart);    // on the second instance
  Update(config(1));  // does not wait for it
  EXPECT_EQ(model_->Statistics().sequences->slots, 4u);
  send(2, 0);
  send(2, kEnd);
  Update(config(2));
  EXPECT_EQ(model_->Statistics().sequences->slots, 8u);
  send(3, kStart);
  EXPECT_EQ(Successes(), 5u);
  Update(config(1));
  model_.reset();  // nor does this wait for clients
}

TEST_F(ModelUpdateTest, NewInstancesAreWarm) {
  Use(Groups(1) + kWarmup);
  Update(Groups(2) + kWarmup);
  EXPECT_EQ(model_->Statistics().execution_count, 4u);
}

TEST_F(ModelUpdateTest, AnUpdateThatIsNotAppliedChangesNothing) {
  Use(Groups(1));
  EXPECT_TRUE(model_->PrepareUpdate(*request::MakeModel(Groups(2))->config).ok());
  Submit()->WaitUntilDone();
  EXPECT_EQ(Successes(), 1u);
}

TEST_F(ModelUpdateTest, GroupsThatCannotBeAreRefused) {
  Use(Groups(1));
  const auto update = model_->PrepareUpdate(
      *request::MakeModel(std::string(kConfig) + "instance_group { kind: KIND_GPU }")->config);
  EXPECT_EQ(update.status().code(), base::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace nereid::model
