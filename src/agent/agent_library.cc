// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_library.h"

#include <type_traits>
#include <utility>

namespace nereid::agent {

base::Result<std::unique_ptr<AgentLibrary>> AgentLibrary::Open(const std::string& path) {
  NEREID_ASSIGN_OR_RETURN(auto shared, base::SharedLibrary::Open(path));
  AgentEntryPoints entry;
  const auto find = [&](auto& pointer, const char* name) {
    pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(shared->Find(name));
  };
  find(entry.initialize, "TRITONREPOAGENT_Initialize");
  find(entry.finalize, "TRITONREPOAGENT_Finalize");
  find(entry.model_initialize, "TRITONREPOAGENT_ModelInitialize");
  find(entry.model_finalize, "TRITONREPOAGENT_ModelFinalize");
  find(entry.model_action, "TRITONREPOAGENT_ModelAction");
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
