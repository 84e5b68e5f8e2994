// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>

#include "base/duration.h"
#include "base/log.h"
#include "base/parse_number.h"
#include "config/complete/instance_groups.h"
#include "config/complete/merge.h"
#include "config/describe/describe.h"
#include "config/instance_difference.h"
#include "config/known_backends.h"
#include "config/labels.h"
#include "config/rules/find_problems.h"
#include "config/rules/validate.h"
#include "model/batching_library.h"
#include "model/host_placement.h"
#include "model/instance_loading.h"
#include "model/warmup.h"
#include "model_config.pb.h"
#include "schedule/adaptive/cheapest_batch.h"
#include "schedule/adaptive/latency_objective.h"
#include "schedule/make_scheduler.h"
#include "schedule/sequence/sequence_notice.h"

namespace nereid::model {

using base::Status;
using config::InstanceKind;

namespace {

/// Tells which max_batch_size a backend has chosen: clients meet it as the limit of their batches.
void LogChosenBatchSize(const std::string& model, int32_t written, int32_t chosen) {
  if (written == chosen) return;
  LOG_INFO_OF(.model = model)
      << "model '" << model << "': max_batch_size is " << chosen
      << ", which its backend has chosen; requests with a larger batch are refused. To change it, "
         "set max_batch_size and the inputs and outputs in config.pbtxt (nereid init writes them), "
         "or --backend-config=default-max-batch-size for all models";
}

config::InstanceDefaults DefaultsFrom(const backend::BackendAttributes& attributes,
                                      const device::Gpus* gpus) {
  config::InstanceDefaults defaults;
  if (gpus != nullptr) defaults.gpus = gpus->Ordinals();
  for (const auto& preferred : attributes.preferred_groups) {
    auto& group = defaults.preferred.emplace_back();
    group.kind = static_cast<InstanceKind>(preferred.kind);
    group.count = static_cast<int32_t>(std::min<uint64_t>(preferred.count, INT32_MAX));
    for (const uint64_t id : preferred.device_ids) group.gpus.push_back(static_cast<int32_t>(id));
  }
  return defaults;
}

/// Returns the configuration as the backend reads it: with the model's share of the CPU plan.
std::string ConfigForBackend(const config::ModelConfig& config, const CpuPlan::Entry& share) {
  if (share.threads() == 0) return config::DescribeModelConfigJson(config);
  return config::DescribeModelConfigJson(*WithCpuThreads(config, share.share()));
}

/// Returns null if the configuration gives the limits. `chosen_by_server`: the server has chosen
/// dynamic batching, not the user.
base::Result<std::shared_ptr<schedule::BatchLimits>> ChooseBatchLimits(
    const config::ModelConfig& config, std::optional<uint64_t> objective_ns,
    bool chosen_by_server) {
  NEREID_ASSIGN_OR_RETURN(const bool cheapest,
                          schedule::WantsCheapestBatch(config, chosen_by_server));
  const auto largest = static_cast<uint64_t>(std::max(1, config.max_batch_size()));
  std::shared_ptr<schedule::BatchLimits> limits;
  if (objective_ns) {
    limits = std::make_shared<schedule::LatencyObjective>(*objective_ns, largest);
  } else if (cheapest) {
    limits = std::make_shared<schedule::CheapestBatch>(largest);
  }
  return limits;
}

std::vector<schedule::SchedulerInstance> ActiveOf(const std::vector<InstancePtr>& instances) {
  std::vector<schedule::SchedulerInstance> active;
  for (const InstancePtr& instance : instances) {
    if (!instance->passive()) {
      active.push_back({instance->name(), instance.get(), instance->placement()});
    }
  }
  return active;
}

std::vector<schedule::BatchRunner*> RunnersOf(const std::vector<InstancePtr>& instances) {
  std::vector<schedule::BatchRunner*> runners;
  for (const schedule::SchedulerInstance& instance : ActiveOf(instances)) {
    runners.push_back(instance.runner);
  }
  return runners;
}

/// Returns the limit of an execution in nanoseconds, 0 for none: the model's parameter, else the
/// server's setting.
base::Result<uint64_t> WatchdogNs(const config::ModelConfig& config, uint32_t server_secs) {
  constexpr const char* kParameter = "execution_watchdog_secs";
  std::optional<uint32_t> secs = server_secs;
  if (const std::string* text = config.FindParameter(kParameter)) {
    secs = base::ParseWhole<uint32_t>(*text);
    if (!secs) {
      return Status::InvalidArgument("model '" + config.name() + "': parameter '" + kParameter +
                                     "' must be a whole number of seconds, got '" + *text + "'");
    }
  }
  return base::Duration::Seconds(*secs).ns();
}

/// Calls `load`. No exception leaves it: a plug-in may throw out of any function that it has.
template <typename T>
base::Result<T> Guarded(const std::string& model, const std::function<base::Result<T>()>& load) {
  std::string what;
  try {
    return load();
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("out of memory while model '" + model + "' was loaded");
  } catch (const std::exception& exception) {
    what = exception.what();
  } catch (...) {
    what = "something that is no std::exception";
  }
  return Status::Internal("the backend threw while model '" + model + "' was loaded: " + what);
}

/// Returns the inline mode of a model: the server's, but never inline if the model's parameter says
/// so or, in mode auto, if the model is decoupled or a Python model whose backend does not say when
/// an execution would wait.
base::Result<schedule::InlineMode> InlineModeOf(const config::ModelConfig& config,
                                                bool backend_says_room,
                                                schedule::InlineMode of_server) {
  constexpr const char* kParameter = "inline_execution";
  if (const std::string* const text = config.FindParameter(kParameter)) {
    if (*text == "never") return schedule::InlineMode::kNever;
    if (*text != "auto") {
      return Status::InvalidArgument("model '" + config.name() + "': parameter '" + kParameter +
                                     "' must be 'auto' or 'never', got '" + *text + "'");
    }
  }
  // The measured duration of a decoupled execution says nothing about the next one, which may send
  // any number of responses.
  // A Python model executes in another process, for which the thread waits, or which takes the
  // batch and waits only when it has too many.
  const bool may_wait = config.backend() == "python" && !backend_says_room;
  const bool open_ended =
      (config.decoupled() || may_wait) && of_server == schedule::InlineMode::kAuto;
  return open_ended ? schedule::InlineMode::kNever : of_server;
}

config::ValidateOptions LoadOptions(const device::Gpus* gpus) {
  if (gpus == nullptr) return config::ValidateOptions::ForLoad(/*gpu_count=*/0);
  auto options = config::ValidateOptions::ForLoad(gpus->Ordinals());
  options.min_compute_capability = gpus->min_capability();
  return options;
}

// Logs the problems that the rules report as warnings; see config/rules.
void LogWarnings(const config::ModelConfig& config, const device::Gpus* gpus) {
  for (const config::Problem& problem : config::FindProblems(config, LoadOptions(gpus))) {
    if (problem.severity != config::Severity::kWarning) continue;
    LOG_WARNING << problem.message << " (" << problem.field << ")";
  }
}

Status CheckGroups(const config::ModelConfig& config, const device::Gpus* gpus) {
  config::ValidateOptions groups = LoadOptions(gpus);
  groups.check_io = groups.check_sequence_states = false;
  return config::ValidateModelConfig(config, groups);
}

/// Returns whether the server may choose the number of threads of the model's executions. Not if a
/// library of the model's own has operators: these may keep something from one execution to the
/// next, and a framework that opens the model again for another number gives it further operators.
bool CanVaryThreads(const config::ModelConfig& config, const backend::Backend& backend) {
  const backend::BackendEntryPoints& entry = backend.entry_points();
  if (entry.prepare_threads == nullptr || entry.set_threads == nullptr) return false;
  if (config.proto().model_operations().op_library_filename_size() > 0) return false;
  const auto& groups = config.instance_groups();
  return std::none_of(groups.begin(), groups.end(), [](const config::InstanceGroup& group) {
    return group.kind == InstanceKind::kGpu;
  });
}

// Notes on which GPU the instances are, for their statistics.
void NameGpus(std::vector<InstanceSpec>& specs, const device::Gpus* gpus) {
  for (InstanceSpec& spec : specs) {
    if (gpus == nullptr || spec.description.kind != InstanceKind::kGpu) continue;
    const device::Gpu* const gpu = gpus->ByOrdinal(spec.description.device_id);
    if (gpu != nullptr) spec.gpu_uuid = gpu->uuid;
  }
}

// Returns the turn of the instance's GPU if the backend wants one execution at a time there, else
// null.
std::shared_ptr<DeviceTurn> TurnOf(const InstanceSpec& spec, const backend::Backend& backend,
                                   std::map<int32_t, std::shared_ptr<DeviceTurn>>& turns) {
  if (spec.description.kind != InstanceKind::kGpu ||
      backend.execution_policy != TRITONBACKEND_EXECUTION_DEVICE_BLOCKING) {
    return nullptr;
  }
  std::shared_ptr<DeviceTurn>& turn = turns[spec.description.device_id];
  if (turn == nullptr) turn = std::make_shared<DeviceTurn>();
  return turn;
}

/// Returns null if the server keeps no histograms.
std::unique_ptr<FirstResponseTimes> MakeHistogram(const ModelEnvironment& environment,
                                                  const config::ModelConfig& config) {
  if (environment.histogram_latencies) {
    return std::make_unique<FirstResponseTimes>(environment.clock, FirstResponseBuckets(config));
  }
  if (config.proto().has_model_metrics()) {
    LOG_INFO_OF(.model = config.name())
        << "model '" << config.name() << "': model_metrics gives buckets, but the server "
        << "keeps no histograms (--metrics-config=histogram_latencies=true)";
  }
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Model>> Model::Create(const ModelEnvironment& environment,
                                                   const ModelSource& source) {
  using ModelPtr = std::unique_ptr<Model>;
  return Guarded<ModelPtr>(source.name, [&]() -> base::Result<ModelPtr> {
    ModelPtr model(new Model(environment));
    NEREID_RETURN_IF_ERROR(model->Load(source));
    return model;
  });
}

Model::~Model() {
  // No request refers to the model. Sequences that wait for clients would keep the
  // scheduler's destructor waiting.
  if (scheduler_ != nullptr) scheduler_->EndIdleSequences();
}

// The order matters: the backend completes the configuration, which labels, sequence inputs,
// instances and the cache's fingerprint depend on. The scheduler comes last, because it starts the
// instances' threads.
Status Model::Load(const ModelSource& source) {
  directory_ = source.directory;
  version_directory_ = source.version_directory;
  auto identity = std::make_shared<request::ModelIdentity>();
  identity->name = source.name;
  identity->version = source.version;
  identity->version_text = std::to_string(source.version);
  identity->config = source.config;
  NEREID_RETURN_IF_ERROR(InitializeBackend(source, identity.get()));
  NEREID_RETURN_IF_ERROR(ReadLabels(identity.get()));
  identity_ = std::move(identity);
  LogWarnings(config(), environment_.gpus);
  if (config().sequence_batching()) {
    NEREID_ASSIGN_OR_RETURN(sequence_inputs_,
                            request::SequenceInputs::Create(identity_->config, directory_));
  }
  NEREID_ASSIGN_OR_RETURN(const std::vector<InstanceSpec> specs,
                          WantedInstances(identity_->config, *source.config));
  NEREID_ASSIGN_OR_RETURN(const std::vector<InstancePtr> instances,
                          CreateInstances(specs, source.on_warm_up));
  instances_.Add(instances);
  NEREID_RETURN_IF_ERROR(CreateCache());
  first_responses_ = MakeHistogram(environment_, config());
  return CreateScheduler(source);
}

Status Model::InitializeBackend(const ModelSource& source, request::ModelIdentity* identity) {
  config::ModelConfigPtr& config = identity->config;
  NEREID_ASSIGN_OR_RETURN(
      auto backend, environment_.backends.Get({source.name, config->backend(), config->runtime(),
                                               source.version_directory, source.directory}));
  config = config::CompleteInstanceGroups(*config,
                                          DefaultsFrom(backend->attributes(), environment_.gpus));
  NEREID_RETURN_IF_ERROR(CheckGroups(*config, environment_.gpus));
  NEREID_ASSIGN_OR_RETURN(const base::CpuPlacement placement,
                          CommonPlacement(environment_.host_policies, *config));
  if (environment_.cpu_plan != nullptr) {
    NEREID_ASSIGN_OR_RETURN(cpu_share_,
                            environment_.cpu_plan->Add(*config, source.version, placement.cpus,
                                                       CanVaryThreads(*config, *backend)));
  }

  backend::BackendModel::Description description;
  description.name = source.name;
  description.version = static_cast<uint64_t>(source.version);
  description.directory = source.directory;
  description.auto_complete = environment_.auto_complete;
  description.server = environment_.c_server;
  backend_model_ = std::make_unique<backend::BackendModel>(
      std::move(backend), std::move(description), ConfigForBackend(*config, cpu_share_));
  Status initialized;
  {
    // Frameworks start threads during Initialize; they inherit this thread's placement.
    const base::ScopedPlacement placed(placement);
    initialized =
        backend_model_->Initialize([&](std::string_view json) -> base::Result<std::string> {
          // Without auto-completion the configuration set by the backend is ignored.
          if (environment_.auto_complete) {
            NEREID_ASSIGN_OR_RETURN(config, config::MergeBackendConfig(*config, json));
          }
          return ConfigForBackend(*config, cpu_share_);
        });
  }
  // An invalid configuration is reported in the server's words, even if the backend refused it too.
  // Other failures (files, the completion itself) are reported in the backend's words.
  const Status valid = config::ValidateModelConfig(*config, LoadOptions(environment_.gpus));
  if (initialized.code() == base::StatusCode::kInvalidArgument && !valid.ok()) {
    LOG_ERROR_OF(.model = source.name)
        << "model '" << source.name << "': its backend says: " << initialized.message();
    return valid;
  }
  NEREID_RETURN_IF_ERROR(initialized);
  PlanThreads(placement);
  LogChosenBatchSize(source.name, source.config->max_batch_size(), config->max_batch_size());
  identity->backend_chose_batch_size = source.config->max_batch_size() != config->max_batch_size();
  if (!source.configured && !backend_model_->completed()) {
    return Status::NotFound("model configuration is not provided for model '" + source.name + "'");
  }
  return valid;
}

void Model::PlanThreads(const base::CpuPlacement& placement) {
  if (cpu_share_.threads() == 0) return;
  MachineLoad& load = environment_.cpu_plan->load();
  if (cpu_share_.varies() && backend_model_->PrepareThreads(1).ok()) {
    if (backend_model_->InstancesShare()) cpu_share_.LetInstancesBeAdded();
    threads_ =
        ExecutionThreads::Changing(load, environment_.clock, cpu_share_.most_threads(),
                                   [this, placement](int threads, const ThreadsPrepared& done) {
                                     return PrepareThreads(placement, threads, done);
                                   });
    return;
  }
  cpu_share_.Fix();
  threads_ = ExecutionThreads::Fixed(load, environment_.clock, cpu_share_.threads());
}

Status Model::PrepareThreads(const base::CpuPlacement& placement, int threads,
                             const ThreadsPrepared& done) {
  return preparations_.Start("model-threads", [this, placement, threads, done] {
    // For the threads that the framework starts.
    const base::ScopedPlacement placed(placement);
    const auto prepared = Guarded<int>(identity_->name, [&]() -> base::Result<int> {
      const config::KnownBackend* const known = config::FindKnownBackend(config().backend());
      if (known != nullptr && known->copies_for_threads && environment_.may_copy_model != nullptr &&
          !environment_.may_copy_model(version_directory_)) {
        return Status::Unavailable("there is too little memory for another copy of the model");
      }
      NEREID_RETURN_IF_ERROR(backend_model_->PrepareThreads(threads));
      return threads;
    });
    const Status& status = prepared.status();
    if (!status.ok()) {
      LOG_WARNING_OF(.model = identity_->name)
          << "model '" << identity_->name << "' cannot use " << threads
          << " threads for one execution: " << status.message();
    }
    done(status);
  });
}

Status Model::ReadLabels(request::ModelIdentity* identity) const {
  for (const config::TensorSpec& output : identity->config->outputs()) {
    if (output.label_filename.empty()) continue;
    NEREID_ASSIGN_OR_RETURN(identity->labels[output.name],
                            config::ReadLabelFile(directory_, output.label_filename));
  }
  return Status::Ok();
}

base::Result<std::vector<InstanceSpec>> Model::WantedInstances(
    const config::ModelConfigPtr& completed, const config::ModelConfig& written) {
  // The rate limiter counts instances, so it gets those of the configuration.
  const config::ModelConfigPtr planned =
      environment_.permits == nullptr ? cpu_share_.WithInstances(completed, written) : completed;
  NEREID_ASSIGN_OR_RETURN(std::vector<InstanceSpec> specs,
                          ExpandInstanceGroups(*planned, environment_.host_policies));
  NameGpus(specs, environment_.gpus);
  return specs;
}

base::Result<std::vector<InstancePtr>> Model::CreateInstances(
    const std::vector<InstanceSpec>& specs, const std::function<void()>& on_warm_up) {
  NEREID_ASSIGN_OR_RETURN(const std::vector<WarmupSample> samples,
                          BuildWarmupSamples(config(), [this](const std::string& name) {
                            return ReadWarmupDirectory(directory_, name);
                          }));
  std::vector<InstancePtr> instances;
  const backend::Backend& backend = backend_model_->backend();
  for (const InstanceSpec& spec : specs) {
    NEREID_ASSIGN_OR_RETURN(const base::CpuPlacement placement,
                            PlacementOf(environment_.host_policies, spec.host_policy));
    instances.push_back(std::make_shared<ModelInstance>(
        *backend_model_, spec, placement, environment_.clock, environment_.latencies,
        TurnOf(spec, backend, turns_),
        spec.description.kind == InstanceKind::kGpu ? nullptr : threads_.get()));
  }
  NEREID_RETURN_IF_ERROR(
      InitializeInstances(instances, backend.attributes().parallel_instance_loading,
                          [&](size_t i) { return environment_.gpu_load_limits.Check(specs[i]); }));
  for (const InstancePtr& instance : instances) {
    if (instance->passive()) continue;
    // For the threads that the framework starts for its first execution.
    const base::ScopedPlacement placed(instance->placement());
    if (!samples.empty() && on_warm_up != nullptr) on_warm_up();
    NEREID_RETURN_IF_ERROR(
        RunWarmup(samples, identity_, environment_.clock, *instance, sequence_inputs_.get()));
    if (environment_.permits != nullptr) {
      NEREID_RETURN_IF_ERROR(instance->Register(*environment_.permits));
    }
  }
  return instances;
}

base::Result<std::shared_ptr<schedule::BatchStrategy>> Model::OpenBatchStrategy(
    const ModelSource& source) {
  std::shared_ptr<schedule::BatchStrategy> strategy;
  if (!config().dynamic_batching() && !config().sequence_batching()) return strategy;
  NEREID_ASSIGN_OR_RETURN(const std::string path,
                          FindBatchingLibrary(config(), source.directory, source.version_directory,
                                              backend_model_->backend().directory()));
  if (path.empty()) return strategy;
  NEREID_ASSIGN_OR_RETURN(strategy, BatchingLibrary::Open(path, *backend_model_));
  LOG_INFO_OF(.model = source.name)
      << "model '" << source.name << "': batches are closed by " << path;
  return strategy;
}

Status Model::CreateScheduler(const ModelSource& source) {
  bool all_cpu = true;
  for (const config::InstanceGroup& group : config().instance_groups()) {
    if (group.kind == InstanceKind::kGpu) all_cpu = false;
  }
  // An instance that is bound to CPUs must run on its own thread only.
  const std::vector<InstancePtr> instances = instances_.All();
  const bool placed = std::any_of(instances.begin(), instances.end(), [](const auto& instance) {
    return !instance->placement().empty();
  });
  scheduler_statistics_ = std::make_unique<SchedulerStatistics>(environment_.clock);
  const bool says_room = backend_model_->backend().entry_points().instance_has_room != nullptr;
  NEREID_ASSIGN_OR_RETURN(const schedule::InlineMode inline_mode,
                          InlineModeOf(config(), says_room, environment_.inline_mode));
  schedule::SchedulerEnvironment scheduling{
      environment_.clock, environment_.timers, *scheduler_statistics_,
      all_cpu && !placed ? inline_mode : schedule::InlineMode::kNever};
  scheduling.permits = environment_.permits;
  NEREID_ASSIGN_OR_RETURN(scheduling.watchdog_ns,
                          WatchdogNs(config(), environment_.execution_watchdog_secs));
  NEREID_ASSIGN_OR_RETURN(latency_objective_ns_, schedule::ReadLatencyObjective(config()));
  NEREID_ASSIGN_OR_RETURN(batch_limits_,
                          ChooseBatchLimits(config(), latency_objective_ns_,
                                            all_cpu && !source.config->dynamic_batching()));
  scheduling.batch_limits = batch_limits_;
  NEREID_ASSIGN_OR_RETURN(scheduling.batch_strategy, OpenBatchStrategy(source));
  if (config().sequence_batching()) {
    scheduling.sequence_inputs = sequence_inputs_;
    NEREID_RETURN_IF_ERROR(schedule::WantsSequenceEndNotice(config()).status());
  }
  scheduling.start =
      schedule::ReadStartConditions(std::getenv("TRITONSERVER_DELAY_SCHEDULER"),
                                    std::getenv("TRITONSERVER_BACKLOG_DELAY_SCHEDULER"));
  const bool batches = config().dynamic_batching() || config().sequence_batching();
  if (batches && scheduling.start.queued > 0) {
    LOG_INFO_OF(.model = source.name)
        << "Delaying the scheduler of model '" << source.name << "' until "
        << scheduling.start.queued << " queued requests"
        << (config().sequence_batching() && scheduling.start.backlog > 0
                ? " and " + std::to_string(scheduling.start.backlog) + " in the backlog"
                : std::string())
        << "...";
  }
  NEREID_ASSIGN_OR_RETURN(scheduler_,
                          schedule::MakeScheduler(config(), ActiveOf(instances), scheduling));
  return Status::Ok();
}

base::Result<InstanceUpdate> Model::PrepareUpdate(const config::ModelConfig& wanted) {
  return Guarded<InstanceUpdate>(config().name(), [&] { return PrepareInstances(wanted); });
}

base::Result<InstanceUpdate> Model::PrepareInstances(const config::ModelConfig& wanted) {
  const auto& attributes = backend_model_->backend().attributes();
  InstanceUpdate update;
  update.config = config::CompleteInstanceGroups(*config::WithInstancesOf(config(), wanted),
                                                 DefaultsFrom(attributes, environment_.gpus));
  NEREID_RETURN_IF_ERROR(CheckGroups(*update.config, environment_.gpus));
  const std::vector<InstancePtr> all = instances_.All();
  std::vector<ExistingInstance> existing;
  for (const InstancePtr& instance : all) {
    existing.push_back({instance->name(), instance->signature()});
  }
  NEREID_ASSIGN_OR_RETURN(const std::vector<InstanceSpec> specs,
                          WantedInstances(update.config, wanted));
  const InstanceChanges changes = PlanInstanceChanges(existing, specs);
  for (const size_t i : changes.remove) update.removed.push_back(all[i]);
  std::vector<InstanceSpec> missing;
  for (const size_t i : changes.create) missing.push_back(specs[i]);
  if (!missing.empty()) {
    NEREID_ASSIGN_OR_RETURN(update.created, CreateInstances(missing));
    NEREID_ASSIGN_OR_RETURN(update.threads, scheduler_->PrepareInstances(ActiveOf(update.created)));
  }
  return update;
}

void Model::ApplyUpdate(InstanceUpdate update) {
  // Before the new instances serve: a backend that reads the configuration sees the new groups.
  backend_model_->SetConfigJson(ConfigForBackend(*update.config, cpu_share_));
  instances_.Add(update.created);
  // Added before the old ones are removed, so requests never find a model without instances.
  scheduler_->AddPrepared(std::move(update.threads));
  if (update.removed.empty()) return;
  if (!config().sequence_batching()) return RemoveInstances(std::move(update.removed));
  // The removal waits for the sequences of these instances, whose clients decide how long they
  // last, so it runs on a thread of its own.
  instances_.Hide(update.removed);
  scheduler_->RetireInstances(RunnersOf(update.removed));
  const auto removed = std::make_shared<std::vector<InstancePtr>>(std::move(update.removed));
  const Status started =
      removals_.Start("model-retire", [this, removed] { RemoveInstances(std::move(*removed)); });
  if (started.ok()) return;
  LOG_ERROR_OF(.model = config().name())
      << started.message() << "; instances of model '" << config().name()
      << "' that are not wanted any more stay until it is unloaded";
  left_behind_.insert(left_behind_.end(), removed->begin(), removed->end());
}

void Model::RemoveInstances(std::vector<InstancePtr> instances) {
  scheduler_->RemoveInstances(RunnersOf(instances));
  instances_.Remove(std::move(instances));
}

Status Model::CreateCache() {
  if (environment_.response_cache != nullptr) {
    content_ = std::make_unique<VersionContent>(config().name(), identity_->config, directory_,
                                                version_directory_);
  }
  if (!config().response_cache_enabled()) return Status::Ok();
  if (environment_.response_cache == nullptr) {
    LOG_INFO_OF(.model = config().name())
        << "model '" << config().name() << "': response_cache is enabled, but the server has no "
        << "response cache (--cache-config); its responses are not cached";
    return Status::Ok();
  }
  NEREID_ASSIGN_OR_RETURN(cache_fingerprint_, content_->Read());
  cache_statistics_ = std::make_unique<CacheStatistics>(environment_.clock, environment_.latencies);
  response_cache_ = std::make_unique<cache::ModelCache>(*environment_.response_cache,
                                                        environment_.clock, *cache_statistics_);
  return Status::Ok();
}

Status Model::CheckReady() {
  NEREID_RETURN_IF_ERROR(instances_.CheckReady());
  return scheduler_->CheckProgress();
}

telemetry::ModelStatistics Model::Statistics() const {
  telemetry::ModelStatistics total;
  total.name = identity_->name;
  total.version = identity_->version_text;
  instances_.AddStatisticsTo(&total);
  for (const memory::BufferAttributes& usage : backend_model_->memory_usage()) {
    total.memory_usage.push_back(ToMemoryUsage(usage));
  }
  scheduler_statistics_->MergeInto(&total);
  if (threads_ != nullptr) threads_->AddTo(&total);
  total.pending_requests = scheduler_->PendingCount();
  total.sequences = scheduler_->CountSequences();
  if (batch_limits_ != nullptr) {
    total.adaptive_batching = {latency_objective_ns_.value_or(0) / 1000,
                               batch_limits_->size_limit()};
  }
  if (first_responses_ != nullptr) total.first_response_ms = first_responses_->Snapshot();
  total.response_cache = config().response_cache_enabled();
  if (response_cache_ != nullptr) {
    total.pending_requests += response_cache_->PendingCount();
    cache_statistics_->MergeInto(&total);
  }
  return total;
}

telemetry::LatencySummaries Model::Summaries() const {
  telemetry::LatencySummaries total;
  instances_.AddSummariesTo(&total);
  if (response_cache_ != nullptr) cache_statistics_->MergeInto(&total);
  return total;
}

}  // namespace nereid::model
