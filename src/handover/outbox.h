// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "handover/local_sequences.h"
#include "handover/messages.h"

namespace nereid::handover {

/// Gives sequences of this server to others that ask for them. A sequence is held from the claim to
/// the settlement, at most for kHoldNs: then this server serves it again, and a later settlement is
/// refused. So a sequence is never served twice. Thread-safe.
///
/// mutex_ is not held while a sequence is held, copied or settled.
class Outbox {
 public:
  static constexpr uint64_t kHoldNs = 5'000'000'000;
  /// Sequences that are held or claimed at the same time.
  static constexpr size_t kMaxHolds = 1024;
  /// How many transfers are remembered, so that a repeated settlement gets the same answer.
  static constexpr size_t kMaxRemembered = 4096;

  /// Both must outlive the object.
  Outbox(LocalSequences& sequences, const base::Clock& clock)
      : sequences_(sequences), clock_(clock) {}

  /// Holds a sequence and returns the message with it. Errors are those of LocalSequences::Take;
  /// UNAVAILABLE if too many sequences are held.
  base::Result<std::string> Claim(const SequenceKey& key);

  /// Ends a hold. Returns NOT_FOUND if there is no such hold any more: then this server serves the
  /// sequence, or it has ended. Repeated after it has succeeded, it succeeds again.
  base::Status Settle(const std::string& hold, bool takes);

  /// Ends the holds whose time has passed.
  void Expire();
  /// Ends all holds.
  void Clear();
  /// Returns whether the sequence is held.
  bool Holds(const SequenceKey& key) const;
  /// Returns whether no sequence is held.
  bool IsEmpty() const;

 private:
  struct Entry {
    SequenceKey key;
    std::unique_ptr<Hold> hold;
    uint64_t until_ns = 0;
  };

  class Claiming;

  void Forget(const SequenceKey& key);
  /// Takes the entries that end at `now_ns` or before.
  std::map<std::string, Entry> TakeDue(uint64_t now_ns);
  void End(std::map<std::string, Entry> entries);

  LocalSequences& sequences_;
  const base::Clock& clock_;
  mutable base::Mutex mutex_;
  std::map<std::string, Entry> holds_ NEREID_GUARDED_BY(mutex_);
  /// Of the holds, and of those that are being made or settled.
  std::multiset<SequenceKey> keys_ NEREID_GUARDED_BY(mutex_);
  std::set<std::string> settling_ NEREID_GUARDED_BY(mutex_);  // holds that are being taken
  std::deque<std::string> taken_ NEREID_GUARDED_BY(mutex_);   // the latest last
};

}  // namespace nereid::handover
