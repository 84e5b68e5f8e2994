// SPDX-License-Identifier: Apache-2.0
#include "repository/repository_snapshot.h"

#include <utility>

#include "base/log.h"

namespace nereid::repository {

SnapshotDifference Compare(const RepositorySnapshot& before, const RepositorySnapshot& now) {
  SnapshotDifference difference;
  for (const auto& [id, model] : before.models) {
    if (!now.models.contains(id)) difference.removed.push_back(id);
  }
  for (const auto& [id, model] : now.models) {
    const auto found = before.models.find(id);
    if (found == before.models.end()) {
      difference.added.push_back(id);
    } else if (!(found->second == model)) {
      difference.changed.push_back(id);
    }
  }
  return difference;
}

SnapshotReading ReadSnapshot(const RepositoryScan& scan, const RepositorySnapshot& before,
                             bool namespacing, RepositoryStorage& storage) {
  SnapshotReading reading;
  StateReader states(storage);
  auto& models = reading.snapshot.models;
  for (const auto& [id, model] : before.models) {
    if (scan.failures.contains(model.repository)) models[id] = model;
  }
  const auto counts = CountById(scan.directories, namespacing);
  for (const ModelDirectory& directory : scan.directories) {
    const ModelId id = IdOf(directory, namespacing);
    if (counts.at(id) > 1) {
      base::Status& failure = reading.failures[directory.name];
      failure = base::Status::Internal("failed to poll model '" + directory.name +
                                       "': not unique across all model repositories");
      LOG_ERROR << failure.message();
      continue;
    }
    // A known model of a repository that cannot be read now keeps its state.
    if (models.contains(id)) continue;
    auto files = states.Read(directory.repository, directory.path);
    if (files.ok()) {
      models[id] = {directory.path, std::move(files).value(), directory.repository};
      reading.directories[id] = directory;
      continue;
    }
    LOG_ERROR_OF(.model = id.name)
        << "Poll failed for model directory '" << id << "': " << files.status().message();
    reading.failures[ToText(id)] = PollFailure(ToText(id));
    const auto known = before.models.find(id);
    if (known != before.models.end()) models[id] = known->second;
  }
  return reading;
}

}  // namespace nereid::repository
