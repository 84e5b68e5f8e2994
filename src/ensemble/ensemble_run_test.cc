// SPDX-License-Identifier: Apache-2.0
#include "ensemble/ensemble_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ensemble/testing/make_plan.h"

namespace nereid::ensemble {
namespace {

using base::Status;

struct Value final : TensorValue {
  explicit Value(int number) : number(number) { ++alive; }
  ~Value() override { --alive; }
  const int number;
  static inline int alive = 0;
};

TensorPtr Make(int number) { return std::make_shared<Value>(number); }
int NumberOf(const TensorPtr& value) { return static_cast<const Value&>(*value).number; }

class EnsembleRunTest : public ::testing::Test {
 protected:
  void TearDown() override {
    run_.reset();
    EXPECT_EQ(Value::alive, 0);
  }
  void Start(const std::vector<PlannedStep>& steps, const std::vector<std::string>& outputs) {
    plan_.emplace(MakePlan(steps));
    std::vector<size_t> wanted;
    for (const auto& name : outputs) wanted.push_back(Tensor(name));
    run_.emplace(*plan_, wanted);
    run_->Begin({{Tensor("x"), Make(0)}});
  }
  size_t Tensor(const std::string& name) const {
    return static_cast<size_t>(plan_->FindTensor(name));
  }
  /// Takes the next start, which must be of this step, and forgets its inputs.
  size_t TakeStep(size_t step) {
    auto start = run_->TakeStart();
    EXPECT_TRUE(start.has_value());
    if (!start) return 0;
    EXPECT_EQ(start->step, step);
    return start->id;
  }
  void Answer(size_t id, std::vector<TensorPtr> outputs, bool final = true) {
    EXPECT_TRUE(run_->OnResponse(id, std::move(outputs)).ok());
    if (final) run_->OnFinished(id);
  }

