// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include "base/log.h"
#include "cache/model_fingerprint.h"
#include "config/complete.h"
#include "config/describe.h"
#include "config/labels.h"
#include "config/rules/validate.h"
#include "model_config.pb.h"
#include "schedule/make_scheduler.h"

namespace nereid::model {

using base::Status;
using config::InstanceKind;

namespace {

config::InstanceDefaults DefaultsFrom(const backend::BackendAttributes& attributes) {
  config::InstanceDefaults defaults;
  for (const auto& preferred : attributes.preferred_groups) {
    auto& group = defaults.preferred.emplace_back();
    group.kind = static_cast<InstanceKind>(preferred.kind);
    group.count = static_cast<int32_t>(std::min<uint64_t>(preferred.count, INT32_MAX));
    for (const uint64_t id : preferred.device_ids) group.gpus.push_back(static_cast<int32_t>(id));
  }
  return defaults;
}

/// {"<policy>":{"<setting>":"<value>"}}
std::string HostPolicyJson(const ModelEnvironment& environment, const std::string& policy) {
  std::string json = "{" + base::JsonQuote(policy) + ":{";
  if (const auto found = environment.host_policies.find(policy);
      found != environment.host_policies.end()) {
    bool first = true;
    for (const auto& [setting, value] : found->second) {
      if (!first) json += ',';
      first = false;
      json += base::JsonQuote(setting) + ':' + base::JsonQuote(value);
    }
  }
  return json + "}}";
}

std::string HostPolicyName(const config::InstanceGroup& group, int32_t device_id) {
  if (!group.host_policy.empty()) return group.host_policy;
  switch (group.kind) {
    case InstanceKind::kGpu:
      return "gpu_" + std::to_string(device_id);
    case InstanceKind::kModel:
      return "model";
    default:
      return "cpu";
  }
}

/// What a model cannot do without, and this server does not have.
Status CheckSupported(const config::ModelConfig& config) {
  if (config.is_ensemble()) {
    return Status::Unsupported("model '" + config.name() +
                               "': ensembles are not supported by this server yet");
  }
  if (config.has_sequence_batching()) {
    return Status::Unsupported("model '" + config.name() +
                               "': sequence batching is not supported by this server yet");
  }
  if (config.proto().model_repository_agents().agents_size() > 0) {
    // An agent may be there to refuse the model, so loading without it is not the lesser evil.
    return Status::Unsupported("model '" + config.name() +
                               "': model repository agents are not supported by this server yet");
  }
  return Status::Ok();
}

/// Settings that are accepted and do nothing yet are named, never dropped in silence.
void WarnOfIgnoredSettings(const config::ModelConfig& config) {
  std::string ignored;
  const auto note = [&](bool set, const char* setting) {
    if (set) ignored += (ignored.empty() ? "" : ", ") + std::string(setting);
  };
  if (const auto& batching = config.dynamic_batching()) {
    const auto has_policy = [](const config::QueuePolicy& policy) {
      return policy.default_timeout_us != 0 || policy.max_queue_size != 0 ||
             policy.allow_timeout_override;
    };
    note(batching->preserve_ordering, "dynamic_batching.preserve_ordering");
    note(batching->priority_levels > 0, "dynamic_batching.priority_levels");
    note(has_policy(batching->default_queue_policy) || !batching->priority_queue_policies.empty(),
         "dynamic_batching queue policies");
  }
  note(config.proto().model_warmup_size() > 0, "model_warmup");
  if (!ignored.empty()) {
    LOG_WARNING << "model '" << config.name() << "': this server does not honour yet: " << ignored;
  }
}

}  // namespace

base::Result<std::unique_ptr<Model>> Model::Create(const ModelEnvironment& environment,
                                                   const ModelSource& source) {
  std::unique_ptr<Model> model(new Model());
  NEREID_RETURN_IF_ERROR(model->Load(environment, source));
  return model;
}

Model::~Model() = default;

Status Model::Load(const ModelEnvironment& environment, const ModelSource& source) {
  identity_.name = source.name;
  identity_.version = source.version;
  identity_.version_text = std::to_string(source.version);
  identity_.config = source.config;
  NEREID_RETURN_IF_ERROR(CheckSupported(config()));
  NEREID_RETURN_IF_ERROR(InitializeBackend(environment, source));
  NEREID_RETURN_IF_ERROR(CheckSupported(config()));
  NEREID_RETURN_IF_ERROR(ReadLabels(source.directory));
  WarnOfIgnoredSettings(config());
  NEREID_RETURN_IF_ERROR(CreateInstances(environment));
  NEREID_RETURN_IF_ERROR(CreateCache(environment, source));
  CreateScheduler(environment);
  return Status::Ok();
}

Status Model::InitializeBackend(const ModelEnvironment& environment, const ModelSource& source) {
  NEREID_ASSIGN_OR_RETURN(auto backend,
                          environment.backends.Get(config().backend(), config().runtime(),
                                                   source.directory, source.version_directory));
  identity_.config = config::CompleteInstanceGroups(config(), DefaultsFrom(backend->attributes()));
  config::ValidateOptions groups;
  groups.check_instance_groups = true;
  NEREID_RETURN_IF_ERROR(config::ValidateModelConfig(config(), groups));

  backend::BackendModel::Description description;
  description.name = source.name;
  description.version = static_cast<uint64_t>(source.version);
  description.directory = source.directory;
  description.config_json = config::DescribeModelConfigJson(config());
  description.auto_complete = environment.auto_complete;
  description.server = environment.c_server;
  backend_model_ =
      std::make_unique<backend::BackendModel>(std::move(backend), std::move(description));
  NEREID_RETURN_IF_ERROR(backend_model_->Initialize());
  if (const auto& completed = backend_model_->completed_config();
      completed && environment.auto_complete) {
    NEREID_ASSIGN_OR_RETURN(identity_.config, config::MergeBackendConfig(config(), *completed));
    backend_model_->SetConfigJson(config::DescribeModelConfigJson(config()));
  }
  config::ValidateOptions all;
  all.check_io = true;
  all.check_instance_groups = true;
  return config::ValidateModelConfig(config(), all);
}

Status Model::ReadLabels(const std::string& directory) {
  for (const config::TensorSpec& output : config().outputs()) {
    if (output.label_filename.empty()) continue;
    NEREID_ASSIGN_OR_RETURN(identity_.labels[output.name],
                            config::ReadLabelFile(directory, output.label_filename));
  }
  return Status::Ok();
}

Status Model::CreateInstances(const ModelEnvironment& environment) {
  for (const config::InstanceGroup& group : config().instance_groups()) {
    const std::vector<int32_t> devices =
        group.kind == InstanceKind::kGpu ? group.gpus : std::vector<int32_t>{0};
    for (int32_t index = 0; index < group.count; ++index) {
      for (const int32_t device : devices) {
        backend::BackendInstance::Description description;
        description.name = group.name + "_" + std::to_string(index);
        description.kind = group.kind;
        description.device_id = device;
        description.passive = group.passive;
        description.host_policy_json = HostPolicyJson(environment, HostPolicyName(group, device));
        description.profiles = group.profiles;
        description.secondary_devices = group.secondary_devices;
        auto instance = std::make_unique<ModelInstance>(*backend_model_, std::move(description),
                                                        environment.clock);
        NEREID_RETURN_IF_ERROR(instance->Initialize());
        instances_.push_back(std::move(instance));
      }
    }
  }
  return Status::Ok();
}

void Model::CreateScheduler(const ModelEnvironment& environment) {
  std::vector<schedule::SchedulerInstance> active;
  bool all_cpu = true;
  for (const auto& instance : instances_) {
    if (!instance->passive()) active.push_back({instance->name(), instance.get()});
  }
  for (const config::InstanceGroup& group : config().instance_groups()) {
    if (group.kind == InstanceKind::kGpu) all_cpu = false;
  }
  scheduler_statistics_ = std::make_unique<SchedulerStatistics>(environment.clock);
  const schedule::SchedulerEnvironment scheduling{
      environment.clock, environment.timers, *scheduler_statistics_,
      all_cpu ? environment.inline_mode : schedule::InlineMode::kNever};
  scheduler_ = schedule::MakeScheduler(config(), std::move(active), scheduling);
}

Status Model::CreateCache(const ModelEnvironment& environment, const ModelSource& source) {
  if (!config().response_cache_enabled()) return Status::Ok();
  if (environment.response_cache == nullptr) {
    LOG_INFO << "model '" << source.name << "': response_cache is enabled, but the server has no "
             << "response cache (--cache-config); its responses are not cached";
    return Status::Ok();
  }
  NEREID_ASSIGN_OR_RETURN(const cache::Digest fingerprint,
                          cache::FingerprintModel(config(), source.directory,
                                                  source.version_directory));
  cache_statistics_ = std::make_unique<CacheStatistics>(environment.clock);
  response_cache_ = std::make_unique<cache::ModelCache>(
      *environment.response_cache, fingerprint, environment.clock, *cache_statistics_);
  return Status::Ok();
}

Status Model::CheckReady() {
  for (const auto& instance : instances_) NEREID_RETURN_IF_ERROR(instance->CheckReady());
  return Status::Ok();
}

telemetry::ModelStatistics Model::Statistics() const {
  telemetry::ModelStatistics total;
  total.name = identity_.name;
  total.version = identity_.version_text;
  for (const memory::BufferAttributes& usage : backend_model_->memory_usage()) {
    total.memory_usage.push_back(ToMemoryUsage(usage));
  }
  for (const auto& instance : instances_) instance->statistics().MergeInto(&total);
  scheduler_statistics_->MergeInto(&total);
  total.pending_requests = scheduler_->PendingCount();
  total.response_cache = config().response_cache_enabled();
  if (response_cache_ != nullptr) {
    total.pending_requests += response_cache_->PendingCount();
    cache_statistics_->MergeInto(&total);
  }
  return total;
}

}  // namespace nereid::model
