// SPDX-License-Identifier: Apache-2.0
#include "ensemble/ensemble_model.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "cache/digest.h"
#include "cache/model_fingerprint.h"
#include "config/labels.h"
#include "ensemble/ensemble_request.h"
#include "request/response_factory.h"

namespace nereid::ensemble {

using base::Status;

namespace {

/// Runs one request with members that were chosen before.
class ChosenRun final : public schedule::RequestTarget {
 public:
  ChosenRun(const EnsembleParts& parts, std::vector<Member> members)
      : parts_(parts), members_(std::move(members)) {}

  Status Enqueue(schedule::RequestPtr& request) override {
    EnsembleRequest::Start(parts_, std::move(request), std::move(members_));
    return Status::Ok();
  }
  std::shared_ptr<schedule::ResponseOrder> response_order() const override { return nullptr; }

 private:
  const EnsembleParts& parts_;
  std::vector<Member> members_;
};

/// Returns a version number in the form that CombineFingerprints takes.
cache::Digest DigestOf(int64_t version) {
  cache::Digest digest{};
  std::memcpy(digest.data(), &version, sizeof(version));
  return digest;
}

}  // namespace

class EnsembleModel::ChosenReceiver final : public model::RequestReceiver {
 public:
  ChosenReceiver(EnsembleModel& model, Choice choice) : model_(model), choice_(std::move(choice)) {}

  Status Enqueue(std::unique_ptr<request::InferenceRequest>& request) override {
    return model_.Run(request, std::move(choice_));
  }

 private:
  EnsembleModel& model_;
  Choice choice_;
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
  parts_ = std::make_unique<const EnsembleParts>(EnsembleParts{
      *plan_, members_, limits_, environment_.timers, environment_.clock, statistics_});
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
  if (environment_.response_cache != nullptr) {
    content_ = std::make_unique<model::VersionContent>(
        source_.name, source_.config, source_.directory, source_.version_directory);
  }
  if (!config().response_cache_enabled()) return Status::Ok();
  if (environment_.response_cache == nullptr) {
    LOG_INFO_OF(.model = source_.name)
        << "ensemble '" << source_.name << "': response_cache is enabled, but the server has no "
        << "response cache (--cache-config); its responses are not cached";
    return Status::Ok();
  }
  NEREID_RETURN_IF_ERROR(content_->Read().status());
  ReadContent();
  cache_statistics_ =
      std::make_unique<model::CacheStatistics>(environment_.clock, environment_.latencies);
  response_cache_ = std::make_unique<cache::ModelCache>(*environment_.response_cache,
                                                        environment_.clock, *cache_statistics_);
  return Status::Ok();
}

void EnsembleModel::ReadContent() {
  ModelVersion::ReadContent();
  for (const EnsemblePlan::Step& step : plan_->steps()) {
    const auto member = members_.Find(step.space, step.model, step.version);
    if (member.ok()) member->version->ReadContent();
  }
}

std::optional<EnsembleModel::Choice> EnsembleModel::ChooseMembers(
    const request::RequestFields& request, const std::vector<std::string>& outputs) const {
  const auto own = content_ == nullptr ? std::nullopt : content_->Known();
  if (!own) return std::nullopt;
  size_t failed = 0;
  auto found = FindMembers(*plan_, members_, request, TensorsOf(*plan_, outputs), &failed);
  if (!found.ok()) return std::nullopt;  // the run of the request reports it
  std::vector<cache::Digest> fingerprints;
  bool is_known = true;  // each member is asked, so that all begin to read their files
  for (size_t i = 0; i < found->size(); ++i) {
    Member& member = (*found)[i];
    if (member.version == nullptr) continue;
    std::vector<std::string> names;
    for (const auto& output : plan_->steps()[i].outputs) names.push_back(output.name);
    auto source = member.version->Choose(request, names);
    is_known = is_known && source.has_value();
    if (!source) continue;
    member.chosen = std::move(source->receiver);
    fingerprints.push_back(source->fingerprint);
    // A model may answer with its version, and versions may have the same content.
    fingerprints.push_back(DigestOf(member.identity->version));
  }
  const auto all = is_known ? cache::CombineFingerprints(*own, fingerprints) : std::nullopt;
  return all ? std::optional(Choice{*all, std::move(found).value()}) : std::nullopt;
}

std::optional<model::AnswerSource> EnsembleModel::Choose(const request::RequestFields& request,
                                                         const std::vector<std::string>& outputs) {
  auto choice = ChooseMembers(request, outputs);
  if (!choice) return std::nullopt;
  const cache::Digest fingerprint = choice->fingerprint;
  return model::AnswerSource{fingerprint,
                             std::make_shared<ChosenReceiver>(*this, *std::move(choice))};
}

Status EnsembleModel::Enqueue(std::unique_ptr<request::InferenceRequest>& request) {
  if (response_cache_ != nullptr) {
    if (auto choice = ChooseMembers(*request, request->requested_outputs)) {
      return Run(request, *std::move(choice));
    }
  }
  if (first_responses_ != nullptr) first_responses_->Watch(*request);
  EnsembleRequest::Start(*parts_, std::move(request));
  return Status::Ok();
}

Status EnsembleModel::Run(std::unique_ptr<request::InferenceRequest>& request, Choice choice) {
  if (first_responses_ != nullptr) first_responses_->Watch(*request);
  if (response_cache_ == nullptr) {
    EnsembleRequest::Start(*parts_, std::move(request), std::move(choice.members));
    return Status::Ok();
  }
  const auto target = std::make_shared<ChosenRun>(*parts_, std::move(choice.members));
  return response_cache_->Enqueue(request, choice.fingerprint, target);
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
