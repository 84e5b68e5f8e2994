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

/// The repository agents of one load of a model, in the order of its configuration. It must live as
/// long as the model: agents may hold its files. One thread at a time.
class AgentChain {
 public:
  /// Reads the configuration at a place that an agent has moved the model to.
  using ReadConfig = std::function<base::Result<config::ModelConfigPtr>(const std::string& path)>;

  /// Opens the agents that `config` names and runs LOAD on each, which sees what the one before it
  /// left. The failure is that of an agent that cannot be opened or that refuses the model.
  static base::Result<std::unique_ptr<AgentChain>> Load(AgentRegistry& registry,
                                                        const config::ModelConfig& config,
                                                        const std::string& directory,
                                                        const ReadConfig& read_config);
  /// What is missing of the actions, then the end of each agent's part.
  ~AgentChain();
  AgentChain(const AgentChain&) = delete;
  AgentChain& operator=(const AgentChain&) = delete;

  /// Where the model's files are now, on this machine.
  const std::string& directory() const { return directory_; }

  /// The model serves; it does not after all; it is taken out of service. Failures are logged. When
  /// the model is gone is said by the destructor.
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
