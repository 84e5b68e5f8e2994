// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/agent_model.h"
#include "base/result.h"
#include "config/model_config.h"

namespace nereid::agent {

/// The repository agents of one loaded model, in the order of its configuration. Must live as long
/// as the model, because agents may own the model's files. Not thread-safe.
class AgentChain {
 public:
  /// Reads the model configuration in the directory to which an agent has moved the model.
  using ReadConfig = std::function<base::Result<config::ModelConfigPtr>(const std::string& path)>;

  /// Loads the agents that `config` names and runs LOAD on each in order. Each agent sees the
  /// location and configuration that the agents before it have left. Returns the error of an agent
  /// that cannot be loaded or refuses the model; UNSUPPORTED if the final location is not a local
  /// directory.
  static base::Result<std::unique_ptr<AgentChain>> Load(AgentRegistry& registry,
                                                        const config::ModelConfig& config,
                                                        const std::string& directory,
                                                        const ReadConfig& read_config);
  /// Runs the actions that are still missing (LOAD_FAIL or UNLOAD, then UNLOAD_COMPLETE), and calls
  /// ModelFinalize of the agents, last agent first.
  ~AgentChain();
  AgentChain(const AgentChain&) = delete;
  AgentChain& operator=(const AgentChain&) = delete;

  /// Returns the local directory of the model's files after the agents have run.
  const std::string& directory() const { return directory_; }

  /// Run the action on each agent: the model is ready, its load has failed, or it is being
  /// unloaded. Errors are logged. LoadComplete and LoadFail go from the last agent to the first.
  /// The destructor reports UNLOAD_COMPLETE.
  void LoadComplete();
  void LoadFail();
  void Unload();

 private:
  AgentChain() = default;
  void Act(TRITONREPOAGENT_ActionType action, bool reverse);

  std::string model_name_;
  std::string directory_;
  std::vector<std::unique_ptr<AgentModel>> models_;
};

}  // namespace nereid::agent
