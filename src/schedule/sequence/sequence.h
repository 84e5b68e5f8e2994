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

/// The reason for which a sequence ended.
enum class SequenceEnd {
  kEnd,        // its request with the END flag was executed
  kIdle,       // no request arrived for max_sequence_idle_microseconds
  kCancelled,  // a waiting request was cancelled, or its client's deadline passed
  kTimeout,    // it waited for a slot longer than the timeout of one of its requests
  kFailed,     // its states could not be set up
  kUnload,     // the model is unloaded
};
inline constexpr size_t kSequenceEndCount = 6;

/// Returns the value of the metrics' label `reason`.
std::string_view SequenceEndLabel(SequenceEnd end);

/// One sequence, from its START to the release of its last request. Owned by a SequenceTable,
/// guarded by the scheduler's lock.
///
/// States: backlog → active ⇄ idle → removed, or any of them → removed. `ready` and `running`
/// refine the active state: neither (its queue waits for a predecessor), ready (its first request
/// is offered to the instance), running (a request is with the backend). Never both: at most one
/// request of a sequence is with the backend at a time.
struct Sequence {
  /// A request that is not handed out yet.
  struct Waiting {
    RequestPtr request;  // null while an OldestCandidates queue holds it
    uint64_t arrival_ns = 0;
    uint64_t deadline_ns = kNever;  // the client's
    bool ordered = false;           // it has its place in the instance's ResponseOrder
    bool rescheduled = false;       // it was executed before
  };
  /// The table keeps one list of sequences for each value.
  enum class Standing {
    kBacklog,  // waits for a slot
    kActive,   // has a slot, and a request that waits or is with the backend
    kIdle,     // has a slot and no request
  };

  uint64_t handle = 0;  // unique in the table's life
  request::CorrelationId id = uint64_t{0};
  Standing standing = Standing::kBacklog;
  InstanceId instance = 0;  // not valid in the backlog
  uint32_t slot = 0;        // not valid in the backlog
  std::list<Waiting> queue;
  bool ready = false;     // the first request of the queue is offered to the instance
  bool running = false;   // a request is handed out and not released
  bool open = true;       // further requests with its id join this sequence
  bool internal = false;  // the server chose the id; the release of its request ends it
  bool seen = false;      // the backend has received a request of it
  bool notified = false;  // the synthetic END is queued or handed out
  SequenceEnd end = SequenceEnd::kEnd;
  uint32_t running_flags = 0;  // flags of the running request as the client set them
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
};

}  // namespace nereid::schedule
