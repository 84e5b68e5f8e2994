// SPDX-License-Identifier: Apache-2.0
// The entry points of the checksum agent. A model is loaded only if its files have the hashes in
// its configuration.
#include <exception>
#include <string>

#include "checksum/checksum.h"
#include "triton/core/tritonrepoagent.h"

namespace {

using nereid::checksum::Parameters;

TRITONSERVER_Error* Failure(TRITONSERVER_Error_Code code, const std::string& text) {
  return TRITONSERVER_ErrorNew(code, text.c_str());
}

TRITONSERVER_Error* ReadParameters(TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
                                   Parameters* parameters) {
  uint32_t count = 0;
  if (auto* error = TRITONREPOAGENT_ModelParameterCount(agent, model, &count)) return error;
  for (uint32_t i = 0; i < count; ++i) {
    const char *key = nullptr, *value = nullptr;
    if (auto* error = TRITONREPOAGENT_ModelParameter(agent, model, i, &key, &value)) return error;
    parameters->emplace_back(key, value);
  }
  return nullptr;
}

TRITONSERVER_Error* Check(TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model) {
  TRITONREPOAGENT_ArtifactType type = TRITONREPOAGENT_ARTIFACT_FILESYSTEM;
  const char* location = nullptr;
  if (auto* error = TRITONREPOAGENT_ModelRepositoryLocation(agent, model, &type, &location)) {
    return error;
  }
  if (type != TRITONREPOAGENT_ARTIFACT_FILESYSTEM) {
    return Failure(TRITONSERVER_ERROR_UNSUPPORTED,
                   "the checksum agent reads local files only, not " + std::string(location));
  }
  Parameters parameters;
  if (auto* error = ReadParameters(agent, model, &parameters)) return error;
  const std::string failure = nereid::checksum::CheckFiles(location, parameters);
  return failure.empty() ? nullptr : Failure(TRITONSERVER_ERROR_INVALID_ARG, failure);
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONREPOAGENT_Initialize(TRITONREPOAGENT_Agent* /*agent*/) {
  uint32_t major = 0, minor = 0;
  if (auto* error = TRITONREPOAGENT_ApiVersion(&major, &minor)) return error;
  if (major == TRITONREPOAGENT_API_VERSION_MAJOR && minor >= TRITONREPOAGENT_API_VERSION_MINOR) {
    return nullptr;
  }
  return Failure(
      TRITONSERVER_ERROR_UNSUPPORTED,
      "the checksum agent needs version 0.1 of the repository agent API, the server has " +
          std::to_string(major) + "." + std::to_string(minor));
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelAction(TRITONREPOAGENT_Agent* agent,
                                                TRITONREPOAGENT_AgentModel* model,
                                                TRITONREPOAGENT_ActionType action_type) {
  if (action_type != TRITONREPOAGENT_ACTION_LOAD) return nullptr;
  try {
    return Check(agent, model);
  } catch (const std::exception& exception) {
    return Failure(TRITONSERVER_ERROR_INTERNAL, exception.what());
  }
}

}  // extern "C"
