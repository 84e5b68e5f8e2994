// SPDX-License-Identifier: Apache-2.0
#include "server/residency/resident_answers.h"

#include <utility>

#include "base/byte_budget.h"
#include "server/served_model.h"
#include "server/table_answers.h"

namespace nereid::server {

using base::Status;
using repository::VersionState;

namespace {

constexpr const char* kReason = "not in memory: it is loaded when a request needs it";

/// Returns whether the last load of the model has failed.
bool HasFailed(const repository::ModelTable& table, const std::string& name) {
  const auto* const versions = table.FindVersions({name});
  if (versions == nullptr) return false;
  for (const auto& [number, record] : *versions) {
    const bool is_unavailable = record.state() == VersionState::kUnavailable;
    if (is_unavailable && record.reason() != repository::kUnloadedReason) return true;
  }
  return false;
}

/// Returns the configuration of a known model without a load; null if it must be loaded first.
config::ModelConfigPtr ConfigWithoutLoad(const ModelResidency& residency, const std::string& name,
                                         int64_t version) {
  const auto known = residency.known().Find(name);
  if (known == nullptr) return nullptr;
  return known->served.empty() && base::ThreadMayBlock() ? nullptr : known->ConfigOf(version);
}

}  // namespace

bool CanLoad(const ModelResidency& residency, const repository::ModelTable& table,
             const std::string& name, int64_t version) {
  const auto known = residency.known().Find(name);
  return known != nullptr && known->MayHave(version) && !HasFailed(table, name);
}

base::Result<api::ModelTraits> TraitsOfKnown(const ModelResidency& residency,
                                             const std::string& name, int64_t version,
                                             Status unknown) {
  const auto known = residency.known().Find(name);
  if (known == nullptr) return unknown;
  const config::ModelConfigPtr config = known->ConfigOf(version);
  if (config == nullptr) return api::ModelTraits{};  // the load or the version will be refused
  return api::ModelTraits{config->decoupled(), config->max_batch_size()};
}

base::Result<api::ModelMetadata> DescribeKnown(ModelResidency& residency,
                                               const repository::ModelLifecycle& lifecycle,
                                               const std::string& name, int64_t version) {
  if (const auto config = ConfigWithoutLoad(residency, name, version)) {
    const auto known = residency.known().Find(name);
    return DescribeConfig(
        *config, name,
        version >= 0 || known == nullptr ? std::vector<int64_t>{version} : known->Versions());
  }
  NEREID_ASSIGN_OR_RETURN([[maybe_unused]] const ModelGate::Pass pass, residency.Await(name));
  return DescribeModel(*lifecycle.Table(), name, version);
}

base::Result<config::ModelConfigPtr> ConfigOfKnown(ModelResidency& residency,
                                                   const repository::ModelLifecycle& lifecycle,
                                                   const std::string& name, int64_t version) {
  if (auto config = ConfigWithoutLoad(residency, name, version)) return config;
  NEREID_ASSIGN_OR_RETURN([[maybe_unused]] const ModelGate::Pass pass, residency.Await(name));
  NEREID_ASSIGN_OR_RETURN(auto loaded, lifecycle.Table()->Find(name, version));
  return ServedModel::From(std::move(loaded))->identity().config;
}

base::Result<std::vector<api::ModelStatistics>> StatisticsOfKnown(const ModelResidency& residency,
                                                                  const std::string& name,
                                                                  int64_t version, Status unknown) {
  const auto known = residency.known().Find(name);
  if (known == nullptr || !known->MayHave(version)) return unknown;
  std::vector<int64_t> versions = known->Versions();
  if (version >= 0) versions = {version};
  std::vector<api::ModelStatistics> statistics;
  for (const int64_t each : versions) {
    api::ModelStatistics& empty = statistics.emplace_back();
    empty.name = name;
    empty.version = std::to_string(each);
  }
  return statistics;
}

void ExplainKnown(const ModelResidency& residency, std::vector<api::RepositoryIndexEntry>* index) {
  for (api::RepositoryIndexEntry& entry : *index) {
    const bool was_not_loaded = entry.state.empty();
    const bool was_evicted = entry.reason == repository::kUnloadedReason;
    if (!was_not_loaded && !was_evicted) continue;
    if (residency.known().FindGate(entry.name) == nullptr) continue;
    entry.state = VersionStateText(VersionState::kUnavailable);
    entry.reason = kReason;
  }
}

}  // namespace nereid::server
