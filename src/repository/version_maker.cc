// SPDX-License-Identifier: Apache-2.0
#include "repository/version_maker.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "layout/advice.h"
#include "repository/load_advice.h"
#include "repository/requests/interruptible_call.h"

namespace nereid::repository {
namespace {

std::string AdviceOn(const VersionSource& source) {
  if (source.written == nullptr) return "";
  return AdviceOnVersion(source.id.name, source.directory, *source.written, source.configured,
                         source.version);
}

/// Returns an error if a Python model has no source. Triton's Python backend would wait for its
/// process forever; the text is what that process says.
base::Status CheckPythonSource(const VersionSource& source) {
  if (source.config->backend() != "python") return base::Status::Ok();
  const std::string path =
      base::JoinPath(source.version_directory, source.config->default_model_filename());
  if (base::PathExists(path)) return base::Status::Ok();
  return base::Status::Internal(
      "Failed to preinitialize Python stub: Python model file not found in '" + path + "'");
}

}  // namespace

bool VersionMaker::HasGivenUp(const ModelId& id) const {
  base::MutexLock lock(mutex_);
  return given_up_.contains(id);
}

void VersionMaker::NoteGivenUp(const ModelId& id) {
  base::MutexLock lock(mutex_);
  given_up_.insert(id);
}

void VersionMaker::NoteEnded(const ModelId& id) {
  base::MutexLock lock(mutex_);
  given_up_.erase(given_up_.find(id));
}

VersionMaker::Version VersionMaker::MakeOnce(const VersionSource& source, VersionAction action,
                                             uint64_t generation, const LoadRun& run) {
  const auto entry = std::make_shared<LivingVersions::Entry>(living_, source.id, source.version);
  // The entry ends last: when the list of living versions is empty, these objects may be destroyed.
  const auto on_destroyed = [&served = served_, entry, id = source.id, version = source.version,
                             generation] {
    served.NoteDestroyed(id, version, generation);
    entry->End();
  };
  InterruptibleCall call;
  call.make = [this, source, action, on_destroyed]() -> Version {
    NEREID_RETURN_IF_ERROR(CheckPythonSource(source));
    return action == VersionAction::kLoad
               ? loader_.Load(source, on_destroyed)
               : loader_.Update(served_.ServingModel(source.id, source.version), source,
                                on_destroyed);
  };
  call.check = [&run] { return run.Check(); };
  call.end_given_up = [this, id = source.id, entry](const Version& made) {
    LOG_WARNING_OF(.model = id.name) << "a load of '" << id << "' that was given up has ended";
    NoteEnded(id);
    if (!made.ok()) entry->End();
  };
  bool is_given_up = false;
  call.give_up = [this, &source, &is_given_up] {
    is_given_up = true;
    NoteGivenUp(source.id);
  };
  auto made = run.CanEndEarly() ? call.Run(threads_) : call.make();
  if (!made.ok() && !is_given_up) entry->End();
  return made;
}

VersionMaker::Version VersionMaker::MakeWithRetries(const VersionSource& source,
                                                    VersionAction action, uint64_t generation,
                                                    LoadRun& run) {
  if (HasGivenUp(source.id)) {
    return base::Status::Unavailable("an earlier load, which was given up, has not ended yet");
  }
  LOG_INFO_OF(.model = source.id.name)
      << (action == VersionAction::kLoad ? "loading: " : "updating: ") << source.id << ":"
      << source.version;
  auto model = MakeOnce(source, action, generation, run);
  const auto may_retry = [&] { return !gate_.IsClosed() && run.Check().ok(); };
  for (uint32_t retry = 0; !model.ok() && retry < retries_ && may_retry(); ++retry) {
    LOG_WARNING_OF(.model = source.id.name) << "retrying to load '" << source.id << "' version "
                                            << source.version << ": " << model.status().message();
    LoadPosition position = run.Position();
    ++position.attempt;
    run.SetPosition(std::move(position));
    model = MakeOnce(source, action, generation, run);
  }
  if (!model.ok()) {
    model = base::Status(model.status().code(),
                         layout::WithAdvice(model.status().message(), AdviceOn(source)));
    LOG_ERROR_OF(.model = source.id.name) << "failed to load '" << source.id << "' version "
                                          << source.version << ": " << model.status().ToString();
  }
  return model;
}

VersionMaker::Made VersionMaker::Make(const ModelId& id, const PolledModel& polled,
                                      const LoadBasis& before, uint64_t generation, LoadRun& run) {
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
                               polled.written,
                               polled.basis.configured,
                               polled.origin};
    run.SetPosition({.stage = LoadStage::kLoading,
                     .version = version,
                     .versions_done = made.versions.size(),
                     .versions = plan.size(),
                     .path = polled.directory.path});
    const base::Status checked = run.Check();
    made.versions.emplace(
        version, checked.ok() ? MakeWithRetries(source, action, generation, run) : checked);
  }
  return made;
}

}  // namespace nereid::repository
