// SPDX-License-Identifier: Apache-2.0
#include "schedule/scheduler_progress.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace nereid::schedule {
namespace {

class SchedulerProgressTest : public ::testing::Test {
 protected:
  Worker& Add(const std::string& name) {
    auto worker = std::make_shared<Worker>();
    worker->instance.name = name;
    worker->id = workers_.NextId();
    Worker& added = *worker;
    workers_.Reserve(1);
    workers_.Add(std::move(worker));
    return added;
  }
  base::StageSample Sample(SchedulerView view, uint64_t now_ns) {
    return progress_.Sample(view, now_ns);
  }

  WorkerPool workers_;
  SchedulerProgress progress_;
};

TEST_F(SchedulerProgressTest, AnIdleOneMoves) {
  Add("m_0");
  const auto sample = Sample({.workers = workers_}, 100);
  EXPECT_EQ(sample.blocked_since_ns, 0u);
  EXPECT_EQ(sample.working_since_ns, 0u);
}

TEST_F(SchedulerProgressTest, AnExecutionIsWork) {
  Worker& first = Add("m_0");
  Worker& second = Add("m_1");
  workers_.SetBusy(first, 20);
  workers_.SetBusy(second, 10);
  const auto sample = Sample({.workers = workers_, .queued = 5}, 100);
  EXPECT_EQ(sample.blocked_since_ns, 0u);
  EXPECT_EQ(sample.working_since_ns, 10u);
  EXPECT_EQ(sample.detail, "instance 'm_1'");
  EXPECT_FALSE(sample.works_on_loop);
}

TEST_F(SchedulerProgressTest, AnExecutionOnALoopComesFirst) {
  Worker& first = Add("m_0");
  Worker& second = Add("m_1");
  workers_.SetBusy(first, 10);
  workers_.SetBusy(second, 20);
  second.is_inline = true;
  for (int i = 0; i < 2; ++i) {
    const auto sample = Sample({.workers = workers_}, 100);
    EXPECT_TRUE(sample.works_on_loop);
    EXPECT_EQ(sample.working_since_ns, 20u);
    EXPECT_EQ(sample.detail, "instance 'm_1'");
  }
}

TEST_F(SchedulerProgressTest, ABatchThatIsNotTakenUpIsBlocked) {
  Worker& worker = Add("m_0");
  workers_.SetBusy(worker, 10);
  worker.batch.emplace();
  const auto sample = Sample({.workers = workers_}, 100);
  EXPECT_EQ(sample.blocked_since_ns, 10u);
  EXPECT_EQ(sample.working_since_ns, 0u);
  EXPECT_EQ(sample.detail, "instance 'm_0' does not take up its batch");
}

TEST_F(SchedulerProgressTest, ATimeThatHasPassedIsBlocked) {
  Add("m_0");
  EXPECT_EQ(Sample({.workers = workers_, .queued = 3, .wake_ns = 200}, 100).blocked_since_ns, 0u);
  const auto sample = Sample({.workers = workers_, .queued = 3, .wake_ns = 200}, 300);
  EXPECT_EQ(sample.blocked_since_ns, 200u);
  EXPECT_EQ(sample.detail, "3 requests wait, and their time has passed");
}

TEST_F(SchedulerProgressTest, RequestsBesideAFreeInstanceAreBlockedUnlessSomethingKeepsThem) {
  Add("m_0");
  const SchedulerView forgotten{.workers = workers_, .queued = 2, .plans = 7};
  EXPECT_EQ(Sample(forgotten, 100).blocked_since_ns, 0u);  // it may just have been planned
  EXPECT_EQ(Sample(forgotten, 200).blocked_since_ns, 200u);
  EXPECT_EQ(Sample(forgotten, 300).blocked_since_ns, 200u);
  EXPECT_EQ(Sample(forgotten, 300).detail, "2 requests wait beside a free instance");
  // The planner was asked again.
  EXPECT_EQ(Sample({.workers = workers_, .queued = 2, .plans = 8}, 400).blocked_since_ns, 0u);
  for (uint64_t now = 500; now < 505; ++now) {
    EXPECT_EQ(Sample({.workers = workers_, .queued = 2, .plans = 8, .may_wait = true}, now)
                  .blocked_since_ns,
              0u);
    EXPECT_EQ(Sample({.workers = workers_, .queued = 2, .wake_ns = 900, .plans = 8}, now)
                  .blocked_since_ns,
              0u);
  }
}

}  // namespace
}  // namespace nereid::schedule
