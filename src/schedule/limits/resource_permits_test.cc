// SPDX-License-Identifier: Apache-2.0
#include "schedule/limits/resource_permits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "base/testing/failing_allocation.h"

namespace nereid::schedule {
namespace {

using ::testing::ElementsAre;

struct FakeInstance : BatchRunner {
  void Run(Batch /*batch*/) noexcept override {}
};

/// Records who got a permit, and does what the test wants with it.
struct FakeWaiter : ExecutionPermits::Waiter {
  void OnPermit(BatchRunner* instance) override {
    permitted.push_back(instance);
    if (then) then(instance);
  }
  std::vector<BatchRunner*> permitted;
  std::function<void(BatchRunner*)> then;
};

class ResourcePermitsTest : public ::testing::Test {
 protected:
  void Add(BatchRunner& instance, uint64_t need, uint32_t priority = 1) {
    auto registration = permits_.Register(&instance, {0, priority, {{"R", false, need}}});
    ASSERT_TRUE(registration.ok()) << registration.status().message();
    registrations_[&instance] = std::move(registration).value();
  }
  BatchRunner* Try(std::vector<BatchRunner*> idle, FakeWaiter& waiter) {
    return permits_.TryAcquire(idle, waiter);
  }

  void Release(BatchRunner* instance, bool executed) {
    permits_.Release(instance, executed);
    permits_.Settle();
  }

