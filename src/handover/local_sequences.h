// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/result.h"
#include "handover/messages.h"

namespace nereid::handover {

/// A sequence of this server that is held for a transfer. Keeps its model alive. May be used by one
/// thread at a time.
class Hold {
 public:
  /// Ends the hold, if Settle() was not called: of a sequence that another server has asked for as
  /// Settle(true), of one that has come from another server as Settle(false).
  virtual ~Hold() = default;

  /// Ends the hold: this server serves the sequence, or drops it. Returns false if it has ended
  /// meanwhile. Must be called at most once.
  virtual bool Settle(bool serves) = 0;
};

/// The sequences of this server, as transfers see them. Thread-safe.
class LocalSequences {
 public:
  virtual ~LocalSequences() = default;

  struct Held {
    std::unique_ptr<Hold> hold;
    uint64_t idle_ns = 0;
    std::vector<request::SavedState> states;
  };
  /// Holds a sequence and copies its states, which may wait for a GPU. Errors: NOT_FOUND if it is
  /// not here; UNAVAILABLE if a request of it is not completed, or if it is held; UNSUPPORTED if
  /// its model keeps something of it itself; INVALID_ARGUMENT if it is here in another version of
  /// its model.
  virtual base::Result<Held> Take(const SequenceKey& key) = 0;

  /// Puts a sequence of another server into its model, and holds it. Errors: ALREADY_EXISTS if it
  /// is here; INVALID_ARGUMENT if its states are not those of the model; UNAVAILABLE without memory
  /// or, with `needs_slot`, without a free slot; those of finding the model.
  virtual base::Result<std::unique_ptr<Hold>> Put(const SequenceMessage& sequence,
                                                  bool needs_slot) = 0;

  /// Returns whether requests for the sequence are executed here.
  virtual bool Serves(const SequenceKey& key) const = 0;
};

}  // namespace nereid::handover
