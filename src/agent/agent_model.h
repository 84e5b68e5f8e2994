// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/agent.h"
#include "base/temporary_directory.h"

namespace nereid::agent {

/// The location of a model's files.
struct Location {
  TRITONREPOAGENT_ArtifactType type = TRITONREPOAGENT_ARTIFACT_FILESYSTEM;
  std::string path;
};

/// A model as one agent sees it: the object behind TRITONREPOAGENT_AgentModel. It enforces the
/// order of actions:
///
///   LOAD -> LOAD_COMPLETE -> UNLOAD -> UNLOAD_COMPLETE
///        -> LOAD_FAIL
///
/// Not thread-safe.
class AgentModel {
 public:
  using Parameters = std::vector<std::pair<std::string, std::string>>;

  AgentModel(std::shared_ptr<Agent> agent, Parameters parameters)
      : agent_(std::move(agent)), parameters_(std::move(parameters)) {}
  /// Calls TRITONREPOAGENT_ModelFinalize if ModelInitialize has succeeded; an error is logged.
  ~AgentModel();
  AgentModel(const AgentModel&) = delete;
  AgentModel& operator=(const AgentModel&) = delete;

  /// Calls ModelInitialize and then ModelAction with LOAD. The agent may change location(). Returns
  /// the agent's error.
  base::Status Load(Location location, std::string config_json);
  /// Runs one of the actions after LOAD. Does nothing if the action may not follow the last one.
  base::Status Act(TRITONREPOAGENT_ActionType action);

  const Agent& agent() const { return *agent_; }
  const Parameters& parameters() const { return parameters_; }
  const std::string& config_json() const { return config_json_; }
  const Location& location() const { return location_; }

  /// Changes the location. INVALID_ARG except during LOAD.
  base::Status UpdateLocation(Location location);
  /// Returns the path of the agent's own directory for this model, which the first call creates. It
  /// exists until it is released or this object is destroyed.
  base::Result<const std::string*> AcquireDirectory();
  /// Deletes that directory. UNAVAILABLE if there is none.
  base::Status ReleaseDirectory();

  void* state = nullptr;  // belongs to the plug-in

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
