// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"

namespace nereid::repository {

/// What a load does at the moment.
enum class LoadStage : uint8_t {
  kSettling,  // waits until the files are still
  kReading,   // fetches the files, reads the configuration, runs the agents
  kLoading,   // the backend creates the versions
};

/// Returns "settling", "reading" or "loading".
const char* LoadStageName(LoadStage stage);

/// How far a load is.
struct LoadPosition {
  LoadStage stage = LoadStage::kReading;
  int64_t version = 0;       // that is being created, in stage kLoading
  size_t versions_done = 0;  // of `versions`
  size_t versions = 0;       // that the version policy selects; 0: not known yet
  uint32_t attempt = 1;      // at this version
  std::string path = {};     // of the model's directory
};

/// The load of one model while it runs: how far it is, and whether it must end early. Thread-safe.
class LoadRun {
 public:
  /// `timeout_ns` is the limit of the whole load; 0: none. `can_be_cancelled`: whether Cancel may
  /// be called.
  LoadRun(const base::Clock& clock, uint64_t timeout_ns, bool can_be_cancelled = true)
      : clock_(clock),
        begin_ns_(clock.NowNs()),
        can_be_cancelled_(can_be_cancelled),
        timeout_ns_(timeout_ns) {}

  void Cancel() { is_cancelled_ = true; }
  /// Replaces the limit, counted from the beginning of the load.
  void SetTimeout(uint64_t timeout_ns) { timeout_ns_ = timeout_ns; }
  /// Returns OK if the load may continue, else CANCELLED or, after its limit, UNAVAILABLE.
  base::Status Check() const;
  /// Returns whether Check may return an error at some time.
  bool CanEndEarly() const { return can_be_cancelled_ || timeout_ns_ != 0; }

  /// Records the reason of a failure, if the error for the client does not have it.
  void SetReason(std::string reason);
  std::string Reason() const;

  void SetPosition(LoadPosition position);
  LoadPosition Position() const;
  uint64_t ElapsedNs() const { return clock_.NowNs() - begin_ns_; }

 private:
  const base::Clock& clock_;
  const uint64_t begin_ns_;
  const bool can_be_cancelled_;
  std::atomic<uint64_t> timeout_ns_;
  std::atomic<bool> is_cancelled_{false};
  mutable base::Mutex mutex_;
  LoadPosition position_ NEREID_GUARDED_BY(mutex_);
  std::string reason_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::repository
