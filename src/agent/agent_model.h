// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "base/temporary_directory.h"

namespace nereid::agent {

/// Where a model's files lie.
struct Location {
  TRITONREPOAGENT_ArtifactType type = TRITONREPOAGENT_ARTIFACT_FILESYSTEM;
  std::string path;
};

/// A model as one agent sees it (TRITONREPOAGENT_AgentModel). It keeps the order of the actions:
///
///   LOAD -> LOAD_COMPLETE -> UNLOAD -> UNLOAD_COMPLETE
///        -> LOAD_FAIL
///
/// One thread at a time.
class AgentModel {
 public:
  using Parameters = std::vector<std::pair<std::string, std::string>>;

  AgentModel(std::shared_ptr<Agent> agent, Parameters parameters)
      : agent_(std::move(agent)), parameters_(std::move(parameters)) {}
  /// Calls the agent's ModelFinalize.
  ~AgentModel();
  AgentModel(const AgentModel&) = delete;
  AgentModel& operator=(const AgentModel&) = delete;

  /// Calls ModelInitialize and then ModelAction with LOAD. Afterwards location() may be another.
  base::Status Load(Location location, std::string config_json);
  /// One of the later actions. Passed over where it does not follow on the last one.
  base::Status Act(TRITONREPOAGENT_ActionType action);

  const Agent& agent() const { return *agent_; }
  const Parameters& parameters() const { return parameters_; }
  const std::string& config_json() const { return config_json_; }
  const Location& location() const { return location_; }

  /// INVALID_ARGUMENT outside of LOAD.
  base::Status UpdateLocation(Location location);
  /// The path of a directory of the agent's own, which lives until it is released or the model
  /// goes; made by the first call.
  base::Result<const std::string*> AcquireDirectory();
  /// UNAVAILABLE without one.
  base::Status ReleaseDirectory();

  void* state = nullptr;  // the plug-in's own

  TRITONREPOAGENT_AgentModel* handle() {
    return reinterpret_cast<TRITONREPOAGENT_AgentModel*>(this);
  }
  static AgentModel* From(TRITONREPOAGENT_AgentModel* handle) {
    return reinterpret_cast<AgentModel*>(handle);
  }

 private:
  enum class Stage { kNew, kLoading, kLoaded, kUnloading, kEnded };

  const std::shared_ptr<Agent> agent_;
  const Parameters parameters_;
  std::string config_json_;
  Location location_;
  std::unique_ptr<base::TemporaryDirectory> directory_;
  Stage stage_ = Stage::kNew;
  bool initialized_ = false;
  bool in_load_ = false;
};

}  // namespace nereid::agent
