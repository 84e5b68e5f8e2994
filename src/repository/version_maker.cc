// SPDX-License-Identifier: Apache-2.0
#include "repository/version_maker.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/files.h"
#include "base/log.h"

namespace nereid::repository {

VersionMaker::Version VersionMaker::MakeOnce(const VersionSource& source, VersionAction action,
                                             uint64_t generation) const {
  const auto entry = std::make_shared<LivingVersions::Entry>(living_, source.id, source.version);
  // The entry ends last: when the list of living versions is empty, these objects may be destroyed.
  const auto on_destroyed = [&served = served_, entry, id = source.id, version = source.version,
                             generation] {
    served.NoteDestroyed(id, version, generation);
    entry->End();
  };
  auto made =
      action == VersionAction::kLoad
          ? loader_.Load(source, on_destroyed)
          : loader_.Update(served_.ServingModel(source.id, source.version), source, on_destroyed);
  if (!made.ok()) entry->End();
  return made;
}

VersionMaker::Version VersionMaker::MakeWithRetries(const VersionSource& source,
                                                    VersionAction action,
                                                    uint64_t generation) const {
  LOG_INFO_OF(.model = source.id.name)
      << (action == VersionAction::kLoad ? "loading: " : "updating: ") << source.id << ":"
      << source.version;
  auto model = MakeOnce(source, action, generation);
  for (uint32_t retry = 0; !model.ok() && retry < retries_ && !gate_.IsClosed(); ++retry) {
    LOG_WARNING_OF(.model = source.id.name) << "retrying to load '" << source.id << "' version "
                                            << source.version << ": " << model.status().message();
    model = MakeOnce(source, action, generation);
  }
  if (!model.ok()) {
    LOG_ERROR_OF(.model = source.id.name) << "failed to load '" << source.id << "' version "
                                          << source.version << ": " << model.status().ToString();
  }
  return model;
}

VersionMaker::Made VersionMaker::Make(const ModelId& id, const PolledModel& polled,
                                      const LoadBasis& before, uint64_t generation) const {
  const std::set<int64_t> ready = served_.ReadyVersions(id);
  const auto plan = PlanVersions(before, polled.basis, ready, polled.versions);
  const bool only_updates =
      ready.size() == plan.size() && std::all_of(plan.begin(), plan.end(), [](const auto& entry) {
        return entry.second == VersionAction::kUpdate;
      });
  Made made;
  made.outcome = only_updates ? LoadOutcome::kUpdated : LoadOutcome::kAnew;
  for (const auto& [version, action] : plan) {
    const VersionSource source{id,
                               version,
                               polled.directory.path,
                               base::JoinPath(polled.directory.path, std::to_string(version)),
                               polled.basis.config,
                               polled.basis.configured,
                               polled.origin};
    made.versions.emplace(version, MakeWithRetries(source, action, generation));
  }
  return made;
}

}  // namespace nereid::repository
