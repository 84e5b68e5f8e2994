// SPDX-License-Identifier: Apache-2.0
#include "schedule/limits/rate_limiter.h"

#include <algorithm>

namespace nereid::schedule {
namespace {

/// What an instance has executed when it becomes available: Triton runs its initialization and its
/// warmup, with or without samples, as executions.
constexpr uint64_t kFirstExecutions = 2;

uint64_t SaturatingMultiply(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

}  // namespace

RateLimiter::RateLimiter(const std::vector<ResourceCapacity>& capacities) {
  for (const ResourceCapacity& capacity : capacities) {
    const auto [place, inserted] =
        explicit_.try_emplace({capacity.device, capacity.name}, capacity.count);
    if (!inserted) place->second = std::min(place->second, capacity.count);
  }
}

base::Result<std::vector<RateLimiter::InstanceId>> RateLimiter::Register(
    const std::vector<LimitedInstance>& instances) {
  std::vector<Counts> needs;
  for (const LimitedInstance& instance : instances) {
    Counts& own = needs.emplace_back();
    for (const ResourceNeed& need : instance.needs) {
      const auto device = need.global ? std::nullopt : std::optional<int32_t>(instance.device);
      own[{device, need.name}] = need.count;
    }
  }
  NEREID_RETURN_IF_ERROR(CheckCapacities(LargestNeeds(needs)));
  std::vector<InstanceId> ids;
  std::map<InstanceId, Instance> added;
  Resources new_resources;
  for (size_t i = 0; i < instances.size(); ++i) {
    const InstanceId id = next_id_ + i;
    ids.push_back(id);
    Instance& instance = added[id];
    instance.priority = std::max<uint64_t>(1, instances[i].priority);
    StagedInstances entry = {StagedEntry{0, 0, id}};
    instance.entry = entry.extract(entry.begin());
    for (const auto& [key, count] : needs[i]) {
      auto resource = resources_.find(key);
      if (resource == resources_.end()) resource = new_resources.try_emplace(key).first;
      instance.needs.push_back({resource, count});
    }
  }
  // Nothing below allocates. The nodes of maps, and iterators to them, stay when they are moved.
  next_id_ += instances.size();
  resources_.merge(new_resources);
  instances_.merge(added);
  UpdateResources();
  return ids;
}

void RateLimiter::Unregister(InstanceId id) {
  const auto found = instances_.find(id);
  if (found == instances_.end()) return;
  if (found->second.state == State::kStaged) Unstage(found->second);
  if (found->second.state == State::kAllocated) Free(found->second.needs);
  instances_.erase(found);
  UpdateResources();
}

bool RateLimiter::IsAvailable(InstanceId id) const {
  const auto found = instances_.find(id);
  return found != instances_.end() && found->second.state == State::kAvailable;
}

RateLimiter::InstanceId RateLimiter::Choose(const std::vector<InstanceId>& available) const {
  return *std::min_element(available.begin(), available.end(), [&](InstanceId a, InstanceId b) {
    return ScaledExecutions(instances_.at(a)) < ScaledExecutions(instances_.at(b));
  });
}

void RateLimiter::Stage(InstanceId id) {
  Instance& instance = instances_.at(id);
  if (instance.state != State::kAvailable) return;
  instance.state = State::kStaged;
  instance.entry.value() = {ScaledExecutions(instance), next_arrival_++, id};
  instance.place = staged_.insert(std::move(instance.entry)).position;
}

void RateLimiter::Unstage(Instance& instance) { instance.entry = staged_.extract(instance.place); }

bool RateLimiter::Withdraw(InstanceId id) {
  const auto found = instances_.find(id);
  if (found == instances_.end() || found->second.state != State::kStaged) return false;
  Unstage(found->second);
  found->second.state = State::kAvailable;
  return true;
}

std::optional<RateLimiter::InstanceId> RateLimiter::Grant() {
  if (staged_.empty()) return std::nullopt;
  const InstanceId id = staged_.begin()->id;
  Instance& instance = instances_.at(id);
  if (!Fits(instance.needs)) return std::nullopt;
  Unstage(instance);
  instance.state = State::kAllocated;
  Occupy(instance.needs);
  return id;
}

void RateLimiter::Release(InstanceId id, bool executed) {
  const auto found = instances_.find(id);
  if (found == instances_.end() || found->second.state != State::kAllocated) return;
  found->second.state = State::kAvailable;
  if (executed) ++found->second.executions;
  Free(found->second.needs);
}

uint64_t RateLimiter::executions(InstanceId id) const {
  const auto found = instances_.find(id);
  return found == instances_.end() ? 0 : found->second.executions;
}

uint64_t RateLimiter::InUse(const std::string& name, std::optional<int32_t> device) const {
  const auto found = resources_.find({device, name});
  return found == resources_.end() ? 0 : found->second.in_use;
}

uint64_t RateLimiter::Capacity(const std::string& name, std::optional<int32_t> device) const {
  const auto found = resources_.find({device, name});
  return found == resources_.end() ? 0 : found->second.capacity;
}

uint64_t RateLimiter::ScaledExecutions(const Instance& instance) const {
  return SaturatingMultiply(kFirstExecutions + instance.executions, instance.priority);
}

RateLimiter::Counts RateLimiter::LargestNeeds(const std::vector<Counts>& additional) const {
  Counts largest;
  const auto add = [&largest](const ResourceKey& key, uint64_t count) {
    uint64_t& maximum = largest[key];
    maximum = std::max(maximum, count);
  };
  for (const auto& [id, instance] : instances_) {
    for (const Need& need : instance.needs) add(need.resource->first, need.count);
  }
  for (const Counts& needs : additional) {
    for (const auto& [key, count] : needs) add(key, count);
  }
  return largest;
}

base::Status RateLimiter::CheckCapacities(const Counts& largest) const {
  if (!explicit_.empty()) {
    for (const auto& [key, count] : largest) {
      const uint64_t limit = ExplicitCapacity(key);
      if (limit >= count) continue;
      return base::Status::InvalidArgument(
          "Resource count for \"" + key.second + "\" is limited to " + std::to_string(limit) +
          " which will prevent scheduling of one or more model instances, the minimum required "
          "count is " +
          std::to_string(count));
    }
  }
  for (const auto& [key, count] : largest) {
    if (key.first.has_value() && largest.contains({std::nullopt, key.second})) {
      return base::Status::InvalidArgument(
          "Resource \"" + key.second +
          "\" is present as both global and device-specific resource in the model configuration.");
    }
  }
  return base::Status::Ok();
}

void RateLimiter::UpdateResources() {
  for (auto& [key, resource] : resources_) {
    resource.capacity = 0;
    resource.is_needed = false;
  }
  for (const auto& [id, instance] : instances_) {
    for (const Need& need : instance.needs) {
      Resource& resource = need.resource->second;
      resource.is_needed = true;
      resource.capacity = std::max(resource.capacity, need.count);
    }
  }
  std::erase_if(resources_, [](const auto& entry) { return !entry.second.is_needed; });
  if (explicit_.empty()) return;
  for (auto& [key, resource] : resources_) resource.capacity = ExplicitCapacity(key);
}

uint64_t RateLimiter::ExplicitCapacity(const ResourceKey& key) const {
  const auto& [device, name] = key;
  uint64_t capacity = 0;
  for (const auto& [given, count] : explicit_) {
    const bool applies = !device || !given.first || given.first == device;
    if (applies && given.second == name) capacity = std::max(capacity, count);
  }
  return capacity;
}

bool RateLimiter::Fits(const std::vector<Need>& needs) {
  return std::all_of(needs.begin(), needs.end(), [](const Need& need) {
    const Resource& resource = need.resource->second;
    // Capacities shrink when the most demanding model is unloaded, so more may be in use than the
    // capacity: the subtraction comes after the first comparison to avoid an underflow.
    return need.count <= resource.capacity && resource.in_use <= resource.capacity - need.count;
  });
}

void RateLimiter::Occupy(const std::vector<Need>& needs) {
  for (const Need& need : needs) need.resource->second.in_use += need.count;
}

void RateLimiter::Free(const std::vector<Need>& needs) {
  for (const Need& need : needs) need.resource->second.in_use -= need.count;
}

}  // namespace nereid::schedule
