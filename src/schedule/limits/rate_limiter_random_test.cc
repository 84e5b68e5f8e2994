// SPDX-License-Identifier: Apache-2.0
// Random instances, resources and completions: what holds whatever happens.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "schedule/limits/rate_limiter.h"

namespace nereid::schedule {
namespace {

using Id = RateLimiter::InstanceId;

/// A server whose instances always have work, with a model of the limiter's promises beside it.
class RandomServer {
 public:
  explicit RandomServer(uint32_t seed) : random_(seed) {
    if (Chance(50)) {
      for (const char* name : {"A", "B", "C"}) capacities_.push_back({name, Below(12), {}});
    }
    limiter_ = RateLimiter(capacities_);
  }

  void Step() {
    switch (Below(10)) {
      case 0:
        return AddModel();
      case 1:
        return RemoveOne();
      case 2:
        return WithdrawOne();
      case 3:
      case 4:
      case 5:
        return ReleaseOne();
      default:
        return StageOne();
    }
  }

  /// Nothing more is staged: everybody in line must get a turn.
  void Drain() {
    while (!staged_.empty() || !running_.empty()) {
      const size_t left = staged_.size() + running_.size();
      ReleaseOne();
      ASSERT_LT(staged_.size() + running_.size(), left) << "the line stands still";
    }
  }

 private:
  struct Instance {
    LimitedInstance description;
    Id id;
  };

  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool Chance(uint64_t percent) { return Below(100) < percent; }

  void AddModel() {
    std::vector<LimitedInstance> model;
    for (uint64_t i = 1 + Below(3); i > 0; --i) {
      LimitedInstance& instance = model.emplace_back();
      instance.device = static_cast<int32_t>(Below(2));
      instance.priority = static_cast<uint32_t>(Below(4));
      for (const char* name : {"A", "B", "C"}) {
        // C is the global one; a model may get that wrong and is then refused.
        if (Chance(50)) instance.needs.push_back({name, (*name == 'C') != Chance(3), Below(10)});
      }
    }
    const auto ids = limiter_.Register(model);
    if (!ids.ok()) return;
    for (size_t i = 0; i < model.size(); ++i) available_.push_back({model[i], ids->at(i)});
  }

  Instance Take(std::vector<Instance>& from) {
    const size_t index = Below(from.size());
    Instance taken = from[index];
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(index));
    return taken;
  }

  void RemoveOne() {
    std::vector<Instance>* all[] = {&available_, &staged_, &running_};
    std::vector<Instance>& from = *all[Below(3)];
    if (from.empty()) return;
    limiter_.Unregister(Take(from).id);
    Grant();
  }

  void WithdrawOne() {
    if (staged_.empty()) return;
    const Instance instance = Take(staged_);
    ASSERT_TRUE(limiter_.Withdraw(instance.id));
    available_.push_back(instance);
    Grant();
  }

  void StageOne() {
    if (available_.empty()) return;
    staged_.push_back(Take(available_));
    limiter_.Stage(staged_.back().id);
    Grant();
  }

  void ReleaseOne() {
    if (running_.empty()) return;
    const Instance instance = Take(running_);
    limiter_.Release(instance.id, Chance(90));
    available_.push_back(instance);
    Grant();
  }

  void Grant() {
    while (const auto id = limiter_.Grant()) {
      const auto found = std::find_if(staged_.begin(), staged_.end(),
                                      [&](const Instance& one) { return one.id == *id; });
      ASSERT_NE(found, staged_.end()) << "a grant for an instance that did not wait";
      running_.push_back(*found);
      staged_.erase(found);
      CheckCapacities();
    }
    ASSERT_EQ(limiter_.staged_count(), staged_.size());
    // No lost wake-up: with nothing running, nothing can be in the way.
    ASSERT_TRUE(!running_.empty() || staged_.empty()) << "somebody waits for nobody";
  }

  /// At the moment of a grant, what the running instances need is within what there is.
  void CheckCapacities() {
    std::map<std::pair<std::optional<int32_t>, std::string>, uint64_t> used, most;
    for (const auto* list : {&available_, &staged_, &running_}) {
      for (const Instance& one : *list) {
        for (const ResourceNeed& need : one.description.needs) {
          const auto device = need.global ? std::nullopt : std::optional(one.description.device);
          const auto key = std::pair(device, need.name);
          most[key] = std::max(most[key], need.count);
          if (list == &running_) used[key] += need.count;
        }
      }
    }
    for (const auto& [key, count] : used) {
      ASSERT_EQ(limiter_.InUse(key.second, key.first), count);
    }
    // Whoever was let in last has to fit; a capacity may have shrunk under the others before.
    for (const ResourceNeed& need : running_.back().description.needs) {
      const auto device =
          need.global ? std::nullopt : std::optional(running_.back().description.device);
      uint64_t capacity = most[{device, need.name}];
      for (const ResourceCapacity& given : capacities_) {
        if (given.name == need.name) capacity = given.count;
      }
      const uint64_t in_use = used[{device, need.name}];
      ASSERT_LE(in_use, capacity) << need.name;
    }
  }

  std::mt19937 random_;
  std::vector<ResourceCapacity> capacities_;
  RateLimiter limiter_;
  std::vector<Instance> available_, staged_, running_;
};

TEST(RateLimiterRandom, NeverOverCapacityAndNeverStuck) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomServer server(seed);
    for (int step = 0; step < 300; ++step) {
      server.Step();
      ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "step " << step;
    }
    server.Drain();
    ASSERT_FALSE(::testing::Test::HasFatalFailure());
  }
}

// Where everybody always has work and one runs at a time, executions are in inverse proportion to
// priorities.
TEST(RateLimiterRandom, PrioritiesShareOutTheExecutions) {
  std::mt19937 random(7);
  RateLimiter limiter;
  const std::vector<uint32_t> priorities = {1, 2, 3, 6};
  std::vector<LimitedInstance> instances;
  for (const uint32_t priority : priorities) instances.push_back({0, priority, {{"R", true, 1}}});
  const std::vector<Id> ids = limiter.Register(instances).value();
  for (const Id id : ids) limiter.Stage(id);
  for (int i = 0; i < 12'000; ++i) {
    const Id id = limiter.Grant().value();
    limiter.Release(id, true);
    // Others may come in between: the order of arrival decides only between equals.
    limiter.Stage(ids[random() % ids.size()]);
    limiter.Stage(id);
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(limiter.executions(ids[i])), 6000.0 / priorities[i], 2.0)
        << "priority " << priorities[i];
  }
}

}  // namespace
}  // namespace nereid::schedule
