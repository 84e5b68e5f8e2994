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
  std::vector<Needs> needs;
  for (const LimitedInstance& instance : instances) {
    Needs& own = needs.emplace_back();
    for (const ResourceNeed& need : instance.needs) {
      const auto device = need.global ? std::nullopt : std::optional<int32_t>(instance.device);
      own[{device, need.name}] = need.count;
    }
  }
  const Needs largest = LargestNeeds(needs);
  NEREID_RETURN_IF_ERROR(CheckCapacities(largest));
  SetCapacities(largest);
  std::vector<InstanceId> ids;
  for (size_t i = 0; i < instances.size(); ++i) {
    ids.push_back(next_id_++);
    Instance& instance = instances_[ids.back()];
    instance.priority = std::max<uint64_t>(1, instances[i].priority);
    instance.needs = std::move(needs[i]);
  }
  return ids;
}

void RateLimiter::Unregister(InstanceId id) {
  const auto found = instances_.find(id);
  if (found == instances_.end()) return;
  if (found->second.state == State::kStaged) staged_.erase(found->second.entry);
  if (found->second.state == State::kAllocated) Free(found->second.needs);
  instances_.erase(found);
  SetCapacities(LargestNeeds({}));
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
  instance.entry = {ScaledExecutions(instance), next_arrival_++, id};
  staged_.insert(instance.entry);
}

bool RateLimiter::Withdraw(InstanceId id) {
  const auto found = instances_.find(id);
  if (found == instances_.end() || found->second.state != State::kStaged) return false;
  staged_.erase(found->second.entry);
  found->second.state = State::kAvailable;
  return true;
}

std::optional<RateLimiter::InstanceId> RateLimiter::Grant() {
  if (staged_.empty()) return std::nullopt;
  const InstanceId id = staged_.begin()->id;
  Instance& instance = instances_.at(id);
  if (!Fits(instance.needs)) return std::nullopt;
  staged_.erase(staged_.begin());
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
  const auto found = in_use_.find({device, name});
  return found == in_use_.end() ? 0 : found->second;
}

uint64_t RateLimiter::Capacity(const std::string& name, std::optional<int32_t> device) const {
  const auto found = capacities_.find({device, name});
  return found == capacities_.end() ? 0 : found->second;
}

uint64_t RateLimiter::ScaledExecutions(const Instance& instance) const {
  return SaturatingMultiply(kFirstExecutions + instance.executions, instance.priority);
}

RateLimiter::Needs RateLimiter::LargestNeeds(const std::vector<Needs>& additional) const {
  Needs largest;
  const auto add = [&largest](const Needs& needs) {
    for (const auto& [key, count] : needs) {
      uint64_t& maximum = largest[key];
      maximum = std::max(maximum, count);
    }
  };
  for (const auto& [id, instance] : instances_) add(instance.needs);
  for (const Needs& needs : additional) add(needs);
  return largest;
}

base::Status RateLimiter::CheckCapacities(const Needs& largest) const {
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

void RateLimiter::SetCapacities(const Needs& largest) {
  capacities_ = largest;
  if (explicit_.empty()) return;
  for (auto& [key, count] : capacities_) count = ExplicitCapacity(key);
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

bool RateLimiter::Fits(const Needs& needs) const {
  return std::all_of(needs.begin(), needs.end(), [this](const auto& need) {
    const uint64_t capacity = capacities_.at(need.first);
    const auto used = in_use_.find(need.first);
    const uint64_t in_use = used == in_use_.end() ? 0 : used->second;
    // Capacities shrink when the most demanding model is unloaded, so more may be in use than the
    // capacity: the subtraction comes after the first comparison to avoid an underflow.
    return need.second <= capacity && in_use <= capacity - need.second;
  });
}

void RateLimiter::Occupy(const Needs& needs) {
  for (const auto& [key, count] : needs) in_use_[key] += count;
}

void RateLimiter::Free(const Needs& needs) {
  for (const auto& [key, count] : needs) {
    const auto used = in_use_.find(key);
    used->second -= count;
    if (used->second == 0) in_use_.erase(used);
  }
}

}  // namespace nereid::schedule