  std::optional<EnsemblePlan> plan_;
  std::optional<EnsembleRun> run_;
};

TEST_F(EnsembleRunTest, AStepStartsWhenItsTensorsExist) {
  Start({{"b", {"t"}, {"y"}}, {"a", {"x"}, {"t"}}}, {"y"});
  const size_t a = TakeStep(1);
  EXPECT_FALSE(run_->TakeStart());
  Answer(a, {Make(1)});
  const size_t b = TakeStep(0);
  EXPECT_FALSE(run_->IsOver());
  Answer(b, {Make(2)});
  EXPECT_TRUE(run_->IsOver());
  const auto response = run_->TakeResponse();
  ASSERT_TRUE(response);
  EXPECT_EQ(NumberOf(response->at(0)), 2);
  EXPECT_FALSE(run_->IsStuck());
}

TEST_F(EnsembleRunTest, ATensorIsLetGoByItsLastReader) {
  Start({{"a", {"x"}, {"t"}}, {"b", {"t"}, {"u"}}, {"c", {"t", "u"}, {"y"}}}, {"y"});
  Answer(TakeStep(0), {Make(1)});
  EXPECT_EQ(Value::alive, 1);  // t: x went with its reader
  Answer(TakeStep(1), {Make(2)});
  EXPECT_EQ(Value::alive, 2);
  const size_t c = TakeStep(2);
  EXPECT_EQ(Value::alive, 0);
  Answer(c, {Make(3)});
}

TEST_F(EnsembleRunTest, TheResponseWaitsForTheEndOfAllSteps) {
  Start({{"a", {"x"}, {"y"}}}, {"y"});
  const size_t a = TakeStep(0);
  Answer(a, {Make(1)}, /*final=*/false);
  EXPECT_FALSE(run_->TakeResponse());
  EXPECT_FALSE(run_->OnResponse(a, {Make(2)}).ok());
  run_->OnFinished(a);
  EXPECT_TRUE(run_->TakeResponse());
}

TEST_F(EnsembleRunTest, TheFirstFailureLetsEverythingGo) {
  Start({{"a", {"x"}, {"t"}}, {"b", {"x"}, {"u"}}, {"c", {"t", "u"}, {"y"}}}, {"y"});
  const size_t a = TakeStep(0);
  const size_t b = TakeStep(1);
  Answer(a, {Make(1)});
  run_->Fail(Status::Internal("first"));
  run_->Fail(Status::Internal("second"));
  EXPECT_EQ(Value::alive, 0);
  EXPECT_FALSE(run_->IsOver());  // b is waited for
  Answer(b, {Make(2)});
  EXPECT_TRUE(run_->IsOver());
  EXPECT_FALSE(run_->TakeStart());
  EXPECT_FALSE(run_->TakeResponse());
  EXPECT_EQ(run_->error().message(), "first");
}

TEST_F(EnsembleRunTest, AStepThatEndsWithoutAnAnswerIsNamed) {
  Start({{"a", {"x"}, {"t"}}, {"b", {"t"}, {"y"}}}, {"y"});
  Answer(TakeStep(0), {Make(1)});
  run_->OnFinished(TakeStep(1));
  EXPECT_TRUE(run_->IsOver());
  EXPECT_TRUE(run_->IsStuck());
  EXPECT_EQ(run_->SilentStep(), 1);
}

TEST_F(EnsembleRunTest, AbsentTensorsGoOnAsAbsent) {
  Start({{"a", {"x", "w"}, {"t", "u"}}, {"b", {"t", "u"}, {"y"}}}, {"y"});
  auto a = run_->TakeStart();
  ASSERT_TRUE(a);
  EXPECT_EQ(std::count(a->inputs.begin(), a->inputs.end(), nullptr), 1);
  Answer(a->id, {Make(1), nullptr});
  a.reset();
  auto b = run_->TakeStart();
  ASSERT_TRUE(b);
  EXPECT_EQ(std::count(b->inputs.begin(), b->inputs.end(), nullptr), 1);
  Answer(b->id, {nullptr});
  const auto response = run_->TakeResponse();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->at(0), nullptr);
}

TEST_F(EnsembleRunTest, EachResponseOfADecoupledStepGoesItsWay) {
  Start({{"D", {"x"}, {"t"}}, {"b", {"t", "x"}, {"y"}}}, {"y"});
  const size_t d = TakeStep(0);
  Answer(d, {Make(1)}, false);
  Answer(d, {Make(2)}, false);
  const size_t first = TakeStep(1), second = TakeStep(1);
  Answer(second, {Make(20)});  // answers may overtake each other
  auto response = run_->TakeResponse();
  ASSERT_TRUE(response);
  EXPECT_EQ(NumberOf(response->at(0)), 20);
  Answer(first, {Make(10)});
  response = run_->TakeResponse();
  ASSERT_TRUE(response);
  EXPECT_EQ(NumberOf(response->at(0)), 10);
  EXPECT_FALSE(run_->IsOver());
  run_->OnFinished(d);
  EXPECT_TRUE(run_->IsOver());
  EXPECT_FALSE(run_->IsStuck());
}

TEST_F(EnsembleRunTest, ManyResponsesAreUnderWayAtATime) {
  // Quadratic work would take minutes.
  constexpr int kMany = 200'000;
  Start({{"D", {"x"}, {"t"}}, {"a", {"x"}, {"u"}}, {"b", {"t", "u"}, {"y"}}}, {"y"});
  const size_t d = TakeStep(0);
  const size_t a = TakeStep(1);
  for (int i = 0; i < kMany; ++i) Answer(d, {Make(i)}, i == kMany - 1);
  Answer(a, {Make(3)});
  std::vector<size_t> ids;
  while (auto start = run_->TakeStart()) ids.push_back(start->id);
  ASSERT_EQ(ids.size(), size_t{kMany});
  for (size_t i = ids.size(); i-- > 0;) Answer(ids[i], {Make(static_cast<int>(i))});
  for (int i = kMany; i-- > 0;) {
    const auto response = run_->TakeResponse();
    ASSERT_TRUE(response);
    ASSERT_EQ(NumberOf(response->at(0)), i);
  }
  EXPECT_TRUE(run_->IsOver());
}

TEST_F(EnsembleRunTest, WhatExistsOnceIsThereForEveryIteration) {
  Start({{"D", {"x"}, {"t"}}, {"a", {"x"}, {"u"}}, {"b", {"t", "u"}, {"y"}}}, {"y"});
  const size_t d = TakeStep(0);
  const size_t a = TakeStep(1);
  Answer(d, {Make(1)}, false);
  Answer(d, {Make(2)});
  EXPECT_FALSE(run_->TakeStart());  // both wait for u
  Answer(a, {Make(3)});
  for (int i = 0; i < 2; ++i) {
    auto b = run_->TakeStart();
    ASSERT_TRUE(b);
    // Inputs are in the order of the model's names: t, u.
    EXPECT_EQ(NumberOf(b->inputs[0]), i + 1);
    EXPECT_EQ(NumberOf(b->inputs[1]), 3);
    Answer(b->id, {Make(4)});
  }
}

TEST_F(EnsembleRunTest, ADecoupledStepMayStaySilent) {
  Start({{"D", {"x"}, {"y"}}}, {"y"});
  run_->OnFinished(TakeStep(0));
  EXPECT_TRUE(run_->IsOver());
  EXPECT_FALSE(run_->IsStuck());
  EXPECT_FALSE(run_->TakeResponse());
}

}  // namespace
}  // namespace nereid::ensemble
