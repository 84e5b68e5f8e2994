// SPDX-License-Identifier: Apache-2.0
#include "repository/repository_snapshot.h"

#include <utility>

#include "base/log.h"
#include "base/parallel.h"

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

namespace {

/// A directory of a scan whose files are read, and what was read.
struct Reading {
  ModelId id;
  const ModelDirectory* directory = nullptr;
  base::Result<FileState> files = base::Status::Internal("not read");
};

/// Returns the directories to read, which `states` is prepared for. A model id of several
/// directories becomes a failure. `models` has the models that keep their state.
std::vector<Reading> ChooseDirectories(const RepositoryScan& scan, bool namespacing,
                                       const std::map<ModelId, RepositorySnapshot::Model>& models,
                                       StateReader* states,
                                       std::map<std::string, base::Status>* failures) {
  std::vector<Reading> chosen;
  const auto counts = CountById(scan.directories, namespacing);
  for (const ModelDirectory& directory : scan.directories) {
    ModelId id = IdOf(directory, namespacing);
    if (counts.at(id) > 1) {
      base::Status& failure = (*failures)[directory.name];
      failure = base::Status::Internal("failed to poll model '" + directory.name +
                                       "': not unique across all model repositories");
      LOG_ERROR << failure.message();
      continue;
    }
    // A known model of a repository that cannot be read now keeps its state.
    if (models.contains(id)) continue;
    states->Prepare(directory.repository);
    chosen.push_back({std::move(id), &directory});
  }
  return chosen;
}

}  // namespace

SnapshotReading ReadSnapshot(const RepositoryScan& scan, const RepositorySnapshot& before,
                             bool namespacing, RepositoryStorage& storage, size_t threads) {
  SnapshotReading reading;
  auto& models = reading.snapshot.models;
  for (const auto& [id, model] : before.models) {
    if (scan.failures.contains(model.repository)) models[id] = model;
  }
  StateReader states(storage);
  std::vector<Reading> chosen =
      ChooseDirectories(scan, namespacing, models, &states, &reading.failures);
  base::ForEachOnThreads("model-scan", threads, chosen.size(), [&](size_t i) {
    chosen[i].files = states.Read(chosen[i].directory->repository, chosen[i].directory->path);
  });
  for (auto& [id, directory, files] : chosen) {
    if (files.ok()) {
      models[id] = {directory->path, std::move(files).value(), directory->repository};
      reading.directories[id] = *directory;
      continue;
    }
    LOG_ERROR_OF(.model = id.name)
        << "Poll failed for model directory '" << id << "': " << files.status().message();
    reading.failures[ToText(id)] =
        PollFailure(ToText(id), base::Status::Internal(files.status().message()));
    const auto known = before.models.find(id);
    if (known != before.models.end()) models[id] = known->second;
  }
  return reading;
}

}  // namespace nereid::repository
