// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "agent/agent_library.h"
#include "base/result.h"

namespace nereid::agent {

/// A loaded repository agent (TRITONREPOAGENT_Agent).
class Agent {
 public:
  /// Calls the library's Initialize.
  static base::Result<std::shared_ptr<Agent>> Create(std::string name,
                                                     std::unique_ptr<AgentLibrary> library);
  /// Calls its Finalize.
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  const std::string& name() const { return name_; }
  const AgentEntryPoints& entry_points() const { return library_->entry_points(); }

  void* state = nullptr;  // the plug-in's own

  TRITONREPOAGENT_Agent* handle() { return reinterpret_cast<TRITONREPOAGENT_Agent*>(this); }
  static Agent* From(TRITONREPOAGENT_Agent* handle) { return reinterpret_cast<Agent*>(handle); }

 private:
  Agent(std::string name, std::unique_ptr<AgentLibrary> library)
      : name_(std::move(name)), library_(std::move(library)) {}
  const std::string name_;
  const std::unique_ptr<AgentLibrary> library_;
  bool initialized_ = false;
};

/// The agents of a server, by name. An agent lives as long as a model uses it. Thread-safe.
class AgentRegistry {
 public:
  /// Agents are looked for at <directory>/<name>/libtritonrepoagent_<name>.so.
  explicit AgentRegistry(std::string directory) : directory_(std::move(directory)) {}

  /// INVALID_ARGUMENT with Triton's text if there is none of that name.
  base::Result<std::shared_ptr<Agent>> Get(const std::string& name);

  /// An agent that is not looked for; for tests.
  void AddBuiltIn(const std::string& name, AgentEntryPoints entry_points);

 private:
  base::Result<std::unique_ptr<AgentLibrary>> Open(const std::string& name);

  const std::string directory_;
  std::mutex mutex_;  // held while an agent is opened, so that it is opened once
  std::map<std::string, std::weak_ptr<Agent>> agents_;  // guarded by mutex_
  std::map<std::string, AgentEntryPoints> built_in_;    // guarded by mutex_
};

}  // namespace nereid::agent
