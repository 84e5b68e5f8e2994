// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "repository/model_id.h"

namespace nereid::repository {

/// The versions that were made and are not destroyed, each as often as it was made. Thread-safe.
class LivingVersions {
 public:
  using Versions = std::multiset<std::pair<ModelId, int64_t>>;

  /// One version in the list. It leaves the list at End, or with this object at the latest. The
  /// list may be destroyed as soon as it is empty; an object whose version has left does not touch
  /// it.
  class Entry {
   public:
    Entry(LivingVersions& list, ModelId id, int64_t version);
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() { End(); }
    void End();

   private:
    std::atomic<LivingVersions*> list_;  // null after the end
    const ModelId id_;
    const int64_t version_;
  };

  Versions List() const;
  size_t Count() const;

  /// Blocks until the list is empty or `give_up` returns true; returns what is left as texts
  /// ("name:version"). `give_up` is called without a lock, at least every 100 ms.
  std::vector<std::string> WaitUntilGone(const std::function<bool()>& give_up) const;

 private:
  void Add(const ModelId& id, int64_t version);
  void Remove(const ModelId& id, int64_t version);

  mutable std::mutex mutex_;
  mutable std::condition_variable removed_;
  Versions versions_;  // guarded by mutex_
};

}  // namespace nereid::repository
