// SPDX-License-Identifier: Apache-2.0
#include "base/byte_budget.h"

#include "base/slow_reader_budget.h"

namespace nereid::base {
namespace {

thread_local bool blocking_forbidden = false;

}  // namespace

void ForbidBlocking() { blocking_forbidden = true; }

bool ThreadMayBlock() { return !blocking_forbidden; }

bool ByteBudget::TryTakeMore(size_t size, size_t held) {
  // Adds first and takes back on failure, so the usual case is one atomic operation. Meanwhile
  // other threads may see a count that is too high and be refused although there is room. `before
  // == held` means that the share is the only one: it may exceed the limit.
  const size_t before = taken_.fetch_add(size);
  if (before == held || (before < limit_ && size <= limit_ - before)) return true;
  Give(size);
  return false;
}

bool ByteBudget::Take(size_t size, bool may_wait, ByteShare* share) {
  if (IsClosed()) return false;
  if (!TryTake(size)) {
    if (!may_wait || patience_.count() <= 0 || !ThreadMayBlock() || !WaitAndTake(size)) {
      return false;
    }
  }
  *share = ByteShare(shared_from_this(), size);
  return true;
}

// Give() subtracts first and looks for waiters second. This function becomes a waiter first and
// looks for room second. All four operations are sequentially consistent, so at least one side sees
// the other and no wake-up is lost.
bool ByteBudget::WaitAndTake(size_t size) {
  thread_local SlowReaderBudget slow_readers;
  const auto begin = std::chrono::steady_clock::now();
  const auto end = begin + slow_readers.Remaining(begin, patience_);
  MutexLock lock(mutex_);
  waiters_.fetch_add(1);
  bool taken = false;
  while (!IsClosed()) {
    // Unlike TryTake, this does not add first and give back on failure: Give() would lock mutex_,
    // which is held here.
    size_t before = taken_.load();
    while (!taken && (before == 0 || (before < limit_ && size <= limit_ - before))) {
      taken = taken_.compare_exchange_weak(before, before + size);
    }
    if (taken || !changed_.WaitUntil(lock, end)) break;
  }
  waiters_.fetch_sub(1);
  const auto now = std::chrono::steady_clock::now();
  slow_readers.Charge(now, now - begin, taken);
  return taken;
}

void ByteBudget::Give(size_t size) {
  taken_.fetch_sub(size);
  if (waiters_.load() == 0) return;
  const MutexLock lock(mutex_);
  changed_.NotifyAll();
}

ByteShare ByteBudget::Force(size_t size) {
  taken_.fetch_add(size);
  return ByteShare(shared_from_this(), size);
}

void ByteBudget::Close() {
  closed_.store(true, std::memory_order_release);
  const MutexLock lock(mutex_);
  changed_.NotifyAll();
}

}  // namespace nereid::base
