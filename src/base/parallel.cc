// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "base/threads.h"

namespace nereid::base {
namespace {

/// The first exception of several threads.
class FirstException {
 public:
  /// Calls `work` and keeps its exception.
  void Guard(const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      const MutexLock lock(mutex_);
      if (first_ == nullptr) first_ = std::current_exception();
    }
  }
  /// Throws the exception, if there was one.
  void Rethrow() {
    const MutexLock lock(mutex_);
    if (first_ != nullptr) std::rethrow_exception(first_);
  }

 private:
  Mutex mutex_;
  std::exception_ptr first_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace

void RunOnThreads(const std::string& name, size_t threads, const std::function<void()>& work) {
  FirstException exception;
  std::vector<std::thread> helpers;
  helpers.reserve(threads);
  for (size_t i = 1; i < threads; ++i) {
    auto helper = StartThread(name, [&] { exception.Guard(work); });
    if (!helper.ok()) {
      LOG_WARNING << helper.status().message();
      break;
    }
    helpers.push_back(std::move(helper).value());
  }
  exception.Guard(work);
  for (std::thread& helper : helpers) helper.join();
  exception.Rethrow();
}

void ForEachOnThreads(const std::string& name, size_t threads, size_t count,
                      const std::function<void(size_t)>& body) {
  std::atomic<size_t> next{0};
  RunOnThreads(name, std::min(threads, count), [&] {
    for (size_t i = next++; i < count; i = next++) body(i);
  });
}

}  // namespace nereid::base
