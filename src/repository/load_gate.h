// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace nereid::repository {

/// Whether models may be loaded, and which are being loaded: for whoever stops a server, also one
/// that is still starting. Thread-safe.
class LoadGate {
 public:
  /// A load that is under way; false if none may begin. Must not outlive the gate.
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

  Pass Enter(const std::string& model) {
    const std::lock_guard lock(mutex_);
    return closed_ ? Pass() : Pass(this, loading_.insert(model));
  }

  /// From now on no load begins. Those that have begun go on.
  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  bool IsClosed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

  /// The models that are being loaded.
  std::vector<std::string> Loading() const {
    const std::lock_guard lock(mutex_);
    return {loading_.begin(), loading_.end()};
  }

 private:
  void Leave(Pass::Place place) {
    const std::lock_guard lock(mutex_);
    loading_.erase(place);
  }

  mutable std::mutex mutex_;
  bool closed_ = false;                 // guarded by mutex_
  std::multiset<std::string> loading_;  // guarded by mutex_
};

}  // namespace nereid::repository
