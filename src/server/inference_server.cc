// SPDX-License-Identifier: Apache-2.0
#include "server/inference_server.h"

#include <utility>

#include "abi/process_metrics_registry.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/log.h"
#include "curl/curl_client.h"
#include "request/stopping_status.h"
#include "server/collectors.h"
#include "server/model_loads.h"
#include "server/model_rollouts.h"
#include "server/model_runtime.h"
#include "server/repository_control.h"
#include "server/residency/model_residency.h"
#include "server/residency/resident_answers.h"
#include "server/routed_submission.h"
#include "server/sequence_handover.h"
#include "server/server_metadata.h"
#include "server/stopping.h"
#include "server/table_answers.h"
#include "server/version_choice.h"

namespace nereid::server {

using base::Status;

namespace {

/// Returns why a stop or a drain refuses a request for this version; OK if neither does.
Status CheckAdmission(const request::InferenceRequest& request, const model::ModelVersion& version,
                      ServerPhase::Value phase, ServerPhase::Value refused_from,
                      const ServerHealth& health) {
  if (phase >= refused_from) NEREID_RETURN_IF_ERROR(CheckContinues(request, version));
  // A drain concerns the clients' sequences, not those that requests in progress need.
  const bool begins = (request.flags & request::kFlagSequenceStart) != 0;
  if (begins && refused_from == ServerPhase::Value::kEnding && version.HasSequences() &&
      health.IsDraining()) {
    return DrainingStatus(request);
  }
  return Status::Ok();
}

/// What a submission needs of a server.
struct SubmissionParts {
  const ServerPhase& phase;
  const repository::ModelLifecycle& lifecycle;
  const ModelRollouts& rollouts;
  const ServerHealth& health;
  SharedSubmission& shared;
  SequenceHandover* handover;  // null if it is off, or if the request has waited already
};

/// Lets a request wait for a sequence of another replica, as SequenceHandover::TakeOver does.
std::optional<Status> TakeOver(const SubmissionParts& server, ServedModel& served,
                               ServerPhase::Value refused_from,
                               std::unique_ptr<request::InferenceRequest>& request) {
  if (server.handover == nullptr) return std::nullopt;
  return server.handover->TakeOver(request, served, refused_from);
}

/// Does the work of SubmitNow while models have rollouts. Only a client's request may have a copy.
Status SubmitByRollout(const SubmissionParts& server, ServerPhase::Value refused_from,
                       std::unique_ptr<request::InferenceRequest>& request) {
  const ServerPhase::Value phase = server.phase.Get();  // before the table, as in SubmitNow
  const auto table = server.lifecycle.Table();
  const auto rollout = server.rollouts.Find(request->model_name);
  auto found = rollout == nullptr ? table->Find(request->model_name, request->model_version)
                                  : ChooseVersion(*table, *rollout, *request);
  if (!found.ok()) return server.phase.IsStopping() ? StoppingStatus(*request) : found.status();
  auto served = ServedModel::From(std::move(found).value());
  auto owner = served->SequenceOwner(*request, request->model_version);
  if (owner != nullptr) served = std::move(owner);
  NEREID_RETURN_IF_ERROR(
      CheckAdmission(*request, served->version(), phase, refused_from, server.health));
  if (const auto taken = TakeOver(server, *served, refused_from, request)) return *taken;
  const bool may_shadow = refused_from == ServerPhase::Value::kEnding;
  return SubmitRouted(*table, rollout, std::move(served), may_shadow, server.shared, request);
}

// No lock orders a submission and a stop. Two rules do: SubmitNow reads the phase, then the table;
// Stop changes the phase, then waits for the requests in flight, then changes the table. So each
// request is refused here, or holds its model before Stop looks for requests in flight.
Status SubmitNow(const SubmissionParts& server, ServerPhase::Value refused_from,
                 std::unique_ptr<request::InferenceRequest>& request) {
  if (server.rollouts.any()) return SubmitByRollout(server, refused_from, request);
  const ServerPhase::Value phase = server.phase.Get();
  auto found = server.lifecycle.Table()->Find(request->model_name, request->model_version);
  // The phase is read again: if the stop has unloaded the model, it has changed the phase before.
  if (!found.ok()) return server.phase.IsStopping() ? StoppingStatus(*request) : found.status();
  std::shared_ptr<ServedModel> served = ServedModel::From(std::move(found).value());
  auto owner = served->SequenceOwner(*request, request->model_version);
  if (owner != nullptr) served = std::move(owner);
  model::ModelVersion& version = served->version();
  NEREID_RETURN_IF_ERROR(CheckAdmission(*request, version, phase, refused_from, server.health));
  if (const auto taken = TakeOver(server, *served, refused_from, request)) return *taken;
  // The identity shares the ownership of the model: the request keeps the model alive.
  const request::ModelIdentity& described = served->identity();
  std::shared_ptr<const request::ModelIdentity> identity(std::move(served), &described);
  if (request->shared_tensors != nullptr) {
    return server.shared.Submit(std::move(identity), version, request);
  }
  return model::Submit(std::move(identity), version, request);
}

ModelResidency::Settings ResidencySettings(const ServerSettings& settings) {
  ModelResidency::Settings residency;
  residency.planner.budget_bytes = settings.model_memory_budget;
  residency.planner.min_residence_ns =
      base::Duration::Seconds(settings.model_min_residence_secs).ns();
  residency.planner.max_wait_ns = base::Duration::Seconds(settings.model_wait_secs).ns();
  residency.planner.line.requests = settings.model_wait_queue_size;
  residency.pinned = settings.pinned_models;
  return residency;
}

/// Returns null if the server does not hand sequences over.
base::Result<std::unique_ptr<SequenceHandover>> MakeHandover(const ServerSettings& settings,
                                                             SequenceHandover::Server server,
                                                             base::TimerQueue& timers) {
  if (settings.sequence_handover_peers.empty()) return std::unique_ptr<SequenceHandover>();
  NEREID_ASSIGN_OR_RETURN(auto replicas,
                          SequenceHandover::ReadSettings(settings.sequence_handover_peers,
                                                         settings.sequence_handover_token_file));
  auto client = curl::CurlClient::Create();
  if (!client.ok()) return client.status().WithPrefix("--sequence-handover-peers: ");
  return SequenceHandover::Create(std::move(replicas), std::move(client).value(), std::move(server),
                                  timers);
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
      metrics_(abi::ProcessRegistry()) {}

Status InferenceServer::Start() {
  if (settings_.model_repository_paths.empty()) {
    return Status::InvalidArgument("--model-repository must be specified");
  }
  NEREID_ASSIGN_OR_RETURN(runtime_, ModelRuntime::Create(settings_));
  // Requests come after the repositories exist.
  rollouts_ = std::make_unique<ModelRollouts>([this] { return repositories_->lifecycle().Table(); },
                                              base::SteadyClock());
  if (settings_.model_memory_budget != 0) {
    if (settings_.model_namespacing) {
      return Status::InvalidArgument(
          "--model-memory-budget cannot be used with --model-namespacing=true");
    }
    residency_ = std::make_unique<ModelResidency>(
        ResidencySettings(settings_), [this](std::unique_ptr<request::InferenceRequest>& request,
                                             ServerPhase::Value refused_from) {
          return SubmitNow({phase_, repositories_->lifecycle(), *rollouts_, *health_,
                            shared_submission_, handover_.get()},
                           refused_from, request);
        });
  }
  repositories_ = std::make_unique<RepositoryControl>(settings_, *runtime_, phase_, *rollouts_,
                                                      residency_.get());
  loads_ = std::make_unique<ModelLoads>(repositories_->lifecycle());
  if (settings_.watchdog_secs != 0) {
    watchdog_ =
        std::make_unique<watchdog::Watchdog>(base::Duration::Seconds(settings_.watchdog_secs).ns());
    NEREID_RETURN_IF_ERROR(watchdog_->Start());
  }
  health_ = std::make_unique<ServerHealth>(
      phase_, repositories_->lifecycle(),
      ServerHealth::Options{.strict = settings_.strict_readiness,
                            .watchdog = watchdog_.get(),
                            .watchdog_decides = watchdog_ != nullptr && settings_.watchdog_liveness,
                            .residency = residency_.get()});
  NEREID_ASSIGN_OR_RETURN(
      handover_,
      MakeHandover(
          settings_,
          {.table = [this] { return repositories_->lifecycle().Table(); },
           .submit =
               [this](std::unique_ptr<request::InferenceRequest>& request,
                      ServerPhase::Value refused_from) {
                 return SubmitNow({phase_, repositories_->lifecycle(), *rollouts_, *health_,
                                   shared_submission_, nullptr},
                                  refused_from, request);
               },
           .accepts_offers = [this] { return !phase_.IsEnding() && !health_->IsDraining(); }},
          runtime_->timers()));
  SetControls({.rollouts = rollouts_.get(),
               .loads = loads_.get(),
               .handover = handover_.get(),
               .refused = &refused_});
  if (settings_.metrics_enabled) {
    collectors_ = std::make_unique<Collectors>(
        settings_, *metrics_, runtime_->gpus(), repositories_->lifecycle(),
        repositories_->remote_storage(), *rollouts_, residency_.get(), watchdog_.get(), refused_);
  }
  return repositories_->Start();
}

InferenceServer::~InferenceServer() {
  if (const Status status = Stop(); !status.ok()) {
    // Plug-ins still execute requests and will call these objects, so they are leaked.
    LOG_ERROR << status.message();
    (void)collectors_.release();
    (void)handover_.release();
    (void)health_.release();
    (void)watchdog_.release();
    (void)loads_.release();
    (void)repositories_.release();
    (void)residency_.release();
    (void)rollouts_.release();
    (void)runtime_.release();
  }
}

void InferenceServer::BeginStop() {
  phase_.BeginEnding();
  if (residency_ != nullptr) residency_->BeginStop();
  if (repositories_ != nullptr) repositories_->lifecycle().gate().Close();
}

bool InferenceServer::WaitUntilIdle(uint64_t deadline_ns) const {
  return server::WaitUntilIdle(repositories_->lifecycle(), deadline_ns);
}

Status InferenceServer::Stop(std::optional<uint64_t> deadline_ns) {
  const uint64_t until_ns = deadline_ns.value_or(
      base::Duration::Seconds(exit_timeout_secs_).After(base::SteadyClock().NowNs()));
  BeginStop();
  // A second call (the destructor after Stop) logs nothing twice.
  const bool first = phase_.BeginStopping();
  if (repositories_ == nullptr) return Status::Ok();
  if (handover_ != nullptr) handover_->Stop();
  repository::ModelLifecycle& lifecycle = repositories_->lifecycle();
  const bool is_over = base::SteadyClock().NowNs() >= until_ns;
  if (!IsIdle(lifecycle) && (is_over || !WaitUntilIdle(until_ns))) return ExpiredStatus(lifecycle);
  repositories_->StopPolling();
  if (residency_ != nullptr) residency_->Stop();
  return UnloadAllModels(lifecycle, until_ns, /*log=*/first);
}

std::string InferenceServer::RenderMetrics(telemetry::Exposition exposition) {
  return settings_.metrics_enabled ? metrics_->Render(exposition) : std::string();
}

base::Result<bool> InferenceServer::IsServerLive() {
  NEREID_ASSIGN_OR_RETURN(const bool live, phase_.IsLive());
  return live && !health_->IsStuck();
}

base::Result<bool> InferenceServer::IsServerReady() {
  if (phase_.IsEnding()) return Status::Unavailable("Server exiting");
  if (!phase_.CheckServing().ok() || health_->IsDraining()) return false;
  return !settings_.strict_readiness || repositories_->lifecycle().AllReady();
}

base::Result<bool> InferenceServer::IsModelReady(const std::string& name, int64_t version) {
  NEREID_RETURN_IF_ERROR(phase_.CheckServing());
  const auto table = repositories_->lifecycle().Table();
  const auto found = table->Find(name, version);
  if (found.ok()) return (*found)->CheckReady().ok();
  return residency_ != nullptr && CanLoad(*residency_, *table, name, version);
}

base::Result<api::ModelTraits> InferenceServer::FindModel(const std::string& name,
                                                          int64_t version) {
  if (!phase_.IsEnding()) NEREID_RETURN_IF_ERROR(phase_.CheckServing());
  const auto rollout = version < 0 && rollouts_->any() ? rollouts_->Find(name) : nullptr;
  const auto table = repositories_->lifecycle().Table();
  auto loaded = rollout == nullptr ? table->Find(name, version) : TypicalVersion(*table, *rollout);
  if (!loaded.ok() && residency_ != nullptr && !phase_.IsStopping()) {
    return TraitsOfKnown(*residency_, name, version, loaded.status());
  }
  if (!loaded.ok()) return phase_.IsStopping() ? request::StoppingStatus() : loaded.status();
  const auto served = ServedModel::From(std::move(loaded).value());
  const config::ModelConfig& config = served->config();
  return api::ModelTraits{config.decoupled(), config.max_batch_size()};
}

Status InferenceServer::Infer(std::unique_ptr<request::InferenceRequest>& request) {
  return Submit(request, ServerPhase::Value::kEnding);
}

Status InferenceServer::InferInProcess(std::unique_ptr<request::InferenceRequest>& request) {
  return Submit(request, ServerPhase::Value::kStopping);
}

Status InferenceServer::Submit(std::unique_ptr<request::InferenceRequest>& request,
                               ServerPhase::Value refused_from) {
  request->times.start_ns = base::SteadyClock().NowNs();
  if (residency_ != nullptr) return residency_->Submit(request, refused_from);
  return SubmitNow({phase_, repositories_->lifecycle(), *rollouts_, *health_, shared_submission_,
                    handover_.get()},
                   refused_from, request);
}

Status InferenceServer::LoadModel(const std::string& name,
                                  std::vector<api::LoadParameter> parameters,
                                  const std::function<bool()>& is_abandoned) {
  return repositories_->Load(name, std::move(parameters), is_abandoned);
}

Status InferenceServer::UnloadModel(const std::string& name, bool unload_dependents) {
  return repositories_->Unload(name, unload_dependents);
}

api::ServerMetadata InferenceServer::GetServerMetadata() {
  return MakeServerMetadata(settings_.server_id);
}

base::Result<api::ModelMetadata> InferenceServer::GetModelMetadata(const std::string& name,
                                                                   int64_t version) {
  auto described = DescribeModel(*repositories_->lifecycle().Table(), name, version);
  if (described.ok() || residency_ == nullptr) return described;
  return DescribeKnown(*residency_, repositories_->lifecycle(), name, version);
}

base::Result<std::shared_ptr<const config::ModelConfig>> InferenceServer::GetModelConfig(
    const std::string& name, int64_t version) {
  auto loaded = repositories_->lifecycle().Table()->Find(name, version);
  if (loaded.ok()) return ServedModel::From(std::move(loaded).value())->identity().config;
  if (residency_ == nullptr) return loaded.status();
  return ConfigOfKnown(*residency_, repositories_->lifecycle(), name, version);
}

base::Result<std::vector<api::ModelStatistics>> InferenceServer::GetModelStatistics(
    const std::string& name, int64_t version) {
  NEREID_RETURN_IF_ERROR(phase_.CheckServing());
  auto statistics = CollectStatistics(*repositories_->lifecycle().Table(), name, version);
  if (statistics.ok() || residency_ == nullptr) return statistics;
  return StatisticsOfKnown(*residency_, name, version, statistics.status());
}

base::Result<api::SequenceList> InferenceServer::ListSequences(const std::string& name,
                                                               int64_t version) {
  if (!settings_.list_sequences) {
    return Status::NotFound(
        "sequences are not listed by this server (--enable-sequence-listing=true)");
  }
  NEREID_ASSIGN_OR_RETURN(auto loaded, repositories_->lifecycle().Table()->Find(name, version));
  const auto served = ServedModel::From(std::move(loaded));
  if (!served->config().sequence_batching().has_value()) {
    return Status::NotFound("model '" + name + "' has no sequences");
  }
  return served->version().ListSequences(api::kMaxSequencesListed);
}

base::Result<std::vector<api::RepositoryIndexEntry>> InferenceServer::GetRepositoryIndex(
    bool ready_only) {
  NEREID_RETURN_IF_ERROR(phase_.CheckServing());
  NEREID_ASSIGN_OR_RETURN(auto entries, repositories_->lifecycle().Index(ready_only));
  std::vector<api::RepositoryIndexEntry> index;
  for (auto& entry : entries) {
    index.push_back({std::move(entry.name), std::move(entry.version), std::move(entry.state),
                     std::move(entry.reason)});
  }
  if (residency_ != nullptr) ExplainKnown(*residency_, &index);
  return index;
}

}  // namespace nereid::server
