// SPDX-License-Identifier: Apache-2.0
#include "repository/load_in_order.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/threads.h"

namespace nereid::repository {

std::map<ModelId, base::Result<LoadOutcome>> LoadInOrder(
    LoadOrder order, size_t threads,
    const std::function<base::Result<LoadOutcome>(const ModelId&)>& load) {
  std::map<ModelId, base::Result<LoadOutcome>> results;
  std::mutex mutex;  // guards order and results; not held during a load
  std::condition_variable changed;
  const auto work = [&] {
    std::unique_lock lock(mutex);
    while (!order.IsEmpty()) {
      const auto id = order.Take();
      if (!id) {
        changed.wait(lock);
        continue;
      }
      lock.unlock();
      auto loaded = load(*id);
      lock.lock();
      results.emplace(*id, std::move(loaded));
      order.Done(*id);
      changed.notify_all();
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(threads);
  for (size_t i = 1; i < threads; ++i) {
    auto thread = base::StartThread("model-load", work);
    if (!thread.ok()) {
      LOG_WARNING << thread.status().message();
      break;
    }
    helpers.push_back(std::move(thread).value());
  }
  work();
  for (std::thread& thread : helpers) thread.join();
  return results;
}

}  // namespace nereid::repository
