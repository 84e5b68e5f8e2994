// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/status.h"

namespace nereid::schedule {

/// How much of a resource there is (--rate-limit-resource=name:count[:device]). A resource of a
/// device has the largest count that is given for that device or for every device; a global one the
/// largest that is given at all. Of two counts for one name and device the smaller one holds.
struct ResourceCapacity {
  std::string name;
  uint64_t count = 0;
  std::optional<int32_t> device;  // none = every device
};

/// What one execution of an instance occupies (instance_group.rate_limiter.resources).
struct ResourceNeed {
  std::string name;
  bool global = false;  // one supply for the whole server instead of one for each device
  uint64_t count = 0;
};

/// A model instance as the rate limiter sees it.
struct LimitedInstance {
  int32_t device = 0;               // instances on CPUs share device 0
  uint32_t priority = 0;            // 0 counts as 1; twice the value, half the executions
  std::vector<ResourceNeed> needs;  // of two with one name and scope the later one counts
};

/// Decides which model instance may execute next when instances share resources, over all models of
/// a server, with Triton's rules:
///  - an instance is available, staged (it has a batch and waits) or allocated (it executes);
///  - staged instances stand in line by executions so far × priority, the smallest first, equals in
///    order of arrival;
///  - only the first in line is tried. While its resources are taken, everyone behind it waits,
///    also those that need nothing: so a large need is never starved by small ones;
///  - without explicit capacities there is as much of a resource as the most demanding registered
///    instance asks for, so that each instance can run and two that ask for more than that cannot
///    run together. With explicit ones, a name that is not listed has capacity 0.
/// Pure: no locks, threads or clock. Not thread-safe.
class RateLimiter {
 public:
  using InstanceId = uint64_t;

  explicit RateLimiter(const std::vector<ResourceCapacity>& capacities = {});

  /// Admits the instances of a model, all of them or none, in state available; the ids come in the
  /// same order. INVALID_ARG, with Triton's texts, for a need above the capacity and for a name
  /// that is global here and bound to a device there.
  base::Result<std::vector<InstanceId>> Register(const std::vector<LimitedInstance>& instances);

  /// Forgets an instance in whatever state it is; what it occupied is free again and its place in
  /// the line is gone. Unknown ids are ignored.
  void Unregister(InstanceId id);

  /// Whether an instance is neither staged nor allocated; false for an unknown id.
  bool IsAvailable(InstanceId id) const;

  /// Of these instances of a model the one that should get its next batch: the one with the fewest
  /// executions × priority, the first of equals. `available` must not be empty.
  InstanceId Choose(const std::vector<InstanceId>& available) const;

  /// Puts an available instance into the line.
  void Stage(InstanceId id);

  /// Takes a staged instance out of the line again: there is nothing left for it to execute.
  /// False (and no change) if it is not staged.
  bool Withdraw(InstanceId id);

  /// Allocates the first instance in line if its resources are free. To be called until it gives
  /// nothing whenever an instance was staged, withdrawn, released or unregistered.
  std::optional<InstanceId> Grant();

  /// Frees what an allocated instance occupied. `executed` counts as an execution; false for an
  /// instance that found nothing to execute when its turn came.
  void Release(InstanceId id, bool executed);

  /// Executions so far, for tests and reports; 0 for an unknown id.
  uint64_t executions(InstanceId id) const;
  size_t staged_count() const { return line_.size(); }
  /// How much of a resource is in use, and how much there is; `device` none = the global one.
  uint64_t InUse(const std::string& name, std::optional<int32_t> device) const;
  uint64_t Capacity(const std::string& name, std::optional<int32_t> device) const;

 private:
  using ResourceKey = std::pair<std::optional<int32_t>, std::string>;  // global ones come first
  using Needs = std::map<ResourceKey, uint64_t>;
  enum class State { kAvailable, kStaged, kAllocated };
  struct Place {  // in the line
    uint64_t scaled_executions;
    uint64_t arrival;
    InstanceId id;
    auto operator<=>(const Place&) const = default;
  };
  struct Instance {
    uint64_t priority = 1;
    Needs needs;
    uint64_t executions = 0;
    State state = State::kAvailable;
    Place place{};  // while staged
  };

  uint64_t ScaledExecutions(const Instance& instance) const;
  /// The largest need of one instance for each resource.
  Needs LargestNeeds(const std::vector<Needs>& additional) const;
  base::Status CheckCapacities(const Needs& largest) const;
  void SetCapacities(const Needs& largest);
  uint64_t ExplicitCapacity(const ResourceKey& key) const;
  bool Fits(const Needs& needs) const;
  void Occupy(const Needs& needs);
  void Free(const Needs& needs);

  Needs explicit_;  // a key without a device is for every device
  Needs capacities_;
  Needs in_use_;
  std::map<InstanceId, Instance> instances_;
  std::set<Place> line_;
  InstanceId next_id_ = 1;
  uint64_t next_arrival_ = 0;
};

}  // namespace nereid::schedule
