// SPDX-License-Identifier: Apache-2.0
#include "server/repository_control.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/duration.h"
#include "base/log.h"
#include "repository/archived_model.h"
#include "server/model_runtime.h"
#include "server/residency/model_residency.h"

namespace nereid::server {

using base::Status;

namespace {

repository::ModelLifecycle::Options LifecycleOptions(const ServerSettings& settings,
                                                     const ModelStorage& storage,
                                                     ModelResidency* residency) {
  repository::ModelLifecycle::Options options;
  options.poll.storage = storage.all;
  options.poll.repositories = settings.model_repository_paths;
  options.poll.strict_config = settings.strict_model_config;
  options.poll.config_name = settings.model_config_name;
  options.poll.backend_directory = settings.backend_directory;
  options.namespacing = settings.model_namespacing;
  options.settle.settle_ns = base::Duration::Seconds(settings.repository_settle_secs).ns();
  options.load_threads = settings.model_load_thread_count;
  options.load_retries = settings.model_load_retry_count;
  options.load_timeout_ns = base::Duration::Seconds(settings.model_load_timeout_secs).ns();
  options.gate = storage.gate;
  options.filter = residency;
  return options;
}

/// Returns `options` with the functions that the lifecycle calls.
repository::ModelLifecycle::Options WithCalls(repository::ModelLifecycle::Options options,
                                              ModelRuntime& runtime,
                                              const std::atomic<bool>& has_clients) {
  options.has_clients = [&has_clients] { return has_clients.load(); };
  // Of the models of a server with a budget (it has a filter), few are in memory at a time.
  if (options.filter == nullptr) {
    options.on_planned = [&runtime](size_t models) { runtime.ExpectModels(models); };
  }
  return options;
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns INTERNAL with the names and errors of the models that failed; OK if there is none.
Status FailedLoads(const repository::LoadReport& report) {
  if (report.failures.empty()) return Status::Ok();
  std::string names;
  for (const auto& [name, status] : report.failures) {
    names += "\n  '" + name + "': " + status.message();
  }
  while (!names.empty() && names.back() == '\n') names.pop_back();
  return Status::Internal("failed to load all models" + names);
}

}  // namespace

RepositoryControl::RepositoryControl(const ServerSettings& settings, ModelRuntime& runtime,
                                     ServerPhase& phase, const ModelRollouts& rollouts,
                                     ModelResidency* residency)
    : settings_(settings),
      runtime_(runtime),
      phase_(phase),
      residency_(residency),
      storage_(MakeModelStorage(settings)),
      parts_(WithCalls(LifecycleOptions(settings, storage_, residency), runtime, has_clients_),
             runtime.Environment(), settings.repoagent_directory, rollouts,
             residency == nullptr ? nullptr : &residency->accounts()) {}

Status RepositoryControl::Start() {
  NEREID_RETURN_IF_ERROR(parts_.reaper.Start());
  if (residency_ != nullptr) {
    auto poll = LifecycleOptions(settings_, storage_, residency_).poll;
    NEREID_RETURN_IF_ERROR(residency_->Start(lifecycle(), std::move(poll)));
  }
  const Status loaded = LoadStartupModels();
  // A stop during the start closes the gate, which fails the loads; that is no failure of a model.
  if (lifecycle().gate().IsClosed()) {
    return Status::Unavailable("the server was stopped while its models were being loaded");
  }
  if (!loaded.ok() && settings_.exit_on_error) return loaded;
  if (!loaded.ok()) Fail(loaded);
  has_clients_ = true;
  return StartPolling();
}

Status RepositoryControl::LoadStartupModels() {
  const bool all = settings_.model_control_mode != ModelControlMode::kExplicit ||
                   (settings_.startup_models.size() == 1 && settings_.startup_models[0] == "*");
  // The repositories must be readable even if no model is loaded from them at the start.
  if (const Status status = CheckReadable(); !status.ok()) {
    if (settings_.exit_on_error) return status;
    Fail(status);
  }
  repository::LoadReport report;
  if (all) {
    report = LoadAllModels();
  } else {
    NEREID_ASSIGN_OR_RETURN(report, LoadNamedModels());
  }
  runtime_.ExpectModels(0);
  return settings_.exit_on_error ? FailedLoads(report) : Status::Ok();
}

base::Result<repository::LoadReport> RepositoryControl::LoadNamedModels() {
  if (Contains(settings_.startup_models, "*")) {
    return Status::InvalidArgument(
        "Wildcard model name '*' must be the ONLY startup model if specified at all.");
  }
  runtime_.ExpectModels(settings_.startup_models.size());
  if (residency_ != nullptr) {
    repository::LoadReport report;
    for (const std::string& name : settings_.startup_models) {
      const Status status = LoadModel(name, {}, {});
      if (!status.ok()) report.failures[name] = status;
    }
    return report;
  }
  return lifecycle().LoadModels({settings_.startup_models.begin(), settings_.startup_models.end()});
}

repository::LoadReport RepositoryControl::LoadAllModels() {
  repository::LoadReport report = LoadChangedModels();
  if (settings_.model_control_mode != ModelControlMode::kPoll) AwaitCompleteChanges(&report);
  if (residency_ != nullptr) report.failures.merge(residency_->LoadPinned());
  return report;
}

repository::LoadReport RepositoryControl::LoadChangedModels() {
  repository::LoadReport report = lifecycle().LoadAll();
  runtime_.ExpectModels(0);  // the lifecycle has announced the models before their loads
  return report;
}

void RepositoryControl::AwaitCompleteChanges(repository::LoadReport* report) {
  constexpr std::chrono::milliseconds kPause{50};
  while (report->next_scan_ns && !lifecycle().gate().IsClosed()) {
    if (base::SteadyClock().NowNs() < *report->next_scan_ns) {
      std::this_thread::sleep_for(kPause);
      continue;
    }
    repository::LoadReport next = LoadChangedModels();
    for (auto& [name, failure] : report->failures) {
      const bool is_retried =
          std::any_of(report->torn.begin(), report->torn.end(),
                      [&name = name](const auto& id) { return ToText(id) == name; });
      if (!is_retried) next.failures.emplace(name, std::move(failure));
    }
    *report = std::move(next);
  }
  report->failures.merge(report->incomplete);
}

Status RepositoryControl::LoadModel(const std::string& name, repository::LoadOverrides overrides,
                                    const std::function<bool()>& is_abandoned) {
  return residency_ == nullptr ? lifecycle().Load(name, std::move(overrides), is_abandoned)
                               : residency_->Load(name, std::move(overrides), is_abandoned);
}

Status RepositoryControl::StartPolling() {
  const bool polls = settings_.model_control_mode == ModelControlMode::kPoll;
  if (!polls || settings_.repository_poll_secs == 0) return Status::Ok();
  poller_ = std::make_unique<RepositoryPoller>(
      [this] { return PollByItself(); },
      base::Duration::Seconds(settings_.repository_poll_secs).ns(), base::SteadyClock(),
      runtime_.timers());
  return poller_->Start();
}

Status RepositoryControl::Poll() {
  if (settings_.model_control_mode != ModelControlMode::kPoll) {
    return Status::Unavailable("polling is disabled");
  }
  if (phase_.IsEnding()) return Status::Unavailable("Server not ready");
  return Recovered(LoadChangedModels());
}

Status RepositoryControl::Recovered(const repository::LoadReport& report) {
  if (!report.unreadable.empty()) return report.unreadable.begin()->second;
  phase_.Recover();
  return Status::Ok();
}

std::optional<uint64_t> RepositoryControl::PollByItself() {
  if (phase_.IsEnding()) return std::nullopt;
  const repository::LoadReport report = LoadChangedModels();
  (void)Recovered(report);  // failures are logged
  return report.next_scan_ns;
}

void RepositoryControl::Fail(const Status& reason) {
  LOG_ERROR << reason.ToString();
  phase_.Fail(reason.message());
}

repository::RepositoryScan RepositoryControl::Scan() const {
  return repository::ScanRepositories(
      repository::PlainRepositories(settings_.model_repository_paths), *storage_.all);
}

Status RepositoryControl::CheckReadable() const { return Scan().status(); }

Status RepositoryControl::CheckExplicit() const {
  if (settings_.model_control_mode == ModelControlMode::kExplicit) return Status::Ok();
  return Status::Unavailable("explicit model load / unload is not allowed if polling is enabled");
}

Status RepositoryControl::CheckRegistration() const {
  if (settings_.model_control_mode == ModelControlMode::kExplicit) return Status::Ok();
  return Status::Unsupported(
      "repository registration is not allowed if model control mode is not EXPLICIT");
}

Status RepositoryControl::Register(const std::string& path,
                                   const repository::NameMapping& mapping) {
  NEREID_RETURN_IF_ERROR(CheckRegistration());
  return lifecycle().RegisterRepository(path, mapping);
}

Status RepositoryControl::Unregister(const std::string& path) {
  if (settings_.model_control_mode != ModelControlMode::kExplicit) {
    return Status::Unsupported(
        "repository unregistration is not allowed if model control mode is not EXPLICIT");
  }
  return lifecycle().UnregisterRepository(path);
}

base::Result<std::string> RepositoryControl::Add(const std::string& directory,
                                                 const std::string& model) {
  NEREID_RETURN_IF_ERROR(CheckRegistration());
  NEREID_ASSIGN_OR_RETURN(
      repository::ArchivedModel found,
      repository::FindArchivedModel(directory, model,
                                    LifecycleOptions(settings_, storage_, residency_).poll));
  NEREID_RETURN_IF_ERROR(Register(found.repository, found.names));
  return std::move(found.repository);
}

Status RepositoryControl::Load(const std::string& name, std::vector<api::LoadParameter> parameters,
                               const std::function<bool()>& is_abandoned) {
  // A load may succeed and end the phase kFailed, because the repositories have become readable.
  const bool may_recover = CheckExplicit().ok() && !phase_.IsEnding();
  if (!may_recover) NEREID_RETURN_IF_ERROR(phase_.CheckServing());
  NEREID_RETURN_IF_ERROR(CheckExplicit());
  std::vector<std::pair<std::string, std::string>> pairs;
  for (api::LoadParameter& parameter : parameters) {
    pairs.emplace_back(std::move(parameter.name), std::move(parameter.value));
  }
  NEREID_ASSIGN_OR_RETURN(auto overrides, repository::ParseLoadParameters(std::move(pairs)));
  NEREID_RETURN_IF_ERROR(LoadModel(name, std::move(overrides), is_abandoned));
  if (!phase_.CheckServing().ok() && CheckReadable().ok()) phase_.Recover();
  return Status::Ok();
}

Status RepositoryControl::Unload(const std::string& name, bool unload_dependents) {
  NEREID_RETURN_IF_ERROR(phase_.CheckServing());
  NEREID_RETURN_IF_ERROR(CheckExplicit());
  return residency_ == nullptr ? lifecycle().Unload(name, unload_dependents)
                               : residency_->Unload(name, unload_dependents);
}

}  // namespace nereid::server
