// SPDX-License-Identifier: Apache-2.0
// Random ensembles, random members: every run ends once, starts what it must and nothing twice, and
// leaves no tensor behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "ensemble/ensemble_run.h"
#include "ensemble/testing/make_plan.h"

namespace nereid::ensemble {
namespace {

struct Counted final : TensorValue {
  Counted() { ++alive; }
  ~Counted() override { --alive; }
  static inline int alive = 0;
};

using Random = std::mt19937_64;

size_t Below(Random& random, size_t bound) { return random() % bound; }

/// Up to 12 steps in a random order, each reading one to three of the tensors before it. At most
/// one of the origins of a step's tensors is decoupled, as the rules of ensembles want it.
std::vector<PlannedStep> RandomSteps(Random& random) {
  struct Known {
    std::string name;
    int origin;
  };
  std::vector<Known> tensors{{"x0", kNoStep}, {"x1", kNoStep}};
  std::vector<PlannedStep> steps;
  const size_t count = 1 + Below(random, 12);
  for (size_t i = 0; i < count; ++i) {
    PlannedStep step;
    int origin = kNoStep;
    for (size_t k = 1 + Below(random, 3); k > 0; --k) {
      const Known& from = tensors[Below(random, tensors.size())];
      if (from.origin != kNoStep && origin != kNoStep && from.origin != origin) continue;
      if (std::find(step.inputs.begin(), step.inputs.end(), from.name) != step.inputs.end()) {
        continue;
      }
      if (from.origin != kNoStep) origin = from.origin;
      step.inputs.push_back(from.name);
    }
    const bool decoupled = Below(random, 6) == 0;
    step.model = (decoupled ? "D" : "m") + std::to_string(i);
    for (size_t k = 1 + Below(random, 2); k > 0; --k) {
      step.outputs.push_back("t" + std::to_string(i) + "_" + std::to_string(k));
      tensors.push_back({step.outputs.back(), decoupled ? static_cast<int>(i) : origin});
    }
    steps.push_back(std::move(step));
  }
  std::shuffle(steps.begin(), steps.end(), random);
  return steps;
}

/// Plays the members of one run.
class Members {
 public:
  Members(const EnsemblePlan& plan, Random& random) : plan_(plan), random_(random) {
    for (size_t i = 0; i < plan.tensors().size(); ++i) {
      if (plan.tensors()[i].producer != kNoStep && Below(random, 2) == 0) outputs_.push_back(i);
    }
    if (outputs_.empty()) outputs_.push_back(static_cast<size_t>(plan.FindTensor(AnyOutput())));
    needed_ = plan.StepsFor(outputs_);
    breaks_ = Below(random, 3) == 0;
  }

  void Play() {
    EnsembleRun run(plan_, outputs_);
    std::vector<std::pair<size_t, TensorPtr>> inputs;
    for (size_t i = 0; i < plan_.tensors().size(); ++i) {
      if (plan_.tensors()[i].producer == kNoStep && Below(random_, 4) != 0) {
        inputs.emplace_back(i, std::make_shared<Counted>());
      }
    }
    run.Begin(inputs);
    inputs.clear();
    size_t rounds = 0;
    while (!run.IsOver() || active_.size() > 0) {
      ASSERT_LT(++rounds, 100000u) << "it never ends";
      if (Below(random_, 2) == 0) {
        Take(run);
      } else if (!active_.empty()) {
        Advance(run);
      }
      TakeResponses(run);
      ASSERT_EQ(run.running(), active_.size());
    }
    TakeResponses(run);
    Check(run);
  }

 private:
  struct Active {
    size_t id;
    size_t step;
    size_t responses_left;
  };

  std::string AnyOutput() const { return plan_.tensors()[OutputIndex()].name; }
  size_t OutputIndex() const { return plan_.steps()[0].outputs[0].tensor; }

