// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "request/correlation_id.h"
#include "request/sequence_states.h"

namespace nereid::schedule {

/// An idle sequence that is held for a transfer to another server. Its states do not change until
/// the hold is settled.
struct HeldSequence {
  uint64_t handle = 0;
  std::shared_ptr<request::SequenceStates> states;
  uint64_t idle_ns = 0;  // since its last request
};

/// What becomes of a sequence that is held.
enum class HoldEnd {
  kServe,  // its requests are executed here
  kLeave,  // another server has it, or its transfer to this one has failed
};

/// The sequences of a model, for transfers to and from other servers. A held sequence keeps its
/// slot. It takes no requests: to a client it does not exist. It ends when its idle time has
/// passed, as any other. Thread-safe.
class SequencePort {
 public:
  virtual ~SequencePort() = default;

  /// Returns whether a request with this id joins a sequence that exists.
  virtual bool Has(const request::CorrelationId& id) const = 0;

  /// Holds an idle sequence. NOT_FOUND if there is none with the id, UNSUPPORTED for a model whose
  /// sequences cannot be transferred, UNAVAILABLE while a request waits or is executed, or while
  /// the sequence is held.
  virtual base::Result<HeldSequence> Hold(const request::CorrelationId& id) = 0;

  /// Begins a sequence with states that another server has saved, which has been idle for
  /// `idle_ns`, and holds it. Without a free slot it waits in the backlog, or with `needs_slot`
  /// UNAVAILABLE is returned. ALREADY_EXISTS if a sequence with the id takes requests. Other errors
  /// are those of SequenceStates::Restore. Returns its handle. May throw std::bad_alloc; then
  /// nothing has changed.
  virtual base::Result<uint64_t> Adopt(const request::CorrelationId& id,
                                       const std::vector<request::SavedState>& states,
                                       uint64_t idle_ns, bool needs_slot) = 0;

  /// Ends the hold of a sequence. Returns false if it has ended meanwhile, or if a sequence with
  /// the same id was begun: it ends then.
  virtual bool Settle(uint64_t handle, HoldEnd end) = 0;
};

}  // namespace nereid::schedule
