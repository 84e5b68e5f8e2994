// SPDX-License-Identifier: Apache-2.0
#include "config/complete/merge.h"

#include "config/complete/complete.h"
#include "config/parse/parse.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

using Proto = inference::ModelConfig;

std::string SchedulerName(Proto::SchedulingChoiceCase choice) {
  const auto* field = Proto::descriptor()->FindFieldByNumber(static_cast<int>(choice));
  return field == nullptr ? "none" : field->name();
}

base::Status MergeScheduler(const Proto& offered, Proto* proto) {
  const auto choice = offered.scheduling_choice_case();
  const auto present = proto->scheduling_choice_case();
  // A scheduler that the configuration already has keeps its settings.
  if (choice == present || choice == Proto::SCHEDULING_CHOICE_NOT_SET) return base::Status::Ok();
  if (present != Proto::SCHEDULING_CHOICE_NOT_SET) {
    return base::Status::Internal("Cannot update scheduling choice from " + SchedulerName(present) +
                                  " to " + SchedulerName(choice) + " when auto-completing.");
  }
  switch (choice) {
    case Proto::kDynamicBatching:
      *proto->mutable_dynamic_batching() = offered.dynamic_batching();
      break;
    case Proto::kSequenceBatching:
      *proto->mutable_sequence_batching() = offered.sequence_batching();
      break;
    case Proto::kEnsembleScheduling:
      *proto->mutable_ensemble_scheduling() = offered.ensemble_scheduling();
      break;
    case Proto::SCHEDULING_CHOICE_NOT_SET:
      break;
  }
  return base::Status::Ok();
}

}  // namespace

base::Result<ModelConfigPtr> MergeBackendConfig(const ModelConfig& config,
                                                std::string_view backend_json) {
  NEREID_ASSIGN_OR_RETURN(const ModelConfigPtr parsed, ParseModelConfigJson(backend_json));
  const Proto& offered = parsed->proto();
  Proto proto = config.proto();
  NEREID_RETURN_IF_ERROR(MergeScheduler(offered, &proto));
  proto.set_max_batch_size(offered.max_batch_size());
  *proto.mutable_input() = offered.input();
  *proto.mutable_output() = offered.output();
  if (offered.has_model_transaction_policy()) {
    proto.mutable_model_transaction_policy()->set_decoupled(
        offered.model_transaction_policy().decoupled());
  }
  return NormalizeModelConfig(*ModelConfig::Create(std::move(proto)));
}

}  // namespace nereid::config
