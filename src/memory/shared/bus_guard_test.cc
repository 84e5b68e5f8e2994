// SPDX-License-Identifier: Apache-2.0
#include "memory/shared/bus_guard.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <csignal>
#include <optional>
#include <thread>
#include <vector>

#include "memory/shared/testing/temporary_object.h"

namespace nereid::memory {
namespace {

constexpr size_t kPage = 4096;

/// An object of a few pages that is mapped and, if wanted, guarded.
class Mapped {
 public:
  explicit Mapped(size_t pages, bool guarded = true)
      : object_(pages * kPage), size_(pages * kPage) {
    const int file = shm_open(object_.key().c_str(), O_RDWR, 0);
    data_ = static_cast<char*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    close(file);
    if (guarded) guard_ = std::move(GuardedRange::Claim(data_, size_)).value();
  }
  ~Mapped() {
    guard_.reset();
    munmap(data_, size_);
  }

  TemporaryObject& object() { return object_; }
  volatile char* data() { return data_; }
  const GuardedRange& guard() const { return *guard_; }

 private:
  TemporaryObject object_;
  size_t size_;
  char* data_ = nullptr;
  std::optional<GuardedRange> guard_;
};

class BusGuardTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(InstallBusGuard().ok()); }
};

TEST_F(BusGuardTest, ReadingBehindTheEndOfATruncatedFileGivesZeros) {
  Mapped mapped(4);
  mapped.object().Write(0, "first");
  mapped.object().Write(3 * kPage, "last");
  EXPECT_EQ(mapped.data()[3 * kPage], 'l');
  EXPECT_FALSE(mapped.guard().IsBroken());
  mapped.object().Resize(kPage);
  EXPECT_EQ(mapped.data()[3 * kPage], 0);
  EXPECT_TRUE(mapped.guard().IsBroken());
  EXPECT_EQ(mapped.data()[0], 0) << "the whole range is the process's own from then on";
}

TEST_F(BusGuardTest, WritingBehindTheEndReachesNoObject) {
  Mapped mapped(2);
  mapped.object().Resize(0);
  mapped.data()[kPage] = 'x';
  EXPECT_TRUE(mapped.guard().IsBroken());
  EXPECT_EQ(mapped.data()[kPage], 'x');
  mapped.object().Resize(2 * kPage);
  EXPECT_EQ(mapped.object().Read(kPage, 1), std::string(1, '\0'));
  mapped.object().Write(0, "secret");
  EXPECT_EQ(mapped.data()[0], 0) << "bytes of the object are seen after it was replaced";
}

TEST_F(BusGuardTest, OtherRangesStayAsTheyAre) {
  Mapped before(2), broken(2), behind(2);
  before.object().Write(kPage, "b");
  behind.object().Write(0, "a");
  broken.object().Resize(0);
  EXPECT_EQ(broken.data()[0], 0);
  EXPECT_FALSE(before.guard().IsBroken());
  EXPECT_FALSE(behind.guard().IsBroken());
  EXPECT_EQ(before.data()[kPage], 'b');
  EXPECT_EQ(behind.data()[0], 'a');
}

TEST_F(BusGuardTest, ASlotIsUsedAgainAndIsWholeThen) {
  for (int i = 0; i < 3; ++i) {
    Mapped mapped(1);
    EXPECT_FALSE(mapped.guard().IsBroken()) << i;
    mapped.object().Resize(0);
    EXPECT_EQ(mapped.data()[0], 0);
    EXPECT_TRUE(mapped.guard().IsBroken()) << i;
  }
}

TEST_F(BusGuardTest, ManyThreadsMayFaultWhileOthersClaimAndRelease) {
  std::atomic<bool> stop{false};
  std::thread churn([&] {
    while (!stop) Mapped other(3);
  });
  for (int round = 0; round < 50; ++round) {
    Mapped mapped(16);
    std::vector<std::thread> readers;
    std::atomic<int> not_zero{0};
    mapped.object().Resize(0);
    for (int i = 0; i < 4; ++i) {
      readers.emplace_back([&, i] {
        for (size_t page = i; page < 16; page += 4) not_zero += mapped.data()[page * kPage] != 0;
      });
    }
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(not_zero, 0);
    EXPECT_TRUE(mapped.guard().IsBroken());
  }
  stop = true;
  churn.join();
}

TEST_F(BusGuardTest, ThereIsALimit) {
  static char page;  // never touched through a range
  std::vector<GuardedRange> ranges;
  for (;;) {
    auto range = GuardedRange::Claim(&page, 1);
    if (!range.ok()) {
      EXPECT_EQ(range.status().code(), base::StatusCode::kUnavailable);
      break;
    }
    ASSERT_LE(ranges.size(), kMaxGuardedRanges);
    ranges.push_back(std::move(range).value());
  }
  EXPECT_EQ(ranges.size(), kMaxGuardedRanges);
  ranges.pop_back();
  EXPECT_TRUE(GuardedRange::Claim(&page, 1).ok());
}

using BusGuardDeathTest = BusGuardTest;

TEST_F(BusGuardDeathTest, FaultsElsewhereEndTheProcessAsBefore) {
  EXPECT_DEATH(
      {
        Mapped mapped(1, /*guarded=*/false);
        mapped.object().Resize(0);
        (void)mapped.data()[0];
      },
      "");
  EXPECT_DEATH(raise(SIGBUS), "");
}

}  // namespace
}  // namespace nereid::memory
