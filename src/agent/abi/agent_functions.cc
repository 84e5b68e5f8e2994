// SPDX-License-Identifier: Apache-2.0
// The TRITONREPOAGENT_* functions that the server provides to repository agents.
#include "abi/error.h"
#include "abi/message.h"
#include "agent/agent_model.h"

using nereid::abi::Guard;
using nereid::agent::Agent;
using nereid::agent::AgentModel;
using nereid::base::Status;

extern "C" {

TRITONSERVER_Error* TRITONREPOAGENT_ApiVersion(uint32_t* major, uint32_t* minor) {
  NEREID_CHECK_NOT_NULL(major, minor);
  *major = TRITONREPOAGENT_API_VERSION_MAJOR;
  *minor = TRITONREPOAGENT_API_VERSION_MINOR;
  return nullptr;
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocation(
    TRITONREPOAGENT_Agent* /*agent*/, TRITONREPOAGENT_AgentModel* model,
    TRITONREPOAGENT_ArtifactType* artifact_type, const char** location) {
  NEREID_CHECK_NOT_NULL(model, artifact_type, location);
  const auto& present = AgentModel::From(model)->location();
  *artifact_type = present.type;
  *location = present.path.c_str();
  return nullptr;
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocationAcquire(
    TRITONREPOAGENT_Agent* /*agent*/, TRITONREPOAGENT_AgentModel* model,
    TRITONREPOAGENT_ArtifactType artifact_type, const char** location) {
  NEREID_CHECK_NOT_NULL(model, location);
  return Guard([&]() -> Status {
    if (artifact_type != TRITONREPOAGENT_ARTIFACT_FILESYSTEM) {
      return Status::InvalidArgument(
          "Unexpected artifact type, expects 'TRITONREPOAGENT_ARTIFACT_FILESYSTEM'");
    }
    NEREID_ASSIGN_OR_RETURN(const std::string* path, AgentModel::From(model)->AcquireDirectory());
    *location = path->c_str();
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocationRelease(
    TRITONREPOAGENT_Agent* /*agent*/, TRITONREPOAGENT_AgentModel* model,
    const char* /*location: a model has one at most*/) {
  NEREID_CHECK_NOT_NULL(model);
  return Guard([&] { return AgentModel::From(model)->ReleaseDirectory(); });
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryUpdate(
    TRITONREPOAGENT_Agent* /*agent*/, TRITONREPOAGENT_AgentModel* model,
    TRITONREPOAGENT_ArtifactType artifact_type, const char* location) {
  NEREID_CHECK_NOT_NULL(model, location);
  return Guard([&] { return AgentModel::From(model)->UpdateLocation({artifact_type, location}); });
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelParameterCount(TRITONREPOAGENT_Agent* /*agent*/,
                                                        TRITONREPOAGENT_AgentModel* model,
                                                        uint32_t* count) {
  NEREID_CHECK_NOT_NULL(model, count);
  *count = static_cast<uint32_t>(AgentModel::From(model)->parameters().size());
  return nullptr;
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelParameter(TRITONREPOAGENT_Agent* /*agent*/,
                                                   TRITONREPOAGENT_AgentModel* model,
                                                   uint32_t index, const char** parameter_name,
                                                   const char** parameter_value) {
  NEREID_CHECK_NOT_NULL(model, parameter_name, parameter_value);
  return Guard([&]() -> Status {
    const auto& parameters = AgentModel::From(model)->parameters();
    if (index >= parameters.size()) {
      return Status::InvalidArgument(
          "index out of range for model parameters: " + std::to_string(index) + " of " +
          std::to_string(parameters.size()));
    }
    *parameter_name = parameters[index].first.c_str();
    *parameter_value = parameters[index].second.c_str();
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelConfig(TRITONREPOAGENT_Agent* /*agent*/,
                                                TRITONREPOAGENT_AgentModel* model,
                                                uint32_t config_version,
                                                TRITONSERVER_Message** model_config) {
  NEREID_CHECK_NOT_NULL(model, model_config);
  return Guard([&]() -> Status {
    if (config_version != 1) {
      return Status::Unsupported("model configuration version " + std::to_string(config_version) +
                                 " not supported, supported versions are: 1");
    }
    *model_config = new TRITONSERVER_Message(AgentModel::From(model)->config_json());
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelState(TRITONREPOAGENT_AgentModel* model, void** state) {
  NEREID_CHECK_NOT_NULL(model, state);
  *state = AgentModel::From(model)->state;
  return nullptr;
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelSetState(TRITONREPOAGENT_AgentModel* model, void* state) {
  NEREID_CHECK_NOT_NULL(model);
  AgentModel::From(model)->state = state;
  return nullptr;
}

TRITONSERVER_Error* TRITONREPOAGENT_State(TRITONREPOAGENT_Agent* agent, void** state) {
  NEREID_CHECK_NOT_NULL(agent, state);
  *state = Agent::From(agent)->state;
  return nullptr;
}

TRITONSERVER_Error* TRITONREPOAGENT_SetState(TRITONREPOAGENT_Agent* agent, void* state) {
  NEREID_CHECK_NOT_NULL(agent);
  Agent::From(agent)->state = state;
  return nullptr;
}

}  // extern "C"
