// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ensemble/ensemble_plan.h"
#include "ensemble/ensemble_request.h"
#include "ensemble/ensemble_statistics.h"
#include "ensemble/members.h"
#include "ensemble/step_limit.h"
#include "model/model.h"
#include "model/model_version.h"

namespace nereid::ensemble {

/// A loaded model version that computes by calling other models. It has no backend, no instances
/// and no queue. Its requests hold the members that they need; the ensemble itself holds none.
class EnsembleModel final : public model::ModelVersion {
 public:
  ~EnsembleModel() override;

  /// Loads the ensemble. `source.config` must be consistent with its members (see
  /// config/rules/ensemble_members.h), which are looked up in `members`. `environment` and
  /// `members` must outlive the model.
  static base::Result<std::unique_ptr<EnsembleModel>> Create(
      const model::ModelEnvironment& environment, const model::ModelSource& source,
      const MemberDirectory& members);

  const request::ModelIdentity& identity() const override { return *identity_; }
  base::Status Enqueue(std::unique_ptr<request::InferenceRequest>& request) override;
  bool HasSequences() const override;
  /// Returns an error if a member is not served or not ready.
  base::Status CheckReady() override;
  telemetry::ModelStatistics Statistics() const override;
  telemetry::LatencySummaries Summaries() const override;
  /// Chooses the members of the request. Returns nothing if one is not served, or if the content of
  /// one is not known.
  std::optional<model::AnswerSource> Choose(const request::RequestFields& request,
                                            const std::vector<std::string>& outputs) override;
  void ReadContent() override;
  /// Returns UNSUPPORTED, because an ensemble has no instances.
  base::Result<model::InstanceUpdate> PrepareUpdate(const config::ModelConfig& wanted) override;
  void ApplyUpdate(model::InstanceUpdate /*update*/) override {}

 private:
  /// Takes one request for the ensemble and the members that it has chosen.
  class ChosenReceiver;
  struct Choice {
    cache::Digest fingerprint;  // of the ensemble with these members
    std::vector<Member> members;
  };

  EnsembleModel(const model::ModelEnvironment& environment, const model::ModelSource& source,
                const MemberDirectory& members);
  base::Status Load();
  base::Status ReadLabels(request::ModelIdentity* identity) const;
  base::Status CreateCache();
  std::optional<Choice> ChooseMembers(const request::RequestFields& request,
                                      const std::vector<std::string>& outputs) const;
  /// Takes a request, which the response cache may answer.
  base::Status Run(std::unique_ptr<request::InferenceRequest>& request, Choice choice);

  const model::ModelEnvironment environment_;
  const model::ModelSource source_;
  const MemberDirectory& members_;
  std::shared_ptr<const request::ModelIdentity> identity_;
  std::unique_ptr<const EnsemblePlan> plan_;
  std::vector<std::unique_ptr<StepLimit>> limits_;  // by step
  EnsembleStatistics statistics_;
  // Null without a cache, like the next member.
  std::unique_ptr<model::CacheStatistics> cache_statistics_;
  std::unique_ptr<cache::ModelCache> response_cache_;
  // Null if the server keeps no histograms.
  std::unique_ptr<model::FirstResponseTimes> first_responses_;
  std::unique_ptr<const EnsembleParts> parts_;
};

}  // namespace nereid::ensemble
