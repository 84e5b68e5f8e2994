// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/inference_service.h"
#include "api/model_directories.h"
#include "base/status.h"
#include "repository/model_poll.h"
#include "server/model_storage.h"
#include "server/repository_parts.h"
#include "server/repository_poller.h"
#include "server/server_phase.h"
#include "server/server_settings.h"

namespace nereid::server {

class ModelResidency;
class ModelRollouts;
class ModelRuntime;

/// The operations on a server's model repositories, as its model control mode permits them: the
/// loads at the start, polls, loads and unloads for clients. Tells the server's phase when the
/// repositories cannot be read and when they can be read again. Thread-safe. Functions that load or
/// poll block until that is done; a failed model is logged.
class RepositoryControl final : public api::ModelDirectories {
 public:
  /// The arguments must outlive this object. `residency` keeps the models within a budget of
  /// memory; null: all models are in memory.
  RepositoryControl(const ServerSettings& settings, ModelRuntime& runtime, ServerPhase& phase,
                    const ModelRollouts& rollouts, ModelResidency* residency);

  /// Loads the start-up models and begins to poll, in mode POLL. With settings.exit_on_error a
  /// failed model is an error. Returns UNAVAILABLE if the load gate was closed meanwhile. Must be
  /// called once.
  base::Status Start();
  /// Waits for a poll in progress; none comes after it.
  void StopPolling() { poller_.reset(); }

  /// Polls the repositories now: loads, reloads and unloads models. Returns UNAVAILABLE "polling is
  /// disabled" in a mode other than POLL.
  base::Status Poll();

  /// Adds or removes a repository; see repository::ModelLifecycle. Return UNSUPPORTED unless the
  /// model control mode is EXPLICIT.
  base::Status Register(const std::string& path, const repository::NameMapping& mapping);
  base::Status Unregister(const std::string& path);

  /// See api::ModelDirectories: registers the directory as a repository, whose path it returns.
  base::Result<std::string> Add(const std::string& directory, const std::string& model) override;
  base::Status Remove(const std::string& added) override { return Unregister(added); }

  /// See api::InferenceService. Return UNAVAILABLE unless the model control mode is EXPLICIT.
  base::Status Load(const std::string& name, std::vector<api::LoadParameter> parameters,
                    const std::function<bool()>& is_abandoned);
  base::Status Unload(const std::string& name, bool unload_dependents);

  repository::ModelLifecycle& lifecycle() { return parts_.lifecycle; }
  const repository::RemoteStorage& remote_storage() const { return *storage_.remote; }

 private:
  base::Status LoadStartupModels();
  repository::RepositoryScan Scan() const;
  /// Returns INVALID_ARGUMENT if "*" is one of several start-up models.
  base::Result<repository::LoadReport> LoadNamedModels();
  repository::LoadReport LoadAllModels();
  /// Scans the repositories and loads what has changed.
  repository::LoadReport LoadChangedModels();
  /// Scans until no change waits for its settle time, because no poll does so later. Models that
  /// differ from their lists of checksums become failures.
  void AwaitCompleteChanges(repository::LoadReport* report);
  base::Status LoadModel(const std::string& name, repository::LoadOverrides overrides,
                         const std::function<bool()>& is_abandoned);
  /// Returns INTERNAL, with Triton's text, if a repository cannot be read.
  base::Status CheckReadable() const;
  base::Status CheckExplicit() const;
  base::Status CheckRegistration() const;
  base::Status StartPolling();
  /// Polls, and returns when the next poll should be at the latest; nothing: after the period.
  std::optional<uint64_t> PollByItself();
  /// Ends the phase kFailed if all repositories could be read; else returns the first error.
  base::Status Recovered(const repository::LoadReport& report);
  /// Logs the reason and makes the server fail.
  void Fail(const base::Status& reason);

  const ServerSettings& settings_;
  ModelRuntime& runtime_;
  ServerPhase& phase_;
  ModelResidency* const residency_;
  const ModelStorage storage_;
  /// Set at the end of the start: the front ends start when the server has been created.
  std::atomic<bool> has_clients_{false};
  RepositoryParts parts_;
  std::unique_ptr<RepositoryPoller> poller_;  // null unless the server polls by itself
};

}  // namespace nereid::server
