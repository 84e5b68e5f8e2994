// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nereid::schedule {

/// Where a sequence is between its first request and its end.
///
///     (begin) ──► kBacklog ──► kPending ◄──► kReady ──► kRunning
///        │                       ▲  ▲ │                    │
///        └───────────────────────┘  │ ▼                    │
///                                   │kIdle                 │
///                                   └──────────────────────┘
///
///     from      to        event
///     (begin)   kBacklog  the sequence begins; no slot is free
///     (begin)   kPending  the sequence begins and gets a slot (by way of kBacklog)
///     kBacklog  kPending  a slot becomes free; the sequence is the oldest of the backlog
///     kPending  kReady    its first request is offered to the strategy of its instance
///     kReady    kPending  the offer is withdrawn: a waiting request was cancelled or is too late
///     kReady    kRunning  its first request is handed to the backend
///     kRunning  kPending  the backend has released the request, for good or for another execution
///     kPending  kIdle     no request waits, and the sequence is open
///     kIdle     kPending  a request arrives, or the notice of the sequence's end is queued
///     kBacklog, kPending, kIdle  (end)   see SequenceLifecycle::End
///
/// A sequence stays in kPending only while an earlier sequence with its id is alive (its
/// predecessor). Otherwise it leaves kPending within the event that brought it there.
enum class SequencePhase {
  kBacklog,  // waits for a slot
  kPending,  // has a slot; none of its requests is offered or with the backend
  kReady,    // its first request is offered, and no request of it is with the backend
  kRunning,  // one request is with the backend; others may wait
  kIdle,     // has a slot; no request waits or is with the backend
};

/// Returns whether the table above has a transition from `from` to `to`.
constexpr bool IsLegalTransition(SequencePhase from, SequencePhase to) {
  switch (from) {
    case SequencePhase::kBacklog:
      return to == SequencePhase::kPending;
    case SequencePhase::kPending:
      return to == SequencePhase::kReady || to == SequencePhase::kIdle;
    case SequencePhase::kReady:
      return to == SequencePhase::kPending || to == SequencePhase::kRunning;
    case SequencePhase::kRunning:
    case SequencePhase::kIdle:
      return to == SequencePhase::kPending;
  }
  return false;
}

/// Returns whether a sequence may be removed in this phase: the strategy of its instance does not
/// refer to it, and the backend has none of its requests.
constexpr bool MayBeRemoved(SequencePhase phase) {
  return phase != SequencePhase::kReady && phase != SequencePhase::kRunning;
}

/// Which requests a sequence still takes. The value only increases, in every phase.
///
///     kOpen    kClosed  END arrived; the sequence was aborted; an iterative request was released
///     kClosed  kSealed  the notice of the end was queued, or there is no instance to execute it
enum class SequenceIntake {
  kOpen,    // the client's requests with its id join it
  kClosed,  // no request of a client joins it; it ends after the last one
  kSealed,  // as kClosed, and no notice of its end will be made
};

/// The reason for which a sequence ended.
enum class SequenceEnd {
  kEnd,        // its request with the END flag was executed
  kIdle,       // no request arrived for max_sequence_idle_microseconds
  kCancelled,  // a waiting request was cancelled, or its client's deadline passed
  kTimeout,    // it waited for a slot longer than the timeout of one of its requests
  kFailed,     // its states could not be set up, or memory was short
  kUnload,     // the model is unloaded
  kHandover,   // another server has it now
};
inline constexpr size_t kSequenceEndCount = 7;

/// The number of sequences that have ended, indexed by SequenceEnd.
using SequenceEndCounts = std::array<uint64_t, kSequenceEndCount>;

/// Returns the value of the metrics' label `reason`.
std::string_view SequenceEndLabel(SequenceEnd end);

}  // namespace nereid::schedule
