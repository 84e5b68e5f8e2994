// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

#include "base/mutex.h"
#include "base/result.h"

namespace nereid::server {

/// The phase of a server's life. Thread-safe. Transitions:
///
///     kServing  → kFailed    Fail: the repositories cannot be read, so the server does not know
///                            its models; it keeps running to report that
///     kFailed   → kServing   Recover: the repositories can be read again
///     kServing, kFailed      → kEnding    BeginEnding: new work of clients is refused, except for
///                                         sequences in progress; plug-ins still call models,
///                                         because requests in progress may need that
///     kEnding   → kStopping  BeginStopping: all new work is refused, models are unloaded
///
/// Nothing leads back from kEnding or kStopping. The order of the values matters: work is refused
/// from a phase on.
class ServerPhase {
 public:
  enum class Value { kServing, kFailed, kEnding, kStopping };

  Value Get() const { return value_.load(std::memory_order_acquire); }

  /// Changes kServing to kFailed; in another phase only the reason changes.
  void Fail(std::string reason);
  /// Returns the reason of the last Fail(); it holds in the phase kFailed only.
  std::string failure() const;
  /// Changes kFailed to kServing; does nothing in another phase.
  void Recover() { Replace(Value::kFailed, Value::kServing); }
  void BeginEnding();
  /// Returns whether this is the first call.
  bool BeginStopping() { return value_.exchange(Value::kStopping) != Value::kStopping; }

  /// Returns whether new work of clients is refused because the server stops.
  bool IsEnding() const { return Get() >= Value::kEnding; }
  /// Returns whether models may have been unloaded because the server stops: a model that is not
  /// found may have existed before.
  bool IsStopping() const { return Get() == Value::kStopping; }

  /// Returns UNAVAILABLE "Server not ready" in every phase but kServing.
  base::Status CheckServing() const;
  /// Returns false in kFailed and UNAVAILABLE "Server exiting" in kStopping. While the server ends
  /// it is alive.
  base::Result<bool> IsLive() const;

 private:
  void Replace(Value from, Value to) {
    value_.compare_exchange_strong(from, to, std::memory_order_acq_rel);
  }

  std::atomic<Value> value_{Value::kServing};
  mutable base::Mutex mutex_;
  std::string failure_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::server
