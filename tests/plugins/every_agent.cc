// SPDX-License-Identifier: Apache-2.0
// A repository agent that calls every function that the server provides to agents. It moves the
// model to its own directory, with the label in the parameter `label`, or refuses it if the label
// is "none". Every unexpected result fails the load.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "checks.h"
#include "triton/core/tritonrepoagent.h"

namespace {

int agent_state = 1;
int model_state = 2;

TRITONSERVER_Error* CheckConfig(TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model) {
  TRITONSERVER_Message* config = nullptr;
  const char* base = nullptr;
  size_t size = 0;
  TRY(TRITONREPOAGENT_ModelConfig(agent, model, 1, &config));
  TRY(TRITONSERVER_MessageSerializeToJson(config, &base, &size));
  EXPECT(std::string(base, size).find("every_agent") != std::string::npos);
  return TRITONSERVER_MessageDelete(config);
}

TRITONSERVER_Error* ReadLabel(TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
                              std::string* label) {
  uint32_t count = 0;
  const char *name = nullptr, *value = nullptr;
  TRY(TRITONREPOAGENT_ModelParameterCount(agent, model, &count));
  EXPECT(count == 1);
  TRY(TRITONREPOAGENT_ModelParameter(agent, model, 0, &name, &value));
  EXPECT(std::strcmp(name, "label") == 0);
  *label = value;
  return nullptr;
}

/// Copies the model of `from` to the new directory `to`, with another file of labels.
TRITONSERVER_Error* Copy(const std::string& from, const std::string& to, const std::string& label) {
  std::error_code error;
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive, error);
  EXPECT(!error);
  std::ofstream(to + "/labels.txt") << label << "\n";
  return nullptr;
}

TRITONSERVER_Error* Move(TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model) {
  TRITONREPOAGENT_ArtifactType type = TRITONREPOAGENT_ARTIFACT_REMOTE_FILESYSTEM;
  const char *from = nullptr, *to = nullptr;
  std::string label;
  TRY(CheckConfig(agent, model));
  TRY(ReadLabel(agent, model, &label));
  if (label == "none") {
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INVALID_ARG, "refused by every_agent");
  }
  TRY(TRITONREPOAGENT_ModelRepositoryLocation(agent, model, &type, &from));
  EXPECT(type == TRITONREPOAGENT_ARTIFACT_FILESYSTEM && from[0] == '/');
  TRY(TRITONREPOAGENT_ModelRepositoryLocationAcquire(agent, model,
                                                     TRITONREPOAGENT_ARTIFACT_FILESYSTEM, &to));
  if (TRITONSERVER_Error* error = Copy(from, to, label)) {
    TRITONSERVER_ErrorDelete(TRITONREPOAGENT_ModelRepositoryLocationRelease(agent, model, to));
    return error;
  }
  return TRITONREPOAGENT_ModelRepositoryUpdate(agent, model, TRITONREPOAGENT_ARTIFACT_FILESYSTEM,
                                               to);
}

TRITONSERVER_Error* CheckStates(TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model) {
  void* state = nullptr;
  TRY(TRITONREPOAGENT_State(agent, &state));
  EXPECT(state == &agent_state);
  TRY(TRITONREPOAGENT_ModelState(model, &state));
  EXPECT(state == &model_state);
  return nullptr;
}

}  // namespace

extern "C" {

TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_Initialize(TRITONREPOAGENT_Agent* agent) {
  uint32_t major = 0, minor = 0;
  TRY(TRITONREPOAGENT_ApiVersion(&major, &minor));
  EXPECT(major == TRITONREPOAGENT_API_VERSION_MAJOR && minor >= TRITONREPOAGENT_API_VERSION_MINOR);
  return TRITONREPOAGENT_SetState(agent, &agent_state);
}

TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_Finalize(TRITONREPOAGENT_Agent* agent) {
  void* state = nullptr;
  return TRITONREPOAGENT_State(agent, &state);
}

TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelInitialize(
    TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel* model) {
  return TRITONREPOAGENT_ModelSetState(model, &model_state);
}

TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelFinalize(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model) {
  return CheckStates(agent, model);
}

TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelAction(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    const TRITONREPOAGENT_ActionType action_type) {
  TRY(CheckStates(agent, model));
  return action_type == TRITONREPOAGENT_ACTION_LOAD ? Move(agent, model) : nullptr;
}

}  // extern "C"
