// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <utility>

#include "request/inference_request.h"
#include "request/sequence_states.h"
#include "schedule/batch_planner.h"
#include "schedule/queue/request_queue.h"
#include "schedule/sequence/sequence_phase.h"

namespace nereid::schedule {

/// A time at which something happens to a sequence.
struct SequenceDeadline {
  uint64_t ns;
  uint64_t handle;  // of the sequence
  auto operator<=>(const SequenceDeadline&) const = default;
};

/// Why a request of a sequence is refused; determines the text of its error.
enum class RefusalCause {
  kCancelled,    // the client cancelled it or one behind it, or a deadline passed
  kSlotTimeout,  // the sequence has waited too long for a slot
  kNoStates,     // the states of the sequence could not be set up
  kNoMemory,     // the scheduler could not allocate memory for the sequence
};

/// One sequence, from its START to the release of its last request. Owned by a SequenceTable.
/// SequenceTable::Move changes `phase`, SequenceLifecycle the rest. Not thread-safe; the scheduler
/// guards it with its lock.
struct Sequence {
  /// A request of the sequence that is not answered yet. The list node exists from the arrival of
  /// the request to its release, so that neither handing it out nor queuing it again allocates.
  struct Waiting {
    /// Null while a queue of OldestCandidates or the backend holds the request.
    RequestPtr request;
    uint64_t arrival_ns = 0;
    uint64_t deadline_ns = kNever;  // the client's
    /// The entry of `deadline_ns` in SequenceDeadlines; empty while it is there.
    std::multiset<SequenceDeadline>::node_type deadline_entry;
    uint32_t flags = 0;    // as the client set them
    bool ordered = false;  // it has its place in the instance's ResponseOrder
    RefusalCause cause = RefusalCause::kCancelled;  // set when the request is refused
  };
  using Queue = std::list<Waiting>;
  /// Identifies a slot; ordered as slots are given out.
  using Slot = std::pair<uint32_t, InstanceId>;

  uint64_t handle = 0;  // unique in the table's life
  request::CorrelationId id = uint64_t{0};
  bool internal = false;  // the server chose the id; does not change
  SequencePhase phase = SequencePhase::kBacklog;
  SequenceIntake intake = SequenceIntake::kOpen;
  /// Whether it is on its way from or to another server: its requests are not executed, and new
  /// ones do not join it. Only an idle sequence, or one that waits for its first slot, is held.
  bool held = false;
  SequenceEnd end = SequenceEnd::kEnd;  // the reason, if the sequence ended now
  InstanceId instance = 0;              // not valid in the backlog
  uint32_t slot = 0;                    // not valid in the backlog
  Queue queue;                          // not handed out, in the order of execution
  Queue running;                        // the request that is with the backend, or empty
  uint64_t executions = 0;              // requests that the backend has received
  uint64_t begin_ns = 0;
  uint64_t touched_ns = 0;             // the last arrival or release
  uint64_t queued_ns = 0;              // the last arrival or rescheduling
  uint64_t backlog_until_ns = kNever;  // when it is refused if it still waits for a slot
  // Live sequences with the same id: the one before this one, which is closed and must end first,
  // and the one after it. So the model never executes two sequences with one id at a time.
  Sequence* predecessor = nullptr;
  Sequence* successor = nullptr;
  const RequestQueue::Waiting* candidate = nullptr;  // set by OldestCandidates
  std::shared_ptr<request::SequenceStates> states;   // null where the model has none
  /// Weak: a sequence that only waits for its client must not keep the model loaded.
  std::weak_ptr<const request::ModelIdentity> model;
  /// Memory for the entry of its slot among the free slots. Allocated when the sequence begins, so
  /// that neither getting a slot nor giving it back can fail.
  std::set<Slot>::node_type slot_entry;

  bool has_slot() const { return phase != SequencePhase::kBacklog; }
  bool is_open() const { return intake == SequenceIntake::kOpen && !held; }
};

}  // namespace nereid::schedule
