// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_chain.h"

#include <map>

#include "base/log.h"
#include "config/describe/describe.h"
#include "model_config.pb.h"

namespace nereid::agent {

using base::Status;

namespace {

const char* ActionText(TRITONREPOAGENT_ActionType action) {
  switch (action) {
    case TRITONREPOAGENT_ACTION_LOAD:
      return "TRITONREPOAGENT_ACTION_LOAD";
    case TRITONREPOAGENT_ACTION_LOAD_COMPLETE:
      return "TRITONREPOAGENT_ACTION_LOAD_COMPLETE";
    case TRITONREPOAGENT_ACTION_LOAD_FAIL:
      return "TRITONREPOAGENT_ACTION_LOAD_FAIL";
    case TRITONREPOAGENT_ACTION_UNLOAD:
      return "TRITONREPOAGENT_ACTION_UNLOAD";
    case TRITONREPOAGENT_ACTION_UNLOAD_COMPLETE:
      return "TRITONREPOAGENT_ACTION_UNLOAD_COMPLETE";
  }
  return "unknown action";
}

}  // namespace

base::Result<std::unique_ptr<AgentChain>> AgentChain::Load(AgentRegistry& registry,
                                                           const config::ModelConfig& config,
                                                           const std::string& directory,
                                                           const ReadConfig& read_config) {
  std::unique_ptr<AgentChain> chain(new AgentChain());
  chain->model_name_ = config.name();
  Location location{TRITONREPOAGENT_ARTIFACT_FILESYSTEM, directory};
  std::string config_json = config::DescribeModelConfigJson(config);
  const auto& agents = config.proto().model_repository_agents().agents();
  // All agents are loaded before the first one acts, so that a missing agent is found before any
  // file is changed.
  for (const auto& entry : agents) {
    NEREID_ASSIGN_OR_RETURN(auto agent, registry.Get(entry.name()));
    const std::map<std::string, std::string> sorted(entry.parameters().begin(),
                                                    entry.parameters().end());
    chain->models_.push_back(std::make_unique<AgentModel>(
        std::move(agent), AgentModel::Parameters(sorted.begin(), sorted.end())));
  }
  for (const auto& model : chain->models_) {
    NEREID_RETURN_IF_ERROR(model->Load(location, config_json));
    if (model->location().path == location.path && model->location().type == location.type) {
      continue;
    }
    location = model->location();
    // A later agent may still download the model. Only a local directory has a configuration to
    // read.
    if (location.type != TRITONREPOAGENT_ARTIFACT_FILESYSTEM) continue;
    NEREID_ASSIGN_OR_RETURN(const config::ModelConfigPtr moved, read_config(location.path));
    config_json = config::DescribeModelConfigJson(*moved);
  }
  if (location.type != TRITONREPOAGENT_ARTIFACT_FILESYSTEM) {
    return Status::Unsupported("the repository agents of model '" + config.name() +
                               "' leave it at '" + location.path +
                               "', which is not a local directory");
  }
  chain->directory_ = location.path;
  return chain;
}

AgentChain::~AgentChain() {
  // AgentModel ignores an action that its stage does not allow, so only the missing actions run.
  LoadFail();
  Unload();
  Act(TRITONREPOAGENT_ACTION_UNLOAD_COMPLETE, /*reverse=*/true);
  // A vector's destructor would finalize the agents in forward order.
  while (!models_.empty()) models_.pop_back();
}

void AgentChain::LoadComplete() { Act(TRITONREPOAGENT_ACTION_LOAD_COMPLETE, /*reverse=*/true); }

void AgentChain::LoadFail() { Act(TRITONREPOAGENT_ACTION_LOAD_FAIL, /*reverse=*/true); }

void AgentChain::Unload() { Act(TRITONREPOAGENT_ACTION_UNLOAD, /*reverse=*/false); }

void AgentChain::Act(TRITONREPOAGENT_ActionType action, bool reverse) {
  for (size_t i = 0; i < models_.size(); ++i) {
    AgentModel& model = *models_[reverse ? models_.size() - 1 - i : i];
    const Status status = model.Act(action);
    if (status.ok()) continue;
    LOG_ERROR_OF(.model = model_name_)
        << "repository agent '" << model.agent().name() << "' of model '" << model_name_
        << "' returns error on " << ActionText(action) << ": " << status.message();
  }
}

}  // namespace nereid::agent
