// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace nereid::repository {

/// Decides whether a load may begin, and lists the models that are being loaded. The stop of a
/// server closes the gate, also while the server is still starting. Thread-safe.
class LoadGate {
 public:
  /// The permission for one load, held while it runs; false if the gate is closed. Must not outlive
  /// the gate.
  class Pass {
   public:
    Pass() = default;
    Pass(Pass&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)), place_(other.place_) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->Leave(place_);
    }
    explicit operator bool() const { return gate_ != nullptr; }

   private:
    friend class LoadGate;
    using Place = std::multiset<std::string>::iterator;
    Pass(LoadGate* gate, Place place) : gate_(gate), place_(place) {}

    LoadGate* gate_ = nullptr;
    Place place_;
  };

  LoadGate() = default;
  LoadGate(const LoadGate&) = delete;
  LoadGate& operator=(const LoadGate&) = delete;

  /// Returns the pass for a load of `model`, or an empty pass if the gate is closed.
  Pass Enter(const std::string& model) {
    base::MutexLock lock(mutex_);
    return closed_ ? Pass() : Pass(this, loading_.insert(model));
  }

  /// Lets no further load begin. Loads that have begun continue.
  void Close() {
    base::MutexLock lock(mutex_);
    closed_ = true;
  }
  bool IsClosed() const {
    base::MutexLock lock(mutex_);
    return closed_;
  }

  /// Returns the models that are being loaded.
  std::vector<std::string> Loading() const {
    base::MutexLock lock(mutex_);
    return {loading_.begin(), loading_.end()};
  }

 private:
  void Leave(Pass::Place place) {
    base::MutexLock lock(mutex_);
    loading_.erase(place);
  }

  mutable base::Mutex mutex_;
  bool closed_ NEREID_GUARDED_BY(mutex_) = false;
  std::multiset<std::string> loading_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::repository
