// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "agent/agent_library.h"
#include "base/mutex.h"
#include "base/result.h"

namespace nereid::agent {

/// A loaded repository agent: the object behind TRITONREPOAGENT_Agent.
class Agent {
 public:
  /// Creates an agent from its library and calls its TRITONREPOAGENT_Initialize, whose error is
  /// returned.
  static base::Result<std::shared_ptr<Agent>> Create(std::string name,
                                                     std::unique_ptr<AgentLibrary> library);
  /// Calls TRITONREPOAGENT_Finalize; an error is logged.
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  const std::string& name() const { return name_; }
  const AgentEntryPoints& entry_points() const { return library_->entry_points(); }

  void* state = nullptr;  // belongs to the plug-in

  TRITONREPOAGENT_Agent* handle() { return reinterpret_cast<TRITONREPOAGENT_Agent*>(this); }
  static Agent* From(TRITONREPOAGENT_Agent* handle) { return reinterpret_cast<Agent*>(handle); }

 private:
  Agent(std::string name, std::unique_ptr<AgentLibrary> library)
      : name_(std::move(name)), library_(std::move(library)) {}
  const std::string name_;
  const std::unique_ptr<AgentLibrary> library_;
  bool initialized_ = false;
};

/// The repository agents of a server, by name. An agent is unloaded with the last model that uses
/// it. Thread-safe.
class AgentRegistry {
 public:
  /// `directory` is searched for <name>/libtritonrepoagent_<name>.so.
  explicit AgentRegistry(std::string directory) : directory_(std::move(directory)) {}

  /// Returns the agent, which is loaded if necessary. INVALID_ARG with Triton's text if its library
  /// does not exist; otherwise the errors of AgentLibrary::Open and of the agent.
  base::Result<std::shared_ptr<Agent>> Get(const std::string& name);

  /// Registers an agent that has no library file. For tests.
  void AddBuiltIn(const std::string& name, AgentEntryPoints entry_points);

 private:
  base::Result<std::unique_ptr<AgentLibrary>> Open(const std::string& name) NEREID_REQUIRES(mutex_);

  const std::string directory_;
  base::Mutex mutex_;  // held while an agent is loaded, so that it is loaded once
  std::map<std::string, std::weak_ptr<Agent>> agents_ NEREID_GUARDED_BY(mutex_);
  std::map<std::string, AgentEntryPoints> built_in_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::agent
