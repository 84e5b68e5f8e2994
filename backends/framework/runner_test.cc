// SPDX-License-Identifier: Apache-2.0
// Gathering, running and scattering, over a session of the test's own.
#include "framework/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "testing/fake_server.h"

namespace nereid::framework {
namespace {

using backend::testing::BytesElements;
using backend::testing::BytesTensor;
using backend::testing::FakeAnswer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Floats = std::vector<float>;
using RunFunction = std::function<Error(std::span<const InputTensor>, std::span<const size_t>,
                                        std::span<OutputTensor>)>;

class FakeSession final : public Session {
 public:
  FakeSession(RunFunction run, bool may_repeat) : run_(std::move(run)), may_repeat_(may_repeat) {}
  bool may_repeat() const override { return may_repeat_; }
  Error Run(std::span<const InputTensor> inputs, std::span<const size_t> outputs,
            std::span<OutputTensor> results) override {
    return run_(inputs, outputs, results);
  }

 private:
  RunFunction run_;
  bool may_repeat_;
};

/// Gives back an input as an output.
void Echo(const InputTensor& input, OutputTensor* result) {
  result->data_type = input.data_type;
  result->shape.assign(input.shape.begin(), input.shape.end());
  result->data = input.data;
  result->size = input.size;
  result->texts.assign(input.texts.begin(), input.texts.end());
}

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    instance_.model = &model_;
    plan_ = std::make_shared<RunPlan>();
    plan_->model_name = "m";
    plan_->batching = true;
    AddInput("x", TRITONSERVER_TYPE_FP32);
    AddOutput("y", TRITONSERVER_TYPE_FP32);
  }

  void AddInput(const std::string& name, TRITONSERVER_DataType type) {
    PlannedInput& input = plan_->inputs.emplace_back();
    input.name = name;
    input.data_type = type;
    input.place = plan_->inputs.size() - 1;
  }
  void AddOutput(const std::string& name, TRITONSERVER_DataType type) {
    PlannedOutput& output = plan_->outputs.emplace_back();
    output.name = name;
    output.data_type = type;
    output.place = plan_->outputs.size() - 1;
    output.listed = true;
  }

  /// A request of `rows` rows of two elements that wants `outputs`.
  static void Fill(TRITONBACKEND_Request* request, const Floats& values,
                   std::vector<std::string> outputs = {"y"}) {
    request->AddInput<float>("x", TRITONSERVER_TYPE_FP32,
                             {static_cast<int64_t>(values.size() / 2), 2}, values);
    request->outputs = std::move(outputs);
  }

  void Execute(std::vector<TRITONBACKEND_Request*> requests) {
    if (runner_ == nullptr) {
      runner_ = std::make_unique<Runner>(
          plan_, std::make_unique<FakeSession>(
                     [this](std::span<const InputTensor> inputs, std::span<const size_t> outputs,
                            std::span<OutputTensor> results) {
                       ++runs_;
                       return run_(inputs, outputs, results);
                     },
                     may_repeat_));
    }
    runner_->Execute(&instance_, requests.data(), static_cast<uint32_t>(requests.size()));
  }

  /// Returns the batch sizes of all executions that were counted.
  std::vector<uint64_t> ExecutedSizes() const {
    std::vector<uint64_t> sizes;
    for (const auto& execution : instance_.statistics) {
      sizes.push_back(execution.batch_size);
    }
    return sizes;
  }

  TRITONBACKEND_Model model_;
  TRITONBACKEND_ModelInstance instance_;
  std::shared_ptr<RunPlan> plan_;
  std::unique_ptr<Runner> runner_;
  bool may_repeat_ = true;
  int runs_ = 0;
  RunFunction run_ = [](std::span<const InputTensor> inputs, std::span<const size_t> outputs,
                        std::span<OutputTensor> results) -> Error {
    for (size_t i = 0; i < outputs.size(); ++i) {
      Echo(inputs[outputs[i]], &results[i]);
    }
    return {};
  };
};

