// SPDX-License-Identifier: Apache-2.0
#include "schedule/batch_executor.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "base/clock.h"
#include "request/inference_request.h"
#include "schedule/testing/scheduler_fixture.h"

namespace nereid::schedule {
namespace {

/// Takes as long as the test says, by the clock of the test.
class TimedRunner final : public BatchRunner {
 public:
  explicit TimedRunner(base::FakeClock& clock) : clock_(clock) {}
  void Run(Batch) noexcept override { clock_.Advance(takes_ns); }
  bool HasRoom() override { return has_room; }
  uint64_t takes_ns = 1'000;
  bool has_room = true;

 private:
  base::FakeClock& clock_;
};

class BatchExecutorTest : public ::testing::Test {
 protected:
  BatchExecutorTest() { worker_.instance = {"m_0", &runner_}; }

  static Batch MakeBatch(bool may_run_inline, bool has_gpu_memory = false) {
    Batch batch;
    batch.requests.push_back(std::make_unique<request::InferenceRequest>());
    batch.requests.back()->may_run_inline = may_run_inline;
    batch.requests.back()->has_gpu_memory = has_gpu_memory;
    return batch;
  }
  void Run(bool has_room, uint64_t takes_ns, uint32_t times) {
    runner_.has_room = has_room;
    runner_.takes_ns = takes_ns;
    for (uint32_t i = 0; i < times; ++i) executor_.Run(worker_, MakeBatch(true), 0);
    runner_.has_room = true;
  }
  /// Returns whether a batch would run inline.
  bool Takes(Batch batch = MakeBatch(true)) {
    Assignment assignment;
    assignment.worker = &worker_;
    assignment.batch = std::move(batch);
    InlineBatch taken;
    const bool takes = executor_.TakeInline(clock_.NowNs(), &assignment, &taken);
    EXPECT_EQ(takes, !assignment.batch.has_value());
    EXPECT_EQ(takes, taken.worker == &worker_ && taken.batch.requests.size() == 1);
    EXPECT_EQ(takes, worker_.is_inline);
    worker_.is_inline = false;
    return takes;
  }

  base::FakeClock clock_;
  FakeObserver observer_;
  TimedRunner runner_{clock_};
  Worker worker_;
  BatchExecutor executor_{"m", clock_, observer_, InlineMode::kAuto, 0};
};

TEST_F(BatchExecutorTest, ShortExecutionsRunInline) {
  EXPECT_FALSE(Takes());
  Run(true, 1'000, InlinePolicy::kMinSamples);
  EXPECT_TRUE(Takes());
  EXPECT_FALSE(Takes(MakeBatch(false)));
  EXPECT_FALSE(Takes(MakeBatch(true, true))) << "copies of GPU memory may wait";
  runner_.has_room = false;
  EXPECT_FALSE(Takes());
  Run(true, InlinePolicy::kOverrunNs - 1, 1);
  EXPECT_FALSE(Takes());
}

TEST_F(BatchExecutorTest, ExecutionsThatWaitForRoomDoNotCount) {
  Run(false, 1'000, 2 * InlinePolicy::kMinSamples);
  EXPECT_FALSE(Takes());
  Run(true, 1'000, InlinePolicy::kMinSamples);
  Run(false, InlinePolicy::kOverrunNs, 20);
  EXPECT_TRUE(Takes());
}

TEST_F(BatchExecutorTest, NothingIsTakenOfAnAssignmentWithoutABatch) {
  Assignment assignment;
  InlineBatch taken;
  EXPECT_FALSE(executor_.TakeInline(0, &assignment, &taken));
}

}  // namespace
}  // namespace nereid::schedule
