// SPDX-License-Identifier: Apache-2.0
#include "repository/load_in_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

namespace nereid::repository {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

LoadJobs Jobs(const std::map<std::string, std::set<std::string>>& members) {
  LoadJobs jobs;
  for (const auto& [name, called] : members) jobs[{name}].members = called;
  return jobs;
}

TEST(MembersToAwaitTest, TheOwnNamespaceComesBeforeAllOthers) {
  LoadJobs jobs;
  jobs[{"e", "/r1"}].members = {"m", "absent"};
  jobs[{"e", "/r3"}].members = {"m"};
  jobs[{"m", "/r1"}];
  jobs[{"m", "/r2"}];
  const auto awaited = MembersToAwait(jobs);
  EXPECT_THAT(awaited.at({"e", "/r1"}), ElementsAre(ModelId{"m", "/r1"}));
  EXPECT_THAT(awaited.at({"e", "/r3"}), ElementsAre(ModelId{"m", "/r1"}, ModelId{"m", "/r2"}));
  EXPECT_THAT(awaited.at({"m", "/r2"}), IsEmpty());
}

TEST(LoadInOrderTest, MembersComeBeforeTheirCallers) {
  for (const size_t threads : {1u, 4u}) {
    std::mutex mutex;
    std::vector<std::string> loaded;
    const auto results =
        LoadInOrder(LoadOrder(MembersToAwait(Jobs({{"a", {"b"}}, {"b", {"c"}}, {"c", {}}}))),
                    threads, [&](const ModelId& id) -> base::Result<LoadOutcome> {
                      const std::lock_guard lock(mutex);
                      loaded.push_back(id.name);
                      if (id.name == "b") return base::Status::Internal("no");
                      return LoadOutcome::kAnew;
                    });
    EXPECT_THAT(loaded, ElementsAre("c", "b", "a"));
    EXPECT_EQ(results.at({"b"}).status().message(), "no");
    EXPECT_TRUE(results.at({"a"}).ok()) << "its own load says what a failed member means";
  }
}

TEST(LoadInOrderTest, ACircleIsLoadedAllTheSame) {
  const auto results = LoadInOrder(LoadOrder(MembersToAwait(Jobs({{"a", {"b"}}, {"b", {"a"}}}))), 2,
                                   [](const ModelId&) { return LoadOutcome::kUpdated; });
  EXPECT_EQ(results.size(), 2u);
}

TEST(LoadInOrderTest, NothingIsLoadedByNobody) {
  const auto results = LoadInOrder(LoadOrder({}), 0, [](const ModelId&) {
    ADD_FAILURE();
    return LoadOutcome::kAnew;
  });
  EXPECT_THAT(results, IsEmpty());
}

}  // namespace
}  // namespace nereid::repository