TEST_F(RunnerTest, ABatchIsPutTogetherAndCutApart) {
  TRITONBACKEND_Request a;
  TRITONBACKEND_Request b;
  Fill(&a, {1, 2});
  Fill(&b, {3, 4, 5, 6});
  const RunFunction echo = run_;
  run_ = [&](std::span<const InputTensor> inputs, std::span<const size_t> outputs,
             std::span<OutputTensor> results) {
    EXPECT_THAT(inputs[0].shape, ElementsAre(3, 2));
    return echo(inputs, outputs, results);
  };
  Execute({&a, &b});
  EXPECT_EQ(runs_, 1);
  EXPECT_THAT(a.Answer().outputs.at("y").As<float>(), ElementsAre(1, 2));
  EXPECT_THAT(b.Answer().outputs.at("y").As<float>(), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(b.Answer().outputs.at("y").shape, ElementsAre(2, 2));
  ASSERT_EQ(instance_.statistics.size(), 1u);
  EXPECT_EQ(instance_.statistics[0].batch_size, 3u);
}

TEST_F(RunnerTest, OneRequestIsNotCopied) {
  TRITONBACKEND_Request a;
  Fill(&a, {1, 2});
  const char* given = a.inputs[0].pieces[0].data();
  const RunFunction echo = run_;
  run_ = [&](std::span<const InputTensor> inputs, std::span<const size_t> outputs,
             std::span<OutputTensor> results) {
    EXPECT_EQ(inputs[0].data, given);
    return echo(inputs, outputs, results);
  };
  Execute({&a});
  EXPECT_FALSE(a.Answer().failed);
}

TEST_F(RunnerTest, OnlyWantedOutputsAreComputedAndGiven) {
  AddInput("t", TRITONSERVER_TYPE_BYTES);
  AddOutput("u", TRITONSERVER_TYPE_BYTES);
  TRITONBACKEND_Request a;
  TRITONBACKEND_Request b;
  Fill(&a, {1, 2}, {"u"});
  Fill(&b, {3, 4}, {"u", "y"});
  a.AddRaw("t", TRITONSERVER_TYPE_BYTES, {1}, BytesTensor({std::string("\xff\0", 2)}));
  b.AddRaw("t", TRITONSERVER_TYPE_BYTES, {1}, BytesTensor({""}));
  std::vector<size_t> asked;
  const RunFunction echo = run_;
  run_ = [&](std::span<const InputTensor> inputs, std::span<const size_t> outputs,
             std::span<OutputTensor> results) {
    asked.assign(outputs.begin(), outputs.end());
    return echo(inputs, outputs, results);
  };
  Execute({&a, &b});
  EXPECT_THAT(asked, ElementsAre(0, 1));
  EXPECT_EQ(a.Answer().outputs.size(), 1u);
  EXPECT_THAT(BytesElements(a.Answer().outputs.at("u").data),
              ElementsAre(std::string("\xff\0", 2)));
  EXPECT_THAT(BytesElements(b.Answer().outputs.at("u").data), ElementsAre(""));
  EXPECT_EQ(b.Answer().outputs.size(), 2u);
  TRITONBACKEND_Request c;
  Fill(&c, {5, 6}, {"u"});
  c.AddRaw("t", TRITONSERVER_TYPE_BYTES, {1}, BytesTensor({"c"}));
  Execute({&c});
  EXPECT_THAT(asked, ElementsAre(1));
}

TEST_F(RunnerTest, ABadRequestDoesNotSpoilItsBatch) {
  TRITONBACKEND_Request good;
  TRITONBACKEND_Request bad;
  Fill(&good, {1, 2});
  Fill(&bad, {-1, 2});
  const RunFunction echo = run_;
  run_ = [&](std::span<const InputTensor> inputs, std::span<const size_t> outputs,
             std::span<OutputTensor> results) -> Error {
    const auto* values = reinterpret_cast<const float*>(inputs[0].data);
    for (uint64_t i = 0; i < inputs[0].size / sizeof(float); ++i) {
      if (values[i] < 0) {
        throw std::runtime_error("no negative numbers");
      }
    }
    return echo(inputs, outputs, results);
  };
  Execute({&bad, &good});
  EXPECT_EQ(runs_, 3);
  EXPECT_THAT(good.Answer().outputs.at("y").As<float>(), ElementsAre(1, 2));
  EXPECT_TRUE(bad.Answer().failed);
  EXPECT_EQ(bad.Answer().message, "no negative numbers");
  // Each execution counts: of both, and of each one alone.
  EXPECT_THAT(ExecutedSizes(), ElementsAre(2, 1, 1));
}

TEST_F(RunnerTest, ARunThatChangesStateIsNotRepeated) {
  may_repeat_ = false;
  run_ = [](std::span<const InputTensor>, std::span<const size_t>, std::span<OutputTensor>) {
    return Error::Internal("failed after it added to a variable");
  };
  TRITONBACKEND_Request a;
  TRITONBACKEND_Request b;
  Fill(&a, {1, 2});
  Fill(&b, {3, 4});
  Execute({&a, &b});
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(a.Answer().message, "failed after it added to a variable");
  EXPECT_EQ(b.Answer().message, "failed after it added to a variable");
}

TEST_F(RunnerTest, RequestsThatDoNotFitTogetherRunAloneBeforeAnyStateChanges) {
  may_repeat_ = false;
  TRITONBACKEND_Request a;
  TRITONBACKEND_Request b;
  Fill(&a, {1, 2});
  b.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 3}, {3, 4, 5});
  b.outputs = {"y"};
  Execute({&a, &b});
  EXPECT_EQ(runs_, 2);
  EXPECT_FALSE(a.Answer().failed);
  EXPECT_FALSE(b.Answer().failed);
}

