// SPDX-License-Identifier: Apache-2.0
// What the server provides to repository agents.
#include "abi/error.h"
#include "triton/core/tritonrepoagent.h"

using namespace nereid;

namespace {
constexpr char kAgents[] = "model repository agents";
}

extern "C" {

TRITONSERVER_Error* TRITONREPOAGENT_ApiVersion(uint32_t* major, uint32_t* minor) {
  NEREID_CHECK_NOT_NULL(major);
  NEREID_CHECK_NOT_NULL(minor);
  *major = TRITONREPOAGENT_API_VERSION_MAJOR;
  *minor = TRITONREPOAGENT_API_VERSION_MINOR;
  return nullptr;
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocation(TRITONREPOAGENT_Agent*,
                                                            TRITONREPOAGENT_AgentModel*,
                                                            TRITONREPOAGENT_ArtifactType*,
                                                            const char**) {
  return abi::MissingFeature(__func__, kAgents);
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocationAcquire(TRITONREPOAGENT_Agent*,
                                                                   TRITONREPOAGENT_AgentModel*,
                                                                   TRITONREPOAGENT_ArtifactType,
                                                                   const char**) {
  return abi::MissingFeature(__func__, kAgents);
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocationRelease(TRITONREPOAGENT_Agent*,
                                                                   TRITONREPOAGENT_AgentModel*,
                                                                   const char*) {
  return abi::MissingFeature(__func__, kAgents);
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryUpdate(TRITONREPOAGENT_Agent*,
                                                          TRITONREPOAGENT_AgentModel*,
                                                          TRITONREPOAGENT_ArtifactType,
                                                          const char*) {
  return abi::MissingFeature(__func__, kAgents);
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelParameterCount(TRITONREPOAGENT_Agent*,
                                                        TRITONREPOAGENT_AgentModel*, uint32_t*) {
  return abi::MissingFeature(__func__, kAgents);
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelParameter(TRITONREPOAGENT_Agent*,
                                                   TRITONREPOAGENT_AgentModel*, uint32_t,
                                                   const char**, const char**) {
  return abi::MissingFeature(__func__, kAgents);
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelConfig(TRITONREPOAGENT_Agent*, TRITONREPOAGENT_AgentModel*,
                                                uint32_t, TRITONSERVER_Message**) {
  return abi::MissingFeature(__func__, kAgents);
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelState(TRITONREPOAGENT_AgentModel*, void**) {
  return abi::MissingFeature(__func__, kAgents);
}

TRITONSERVER_Error* TRITONREPOAGENT_ModelSetState(TRITONREPOAGENT_AgentModel*, void*) {
  return abi::MissingFeature(__func__, kAgents);
}

TRITONSERVER_Error* TRITONREPOAGENT_State(TRITONREPOAGENT_Agent*, void**) {
  return abi::MissingFeature(__func__, kAgents);
}

TRITONSERVER_Error* TRITONREPOAGENT_SetState(TRITONREPOAGENT_Agent*, void*) {
  return abi::MissingFeature(__func__, kAgents);
}

}  // extern "C"
