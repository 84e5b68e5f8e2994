// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "agent/agent.h"
#include "model/model.h"
#include "repository/model_lifecycle.h"
#include "server/model_reaper.h"
#include "server/served_members.h"
#include "server/served_model.h"

namespace nereid::server {

/// The lifecycle and the objects that it uses. Members are destroyed from last to first: the
/// lifecycle is told of the last destroyed model before it is destroyed itself, the reaper outlives
/// both, and the agents outlive the models.
struct RepositoryParts {
  RepositoryParts(repository::ModelLifecycle::Options options, model::ModelEnvironment environment,
                  const std::string& agent_directory, const ModelRollouts& rollouts,
                  ModelAccounts* accounts)
      : agents(agent_directory),
        members([this] { return lifecycle.Table(); }, rollouts),
        loader(std::move(environment), members, reaper, accounts),
        lifecycle(WithAgents(std::move(options)), loader) {}

  repository::ModelLifecycle::Options WithAgents(repository::ModelLifecycle::Options options) {
    options.poll.agents = &agents;
    return options;
  }

  agent::AgentRegistry agents;
  ModelReaper reaper;
  ServedMembers members;  // used only while the lifecycle exists
  ServedModelLoader loader;
  repository::ModelLifecycle lifecycle;
};

}  // namespace nereid::server
