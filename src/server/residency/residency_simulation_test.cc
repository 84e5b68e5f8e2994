// SPDX-License-Identifier: Apache-2.0
// What the planner achieves in traffic, in virtual time. With NEREID_RESIDENCY_TABLE=1 the tests
// print the figures from which the default of --model-min-residence-secs was chosen.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <random>

#include "server/residency/testing/played_residency.h"

namespace nereid::server {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1'000'000'000;

/// Draws numbers from 0 to count-1 with probabilities proportional to 1 / (n + 1)^exponent.
class Zipf {
 public:
  Zipf(int count, double exponent, uint64_t seed) : engine_(seed) {
    std::vector<double> weights;
    for (int i = 0; i < count; ++i) weights.push_back(1 / std::pow(i + 1, exponent));
    draw_ = std::discrete_distribution<int>(weights.begin(), weights.end());
  }
  int Next() { return draw_(engine_); }

 private:
  std::mt19937_64 engine_;
  std::discrete_distribution<int> draw_;
};

/// Returns the share of hits of a cache of `places` models, of which the least recently used goes.
double OfflineLruHits(const std::vector<int>& trace, size_t places) {
  std::list<int> order;
  size_t hits = 0;
  for (const int model : trace) {
    const auto found = std::find(order.begin(), order.end(), model);
    if (found != order.end()) {
      ++hits;
      order.erase(found);
    }
    order.push_front(model);
    if (order.size() > places) order.pop_back();
  }
  return static_cast<double>(hits) / static_cast<double>(trace.size());
}

ResidencyPlanner::Settings FiveOf(uint64_t min_residence_ns) {
  ResidencyPlanner::Settings settings;
  settings.budget_bytes = 500;
  settings.min_residence_ns = min_residence_ns;
  settings.line.requests = 100'000;
  settings.max_wait_ns = 1'000'000 * kSecond;
  return settings;
}

std::map<std::string, PlayedResidency::Model> FiftyModels(uint64_t load_ns) {
  std::map<std::string, PlayedResidency::Model> models;
  for (int i = 0; i < 50; ++i) {
    PlayedResidency::Model model;
    model.load_ns = load_ns;
    models["m" + std::to_string(i)] = model;
  }
  return models;
}

struct Share {
  double hits = 0;
  double lru_hits = 0;
  PlayedResidency::Outcome outcome;
  double requests_per_second = 0;
};

/// Plays clients that each send the next request when the last one has ended.
Share PlayClients(int clients, uint64_t min_residence_ns, uint64_t load_ns, uint64_t seconds) {
  PlayedResidency played(FiveOf(min_residence_ns), FiftyModels(load_ns));
  Zipf zipf(50, 1.1, 42);
  std::vector<int> trace;
  const uint64_t end_ns = seconds * kSecond;
  std::function<void(bool)> next = [&](bool) {
    if (played.now_ns >= end_ns) return;
    trace.push_back(zipf.Next());
    played.Request("m" + std::to_string(trace.back()), 5 * kMs, next);
  };
  for (int i = 0; i < clients; ++i) played.At(kSecond + i, [&] { next(true); });
  played.RunUntil(end_ns + 3600 * kSecond);
  EXPECT_TRUE(played.AllAnswered());
  Share share;
  share.outcome = played.outcome;
  share.lru_hits = OfflineLruHits(trace, 5);
  share.hits = 1 - static_cast<double>(played.outcome.loads) / static_cast<double>(trace.size());
  share.requests_per_second = static_cast<double>(trace.size()) / static_cast<double>(seconds);
  return share;
}

TEST(ResidencySimulationTest, ZipfTrafficHitsLikeAnOfflineLru) {
  // Requests come one after the other, each when the load of the last one has ended.
  const Share alone = PlayClients(1, 0, 20 * kMs, 200);
  EXPECT_EQ(alone.outcome.refused, 0u);
  EXPECT_NEAR(alone.hits, alone.lru_hits, 0.05 * alone.lru_hits);
  // With several clients, requests for one model share a load.
  for (const int clients : {4, 16}) {
    const Share share = PlayClients(clients, 0, 20 * kMs, 200);
    EXPECT_EQ(share.outcome.refused, 0u);
    EXPECT_GE(share.hits, 0.95 * share.lru_hits) << clients;
    EXPECT_LE(share.outcome.most_bytes, 600u);
  }
}

TEST(ResidencySimulationTest, TwoModelsThatEachFillTheBudgetDoNotThrash) {
  std::map<std::string, PlayedResidency::Model> models;
  for (const char* const name : {"a", "b"}) {
    models[name].bytes = 450;
    models[name].load_ns = 3 * kSecond;
  }
  PlayedResidency played(FiveOf(kSecond), models);
  const uint64_t end_ns = 600 * kSecond;
  std::map<std::string, size_t> served;
  std::map<std::string, std::function<void(bool)>> next;
  for (const std::string name : {"a", "b"}) {
    next[name] = [&, name](bool was_served) {
      served[name] += was_served;
      if (played.now_ns < end_ns) played.Request(name, 10 * kMs, next[name]);
    };
    for (int client = 0; client < 4; ++client) {
      played.At(kSecond + client, [&, name] { played.Request(name, 10 * kMs, next[name]); });
    }
  }
  played.RunUntil(end_ns);
  // A load of 3 s is followed by a residence of at least 3 s.
  EXPECT_LE(played.outcome.loads, 101u);
  EXPECT_GE(played.outcome.loads, 90u) << "and neither is kept out";
  EXPECT_LT(played.outcome.longest_wait_ns, 12 * kSecond);
  // Half of the time is spent on requests, which take 10 ms each with 4 clients.
  EXPECT_GT(served["a"] + served["b"], 600u * 100 * 4 / 2 * 9 / 10);
  EXPECT_GT(served["a"], served["b"] * 8 / 10);
  EXPECT_GT(served["b"], served["a"] * 8 / 10);
}

TEST(ResidencySimulationTest, ManyModelsDoNotKeepOneOut) {
  PlayedResidency played(FiveOf(kSecond), FiftyModels(100 * kMs));
  std::mt19937_64 random(7);
  const uint64_t end_ns = 300 * kSecond;
  std::function<void(bool)> next = [&](bool) {
    if (played.now_ns < end_ns) played.Request("m" + std::to_string(random() % 49), kMs, next);
  };
  for (int client = 0; client < 30; ++client) played.At(kSecond + client, [&] { next(true); });
  size_t answered = 0;
  uint64_t longest_ns = 0;
  for (uint64_t at = 2 * kSecond; at < end_ns; at += 20 * kSecond) {
    played.At(at, [&, at] {
      played.Request("m49", kMs, [&, at](bool was_served) {
        answered += was_served;
        longest_ns = std::max(longest_ns, played.now_ns - at);
      });
    });
  }
  played.RunUntil(end_ns + 100 * kSecond);
  EXPECT_EQ(answered, 15u);
  // 30 clients wait for 30 models at most; five places change each second.
  EXPECT_LT(longest_ns, 15 * kSecond);
}

TEST(ResidencySimulationTest, TheTableOfMinimumResidences) {
  if (std::getenv("NEREID_RESIDENCY_TABLE") == nullptr) {
    GTEST_SKIP() << "NEREID_RESIDENCY_TABLE=1 prints the table";
  }
  std::printf("clients  load ms  min s   hits    LRU    req/s  longest wait s\n");
  for (const int clients : {4, 32}) {
    for (const uint64_t load_ms : {20, 200, 2000}) {
      for (const double seconds : {0.0, 0.5, 1.0, 2.0, 5.0, 10.0}) {
        const Share share =
            PlayClients(clients, static_cast<uint64_t>(seconds * kSecond), load_ms * kMs, 120);
        std::printf("%7d  %7zu  %5.1f  %.3f  %.3f  %7.1f  %8.1f\n", clients,
                    static_cast<size_t>(load_ms), seconds, share.hits, share.lru_hits,
                    share.requests_per_second,
                    static_cast<double>(share.outcome.longest_wait_ns) / kSecond);
      }
    }
  }
}

}  // namespace
}  // namespace nereid::server
