// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/blocking_worker.h"

#include <utility>

#include "base/threads.h"

namespace nereid::frontend::http {

BlockingWorker::~BlockingWorker() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

void BlockingWorker::Run(std::function<void()> operation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  waiting_.push_back(std::move(operation));
  if (working_ >= max_threads_) return;
  if (working_ == 0) {
    // All have ended, or are about to: they hold no lock any more.
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  ++working_;
  threads_.push_back(base::StartThread("http-blocking", [this] { Work(); }));
}

void BlockingWorker::Work() {
  while (true) {
    std::function<void()> operation;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (waiting_.empty()) {
        --working_;
        return;
      }
      operation = std::move(waiting_.front());
      waiting_.pop_front();
    }
    operation();
  }
}

}  // namespace nereid::frontend::http
