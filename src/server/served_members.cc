// SPDX-License-Identifier: Apache-2.0
#include "server/served_members.h"

#include "base/clock.h"
#include "server/model_rollouts.h"
#include "server/rollout_watch.h"
#include "server/served_model.h"
#include "server/version_choice.h"

namespace nereid::server {

namespace {

ensemble::Member AsMember(std::shared_ptr<ServedModel> served) {
  model::ModelVersion& of = served->version();
  const request::ModelIdentity& identity = served->identity();
  return {std::shared_ptr<const request::ModelIdentity>(std::move(served), &identity), &of};
}

/// Returns what decides about the version of a step. `whole` is the ensemble's request.
request::RequestFields StepFields(const request::RequestFields& whole, int64_t version) {
  request::RequestFields step;
  step.model_version = version;
  step.id = whole.id;
  step.correlation_id = whole.correlation_id;
  step.flags = whole.flags;
  step.parameters = whole.parameters;
  return step;
}

}  // namespace

base::Result<ensemble::Member> ServedMembers::Find(const std::string& space,
                                                   const std::string& model, int64_t version,
                                                   const request::RequestFields* request) const {
  const auto rollout = request != nullptr && rollouts_.any() ? rollouts_.Find(model) : nullptr;
  const auto table = table_();
  NEREID_ASSIGN_OR_RETURN(auto loaded,
                          rollout == nullptr
                              ? table->Find(repository::ModelId{model, space}, version)
                              : ChooseVersion(*table, *rollout, StepFields(*request, version)));
  std::shared_ptr<ServedModel> served = ServedModel::From(std::move(loaded));
  if (request != nullptr) {
    if (auto owner = served->SequenceOwner(*request, version)) served = std::move(owner);
  }
  ensemble::Member member = AsMember(std::move(served));
  if (rollout != nullptr) {
    member.watch = std::make_shared<RolloutWatch>(rollout, member.identity->version, nullptr,
                                                  base::SteadyClock());
  }
  return member;
}

}  // namespace nereid::server
