// SPDX-License-Identifier: Apache-2.0
#include "ensemble/ensemble_model.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/log.h"
#include "cache/digest.h"
#include "cache/model_fingerprint.h"
#include "config/labels.h"
#include "ensemble/ensemble_request.h"
#include "request/response_factory.h"

namespace nereid::ensemble {

using base::Status;

class EnsembleModel::Runner final : public schedule::RequestTarget {
 public:
  explicit Runner(EnsembleParts parts) : parts_(std::move(parts)) {}

  Status Enqueue(schedule::RequestPtr& request) override {
    EnsembleRequest::Start(parts_, std::move(request));
    return Status::Ok();
  }
  std::shared_ptr<schedule::ResponseOrder> response_order() const override { return nullptr; }

 private:
  const EnsembleParts parts_;
};

base::Result<std::unique_ptr<EnsembleModel>> EnsembleModel::Create(
    const model::ModelEnvironment& environment, const model::ModelSource& source,
    const MemberDirectory& members) {
  std::unique_ptr<EnsembleModel> ensemble(new EnsembleModel(environment, source, members));
  NEREID_RETURN_IF_ERROR(ensemble->Load());
  return ensemble;
}

EnsembleModel::EnsembleModel(const model::ModelEnvironment& environment,
                             const model::ModelSource& source, const MemberDirectory& members)
    : environment_(environment),
      source_(source),
      members_(members),
      statistics_(environment.clock, environment.latencies) {}

EnsembleModel::~EnsembleModel() = default;

Status EnsembleModel::Load() {
  auto identity = std::make_shared<request::ModelIdentity>();
  identity->name = source_.name;
  identity->version = source_.version;
  identity->version_text = std::to_string(source_.version);
  identity->config = source_.config;
  Status missing;
  plan_ = std::make_unique<EnsemblePlan>(*source_.config, [&](const EnsemblePlan::Step& step) {
    const auto member = members_.Find(step.space, step.model, step.version);
    if (!member.ok()) missing = member.status();
    return member.ok() && member->identity->config->decoupled();
  });
  NEREID_RETURN_IF_ERROR(missing.WithPrefix("ensemble '" + source_.name + "': "));
  NEREID_RETURN_IF_ERROR(ReadLabels(identity.get()));
  identity_ = std::move(identity);
  for (size_t i = 0; i < plan_->steps().size(); ++i) {
    limits_.push_back(std::make_unique<StepLimit>(plan_->max_inflight()));
  }
  if (environment_.histogram_latencies) {
    first_responses_ = std::make_unique<model::FirstResponseTimes>(
        environment_.clock, model::FirstResponseBuckets(config()));
  }
  runner_ = std::make_unique<Runner>(EnsembleParts{*plan_, members_, limits_, environment_.timers,
                                                   environment_.clock, statistics_});
  return CreateCache();
}

/// Gives each output its own labels, or those of the member's output that produces it.
Status EnsembleModel::ReadLabels(request::ModelIdentity* identity) const {
  for (const config::TensorSpec& output : identity->config->outputs()) {
    if (!output.label_filename.empty()) {
      NEREID_ASSIGN_OR_RETURN(identity->labels[output.name],
                              config::ReadLabelFile(source_.directory, output.label_filename));
      continue;
    }
    const auto tensor = static_cast<size_t>(plan_->FindTensor(output.name));
    for (const EnsemblePlan::Step& step : plan_->steps()) {
      for (const EnsemblePlan::Mapping& mapping : step.outputs) {
        if (mapping.tensor != tensor) continue;
        NEREID_ASSIGN_OR_RETURN(const Member member,
                                members_.Find(step.space, step.model, step.version));
        const auto labels = member.identity->LabelsOf(mapping.name);
        if (!labels.empty()) identity->labels[output.name] = {labels.begin(), labels.end()};
      }
    }
  }
  return Status::Ok();
}

Status EnsembleModel::CreateCache() {
  if (!config().response_cache_enabled()) return Status::Ok();
  if (environment_.response_cache == nullptr || plan_->decoupled()) {
    LOG_INFO_OF(.model = source_.name)
        << "ensemble '" << source_.name << "': response_cache is enabled, but "
        << (plan_->decoupled() ? "one of its models is decoupled"
                               : "the server has no response cache (--cache-config)")
        << "; its responses are not cached";
    return Status::Ok();
  }
  NEREID_ASSIGN_OR_RETURN(const cache::Digest fingerprint, Fingerprint());
  cache_statistics_ =
      std::make_unique<model::CacheStatistics>(environment_.clock, environment_.latencies);
  response_cache_ = std::make_unique<cache::ModelCache>(*environment_.response_cache, fingerprint,
                                                        environment_.clock, *cache_statistics_);
  return Status::Ok();
}

base::Result<cache::Digest> EnsembleModel::Fingerprint() const {
  NEREID_ASSIGN_OR_RETURN(
      const cache::Digest own,
      cache::FingerprintModel(*source_.config, source_.directory, source_.version_directory));
  std::vector<cache::Digest> members;
  for (const EnsemblePlan::Step& step : plan_->steps()) {
    NEREID_ASSIGN_OR_RETURN(const Member member,
                            members_.Find(step.space, step.model, step.version));
    NEREID_ASSIGN_OR_RETURN(members.emplace_back(), member.version->Fingerprint());
  }
  return cache::CombineFingerprints(own, members);
}

Status EnsembleModel::Enqueue(std::unique_ptr<request::InferenceRequest>& request) {
  if (first_responses_ != nullptr) first_responses_->Watch(*request);
  return response_cache_ != nullptr ? response_cache_->Enqueue(request, *runner_)
                                    : runner_->Enqueue(request);
}

bool EnsembleModel::HasSequences() const {
  return std::any_of(plan_->steps().begin(), plan_->steps().end(), [&](const auto& step) {
    const auto member = members_.Find(step.space, step.model, step.version);
    return member.ok() && member->version->HasSequences();
  });
}

Status EnsembleModel::CheckReady() {
  for (const EnsemblePlan::Step& step : plan_->steps()) {
    NEREID_ASSIGN_OR_RETURN(const Member member,
                            members_.Find(step.space, step.model, step.version));
    NEREID_RETURN_IF_ERROR(member.version->CheckReady());
  }
  return Status::Ok();
}

base::Result<model::InstanceUpdate> EnsembleModel::PrepareUpdate(
    const config::ModelConfig& /*wanted*/) {
  return Status::Unsupported("ensemble '" + source_.name + "' has no instances to change");
}

telemetry::ModelStatistics EnsembleModel::Statistics() const {
  telemetry::ModelStatistics total;
  total.name = identity_->name;
  total.version = identity_->version_text;
  statistics_.MergeInto(&total);
  if (first_responses_ != nullptr) total.first_response_ms = first_responses_->Snapshot();
  total.response_cache = config().response_cache_enabled();
  if (response_cache_ != nullptr) {
    total.pending_requests = response_cache_->PendingCount();
    cache_statistics_->MergeInto(&total);
  }
  return total;
}

telemetry::LatencySummaries EnsembleModel::Summaries() const {
  telemetry::LatencySummaries total;
  statistics_.MergeInto(&total);
  if (response_cache_ != nullptr) cache_statistics_->MergeInto(&total);
  return total;
}

}  // namespace nereid::ensemble