TEST_F(RunnerTest, RequestsThatCannotRunAreAnsweredBefore) {
  TRITONBACKEND_Request good;
  TRITONBACKEND_Request typed;
  TRITONBACKEND_Request lacking;
  TRITONBACKEND_Request short_one;
  TRITONBACKEND_Request strange;
  Fill(&good, {1, 2});
  typed.AddInput<double>("x", TRITONSERVER_TYPE_FP64, {1, 2}, {1, 2});
  short_one.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {2, 2}, {1, 2});
  Fill(&strange, {1, 2}, {"z"});
  Execute({&typed, &lacking, &good, &short_one, &strange});
  EXPECT_EQ(runs_, 1);
  EXPECT_FALSE(good.Answer().failed);
  EXPECT_EQ(typed.Answer().message, "input 'x' of model 'm' is of type FP32, not FP64");
  EXPECT_THAT(lacking.Answer().message, HasSubstr("lacks the input 'x'"));
  EXPECT_THAT(short_one.Answer().message, HasSubstr("has 8 bytes"));
  EXPECT_EQ(strange.Answer().message, "model 'm' has no output 'z'");
}

TEST_F(RunnerTest, WhatTheSessionGivesIsChecked) {
  const struct {
    std::function<void(OutputTensor*)> spoil;
    const char* message;
  } kCases[] = {
      {[](OutputTensor* t) { t->data_type = TRITONSERVER_TYPE_INT32; },
       "output 'y' of model 'm' is of type INT32, but the configuration says FP32"},
      {[](OutputTensor* t) {
         t->shape = {1, 3};
       },
       "impossible shape [1,3]"},
      {[](OutputTensor* t) {
         t->shape = {-1, -2};
       },
       "impossible shape [-1,-2]"},
      {[](OutputTensor* t) {
         t->shape = {2, 1};
       },
       "first dimension should be the batch size 1"},
      {[](OutputTensor* t) { t->shape = {}, t->size = 4; },
       "first dimension should be the batch size 1"},
  };
  for (const auto& row : kCases) {
    run_ = [&](std::span<const InputTensor> inputs, std::span<const size_t>,
               std::span<OutputTensor> results) -> Error {
      Echo(inputs[0], results.data());
      row.spoil(results.data());
      return {};
    };
    TRITONBACKEND_Request a;
    Fill(&a, {1, 2});
    Execute({&a});
    EXPECT_TRUE(a.Answer().failed);
    EXPECT_THAT(a.Answer().message, HasSubstr(row.message));
    EXPECT_EQ(a.Answer().code, TRITONSERVER_ERROR_INTERNAL) << "the model is wrong";
  }
}

TEST_F(RunnerTest, ResultsAreLetGoAndStartAfresh) {
  std::weak_ptr<const void> last;
  run_ = [&](std::span<const InputTensor> inputs, std::span<const size_t>,
             std::span<OutputTensor> results) -> Error {
    EXPECT_TRUE(results[0].shape.empty());
    EXPECT_TRUE(results[0].texts.empty());
    EXPECT_EQ(results[0].owner, nullptr);
    Echo(inputs[0], results.data());
    results[0].owner = std::make_shared<int>(1);
    last = results[0].owner;
    return {};
  };
  for (int i = 0; i < 3; ++i) {
    TRITONBACKEND_Request a;
    Fill(&a, {1, 2});
    Execute({&a});
    EXPECT_FALSE(a.Answer().failed);
    EXPECT_TRUE(last.expired());
  }
}

