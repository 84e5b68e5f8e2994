// SPDX-License-Identifier: Apache-2.0
#include "rollout/split.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace nereid::rollout {
namespace {

constexpr uint64_t kRequests = 100'000;

/// Returns how often each candidate is chosen for `points`.
template <typename NextPoint>
std::vector<uint64_t> Count(const std::vector<Candidate>& candidates, NextPoint next) {
  std::vector<uint64_t> counts(candidates.size());
  for (uint64_t i = 0; i < kRequests; ++i) {
    const auto chosen = Choose(candidates, next(i));
    if (chosen) ++counts[*chosen];
  }
  return counts;
}

/// Five standard deviations of the binomial distribution: a correct split fails once in 10^6 runs,
/// and with a fixed seed never or always.
double Bound(double share) { return 5 * std::sqrt(kRequests * share * (1 - share)); }

TEST(Split, CanaryIsWithinTheBinomialBound) {
  const std::vector<Candidate> candidates = {{9500, true}, {500, true}};
  std::mt19937_64 random(42);
  const auto counts = Count(candidates, [&](uint64_t) { return random(); });
  EXPECT_NEAR(static_cast<double>(counts[1]), kRequests * 0.05, Bound(0.05));
  EXPECT_EQ(counts[0] + counts[1], kRequests);
}

TEST(Split, RandomPointsAreWithinTheBinomialBound) {
  const std::vector<Candidate> candidates = {{9500, true}, {500, true}};
  const auto counts = Count(candidates, [](uint64_t) { return RandomPoint(); });
  EXPECT_NEAR(static_cast<double>(counts[1]), kRequests * 0.05, Bound(0.05));
}

TEST(Split, HashesOfSimilarKeysAreSpreadEvenly) {
  const std::vector<Candidate> candidates = {{7000, true}, {2000, true}, {1000, true}};
  const auto counts =
      Count(candidates, [](uint64_t i) { return HashKey("user-" + std::to_string(i)); });
  const std::array<double, 3> shares = {0.7, 0.2, 0.1};
  for (size_t i = 0; i < shares.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(counts[i]), kRequests * shares[i], Bound(shares[i])) << i;
  }
}

TEST(Split, AVersionThatIsNotReadyGivesItsShareInProportion) {
  const std::vector<Candidate> all = {{6000, true}, {1000, true}, {3000, true}};
  const std::vector<Candidate> without = {{6000, false}, {1000, true}, {3000, true}};
  std::mt19937_64 random(7);
  const auto counts = Count(without, [&](uint64_t) { return random(); });
  EXPECT_EQ(counts[0], 0u);
  EXPECT_NEAR(static_cast<double>(counts[1]), kRequests * 0.25, Bound(0.25));
  for (int i = 0; i < 10'000; ++i) {  // the keys of the ready versions stay with them
    const uint64_t point = random();
    const auto before = Choose(all, point);
    if (*before == 0) continue;
    EXPECT_EQ(Choose(without, point), before);
  }
}

TEST(Split, AGreaterWeightMovesKeysInOneDirectionOnly) {
  const std::vector<Candidate> five = {{9500, true}, {500, true}};
  const std::vector<Candidate> ten = {{9000, true}, {1000, true}};
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t point = HashKey(std::to_string(i));
    if (Choose(five, point) != 1u) continue;
    EXPECT_EQ(Choose(ten, point), 1u);
  }
}

TEST(Split, WithoutAUsableCandidateNothingIsChosen) {
  EXPECT_EQ(Choose(std::vector<Candidate>{{10'000, false}}, 5), std::nullopt);
  EXPECT_EQ(Choose(std::vector<Candidate>{{10'000, false}, {0, true}}, 5), std::nullopt);
  EXPECT_EQ(Choose(std::vector<Candidate>{}, 5), std::nullopt);
}

TEST(Split, TheKeyOfARequestDecides) {
  request::RequestFields request;
  request.parameters = {{"user", std::string("ann")}, {"X-Tenant", int64_t{7}}};
  request.correlation_id = std::string("s1");
  EXPECT_EQ(PointOf({SplitKey::kParameter, "user", {}}, request, 1), HashKey("ann"));
  EXPECT_EQ(PointOf({SplitKey::kHeader, "x-tenant", {}}, request, 1), HashKey("7"));
  EXPECT_EQ(PointOf({SplitKey::kSequence, "", {}}, request, 1), HashKey("s1"));
  EXPECT_EQ(PointOf({SplitKey::kRequest, "", {}}, request, 1), 1u);
  // A request without the key is assigned at random.
  EXPECT_EQ(PointOf({SplitKey::kParameter, "User", {}}, request, 1), 1u);
  request.correlation_id = uint64_t{0};
  EXPECT_EQ(PointOf({SplitKey::kSequence, "", {}}, request, 1), 1u);
  request.correlation_id = std::string("0");
  EXPECT_EQ(PointOf({SplitKey::kSequence, "", {}}, request, 1), HashKey("0"));
}

// Servers of different releases share the assignment of keys.
TEST(Split, HashesArePinned) {
  EXPECT_EQ(HashKey(""), 17280346270528514342u);
  EXPECT_EQ(HashKey("ann"), 7995230380516241683u);
  EXPECT_EQ(HashKey("user-1"), 4729620347622785477u);
}

}  // namespace
}  // namespace nereid::rollout
