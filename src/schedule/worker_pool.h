// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "schedule/worker.h"

namespace nereid::schedule {

/// The workers of a scheduler, and which of them are idle. Only Reserve and Find allocate. Not
/// thread-safe: the scheduler guards it with its mutex.
class WorkerPool {
 public:
  using Workers = std::vector<std::shared_ptr<Worker>>;

  /// Allocates memory for `count` further workers.
  void Reserve(size_t count);
  /// Adds a worker, which is idle. There must be memory for it.
  void Add(std::shared_ptr<Worker> worker);
  /// Returns the id for the next worker.
  InstanceId NextId() { return next_id_++; }

  /// Returns the workers of these instances.
  Workers Find(const std::vector<BatchRunner*>& runners) const;
  /// Makes workers leave: they are not idle any more and do not become idle again.
  void Leave(const Workers& leaving);
  /// Removes workers, which have left.
  void Remove(const Workers& removed);

  /// Returns the idle worker of an instance, or null.
  Worker* FindIdle(const BatchRunner* runner) const;
  void SetBusy(Worker& worker, uint64_t now_ns);
  /// Records that the worker's execution is over. It becomes idle, unless it leaves.
  void SetFree(Worker& worker);

  const Workers& all() const { return all_; }
  /// Idle workers; the last one has worked most recently.
  const std::vector<Worker*>& idle() const { return idle_; }
  bool empty() const { return all_.empty(); }
  bool AllIdle() const { return idle_.size() == all_.size(); }
  /// Returns the name of an instance, "" for an unknown one.
  std::string NameOf(InstanceId id) const;

 private:
  Workers all_;
  std::vector<Worker*> idle_;  // with room for all workers
  InstanceId next_id_ = 1;
};

}  // namespace nereid::schedule