  ResourcePermits permits_;
  FakeInstance a_, b_, c_;
  FakeWaiter of_a_, of_b_, of_c_;
  std::map<BatchRunner*, ResourcePermits::Registration> registrations_;
};

TEST_F(ResourcePermitsTest, WhoHasToWaitIsToldWhenTheOtherIsDone) {
  Add(a_, 4);
  Add(b_, 6);
  EXPECT_EQ(Try({&a_}, of_a_), &a_);
  EXPECT_EQ(Try({&b_}, of_b_), nullptr);
  EXPECT_EQ(Try({&b_}, of_b_), nullptr) << "asking again changes nothing";
  EXPECT_THAT(of_b_.permitted, ElementsAre());
  Release(&a_, true);
  EXPECT_THAT(of_b_.permitted, ElementsAre(&b_));
}

TEST_F(ResourcePermitsTest, OneInstanceOfAModelStandsInLineAtATime) {
  Add(a_, 6);
  Add(b_, 3);
  Add(c_, 3);
  EXPECT_EQ(Try({&a_}, of_a_), &a_);
  EXPECT_EQ(Try({&b_, &c_}, of_b_), nullptr);
  EXPECT_EQ(Try({&b_, &c_}, of_b_), nullptr);
  of_b_.then = [&](BatchRunner*) { EXPECT_EQ(Try({&c_}, of_b_), &c_); };
  Release(&a_, true);
  EXPECT_THAT(of_b_.permitted, ElementsAre(&b_));
}

TEST_F(ResourcePermitsTest, TheIdleInstanceWithTheFewestExecutionsIsTaken) {
  Add(a_, 1);
  Add(b_, 1);
  EXPECT_EQ(Try({&a_, &b_}, of_a_), &a_);
  Release(&a_, true);
  EXPECT_EQ(Try({&a_, &b_}, of_a_), &b_);
  Release(&b_, false);
  EXPECT_EQ(Try({&a_, &b_}, of_a_), &b_) << "it did not execute";
}

TEST_F(ResourcePermitsTest, APermitThatIsOfNoUsePassesOn) {
  Add(a_, 1);
  Add(b_, 1);
  Add(c_, 1);
  const auto give_back = [this](BatchRunner* instance) { Release(instance, false); };
  of_b_.then = give_back;
  of_c_.then = give_back;
  EXPECT_EQ(Try({&a_}, of_a_), &a_);
  EXPECT_EQ(Try({&b_}, of_b_), nullptr);
  EXPECT_EQ(Try({&c_}, of_c_), nullptr);
  Release(&a_, true);
  EXPECT_THAT(of_b_.permitted, ElementsAre(&b_));
  EXPECT_THAT(of_c_.permitted, ElementsAre(&c_));
  EXPECT_EQ(Try({&a_}, of_a_), &a_);
}

TEST_F(ResourcePermitsTest, WhoAsksBeforeAUselessPermitIsBackIsNotForgotten) {
  Add(a_, 1);
  EXPECT_EQ(Try({&a_}, of_a_), &a_);
  EXPECT_EQ(Try({&a_}, of_a_), nullptr);  // a request came between planning and giving back
  Release(&a_, false);
  EXPECT_THAT(of_a_.permitted, ElementsAre(&a_));
  Release(&a_, true);
  EXPECT_THAT(of_a_.permitted, ElementsAre(&a_)) << "once";
}

TEST_F(ResourcePermitsTest, WithdrawnInstancesDoNotBlockTheLine) {
  Add(a_, 6);
  Add(b_, 6);
  Add(c_, 6);
  EXPECT_EQ(Try({&a_}, of_a_), &a_);
  EXPECT_EQ(Try({&b_}, of_b_), nullptr);
  EXPECT_EQ(Try({&c_}, of_c_), nullptr);
  permits_.Withdraw(std::array<BatchRunner*, 1>{&b_});
  Release(&a_, true);
  EXPECT_THAT(of_b_.permitted, ElementsAre());
  EXPECT_THAT(of_c_.permitted, ElementsAre(&c_));
}

TEST_F(ResourcePermitsTest, AnUnregisteredInstanceGivesUpWhatItHolds) {
  Add(a_, 6);
  Add(b_, 6);
  Add(c_, 6);
  EXPECT_EQ(Try({&a_}, of_a_), &a_);
  EXPECT_EQ(Try({&b_}, of_b_), nullptr);
  EXPECT_EQ(Try({&c_}, of_c_), nullptr);
  registrations_.erase(&b_);
  EXPECT_THAT(of_c_.permitted, ElementsAre());
  registrations_.erase(&a_);
  EXPECT_THAT(of_c_.permitted, ElementsAre(&c_));
  Release(&a_, true);  // too late, and harmless
  EXPECT_EQ(Try({&a_}, of_a_), &a_) << "an instance of which nobody has spoken needs nothing";
}

TEST_F(ResourcePermitsTest, WhoHasMoreToDoIsInLineBeforeAnythingIsGivenOut) {
  Add(a_, 6, 1);
  Add(b_, 6, 2);
  std::map<BatchRunner*, int> executions;
  FakeInstance* running = &a_;
  EXPECT_EQ(Try({&a_}, of_a_), &a_);
  EXPECT_EQ(Try({&b_}, of_b_), nullptr);
  for (int i = 0; i < 300; ++i) {
    ++executions[running];
    FakeWaiter& waiter = running == &a_ ? of_a_ : of_b_;
    FakeInstance* const other = running == &a_ ? &b_ : &a_;
    permits_.Release(running, true);
    const bool again = Try({running}, waiter) == running;
    of_a_.permitted.clear();
    of_b_.permitted.clear();
    permits_.Settle();
    EXPECT_EQ(of_a_.permitted.size() + of_b_.permitted.size(), again ? 0u : 1u);
    if (!again) running = other;
  }
  EXPECT_NEAR(executions[&a_], 200, 2) << "twice the priority, half the executions";
}

// Only TryAcquire may fail for lack of memory, and then it has changed nothing.
TEST_F(ResourcePermitsTest, NoPermitIsLostWhereMemoryIsShort) {
  using base::testing::FailingAllocation;
  Add(a_, 4);
  Add(b_, 6);
  Add(c_, 6);
  for (FakeWaiter* const waiter : {&of_a_, &of_b_, &of_c_}) waiter->permitted.reserve(10);
  const std::array<BatchRunner*, 1> only_a = {&a_}, only_b = {&b_}, only_c = {&c_};
  EXPECT_EQ(permits_.TryAcquire(only_a, of_a_), &a_);
  for (uint64_t failing = 0;; ++failing) {
    const FailingAllocation failure(failing, FailingAllocation::Extent::kAllAfter);
    try {
      EXPECT_EQ(permits_.TryAcquire(only_b, of_b_), nullptr);
      break;
    } catch (const std::bad_alloc&) {
    }
  }
  EXPECT_EQ(permits_.TryAcquire(only_c, of_c_), nullptr);
  {
    const FailingAllocation failure;
    permits_.Release(&a_, true);
    permits_.Settle();
  }
  EXPECT_THAT(of_b_.permitted, ElementsAre(&b_));
  {
    const FailingAllocation failure;
    registrations_.erase(&b_);
  }
  EXPECT_THAT(of_c_.permitted, ElementsAre(&c_));
  {
    const FailingAllocation failure;
    permits_.Withdraw(only_c);
    permits_.Release(&c_, true);
    permits_.Settle();
  }
  EXPECT_EQ(permits_.TryAcquire(only_a, of_a_), &a_);
}

TEST_F(ResourcePermitsTest, ARegistrationWithoutMemoryLeavesNothingBehind) {
  using base::testing::FailingAllocation;
  bool failed = true;
  for (uint64_t failing = 0; failed; ++failing) {
    ASSERT_LT(failing, 1'000u);
    ResourcePermits permits;
    LimitedInstance large{0, 1, {{"R", false, 8}}};
    ResourcePermits::Registration small_one =
        permits.Register(&a_, {0, 1, {{"R", false, 4}}}).value();
    {
      const FailingAllocation failure(failing, FailingAllocation::Extent::kOne);
      try {
        (void)permits.Register(&b_, std::move(large));
      } catch (const std::bad_alloc&) {
      }
      failed = failure.has_failed();
    }
    const std::array<BatchRunner*, 1> only_b = {&b_};
    EXPECT_EQ(permits.TryAcquire(only_b, of_b_), &b_) << "it needs nothing: " << failing;
    const std::array<BatchRunner*, 1> only_a = {&a_};
    EXPECT_EQ(permits.TryAcquire(only_a, of_a_), &a_) << failing;
  }
}

TEST_F(ResourcePermitsTest, AMovedRegistrationIsStillOne) {
  Add(a_, 6);
  Add(b_, 6);
  ResourcePermits::Registration moved = std::move(registrations_[&a_]);
  registrations_.erase(&a_);
  EXPECT_EQ(Try({&a_}, of_a_), &a_);
  EXPECT_EQ(Try({&b_}, of_b_), nullptr);
}

/// A model with many requests in its queue and two instances, scheduled as a scheduler does it.
class BusyModel final : public ExecutionPermits::Waiter {
 public:
  BusyModel(ResourcePermits& permits, uint64_t need, std::atomic<uint64_t>& in_use,
            uint64_t capacity)
      : permits_(permits), need_(need), in_use_(in_use), capacity_(capacity) {
    for (FakeInstance& instance : instances_) {
      registrations_.push_back(permits.Register(&instance, {0, 1, {{"R", false, need}}}).value());
      idle_.push_back(&instance);
    }
    {
      std::lock_guard lock(mutex_);
      PlanLocked();
    }
    for (size_t i = 0; i < instances_.size(); ++i) threads_.emplace_back([this] { Loop(); });
  }
  ~BusyModel() override {
    for (std::thread& thread : threads_) thread.join();
    std::vector<BatchRunner*> all;
    for (FakeInstance& instance : instances_) all.push_back(&instance);
    permits_.Withdraw(all);
  }

 private:
  void OnPermit(BatchRunner* instance) override {
    std::unique_lock lock(mutex_);
    if (queued_ > 0) {
      AssignLocked(instance);
      PlanLocked();
      return;
    }
    lock.unlock();
    permits_.Release(instance, false);
    permits_.Settle();
  }

  void PlanLocked() {
    while (queued_ > 0 && !idle_.empty()) {
      BatchRunner* const instance = permits_.TryAcquire(idle_, *this);
      if (instance == nullptr) return;
      AssignLocked(instance);
    }
  }

  void AssignLocked(BatchRunner* instance) {
    --queued_;
    std::erase(idle_, instance);
    ready_.push_back(instance);
    wake_.notify_all();
  }

  void Loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      // With a lost wake-up this waits for ever, and the test's time runs out.
      wake_.wait(lock, [this] { return !ready_.empty() || queued_ == 0; });
      if (ready_.empty()) return;
      BatchRunner* const instance = ready_.front();
      ready_.pop_front();
      lock.unlock();
      EXPECT_LE(in_use_.fetch_add(need_) + need_, capacity_);
      std::this_thread::yield();
      in_use_.fetch_sub(need_);
      lock.lock();
      permits_.Release(instance, true);
      idle_.push_back(instance);
      PlanLocked();
      lock.unlock();
      permits_.Settle();
      lock.lock();
    }
  }

  ResourcePermits& permits_;
  const uint64_t need_;
  std::atomic<uint64_t>& in_use_;
  const uint64_t capacity_;
  std::array<FakeInstance, 2> instances_;
  std::vector<ResourcePermits::Registration> registrations_;
  std::mutex mutex_;
  std::condition_variable wake_;
  int queued_ = 500;                // guarded by mutex_
  std::vector<BatchRunner*> idle_;  // guarded by mutex_
  std::deque<BatchRunner*> ready_;  // guarded by mutex_: have a permit
  std::vector<std::thread> threads_;
};

TEST(ResourcePermitsThreads, NeverOverCapacityAndNobodyForgotten) {
  ResourcePermits permits({{"R", 7, std::nullopt}});
  std::atomic<uint64_t> in_use{0};
  std::vector<std::unique_ptr<BusyModel>> models;
  for (const uint64_t need : {3, 4, 6}) {
    models.push_back(std::make_unique<BusyModel>(permits, need, in_use, 7));
  }
  // Models go while others still stand in line.
  models.clear();
  EXPECT_EQ(in_use.load(), 0u);
}

}  // namespace
}  // namespace nereid::schedule
