// SPDX-License-Identifier: Apache-2.0
#include "memory/shared/bus_guard.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/previous_handler.h"

namespace nereid::memory {
namespace {

using base::Status;

/// One guarded range. The handler reads the table without a lock, so `version` is odd while `begin`
/// and `end` change, and different afterwards: the handler skips a slot that changes. It cannot
/// miss the range that it looks for, which does not change while a thread touches it.
/// `begin` and `end` are stored with release and loaded with acquire: a reader of a new value also
/// sees the odd version that was stored before it. This needs no fences, which ThreadSanitizer does
/// not know.
struct Slot {
  std::atomic<uint32_t> version{0};
  std::atomic<uintptr_t> begin{0};  // 0: the slot is free
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> broken{false};
};

// Never destroyed and without a constructor: a signal may come at any time of the process's life.
constinit std::array<Slot, kMaxGuardedRanges> table;
/// One more than the highest slot that was ever taken.
constinit std::atomic<size_t> used{0};
struct sigaction previous;

base::Mutex& TableMutex() {
  static auto& mutex = *new base::Mutex;  // guards no member: the handler reads the table
  return mutex;
}

void Write(Slot& slot, uintptr_t begin, uintptr_t end) {
  const uint32_t version = slot.version.load(std::memory_order_relaxed);
  slot.version.store(version + 1, std::memory_order_relaxed);
  slot.begin.store(begin, std::memory_order_release);
  slot.end.store(end, std::memory_order_release);
  slot.version.store(version + 2, std::memory_order_release);
}

struct Range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

/// Returns the slot that contains the address; null if there is none. Async-signal-safe.
Slot* Find(uintptr_t address, Range* range) {
  const size_t count = used.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i) {
    Slot& slot = table[i];
    const uint32_t version = slot.version.load(std::memory_order_acquire);
    if (version % 2 != 0) continue;
    *range = {slot.begin.load(std::memory_order_acquire), slot.end.load(std::memory_order_acquire)};
    if (slot.version.load(std::memory_order_relaxed) != version) continue;
    if (range->begin != 0 && address >= range->begin && address < range->end) return &slot;
  }
  return nullptr;
}

/// Replaces the range by private zero pages. A plain system call: the library's mmap may be
/// intercepted by a sanitizer, which is not async-signal-safe.
bool PutZeroPages(const Range& range) {
  return syscall(SYS_mmap, range.begin, range.end - range.begin, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                 0) == static_cast<long>(range.begin);
}

/// The signal handler. Async-signal-safe: it uses atomics and system calls only.
void OnBusError(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  Range range;
  // A positive code comes from the kernel; si_addr is an address only then.
  Slot* const slot =
      info->si_code > 0 ? Find(reinterpret_cast<uintptr_t>(info->si_addr), &range) : nullptr;
  if (slot == nullptr) {
    base::CallPreviousHandler(previous, signal, info, context);
  } else {
    slot->broken.store(true, std::memory_order_release);
    if (!PutZeroPages(range)) base::CallPreviousHandler(previous, signal, info, context);
  }
  errno = saved_errno;
}

}  // namespace

Status InstallBusGuard() {
  static const int result = [] {
    struct sigaction action = {};
    action.sa_sigaction = OnBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, &action, &previous) == 0 ? 0 : errno;
  }();
  if (result == 0) return Status::Ok();
  return Status::Internal("the handler of SIGBUS, which shared memory needs, cannot be installed");
}

base::Result<GuardedRange> GuardedRange::Claim(void* data, size_t size) {
  const auto begin = reinterpret_cast<uintptr_t>(data);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const base::MutexLock lock(TableMutex());
  for (size_t i = 0; i < table.size(); ++i) {
    Slot& slot = table[i];
    if (slot.begin.load(std::memory_order_relaxed) != 0) continue;
    slot.broken.store(false, std::memory_order_relaxed);
    Write(slot, begin, begin + (size + page - 1) / page * page);
    if (i >= used.load(std::memory_order_relaxed)) used.store(i + 1, std::memory_order_release);
    return GuardedRange(i);
  }
  return Status::Unavailable("there are already " + std::to_string(table.size()) +
                             " regions of shared memory that are registered or in use");
}

GuardedRange::GuardedRange(GuardedRange&& other) noexcept
    : slot_(std::exchange(other.slot_, kNone)) {}

GuardedRange& GuardedRange::operator=(GuardedRange&& other) noexcept {
  if (this != &other) {
    Release();
    slot_ = std::exchange(other.slot_, kNone);
  }
  return *this;
}

bool GuardedRange::IsBroken() const {
  return slot_ != kNone && table[slot_].broken.load(std::memory_order_acquire);
}

void GuardedRange::Release() {
  if (slot_ == kNone) return;
  const base::MutexLock lock(TableMutex());
  Write(table[std::exchange(slot_, kNone)], 0, 0);
}

}  // namespace nereid::memory