TEST_F(RunnerTest, StatesAreWrittenWhetherOrNotTheyAreWanted) {
  plan_->outputs[0].state = true;
  TRITONBACKEND_Request silent;
  TRITONBACKEND_Request curious;
  silent.has_states = curious.has_states = true;
  Fill(&silent, {1, 2}, {});
  Fill(&curious, {3, 4});
  Execute({&silent, &curious});
  EXPECT_TRUE(silent.Answer().outputs.empty());
  EXPECT_THAT(silent.State("y").As<float>(), ElementsAre(1, 2));
  EXPECT_THAT(curious.State("y").As<float>(), ElementsAre(3, 4));
  EXPECT_THAT(curious.Answer().outputs.at("y").As<float>(), ElementsAre(3, 4));
}

TEST_F(RunnerTest, WithoutBatchesEachRequestRunsAlone) {
  plan_->batching = false;
  plan_->inputs[0].scalar = true;
  TRITONBACKEND_Request a;
  TRITONBACKEND_Request b;
  TRITONBACKEND_Request wide;
  for (TRITONBACKEND_Request* request : {&a, &b}) {
    request->AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1}, {request == &a ? 1.0F : 2.0F});
    request->outputs = {"y"};
  }
  Fill(&wide, {1, 2});
  const RunFunction echo = run_;
  run_ = [&](std::span<const InputTensor> inputs, std::span<const size_t> outputs,
             std::span<OutputTensor> results) {
    EXPECT_TRUE(inputs[0].shape.empty());
    return echo(inputs, outputs, results);
  };
  Execute({&a, &b, &wide});
  EXPECT_EQ(runs_, 2);
  EXPECT_THAT(a.Answer().outputs.at("y").shape, ElementsAre(1));
  EXPECT_THAT(b.Answer().outputs.at("y").As<float>(), ElementsAre(2));
  EXPECT_THAT(wide.Answer().message, HasSubstr("must hold one element, not shape [1,2]"));
  EXPECT_THAT(ExecutedSizes(), ElementsAre(1, 1));
}

TEST_F(RunnerTest, AnInputWithADefaultMayBeAbsent) {
  AddInput("bias", TRITONSERVER_TYPE_FP32);
  plan_->inputs[1].has_default = true;
  TRITONBACKEND_Request a;
  Fill(&a, {1, 2});
  const RunFunction echo = run_;
  run_ = [&](std::span<const InputTensor> inputs, std::span<const size_t> outputs,
             std::span<OutputTensor> results) {
    EXPECT_TRUE(inputs[0].present);
    EXPECT_FALSE(inputs[1].present);
    return echo(inputs, outputs, results);
  };
  Execute({&a});
  EXPECT_FALSE(a.Answer().failed);
}

/// A plan with a ragged input, a batch input, and an output that is divided by the input's shapes.
class RaggedRunnerTest : public RunnerTest {
 protected:
  RaggedRunnerTest() {
    plan_->inputs[0].ragged = true;
    plan_->inputs[0].alignment = sizeof(float);
    AddInput("bounds", TRITONSERVER_TYPE_INT32);
    DerivedInput& derived = plan_->inputs[1].derived.emplace();
    derived.config.kind = backend::BatchInputKind::kAccumulatedElementCountWithZero;
    derived.config.data_type = TRITONSERVER_TYPE_INT32;
    derived.config.source = "x";
    plan_->outputs[0].scatter = {0, {-1, -1}};
  }

  static void Ask(TRITONBACKEND_Request* request, const Floats& values) {
    request->AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, static_cast<int64_t>(values.size())},
                             values);
    request->outputs = {"y"};
  }
};

TEST_F(RaggedRunnerTest, RequestsOfDifferentLengthsRunTogether) {
  TRITONBACKEND_Request a, b, c;
  Ask(&a, {1, 2, 3});
  Ask(&b, {});
  Ask(&c, {4});
  const RunFunction echo = run_;
  run_ = [&](std::span<const InputTensor> inputs, std::span<const size_t> outputs,
             std::span<OutputTensor> results) {
    EXPECT_THAT(inputs[0].shape, ElementsAre(4));
    EXPECT_THAT(inputs[1].shape, ElementsAre(4));
    EXPECT_TRUE(inputs[1].present);
    const auto* bounds = reinterpret_cast<const int32_t*>(inputs[1].data);
    EXPECT_THAT(std::vector<int32_t>(bounds, bounds + 4), ElementsAre(0, 3, 3, 4));
    return echo(inputs, outputs, results);
  };
  Execute({&a, &b, &c});
  EXPECT_EQ(runs_, 1);
  EXPECT_THAT(a.Answer().outputs.at("y").As<float>(), ElementsAre(1, 2, 3));
  EXPECT_THAT(b.Answer().outputs.at("y").shape, ElementsAre(1, 0));
  EXPECT_THAT(c.Answer().outputs.at("y").shape, ElementsAre(1, 1));
  EXPECT_THAT(c.Answer().outputs.at("y").As<float>(), ElementsAre(4));
}

