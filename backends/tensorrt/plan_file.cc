// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/plan_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>

#include "base/previous_handler.h"

namespace nereid::tensorrt {
namespace {

/// A mapped range. `begin` is set last and cleared first, and the range stays as it is while a
/// thread reads it, so the handler needs no lock.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<bool> broken{false};
};

// Without constructor and destructor, because a signal may come at any time.
constinit std::array<Slot, 64> slots;
struct sigaction previous;

Slot* Find(uintptr_t address) {
  for (Slot& slot : slots) {
    const uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    if (begin != 0 && address >= begin && address < slot.end.load(std::memory_order_relaxed)) {
      return &slot;
    }
  }
  return nullptr;
}

void Handle(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  Slot* slot = info->si_code > 0 ? Find(address) : nullptr;
  if (slot == nullptr) {
    base::CallPreviousHandler(previous, signal, info, context);
    errno = error;
    return;
  }
  const uintptr_t begin = slot->begin.load(std::memory_order_relaxed);
  const uintptr_t size = slot->end.load(std::memory_order_relaxed) - begin;
  // A plain system call, because a sanitizer's mmap is not async-signal-safe.
  if (syscall(SYS_mmap, begin, size, PROT_READ,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
              0) == static_cast<long>(begin)) {
    slot->broken.store(true, std::memory_order_relaxed);
  } else {
    base::CallPreviousHandler(previous, signal, info, context);
  }
  errno = error;
}

void InstallHandler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction handler = {};
    handler.sa_sigaction = Handle;
    handler.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&handler.sa_mask);
    sigaction(SIGBUS, &handler, &previous);
  });
}

size_t TakeSlot() {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].taken.exchange(true)) {
      return i;
    }
  }
  return SIZE_MAX;
}

}  // namespace

Error PlanFile::Open(const std::string& path) {
  const auto bad = [&](const std::string& what) {
    return Error::InvalidArgument("the TensorRT plan '" + path + "' " + what);
  };
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return bad(std::string("cannot be read: ") + strerror(errno));
  }
  struct stat status = {};
  const bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  void* mapped = MAP_FAILED;
  if (regular && status.st_size > 0) {
    mapped = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  }
  const int error = errno;
  close(file);
  if (!regular || status.st_size == 0) {
    return bad(regular ? "is empty" : "is not a regular file");
  }
  if (mapped == MAP_FAILED) {
    return bad(std::string("cannot be mapped: ") + strerror(error));
  }
  data_ = static_cast<char*>(mapped);
  size_ = static_cast<size_t>(status.st_size);
  InstallHandler();
  slot_ = TakeSlot();
  if (slot_ == kNone) {
    return {TRITONSERVER_ERROR_UNAVAILABLE, "more than " + std::to_string(slots.size()) +
                                                " TensorRT plans are being read; load '" + path +
                                                "' again later"};
  }
  Slot& slot = slots[slot_];
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  slot.broken = false;
  slot.end = (reinterpret_cast<uintptr_t>(data_) + size_ + page - 1) / page * page;
  slot.begin.store(reinterpret_cast<uintptr_t>(data_), std::memory_order_release);
  // The whole file is read once, from its start.
  madvise(data_, size_, MADV_SEQUENTIAL);
  return {};
}

bool PlanFile::IsBroken() const { return slot_ != kNone && slots[slot_].broken; }

PlanFile::~PlanFile() {
  if (slot_ != kNone) {
    slots[slot_].begin.store(0, std::memory_order_release);
    slots[slot_].taken = false;
  }
  if (data_ != nullptr) {
    munmap(data_, size_);
  }
}

}  // namespace nereid::tensorrt
