// SPDX-License-Identifier: Apache-2.0
// Random events, played to a planner in virtual time. PlayedResidency checks the invariants at each
// event; at the end every request must have been answered and the memory must be within the budget.
//
// NEREID_PROPERTY_SEED repeats one run; NEREID_PROPERTY_RUNS sets their number.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "server/residency/testing/played_residency.h"

namespace nereid::server {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1'000'000'000;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t Below(uint64_t bound) { return engine_() % bound; }
  bool Chance(uint64_t percent) { return Below(100) < percent; }

 private:
  std::mt19937_64 engine_;
};

std::map<std::string, PlayedResidency::Model> RandomModels(Random& random) {
  std::map<std::string, PlayedResidency::Model> models;
  const uint64_t count = 2 + random.Below(8);
  for (uint64_t i = 0; i < count; ++i) {
    PlayedResidency::Model model;
    model.bytes = 1 + random.Below(120);
    model.file_bytes = random.Below(150);
    model.load_ns = random.Below(2000) * kMs;
    model.free_ns = random.Below(50) * kMs;
    model.is_pinned = random.Chance(7);
    model.fails = random.Chance(8);
    models["m" + std::to_string(i)] = model;
  }
  for (uint64_t i = random.Below(3); i > 0; --i) {
    PlayedResidency::Model ensemble;
    ensemble.bytes = 0;
    ensemble.file_bytes = 0;
    for (uint64_t k = 1 + random.Below(3); k > 0; --k) {
      ensemble.members.insert("m" + std::to_string(random.Below(count)));
    }
    models["e" + std::to_string(i)] = ensemble;
  }
  return models;
}

void Play(uint64_t seed) {
  SCOPED_TRACE("NEREID_PROPERTY_SEED=" + std::to_string(seed));
  Random random(seed);
  auto models = RandomModels(random);
  // A member that cannot be loaded fails its ensembles in a real server; here only roots fail.
  std::vector<std::string> names;
  for (auto& [name, model] : models) {
    names.push_back(name);
    for (const std::string& member : model.members) models.at(member).fails = false;
  }
  ResidencyPlanner::Settings settings;
  settings.budget_bytes = 60 + random.Below(300);
  settings.min_residence_ns = random.Below(4) * kSecond / 2;
  settings.line.requests = 1 + random.Below(40);
  settings.max_wait_ns = 20 * kSecond;
  PlayedResidency played(settings, models);
  played.tick_ns = 50 * kMs;
  std::set<std::string> forgotten;
  uint64_t at = kSecond;
  for (int event = 0; event < 150; ++event) {
    at += random.Below(600) * kMs;
    const std::string name = names[random.Below(names.size())];
    const uint64_t kind = random.Below(100);
    const uint64_t work_ns = random.Below(random.Chance(10) ? 20'000 : 300) * kMs;
    const uint64_t timeout_ns = random.Chance(20) ? 1 + random.Below(3000) * kMs : 0;
    played.At(at, [&played, &forgotten, name, kind, work_ns, timeout_ns] {
      if (kind < 90) return played.Request(name, work_ns, nullptr, timeout_ns);
      if (kind < 94) return played.CancelOne();
      if (kind < 97) {
        forgotten.insert(name);
        return played.Forget(name);
      }
      for (const std::string& each : forgotten) played.Know(each);
      forgotten.clear();
    });
  }
  played.RunUntil(at);
  // Each request waits for the longest wait at most, and for a load.
  played.RunUntil(at + 120 * kSecond);
  EXPECT_TRUE(played.AllAnswered()) << played.Unanswered() << " requests wait forever";
  EXPECT_FALSE(played.planner().IsLoading());
  // What exceeds the budget at the end is pinned or was used by a pinned ensemble.
  bool has_pinned = false;
  for (const auto& [name, model] : models) has_pinned |= model.is_pinned;
  if (!has_pinned) {
    EXPECT_LE(played.planner().HeldBytes(), settings.budget_bytes);
  }
}

TEST(ResidencyPropertyTest, RandomEventsKeepTheRules) {
  if (std::getenv("NEREID_PROPERTY_SEED") != nullptr) {
    return Play(FromEnvironment("NEREID_PROPERTY_SEED", 0));
  }
  const uint64_t runs = FromEnvironment("NEREID_PROPERTY_RUNS", 2000);
  for (uint64_t seed = 1; seed <= runs && !::testing::Test::HasFailure(); ++seed) Play(seed);
}

TEST(ResidencyPropertyTest, IdleVictimsGoInTheOrderOfTheirLastUse) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::map<std::string, PlayedResidency::Model> models;
    for (int i = 0; i < 12; ++i) {
      PlayedResidency::Model model;
      model.load_ns = kMs;
      models["m" + std::to_string(i)] = model;
    }
    ResidencyPlanner::Settings settings;
    settings.budget_bytes = 450;
    PlayedResidency played(settings, models);
    played.on_victim = [&played](const std::string& victim) {
      for (const auto& [name, bytes] : played.held()) {
        if (!played.IsOpen(name)) continue;  // it is leaving
        EXPECT_LE(played.LastUse(victim), played.LastUse(name)) << victim << " before " << name;
      }
    };
    uint64_t at = kSecond;
    for (int event = 0; event < 200; ++event) {
      at += (100 + random.Below(100)) * kMs;
      const std::string name = "m" + std::to_string(random.Below(12));
      played.At(at, [&played, name] { played.Request(name, kMs); });
    }
    played.RunUntil(at + 100 * kSecond);
    EXPECT_TRUE(played.AllAnswered());
    EXPECT_GT(played.outcome.evictions, 20u);
  }
}

}  // namespace
}  // namespace nereid::server
