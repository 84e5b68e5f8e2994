// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"

#include "abi/error.h"
#include "base/files.h"
#include "base/log.h"
#include "config/backend_library.h"

namespace nereid::agent {

base::Result<std::shared_ptr<Agent>> Agent::Create(std::string name,
                                                   std::unique_ptr<AgentLibrary> library) {
  std::shared_ptr<Agent> agent(new Agent(std::move(name), std::move(library)));
  if (const auto initialize = agent->entry_points().initialize; initialize != nullptr) {
    NEREID_RETURN_IF_ERROR(abi::TakeStatus(initialize(agent->handle())));
  }
  agent->initialized_ = true;
  return agent;
}

Agent::~Agent() {
  if (!initialized_ || entry_points().finalize == nullptr) return;
  const base::Status status = abi::TakeStatus(entry_points().finalize(handle()));
  if (!status.ok()) {
    LOG_ERROR << "failed finalizing repository agent '" << name_ << "': " << status.message();
  }
}

base::Result<std::shared_ptr<Agent>> AgentRegistry::Get(const std::string& name) {
  const base::MutexLock lock(mutex_);
  auto& slot = agents_[name];
  if (std::shared_ptr<Agent> agent = slot.lock()) return agent;
  NEREID_ASSIGN_OR_RETURN(auto library, Open(name));
  NEREID_ASSIGN_OR_RETURN(auto agent, Agent::Create(name, std::move(library)));
  slot = agent;
  return agent;
}

base::Result<std::unique_ptr<AgentLibrary>> AgentRegistry::Open(const std::string& name) {
  if (const auto found = built_in_.find(name); found != built_in_.end()) {
    return AgentLibrary::FromEntryPoints(found->second);
  }
  const std::string path = config::RepositoryAgentLibrary(directory_, name);
  if (!base::IsPlainName(name) || !base::PathExists(path)) {
    return base::Status::InvalidArgument("unable to find 'libtritonrepoagent_" + name +
                                         ".so' for repo agent '" + name +
                                         "', searched: " + directory_);
  }
  return AgentLibrary::Open(path);
}

void AgentRegistry::AddBuiltIn(const std::string& name, AgentEntryPoints entry_points) {
  const base::MutexLock lock(mutex_);
  built_in_[name] = entry_points;
}

}  // namespace nereid::agent
