// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_library.h"

#include <utility>

#include "abi/plugin_library.h"

namespace nereid::agent {

base::Result<std::unique_ptr<AgentLibrary>> AgentLibrary::Open(const std::string& path) {
  NEREID_ASSIGN_OR_RETURN(auto shared, abi::OpenPlugin(path));
  AgentEntryPoints entry;
  shared->Find("TRITONREPOAGENT_Initialize", &entry.initialize);
  shared->Find("TRITONREPOAGENT_Finalize", &entry.finalize);
  shared->Find("TRITONREPOAGENT_ModelInitialize", &entry.model_initialize);
  shared->Find("TRITONREPOAGENT_ModelFinalize", &entry.model_finalize);
  shared->Find("TRITONREPOAGENT_ModelAction", &entry.model_action);
  if (entry.model_action == nullptr) {
    return base::Status::NotFound(
        "unable to find required entrypoint 'TRITONREPOAGENT_ModelAction' in shared library " +
        path);
  }
  std::unique_ptr<AgentLibrary> library(new AgentLibrary());
  library->library_ = std::move(shared);
  library->entry_points_ = entry;
  return library;
}

std::unique_ptr<AgentLibrary> AgentLibrary::FromEntryPoints(AgentEntryPoints entry_points) {
  std::unique_ptr<AgentLibrary> library(new AgentLibrary());
  library->entry_points_ = entry_points;
  return library;
}

}  // namespace nereid::agent
