// SPDX-License-Identifier: Apache-2.0
#include "telemetry/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace nereid::telemetry {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CounterTest, WholeStepsStayExactBeyondDoubles) {
  Counter counter;
  counter.Increment(uint64_t{1} << 53);
  counter.Increment();
  EXPECT_EQ(counter.whole(), (uint64_t{1} << 53) + 1);
  MetricWriter writer;
  writer.Family(MetricKind::kCounter, "c", "").Sample({}, counter);
  EXPECT_THAT(writer.Text(), HasSubstr("c 9007199254740993\n"));
}

TEST(CounterTest, FractionsAddUpAndNegativeAmountsAreRefused) {
  Counter counter;
  EXPECT_TRUE(counter.Add(2).ok());
  EXPECT_TRUE(counter.is_whole());
  EXPECT_TRUE(counter.Add(0.25).ok());
  EXPECT_DOUBLE_EQ(counter.value(), 2.25);
  EXPECT_EQ(counter.Add(-1).code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(counter.Add(std::numeric_limits<double>::quiet_NaN()).code(),
            base::StatusCode::kInvalidArgument);
  EXPECT_TRUE(counter.Add(1e300).ok());
  EXPECT_DOUBLE_EQ(counter.value(), 1e300);
}

TEST(HistogramTest, BoundsMustAscend) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(Histogram::CheckBounds({1, 1}).ok());
  EXPECT_FALSE(Histogram::CheckBounds({2, 1}).ok());
  EXPECT_FALSE(Histogram::CheckBounds({std::numeric_limits<double>::quiet_NaN()}).ok());
  EXPECT_EQ(*Histogram::CheckBounds({1, 2, inf}), (std::vector<double>{1, 2}));
  EXPECT_TRUE(Histogram::CheckBounds({}).ok());
}

TEST(RegistryTest, AFamilyWithoutChildrenPrintsNothing) {
  Registry registry;
  auto family = *registry.Counters("requests", "Requests");
  EXPECT_EQ(registry.Render(), "");
  auto child = *family->Get({{"model", "m"}});
  child->Increment(2);
  EXPECT_EQ(registry.Render(),
            "# HELP requests Requests\n# TYPE requests counter\nrequests{model=\"m\"} 2\n");
  child.reset();
  EXPECT_EQ(registry.Render(), "");
}

TEST(RegistryTest, ChildrenAreSharedByLabelsAndSorted) {
  Registry registry;
  auto family = *registry.Gauges("g", "G");
  auto z = *family->Get({{"model", "z"}});
  auto a = *family->Get({{"model", "a"}, {"b", "1"}});
  auto same = *family->Get({{"b", "1"}, {"model", "a"}});
  EXPECT_EQ(a, same);
  a->Set(1.5);
  same->Add(1);
  z->Set(-1);
  EXPECT_EQ(registry.Render(),
            "# HELP g G\n# TYPE g gauge\ng{b=\"1\",model=\"a\"} 2.5\ng{model=\"z\"} -1\n");
  a.reset();
  EXPECT_THAT(registry.Render(), HasSubstr("model=\"a\""));  // `same` still holds it
}

TEST(RegistryTest, MetricsKeepTheirFamilyAlive) {
  Registry registry;
  auto child = *(*registry.Counters("c", "first"))->Get({});
  EXPECT_EQ((*registry.Counters("c", "second"))->help(), "first");
  EXPECT_EQ(registry.Gauges("c", "first").status().code(), base::StatusCode::kInvalidArgument);
  child.reset();
  EXPECT_TRUE(registry.Gauges("c", "first").ok());
}

TEST(RegistryTest, NamesAreChecked) {
  Registry registry;
  for (const char* name : {"", "9a", "a b", "a-b", "a\n"}) {
    EXPECT_EQ(registry.Counters(name, "").status().code(), base::StatusCode::kInvalidArgument);
  }
  auto family = *registry.Histograms("ns:ok_1", "");
  EXPECT_EQ(family->Get({{"le", "1"}}, std::vector<double>{1}).status().code(),
            base::StatusCode::kInvalidArgument);
}

TEST(RegistryTest, CollectorsRunAtEachScrapeUntilRemoved) {
  Registry registry;
  uint64_t asked = 0;
  {
    ScopedCollector collector(registry, [&](MetricWriter& writer) {
      writer.Family(MetricKind::kCounter, "asked", "").Sample({}, ++asked);
    });
    EXPECT_EQ(registry.Render(), "# TYPE asked counter\nasked 1\n");
    EXPECT_EQ(registry.Render(), "# TYPE asked counter\nasked 2\n");
  }
  EXPECT_EQ(registry.Render(), "");
  EXPECT_EQ(asked, 2u);
  registry.RemoveCollector(12345);
}

TEST(RegistryTest, TwoCollectorsAndAFamilyShareOneHeader) {
  Registry registry;
  auto child = *(*registry.Counters("n", "N"))->Get({{"model", "own"}});
  const auto collect = [](std::string model) {
    return [model](MetricWriter& writer) {
      writer.Family(MetricKind::kCounter, "n", "N").Sample({{"model", model}}, uint64_t{1});
    };
  };
  ScopedCollector first(registry, collect("a"));
  ScopedCollector second(registry, collect("b"));
  EXPECT_EQ(
      registry.Render(),
      "# HELP n N\n# TYPE n counter\nn{model=\"own\"} 0\nn{model=\"a\"} 1\nn{model=\"b\"} 1\n");
}

TEST(RegistryTest, ScrapesRaceWithChangesSafely) {
  Registry registry;
  auto family = *registry.Counters("c", "C");
  auto kept = *family->Get({{"model", "kept"}});
  auto histogram = *(*registry.Histograms("h", "H"))->Get({}, std::vector<double>{1, 2});
  constexpr int kRounds = 500;
  std::thread counting([&] {
    for (int i = 0; i < kRounds; ++i) {
      kept->Increment();
      histogram->Observe(i % 3);
      auto passing = *family->Get({{"model", "passing"}});
      passing->Increment();
      auto other_family = *registry.Gauges("other", "O");
    }
  });
  std::thread collecting([&] {
    for (int i = 0; i < kRounds; ++i) {
      int alive = 1;
      ScopedCollector collector(registry, [&](MetricWriter& writer) {
        writer.Family(MetricKind::kGauge, "alive", "").Sample({}, double(alive));
      });
      alive = 1;
    }
  });
  for (int i = 0; i < kRounds / 5; ++i) EXPECT_THAT(registry.Render(), HasSubstr("model=\"kept\""));
  counting.join();
  collecting.join();
  const std::string page = registry.Render();
  EXPECT_THAT(page, HasSubstr("c{model=\"kept\"} 500\n"));
  EXPECT_THAT(page, HasSubstr("h_bucket{le=\"+Inf\"} 500\n"));
  EXPECT_THAT(page, Not(HasSubstr("passing")));
}

}  // namespace
}  // namespace nereid::telemetry