TEST_F(RaggedRunnerTest, ABatchWithoutItsSourceFails) {
  plan_->inputs[0].has_default = true;
  TRITONBACKEND_Request a;
  a.outputs = {"y"};
  Execute({&a});
  EXPECT_EQ(runs_, 0);
  EXPECT_EQ(a.Answer().message,
            "the request lacks the input 'x', from which model 'm' derives its batch");
}

/// A plan with an output that has the shape of the input.
class InPlaceRunnerTest : public RunnerTest {
 protected:
  InPlaceRunnerTest() {
    plan_->outputs[0].dims = {{PlannedDim::Kind::kBatch}, {PlannedDim::Kind::kInputDim, 0, 0, 1}};
    run_ = [this](std::span<const InputTensor> inputs, std::span<const size_t>,
                  std::span<OutputTensor> results) -> Error {
      places_ += results[0].place.data != nullptr ? 1 : 0;
      if (results[0].place.data == nullptr || !writes_) {
        Echo(inputs[0], results.data());
        return {};
      }
      EXPECT_TRUE(std::ranges::equal(results[0].place.shape, inputs[0].shape));
      std::memcpy(results[0].place.data, inputs[0].data, results[0].place.size);
      results[0].in_place = true;
      return {};
    };
  }

  int places_ = 0;
  bool writes_ = true;
};

TEST_F(InPlaceRunnerTest, ARequestAloneIsAnsweredInPlace) {
  for (const bool writes : {true, false}) {
    writes_ = writes;
    TRITONBACKEND_Request a;
    Fill(&a, {1, 2, 3, 4});
    Execute({&a});
    EXPECT_THAT(a.Answer().outputs.at("y").shape, ElementsAre(2, 2));
    EXPECT_THAT(a.Answer().outputs.at("y").As<float>(), ElementsAre(1, 2, 3, 4));
  }
  EXPECT_EQ(places_, 2);
  TRITONBACKEND_Request b, c;
  Fill(&b, {5, 6});
  Fill(&c, {7, 8});
  Execute({&b, &c});
  EXPECT_EQ(places_, 2);
  EXPECT_THAT(c.Answer().outputs.at("y").As<float>(), ElementsAre(7, 8));
}

TEST_F(InPlaceRunnerTest, AStateIsWrittenInPlaceAndCopiedToTheAnswer) {
  plan_->outputs[0].state = true;
  TRITONBACKEND_Request a;
  a.has_states = true;
  Fill(&a, {1, 2});
  Execute({&a});
  EXPECT_EQ(places_, 1);
  EXPECT_THAT(a.State("y").As<float>(), ElementsAre(1, 2));
  EXPECT_THAT(a.Answer().outputs.at("y").As<float>(), ElementsAre(1, 2));
}

TEST_F(InPlaceRunnerTest, AModelThatBreaksItsPromiseRunsAgain) {
  run_ = [&](std::span<const InputTensor> inputs, std::span<const size_t>,
             std::span<OutputTensor> results) -> Error {
    places_ += results[0].place.data != nullptr ? 1 : 0;
    Echo(inputs[0], results.data());
    results[0].shape = {1, 2, 1};
    return {};
  };
  for (int i = 0; i < 2; ++i) {
    TRITONBACKEND_Request a;
    Fill(&a, {1, 2});
    Execute({&a});
    EXPECT_THAT(a.Answer().outputs.at("y").shape, ElementsAre(1, 2, 1));
  }
  EXPECT_EQ(runs_, 3);
  EXPECT_EQ(places_, 1);  // no place is offered after that
}

TEST_F(RunnerTest, MalformedTexts) {
  plan_->inputs[0].data_type = plan_->outputs[0].data_type = TRITONSERVER_TYPE_BYTES;
  TRITONBACKEND_Request a;
  a.AddRaw("x", TRITONSERVER_TYPE_BYTES, {1, 1}, std::string("\xff\0\0\0abc", 7));
  a.outputs = {"y"};
  Execute({&a});
  EXPECT_EQ(runs_, 0);
  EXPECT_TRUE(a.Answer().failed);
  EXPECT_THAT(a.Answer().message, HasSubstr("'x'"));
}

}  // namespace
}  // namespace nereid::framework
