// SPDX-License-Identifier: Apache-2.0
#include "model/cpu_plan.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/parse_number.h"
#include "config/known_backends.h"
#include "model_config.pb.h"

namespace nereid::model {

using base::Status;

namespace {

constexpr int kMaxThreads = 4096;

/// The parameters of the frameworks' backends for the number of threads; they override the plan.
constexpr const char* kFrameworkParameters[] = {"intra_op_thread_count", "INTRA_OP_THREAD_COUNT",
                                                "TF_NUM_INTRA_THREADS"};

std::optional<int> ParseThreads(const std::string& text) {
  const auto threads = base::ParseWhole<int>(text);
  if (!threads || *threads < 1 || *threads > kMaxThreads) return std::nullopt;
  return threads;
}

const std::string* FindSetting(const BackendSettings& settings, const std::string& backend,
                               const std::string& key) {
  const std::string* found = nullptr;
  for (const std::string& scope : {std::string(), backend}) {
    const auto of_scope = settings.find(scope);
    if (of_scope == settings.end()) continue;
    for (const auto& [name, value] : of_scope->second) {
      if (name == key) found = &value;
    }
  }
  return found;
}

/// Applies the settings that override the plan: the model's parameters, then --backend-config. A
/// malformed value is left to the framework to report.
void ApplyFrameworkSettings(const config::ModelConfig& config, const BackendSettings& defaults,
                            CpuShare* share) {
  for (const char* key : kFrameworkParameters) {
    const std::string* value = config.FindParameter(key);
    std::string set_by = key;
    if (value == nullptr) {
      value = FindSetting(defaults, config.backend(), key);
      set_by = "--backend-config " + set_by;
    }
    if (value == nullptr) continue;
    share->threads = ParseThreads(*value).value_or(share->threads);
    share->set_by = std::move(set_by);
    return;
  }
}

/// Returns whether the plan may choose the number of instances. With sequences the number is the
/// client's concern: it limits the live sequences.
bool LeavesCountOpen(const config::ModelConfig& completed, const config::ModelConfig& written) {
  if (completed.sequence_batching()) return false;
  if (completed.instance_groups().size() != 1) return false;
  const config::InstanceGroup& group = completed.instance_groups().front();
  if (group.kind != config::InstanceKind::kCpu || group.passive) return false;
  return written.instance_groups().empty() || written.instance_groups().front().count < 1;
}

}  // namespace

int ThreadsPerInstance(int cpus, size_t models, size_t instances) {
  const auto takers = static_cast<double>(std::max<size_t>(1, models)) *
                      static_cast<double>(std::max<size_t>(1, instances));
  return std::max(1, static_cast<int>(cpus / takers));
}

int PlannedInstances(int cpus, size_t models, int listed) {
  constexpr double kShares = 4;
  const double wanted = kShares * cpus / static_cast<double>(std::max<size_t>(1, models));
  return std::max({listed, std::min(cpus, 2), static_cast<int>(std::min<double>(cpus, wanted))});
}

size_t CountCpuInstances(const config::ModelConfig& config) {
  size_t count = 0;
  for (const config::InstanceGroup& group : config.instance_groups()) {
    if (group.kind == config::InstanceKind::kGpu || group.passive) continue;
    count += static_cast<size_t>(std::max(0, group.count));
  }
  return count;
}

config::ModelConfigPtr WithCpuThreads(const config::ModelConfig& config, const CpuShare& share) {
  inference::ModelConfig proto = config.proto();
  auto& parameters = *proto.mutable_parameters();
  if (share.threads > 0 && config.FindParameter(kCpuThreadsParameter) == nullptr) {
    parameters[kCpuThreadsParameter].set_string_value(std::to_string(share.threads));
  }
  for (const auto& [key, is_set] : {std::pair(kCpuThreadsVaryParameter, share.varies),
                                    std::pair(kCpuThreadsSharedParameter, share.shared)}) {
    parameters.erase(key);
    if (is_set) parameters[key].set_string_value("true");
  }
  return config::ModelConfig::Create(std::move(proto));
}

CpuPlan::Entry& CpuPlan::Entry::operator=(Entry&& other) noexcept {
  std::swap(plan_, other.plan_);
  std::swap(adds_instances_, other.adds_instances_);
  std::swap(share_, other.share_);
  return *this;
}

CpuPlan::Entry::~Entry() {
  if (plan_ == nullptr) return;
  base::MutexLock lock(plan_->mutex_);
  plan_->ForgetLocked(share_);
}

void CpuPlan::Entry::Fix() {
  if (plan_ == nullptr) return;
  const base::MutexLock lock(plan_->mutex_);
  share_->varies = false;
}

config::ModelConfigPtr CpuPlan::Entry::WithInstances(const config::ModelConfigPtr& completed,
                                                     const config::ModelConfig& written) {
  if (!varies() || !adds_instances_ || !LeavesCountOpen(*completed, written)) return completed;
  inference::ModelConfig proto = completed->proto();
  const base::MutexLock lock(plan_->mutex_);
  const int cpus = share_->cpus.empty() ? plan_->cpus_ : static_cast<int>(share_->cpus.size());
  const size_t models = share_->cpus.empty() ? plan_->ModelCountLocked(share_->model) : 1;
  inference::ModelInstanceGroup& group = *proto.mutable_instance_group(0);
  group.set_count(PlannedInstances(cpus, models, group.count()));
  share_->instances = static_cast<size_t>(group.count());
  return config::ModelConfig::Create(std::move(proto));
}

void CpuPlan::Expect(size_t models) {
  base::MutexLock lock(mutex_);
  expected_ = models;
}

size_t CpuPlan::ModelCountLocked(const std::string& with) const {
  return std::max(expected_, versions_.size() + (versions_.contains(with) ? 0 : 1));
}

void CpuPlan::ForgetLocked(std::list<CpuShare>::iterator share) {
  const auto versions = versions_.find(share->model);
  if (--versions->second == 0) versions_.erase(versions);
  shares_.erase(share);
}

base::Result<CpuPlan::Entry> CpuPlan::Add(const config::ModelConfig& config, int64_t version,
                                          const std::vector<int>& bound_to, bool can_vary) {
  CpuShare share;
  share.model = config.name();
  share.version = version;
  share.instances = CountCpuInstances(config);
  share.cpus = bound_to;
  Entry entry;
  if (share.instances == 0) return entry;
  const std::string* const own = config.FindParameter(kCpuThreadsParameter);
  const std::optional<int> threads = own == nullptr ? std::nullopt : ParseThreads(*own);
  if (own != nullptr && !threads) {
    return Status::InvalidArgument(
        "model '" + config.name() + "': parameter '" + kCpuThreadsParameter + "' is '" + *own +
        "', but must be an integer from 1 to " + std::to_string(kMaxThreads));
  }
  base::MutexLock lock(mutex_);
  if (threads) {
    share.threads = *threads;
    share.set_by = kCpuThreadsParameter;
  } else {
    share.threads =
        bound_to.empty()
            ? ThreadsPerInstance(cpus_, ModelCountLocked(config.name()), share.instances)
            : ThreadsPerInstance(static_cast<int>(bound_to.size()), 1, share.instances);
    share.set_by = bound_to.empty() ? "plan" : "host policy";
  }
  const std::string planned_by = share.set_by;
  ApplyFrameworkSettings(config, defaults_, &share);
  const config::KnownBackend* const known = config::FindKnownBackend(config.backend());
  share.shared = known != nullptr && known->shares_threads && share.set_by == "plan";
  if (share.shared) share.threads = cpus_;
  share.varies = can_vary && !threads && share.set_by == planned_by;
  share.most_threads = !share.varies      ? share.threads
                       : bound_to.empty() ? cpus_
                                          : static_cast<int>(bound_to.size());
  ++versions_[share.model];
  entry.plan_ = this;
  entry.share_ = shares_.insert(shares_.end(), std::move(share));
  return entry;
}

std::vector<CpuShare> CpuPlan::Shares() const {
  base::MutexLock lock(mutex_);
  std::vector<CpuShare> shares(shares_.begin(), shares_.end());
  std::sort(shares.begin(), shares.end(), [](const CpuShare& a, const CpuShare& b) {
    return std::tie(a.model, a.version) < std::tie(b.model, b.version);
  });
  return shares;
}

}  // namespace nereid::model
