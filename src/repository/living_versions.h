// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "repository/model_id.h"

namespace nereid::repository {

/// The versions that were created and are not destroyed yet, each as often as it was created.
/// Thread-safe.
class LivingVersions {
 public:
  using Versions = std::multiset<std::pair<ModelId, int64_t>>;

  /// One version in the list. End() or the destructor removes it from the list. The list may be
  /// destroyed as soon as it is empty: an entry that has ended does not access it.
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

  /// Blocks until the list is empty or `give_up` returns true. Returns the remaining versions as
  /// "name:version". `give_up` is called without a lock, at least every 100 ms.
  std::vector<std::string> WaitUntilGone(const std::function<bool()>& give_up) const;

 private:
  void Add(const ModelId& id, int64_t version);
  void Remove(const ModelId& id, int64_t version);

  mutable base::Mutex mutex_;
  mutable base::ConditionVariable removed_;
  Versions versions_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::repository
