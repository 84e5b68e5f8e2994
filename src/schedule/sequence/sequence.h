// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string_view>

#include "request/inference_request.h"
#include "request/sequence_states.h"
#include "schedule/batch_planner.h"
#include "schedule/queue/request_queue.h"

namespace nereid::schedule {

/// Why a sequence is over.
enum class SequenceEnd {
  kEnd,        // its request with the END flag was executed
  kIdle,       // nothing came for max_sequence_idle_microseconds
  kCancelled,  // a waiting request was cancelled, or its client's deadline passed
  kTimeout,    // it waited for a slot for longer than a request's timeout
  kFailed,     // its states could not be set up
  kUnload,     // the model goes
};
inline constexpr size_t kSequenceEndCount = 6;

/// The value of the metrics' label `reason`.
std::string_view SequenceEndLabel(SequenceEnd end);

/// One sequence, from its START to the release of its last request. Belongs to a SequenceTable.
struct Sequence {
  /// A request that is not handed out yet.
  struct Waiting {
    RequestPtr request;  // null while an OldestCandidates queue holds it
    uint64_t arrival_ns = 0;
    uint64_t deadline_ns = kNever;  // its client's
    bool ordered = false;           // has its place in the instance's ResponseOrder
    bool rescheduled = false;       // has been executed before
  };
  /// Where it stands; the table keeps a list of each.
  enum class Standing {
    kBacklog,  // waits for a slot
    kActive,   // has a slot, and a request that waits or runs
    kIdle,     // has a slot and nothing to do
  };

  uint64_t handle = 0;  // never used for another sequence
  request::CorrelationId id = uint64_t{0};
  Standing standing = Standing::kBacklog;
  InstanceId instance = 0;  // but in the backlog
  uint32_t slot = 0;        // but in the backlog
  std::list<Waiting> queue;
  bool ready = false;     // the first of the queue is offered to the instance
  bool running = false;   // a request is handed out and not released
  bool open = true;       // its id leads here: more requests may join
  bool internal = false;  // the server gave the id: the release of its request ends it
  bool seen = false;      // the backend has had a request of it
  bool notified = false;  // the synthetic END is queued or handed out
  SequenceEnd end = SequenceEnd::kEnd;
  uint32_t running_flags = 0;  // as the client gave them; a rescheduled request has none
  uint64_t begin_ns = 0;
  uint64_t touched_ns = 0;             // the last arrival or release
  uint64_t queued_ns = 0;              // the last arrival, or the last return of a rescheduled one
  uint64_t backlog_until_ns = kNever;  // when it is refused if it still waits for a slot
  // Live sequences with the same id: one before it, which is closed and has to end first, and one
  // after it. So the model never has two of them at a time.
  Sequence* predecessor = nullptr;
  Sequence* successor = nullptr;
  const RequestQueue::Waiting* candidate = nullptr;  // of OldestCandidates
  std::shared_ptr<request::SequenceStates> states;   // null where the model has none
  /// Weak: a sequence that waits for its client does not keep the model.
  std::weak_ptr<const request::ModelIdentity> model;
};

}  // namespace nereid::schedule
