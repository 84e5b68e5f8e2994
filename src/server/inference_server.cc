// SPDX-License-Identifier: Apache-2.0
#include "server/inference_server.h"

#include <algorithm>

#include "abi/process_metrics_registry.h"
#include "backend/backend.h"
#include "base/cpus.h"
#include "base/log.h"
#include "cache/response_cache.h"
#include "model/cpu_plan.h"
#include "request/stopping_status.h"
#include "schedule/limits/resource_permits.h"
#include "server/collectors.h"
#include "server/extensions.h"
#include "server/repository_parts.h"
#include "server/repository_poller.h"
#include "server/stopping.h"
#include "server/table_answers.h"

namespace nereid::server {

using base::Status;

namespace {

backend::BackendRegistry::Settings BackendSettings(const ServerSettings& settings) {
  backend::BackendRegistry::Settings backends;
  backends.directory = settings.backend_directory;
  backends.auto_complete = !settings.strict_model_config;
  backends.min_compute_capability = settings.min_supported_compute_capability;
  backends.config = settings.backend_config;
  return backends;
}

Status CheckSettings(const ServerSettings& settings) {
  if (settings.model_repository_paths.empty()) {
    return Status::InvalidArgument("--model-repository must be specified");
  }
  return Status::Ok();
}

/// Returns null if the rate limiter is off.
std::unique_ptr<schedule::ResourcePermits> MakePermits(const ServerSettings& settings) {
  if (settings.rate_limit_mode == RateLimitMode::kOff) return nullptr;
  std::vector<schedule::ResourceCapacity> capacities;
  for (const ServerSettings::RateLimitResource& resource : settings.rate_limit_resources) {
    const auto device =
        resource.device == -1 ? std::nullopt : std::optional<int32_t>(resource.device);
    capacities.push_back({resource.name, resource.count, device});
  }
  return std::make_unique<schedule::ResourcePermits>(capacities);
}

}  // namespace

base::Result<std::unique_ptr<InferenceServer>> InferenceServer::Create(ServerSettings settings) {
  std::unique_ptr<InferenceServer> server(new InferenceServer(std::move(settings)));
  NEREID_RETURN_IF_ERROR(server->Start());
  return server;
}

InferenceServer::InferenceServer(ServerSettings settings)
    : settings_(std::move(settings)),
      exit_timeout_secs_(settings_.exit_timeout_secs),
      metrics_(abi::ProcessRegistry()),
      timers_(std::make_unique<base::ThreadTimerQueue>()) {}

Status InferenceServer::Start() {
  NEREID_RETURN_IF_ERROR(CheckSettings(settings_));
  // The timers' thread is started here, because without it no model could be served.
  NEREID_RETURN_IF_ERROR(timers_->Start());
  backends_ = std::make_unique<backend::BackendRegistry>(BackendSettings(settings_));
  NEREID_RETURN_IF_ERROR(OpenResponseCache());
  permits_ = MakePermits(settings_);
  if (settings_.share_cpus) {
    cpu_plan_ = std::make_unique<model::CpuPlan>(base::UsableCpuCount(), settings_.backend_config);
  }
  model::ModelEnvironment environment{*backends_, base::SteadyClock(), *timers_};
  environment.auto_complete = !settings_.strict_model_config;
  environment.inline_mode = settings_.inline_mode;
  environment.execution_watchdog_secs = settings_.execution_watchdog_secs;
  environment.host_policies = settings_.host_policies;
  environment.permits = permits_.get();
  environment.cpu_plan = cpu_plan_.get();
  environment.c_server = settings_.c_server;
  environment.response_cache = response_cache_.get();
  environment.histogram_latencies =
      settings_.metrics_enabled && MetricsSwitch(settings_, "histogram_latencies", false);
  environment.summary_latencies =
      settings_.metrics_enabled && MetricsSwitch(settings_, "summary_latencies", false);

  repository::ModelLifecycle::Options options;
  options.poll.repositories = settings_.model_repository_paths;
  options.poll.strict_config = settings_.strict_model_config;
  options.poll.config_name = settings_.model_config_name;
  options.namespacing = settings_.model_namespacing;
  options.load_threads = settings_.model_load_thread_count;
  options.load_retries = settings_.model_load_retry_count;
  options.gate = settings_.load_gate;
  repository_ = std::make_unique<RepositoryParts>(std::move(options), std::move(environment),
                                                  settings_.repoagent_directory);
  NEREID_RETURN_IF_ERROR(repository_->reaper.Start());
  if (settings_.metrics_enabled) {
    collectors_ = std::make_unique<Collectors>(settings_, *metrics_, repository_->lifecycle);
  }
  const Status loaded = LoadStartupModels();
  // A stop during the start closes the gate, which fails the loads; that is no failure of a model.
  if (repository_->lifecycle.gate().IsClosed()) {
    return Status::Unavailable("the server was stopped while its models were being loaded");
  }
  if (!loaded.ok() && settings_.exit_on_error) return loaded;
  if (!loaded.ok()) Fail(loaded);
  return StartPolling();
}

Status InferenceServer::StartPolling() {
  const bool polls = settings_.model_control_mode == ModelControlMode::kPoll;
  if (!polls || settings_.repository_poll_secs == 0) return Status::Ok();
  poller_ = std::make_unique<RepositoryPoller>(
      [this] {
        if (!IsStopping()) (void)PollRepositories();  // failures are logged
      },
      uint64_t{settings_.repository_poll_secs} * 1'000'000'000, base::SteadyClock(), *timers_);
  return poller_->Start();
}

Status InferenceServer::PollRepositories() {
  if (settings_.model_control_mode != ModelControlMode::kPoll) {
    return Status::Unavailable("polling is disabled");
  }
  if (IsStopping()) return Status::Unavailable("Server not ready");
  const auto report = repository_->lifecycle.LoadAll();
  if (!report.unreadable.empty()) return report.unreadable.begin()->second;
  Recover();
  return Status::Ok();
}

/// The server keeps running to report that it is not ready: without the repositories it cannot know
/// its models.
void InferenceServer::Fail(const Status& reason) {
  LOG_ERROR << reason.ToString();
  Phase serving = Phase::kServing;
  phase_.compare_exchange_strong(serving, Phase::kFailed, std::memory_order_acq_rel);
}

void InferenceServer::Recover() {
  Phase failed = Phase::kFailed;
  phase_.compare_exchange_strong(failed, Phase::kServing, std::memory_order_acq_rel);
}

Status InferenceServer::CheckRepositories() const {
  return repository::ScanRepositories(
             repository::PlainRepositories(settings_.model_repository_paths))
      .status();
}

/// Announces the number of models to the CPU plan, so that the first models loaded do not get all
/// CPUs.
void InferenceServer::ExpectModels() {
  if (cpu_plan_ == nullptr) return;
  const auto scan =
      repository::ScanRepositories(repository::PlainRepositories(settings_.model_repository_paths));
  std::set<std::string> models;
  for (const repository::ModelDirectory& directory : scan.directories) {
    // Ensembles need no CPUs of their own.
    if (!repository_->lifecycle.MembersOf(directory).empty()) continue;
    models.insert(settings_.model_namespacing ? directory.path : directory.name);
  }
  cpu_plan_->Expect(models.size());
}

Status InferenceServer::OpenResponseCache() {
  if (settings_.cache_config.empty()) return Status::Ok();
  if (settings_.cache_config.size() > 1) {
    std::string names;
    for (const auto& [name, config] : settings_.cache_config) names += " '" + name + "'";
    return Status::InvalidArgument(
        "found multiple cache configurations, but only a single cache is supported:" + names);
  }
  const auto& [name, config] = *settings_.cache_config.begin();
  NEREID_ASSIGN_OR_RETURN(response_cache_,
                          cache::ResponseCache::Open(settings_.cache_directory, name, config));
  return Status::Ok();
}

Status InferenceServer::LoadStartupModels() {
  repository::ModelLifecycle& lifecycle = repository_->lifecycle;
  repository::LoadReport report;
  const bool all = settings_.model_control_mode != ModelControlMode::kExplicit ||
                   (settings_.startup_models.size() == 1 && settings_.startup_models[0] == "*");
  // The repositories must be readable even if no model is loaded from them at the start.
  if (const Status status = CheckRepositories(); !status.ok()) {
    if (settings_.exit_on_error) return status;
    Fail(status);
  }
  if (all) {
    ExpectModels();
    report = lifecycle.LoadAll();
  } else {
    if (std::find(settings_.startup_models.begin(), settings_.startup_models.end(), "*") !=
        settings_.startup_models.end()) {
      return Status::InvalidArgument(
          "Wildcard model name '*' must be the ONLY startup model if specified at all.");
    }
    if (cpu_plan_ != nullptr) cpu_plan_->Expect(settings_.startup_models.size());
    report =
        lifecycle.LoadModels({settings_.startup_models.begin(), settings_.startup_models.end()});
  }
  if (cpu_plan_ != nullptr) cpu_plan_->Expect(0);
  if (report.failures.empty() || !settings_.exit_on_error) return Status::Ok();
  std::string names;
  for (const auto& [name, status] : report.failures) {
    names += "\n  '" + name + "': " + status.message();
  }
  while (!names.empty() && names.back() == '\n') names.pop_back();
  return Status::Internal("failed to load all models" + names);
}

InferenceServer::~InferenceServer() {
  if (const Status status = Stop(); !status.ok()) {
    // Plug-ins still execute requests and will call these objects, so they are leaked.
    LOG_ERROR << status.message();
    (void)poller_.release();
    (void)collectors_.release();
    (void)repository_.release();
    (void)response_cache_.release();
    (void)backends_.release();
    (void)permits_.release();
    (void)cpu_plan_.release();
    (void)timers_.release();
  }
}

void InferenceServer::BeginStop() {
  Phase phase = phase_.load(std::memory_order_acquire);
  // Phases only advance: a stop that has come further is not taken back.
  while (phase < Phase::kEnding && !phase_.compare_exchange_weak(phase, Phase::kEnding)) {
  }
  if (repository_ != nullptr) repository_->lifecycle.gate().Close();
}

bool InferenceServer::WaitUntilIdle(uint64_t deadline_ns) const {
  return server::WaitUntilIdle(repository_->lifecycle, deadline_ns);
}

Status InferenceServer::Stop() {
  return StopBy(base::SteadyClock().NowNs() + uint64_t{exit_timeout_secs_} * 1'000'000'000);
}

Status InferenceServer::StopBy(uint64_t deadline_ns) {
  BeginStop();
  // A second call (the destructor after Stop) logs nothing twice.
  const bool again = phase_.exchange(Phase::kStopping) == Phase::kStopping;
  if (repository_ == nullptr) return Status::Ok();
  repository::ModelLifecycle& lifecycle = repository_->lifecycle;
  const bool is_over = base::SteadyClock().NowNs() >= deadline_ns;
  if (!IsIdle(lifecycle) && (is_over || !WaitUntilIdle(deadline_ns))) {
    return ExpiredStatus(lifecycle);
  }
  poller_.reset();  // waits for a poll in progress
  return UnloadAllModels(lifecycle, deadline_ns, /*log=*/!again);
}

Status InferenceServer::CheckServing() const {
  if (phase_.load(std::memory_order_acquire) == Phase::kServing) return Status::Ok();
  return Status::Unavailable("Server not ready");
}

base::Result<bool> InferenceServer::IsServerLive() {
  const Phase phase = phase_.load(std::memory_order_acquire);
  if (phase == Phase::kStopping) return Status::Unavailable("Server exiting");
  return phase != Phase::kFailed;
}

base::Result<bool> InferenceServer::IsServerReady() {
  if (IsStopping()) return Status::Unavailable("Server exiting");
  if (!CheckServing().ok()) return false;
  return !settings_.strict_readiness || repository_->lifecycle.AllReady();
}

base::Result<bool> InferenceServer::IsModelReady(const std::string& name, int64_t version) {
  NEREID_RETURN_IF_ERROR(CheckServing());
  const auto found = repository_->lifecycle.Table()->Find(name, version);
  return found.ok() && (*found)->CheckReady().ok();
}

base::Result<api::ModelTraits> InferenceServer::FindModel(const std::string& name,
                                                          int64_t version) {
  if (!IsStopping()) NEREID_RETURN_IF_ERROR(CheckServing());
  auto loaded = repository_->lifecycle.Table()->Find(name, version);
  if (!loaded.ok()) return HasStopped() ? request::StoppingStatus() : loaded.status();
  const auto served = ServedModel::From(std::move(loaded).value());
  const config::ModelConfig& config = served->config();
  return api::ModelTraits{config.decoupled(), config.max_batch_size()};
}

Status InferenceServer::Infer(std::unique_ptr<request::InferenceRequest>& request) {
  return Submit(request, Phase::kEnding);
}

Status InferenceServer::InferInProcess(std::unique_ptr<request::InferenceRequest>& request) {
  return Submit(request, Phase::kStopping);
}

Status InferenceServer::Submit(std::unique_ptr<request::InferenceRequest>& request,
                               Phase refused_from) {
  request->times.start_ns = base::SteadyClock().NowNs();
  // Read before the look-up: a request that finds its model holds it, and StopBy, which changes the
  // phase first, then waits for it.
  const Phase phase = phase_.load(std::memory_order_acquire);
  auto found = repository_->lifecycle.Table()->Find(request->model_name, request->model_version);
  // HasStopped reads the phase again: StopBy changes it before it unloads models, so a model that
  // is missing because of the stop is found to be so here.
  if (!found.ok()) return HasStopped() ? StoppingStatus(*request) : found.status();
  std::shared_ptr<repository::LoadedModel> loaded = std::move(found).value();
  ServedModel& served = static_cast<ServedModel&>(*loaded);
  model::ModelVersion& version = served.version();
  if (phase >= refused_from) NEREID_RETURN_IF_ERROR(CheckGoesOn(*request, version));
  return model::Submit(
      std::shared_ptr<const request::ModelIdentity>(std::move(loaded), &served.identity()), version,
      request);
}

Status InferenceServer::CheckExplicitControl() const {
  if (settings_.model_control_mode == ModelControlMode::kExplicit) return Status::Ok();
  return Status::Unavailable("explicit model load / unload is not allowed if polling is enabled");
}

Status InferenceServer::RegisterRepository(const std::string& path,
                                           const repository::NameMapping& mapping) {
  if (settings_.model_control_mode != ModelControlMode::kExplicit) {
    return Status::Unsupported(
        "repository registration is not allowed if model control mode is not EXPLICIT");
  }
  return repository_->lifecycle.RegisterRepository(path, mapping);
}

Status InferenceServer::UnregisterRepository(const std::string& path) {
  if (settings_.model_control_mode != ModelControlMode::kExplicit) {
    return Status::Unsupported(
        "repository unregistration is not allowed if model control mode is not EXPLICIT");
  }
  return repository_->lifecycle.UnregisterRepository(path);
}

Status InferenceServer::LoadModel(const std::string& name,
                                  std::vector<api::LoadParameter> parameters,
                                  const std::function<bool()>& is_abandoned) {
  // A load may succeed and end the phase kFailed, because the repositories have become readable.
  const bool may_recover = CheckExplicitControl().ok() && !IsStopping();
  if (!may_recover) NEREID_RETURN_IF_ERROR(CheckServing());
  NEREID_RETURN_IF_ERROR(CheckExplicitControl());
  std::vector<std::pair<std::string, std::string>> pairs;
  for (api::LoadParameter& parameter : parameters) {
    pairs.emplace_back(std::move(parameter.name), std::move(parameter.value));
  }
  NEREID_ASSIGN_OR_RETURN(auto overrides, repository::ParseLoadParameters(std::move(pairs)));
  NEREID_RETURN_IF_ERROR(repository_->lifecycle.Load(name, std::move(overrides), is_abandoned));
  if (!CheckServing().ok() && CheckRepositories().ok()) Recover();
  return Status::Ok();
}

Status InferenceServer::UnloadModel(const std::string& name, bool unload_dependents) {
  NEREID_RETURN_IF_ERROR(CheckServing());
  NEREID_RETURN_IF_ERROR(CheckExplicitControl());
  return repository_->lifecycle.Unload(name, unload_dependents);
}

api::ServerMetadata InferenceServer::GetServerMetadata() {
  return {settings_.server_id, std::string(ServerVersion()), ServerExtensions()};
}

base::Result<api::ModelMetadata> InferenceServer::GetModelMetadata(const std::string& name,
                                                                   int64_t version) {
  return DescribeModel(*repository_->lifecycle.Table(), name, version);
}

base::Result<std::shared_ptr<const config::ModelConfig>> InferenceServer::GetModelConfig(
    const std::string& name, int64_t version) {
  NEREID_ASSIGN_OR_RETURN(auto loaded, repository_->lifecycle.Table()->Find(name, version));
  return ServedModel::From(std::move(loaded))->identity().config;
}

base::Result<std::vector<api::ModelStatistics>> InferenceServer::GetModelStatistics(
    const std::string& name, int64_t version) {
  NEREID_RETURN_IF_ERROR(CheckServing());
  return CollectStatistics(*repository_->lifecycle.Table(), name, version);
}

base::Result<api::SequenceList> InferenceServer::ListSequences(const std::string& name,
                                                               int64_t version) {
  if (!settings_.list_sequences) {
    return Status::NotFound(
        "sequences are not listed by this server (--enable-sequence-listing=true)");
  }
  NEREID_ASSIGN_OR_RETURN(auto loaded, repository_->lifecycle.Table()->Find(name, version));
  const auto served = ServedModel::From(std::move(loaded));
  if (!served->config().has_sequence_batching()) {
    return Status::NotFound("model '" + name + "' has no sequences");
  }
  return served->version().ListSequences(api::kMostSequencesListed);
}

base::Result<std::vector<api::RepositoryIndexEntry>> InferenceServer::GetRepositoryIndex(
    bool ready_only) {
  NEREID_RETURN_IF_ERROR(CheckServing());
  NEREID_ASSIGN_OR_RETURN(auto entries, repository_->lifecycle.Index(ready_only));
  std::vector<api::RepositoryIndexEntry> index;
  for (auto& entry : entries) {
    index.push_back({std::move(entry.name), std::move(entry.version), std::move(entry.state),
                     std::move(entry.reason)});
  }
  return index;
}

std::string InferenceServer::RenderMetrics() {
  return settings_.metrics_enabled ? metrics_->Render() : std::string();
}

std::vector<model::CpuShare> InferenceServer::CpuShares() {
  return cpu_plan_ == nullptr ? std::vector<model::CpuShare>{} : cpu_plan_->Shares();
}

std::vector<BackendSummary> InferenceServer::Backends() {
  std::vector<BackendSummary> summaries;
  for (const auto& backend : backends_->Loaded()) {
    summaries.push_back({backend->name(), backend->library_path(), backend->config().json});
  }
  return summaries;
}

}  // namespace nereid::server
