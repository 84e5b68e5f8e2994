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

/// The amount of a resource (--rate-limit-resource=name:count[:device]). A resource of a device has
/// the largest count given for that device or for every device; a global resource has the largest
/// count given at all. Of two counts for the same name and device the smaller one applies.
struct ResourceCapacity {
  std::string name;
  uint64_t count = 0;
  std::optional<int32_t> device;  // none: every device
};

/// An amount of a resource that one execution of an instance occupies
/// (instance_group.rate_limiter.resources).
struct ResourceNeed {
  std::string name;
  bool global = false;  // one supply for the whole server instead of one per device
  uint64_t count = 0;
};

/// A model instance as the rate limiter sees it.
struct LimitedInstance {
  int32_t device = 0;     // instances on CPUs share device 0
  uint32_t priority = 0;  // 0 counts as 1; an instance with twice the value executes half as often
  std::vector<ResourceNeed> needs;  // of two with the same name and scope the later one counts
};

/// Decides which model instance may execute next when the instances of all models of a server share
/// resources, with Triton's rules:
///  - An instance is available, staged (it has a batch and waits) or allocated (it executes).
///  - Staged instances are ordered by executions so far × priority, smallest first; equal ones in
///    order of arrival. The initialization and the warmup of an instance count as two executions,
///    so an instance with a higher priority value starts behind the others.
///  - Only the first staged instance is tried. While its resources are taken, all others wait, even
///    those that need nothing, so that small needs never starve a large one.
///  - Without explicit capacities, each resource has as much as the most demanding registered
///    instance asks for. With explicit capacities, a resource that is not listed has capacity 0.
///
/// Has no locks, threads or clock. Only Register allocates, so a permit cannot be lost for lack of
/// memory. Not thread-safe.
class RateLimiter {
 public:
  using InstanceId = uint64_t;

  explicit RateLimiter(const std::vector<ResourceCapacity>& capacities = {});

  /// Registers the instances of a model, all or none, in state available, also where it throws
  /// std::bad_alloc. Returns their ids in the same order. Returns INVALID_ARGUMENT, with Triton's
  /// texts, for a need above the capacity and for a resource name that is global in one place and
  /// bound to a device in another.
  base::Result<std::vector<InstanceId>> Register(const std::vector<LimitedInstance>& instances);

  /// Removes an instance in any state and frees its resources. Ignores unknown ids.
  void Unregister(InstanceId id);

  /// Returns whether an instance is neither staged nor allocated; false for an unknown id.
  bool IsAvailable(InstanceId id) const;

  /// Returns the instance of a model that should get the next batch: the one with the smallest
  /// executions × priority, the first of equals. `available` must not be empty.
  InstanceId Choose(const std::vector<InstanceId>& available) const;

  /// Stages an available instance; does nothing in another state.
  void Stage(InstanceId id);

  /// Makes a staged instance available again because it has nothing to execute. Returns false, and
  /// changes nothing, if it is not staged.
  bool Withdraw(InstanceId id);

  /// Allocates the first staged instance if its resources are free, and returns its id. Must be
  /// called until it returns nothing after each Stage, Withdraw, Release and Unregister.
  std::optional<InstanceId> Grant();

  /// Frees the resources of an allocated instance and makes it available. `executed` says whether
  /// an execution is counted; it is false if the instance found nothing to execute.
  void Release(InstanceId id, bool executed);

  /// Returns the executions so far, for tests and reports; 0 for an unknown id.
  uint64_t executions(InstanceId id) const;
  size_t staged_count() const { return staged_.size(); }
  /// Returns how much of a resource is in use. `device` none: the global resource.
  uint64_t InUse(const std::string& name, std::optional<int32_t> device) const;
  /// Returns how much of a resource there is. `device` none: the global resource.
  uint64_t Capacity(const std::string& name, std::optional<int32_t> device) const;

 private:
  using ResourceKey = std::pair<std::optional<int32_t>, std::string>;  // no device: global
  using Counts = std::map<ResourceKey, uint64_t>;
  enum class State { kAvailable, kStaged, kAllocated };
  struct Resource {
    uint64_t capacity = 0;
    uint64_t in_use = 0;
    bool is_needed = true;  // by a registered instance
  };
  using Resources = std::map<ResourceKey, Resource>;  // those that an instance needs
  struct Need {
    Resources::iterator resource;
    uint64_t count;
  };
  /// An entry of staged_. Compared member by member: executions, then arrival.
  struct StagedEntry {
    uint64_t scaled_executions;
    uint64_t arrival;
    InstanceId id;
    auto operator<=>(const StagedEntry&) const = default;
  };
  using StagedInstances = std::set<StagedEntry>;
  struct Instance {
    uint64_t priority = 1;
    std::vector<Need> needs;
    uint64_t executions = 0;
    State state = State::kAvailable;
    StagedInstances::iterator place;   // in staged_, while staged
    StagedInstances::node_type entry;  // the node for staged_, while not staged
  };

  uint64_t ScaledExecutions(const Instance& instance) const;
  /// Returns, for each resource, the largest need of a single instance, registered or in
  /// `additional`.
  Counts LargestNeeds(const std::vector<Counts>& additional) const;
  base::Status CheckCapacities(const Counts& largest) const;
  /// Sets the capacity of each resource for the registered instances, and removes the resources
  /// that none of them needs.
  void UpdateResources();
  uint64_t ExplicitCapacity(const ResourceKey& key) const;
  /// Takes the instance out of staged_.
  void Unstage(Instance& instance);
  static bool Fits(const std::vector<Need>& needs);
  static void Occupy(const std::vector<Need>& needs);
  static void Free(const std::vector<Need>& needs);

  Counts explicit_;  // a key without a device is for every device
  Resources resources_;
  std::map<InstanceId, Instance> instances_;
  StagedInstances staged_;
  InstanceId next_id_ = 1;
  uint64_t next_arrival_ = 0;
};

}  // namespace nereid::schedule
