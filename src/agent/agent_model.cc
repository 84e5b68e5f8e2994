// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_model.h"

#include "abi/error.h"
#include "base/log.h"

namespace nereid::agent {

using base::Status;

AgentModel::~AgentModel() {
  if (!initialized_ || agent_->entry_points().model_finalize == nullptr) return;
  const Status status =
      abi::TakeStatus(agent_->entry_points().model_finalize(agent_->handle(), handle()));
  if (!status.ok()) {
    LOG_ERROR << "repository agent '" << agent_->name()
              << "' failed to finalize a model: " << status.message();
  }
}

Status AgentModel::Load(Location location, std::string config_json) {
  location_ = std::move(location);
  config_json_ = std::move(config_json);
  const AgentEntryPoints& entry = agent_->entry_points();
  if (entry.model_initialize != nullptr) {
    NEREID_RETURN_IF_ERROR(abi::TakeStatus(entry.model_initialize(agent_->handle(), handle())));
  }
  initialized_ = true;
  stage_ = Stage::kLoading;
  in_load_ = true;
  Status status =
      abi::TakeStatus(entry.model_action(agent_->handle(), handle(), TRITONREPOAGENT_ACTION_LOAD));
  in_load_ = false;
  return status;
}

Status AgentModel::Act(TRITONREPOAGENT_ActionType action) {
  struct Step {
    TRITONREPOAGENT_ActionType action;
    Stage from, to;
  };
  // The legal transitions. Any other action is ignored.
  static constexpr Step kSteps[] = {
      {TRITONREPOAGENT_ACTION_LOAD_COMPLETE, Stage::kLoading, Stage::kLoaded},
      {TRITONREPOAGENT_ACTION_LOAD_FAIL, Stage::kLoading, Stage::kEnded},
      {TRITONREPOAGENT_ACTION_UNLOAD, Stage::kLoaded, Stage::kUnloading},
      {TRITONREPOAGENT_ACTION_UNLOAD_COMPLETE, Stage::kUnloading, Stage::kEnded},
  };
  for (const Step& step : kSteps) {
    if (step.action != action || step.from != stage_) continue;
    stage_ = step.to;
    return abi::TakeStatus(agent_->entry_points().model_action(agent_->handle(), handle(), action));
  }
  return Status::Ok();
}

Status AgentModel::UpdateLocation(Location location) {
  if (!in_load_) {
    return Status::InvalidArgument(
        "location can only be updated during TRITONREPOAGENT_ACTION_LOAD");
  }
  location_ = std::move(location);
  return Status::Ok();
}

base::Result<const std::string*> AgentModel::AcquireDirectory() {
  if (directory_ == nullptr) {
    NEREID_ASSIGN_OR_RETURN(directory_, base::TemporaryDirectory::Create());
  }
  return &directory_->path();
}

Status AgentModel::ReleaseDirectory() {
  if (directory_ == nullptr) return Status::Unavailable("No mutable location to be deleted");
  directory_.reset();
  return Status::Ok();
}

}  // namespace nereid::agent