  void Take(EnsembleRun& run) {
    const bool failed = run.failed();
    auto start = run.TakeStart();
    if (!start) return;
    ASSERT_FALSE(failed);
    ASSERT_TRUE(needed_[start->step]);
    ++started_[start->step];
    const bool decoupled = plan_.steps()[start->step].decoupled;
    active_.push_back({start->id, start->step, decoupled ? Below(random_, 4) : 1});
    if (breaks_ && Below(random_, 40) == 0) active_.back().responses_left = 0;
  }

  /// A member answers, ends or fails; or the client gives up.
  void Advance(EnsembleRun& run) {
    const size_t index = Below(random_, active_.size());
    Active& active = active_[index];
    if (breaks_ && Below(random_, 30) == 0) {
      run.Fail(base::Status::Internal("broken"));
      if (Below(random_, 2) == 0) active.responses_left = 0;
    }
    if (active.responses_left == 0) {
      silent_ =
          silent_ || (!plan_.steps()[active.step].decoupled && !answered_.contains(active.id));
      run.OnFinished(active.id);
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(index));
      return;
    }
    --active.responses_left;
    std::vector<TensorPtr> values;
    for (size_t i = 0; i < plan_.steps()[active.step].outputs.size(); ++i) {
      values.push_back(Below(random_, 10) == 0 ? nullptr : std::make_shared<Counted>());
    }
    answered_.insert(active.id);
    ++responses_of_[active.step];
    ASSERT_TRUE(run.OnResponse(active.id, std::move(values)).ok());
    if (breaks_ && !plan_.steps()[active.step].decoupled && Below(random_, 50) == 0) {
      const base::Status again = run.OnResponse(active.id, {});
      ASSERT_TRUE(run.failed() || !again.ok());
      run.Fail(again);
    }
  }

  void TakeResponses(EnsembleRun& run) {
    while (auto response = run.TakeResponse()) {
      ASSERT_EQ(response->size(), outputs_.size());
      ++responses_;
    }
  }

  void Check(const EnsembleRun& run) {
    if (run.failed()) {
      EXPECT_EQ(run.held_tensors(), 0u);
      if (!plan_.decoupled()) {
        EXPECT_EQ(responses_, 0u);
      }
      return;
    }
    if (!plan_.decoupled()) {
      EXPECT_EQ(responses_, run.IsStuck() ? 0u : 1u);
      EXPECT_EQ(run.IsStuck(), silent_);
      if (silent_) {
        EXPECT_NE(run.SilentStep(), kNoStep);
      }
    }
    if (silent_) return;
    for (size_t i = 0; i < needed_.size(); ++i) {
      if (!needed_[i]) {
        EXPECT_EQ(started_[i], 0u);
        continue;
      }
      const int origin = plan_.steps()[i].origin;
      const size_t times = origin == kNoStep ? 1 : responses_of_[static_cast<size_t>(origin)];
      EXPECT_EQ(started_[i], times) << "step " << i;
    }
  }

  const EnsemblePlan& plan_;
  Random& random_;
  std::vector<size_t> outputs_;
  std::vector<bool> needed_;
  bool breaks_ = false;  // members fail, stay silent, answer twice
  bool silent_ = false;  // one that had to answer did not
  std::vector<Active> active_;
  std::set<size_t> answered_;
  std::map<size_t, size_t> started_, responses_of_;  // by step
  size_t responses_ = 0;
};

TEST(EnsembleRunPropertyTest, EveryRunEndsOnceAndLeavesNothing) {
  constexpr int kPlans = 4000, kRunsOfEach = 25;
  for (int p = 0; p < kPlans; ++p) {
    Random random(static_cast<uint64_t>(p));
    const EnsemblePlan plan = MakePlan(RandomSteps(random));
    for (int r = 0; r < kRunsOfEach; ++r) {
      SCOPED_TRACE("plan " + std::to_string(p) + ", run " + std::to_string(r));
      Members(plan, random).Play();
      ASSERT_EQ(Counted::alive, 0);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace nereid::ensemble
