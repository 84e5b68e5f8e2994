// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "model/model_version.h"
#include "request/correlation_id.h"

namespace nereid::server {

class ServedModel;

/// The replaced versions of a model that still have open sequences. A request that continues such a
/// sequence goes to the version that has it, until the sequence ends; so an exchange of versions
/// neither fails nor mixes sequences. Thread-safe.
///
/// Locks: no model is called or released while mutex_ is held.
class Predecessors {
 public:
  /// The maximum number of replaced versions that are kept. Where a model is replaced more often
  /// within the life of a sequence, the sequences of the oldest version end.
  static constexpr size_t kMax = 4;

  struct Version {
    std::shared_ptr<ServedModel> served;
    model::ModelVersion* model;  // of `served`
  };

  Predecessors() = default;
  Predecessors(const Predecessors&) = delete;
  Predecessors& operator=(const Predecessors&) = delete;

  /// Adds versions that are replaced, the latest first. The sequences of those that are too many
  /// end, unless they are executed.
  void Add(std::vector<Version> replaced);
  /// Returns the versions, the latest first.
  std::vector<Version> List() const;
  /// Returns whether there are none. Costs one atomic load.
  bool IsEmpty() const { return count_.load(std::memory_order_acquire) == 0; }

  /// Returns the version with the sequence of this id; null if none has it. A request that names a
  /// version (`version` is not -1) reaches only predecessors of that number.
  std::shared_ptr<ServedModel> FindOwner(const request::CorrelationId& id, int64_t version) const;

  /// Drops the versions without sequences. Returns whether any is left.
  bool DropFinished();
  /// Ends the sequences that wait for their clients, and drops all versions.
  void DropAll();

 private:
  using Versions = std::vector<Version>;
  /// Replaces the list by `versions`, which then has the previous one: the caller releases it after
  /// the lock.
  void Exchange(Versions* versions) NEREID_REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  Versions versions_ NEREID_GUARDED_BY(mutex_);  // the latest first
  std::atomic<size_t> count_{0};
};

}  // namespace nereid::server
