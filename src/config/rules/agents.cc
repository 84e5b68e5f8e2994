// SPDX-License-Identifier: Apache-2.0
// Rules for repository agents. Their names become part of library paths.
#include "config/rules/sections.h"

namespace nereid::config::rules {
namespace {

struct AgentSubject {
  const Proto& config;
  const std::string& name;
  int index;
};

void AgentNamed(const AgentSubject& subject, Findings& findings) {
  const bool path = subject.name.find('/') != std::string::npos;
  if (!subject.name.empty() && !path) return;
  findings.Add(
      At("model_repository_agents.agents", subject.index) + ".name",
      "model repository agent " + std::to_string(subject.index) + " of " + subject.config.name() +
          (path ? " has the name '" + subject.name + "', which is a path" : " must have a name"));
}

constexpr Rule<AgentSubject> kRules[] = {
    {{"agents.name", "model_repository_agents.agents.name",
      "A repository agent has a name, which is no path: its library is "
      "<repoagent directory>/<name>/libtritonrepoagent_<name>.so.",
      "the name of an agent", "Set name to the name of the agent's folder."},
     AgentNamed},
};

}  // namespace

void CheckAgents(const Proto& config, Findings& findings) {
  int index = 0;
  for (const auto& agent : config.model_repository_agents().agents()) {
    Apply(kRules, AgentSubject{config, agent.name(), index++}, findings);
  }
}

void ListAgents(std::vector<RuleInfo>* list) { List(kRules, Stage::kPoll, list); }

}  // namespace nereid::config::rules
