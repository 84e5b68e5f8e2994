// SPDX-License-Identifier: Apache-2.0
// The sections of rules, one .cc file each. Check... applies the rules of a section, List...
// appends their descriptions.
#pragma once

#include <string>
#include <vector>

#include "config/rules/rule.h"
#include "config/rules/validate_options.h"

namespace nereid::config::rules {

void CheckIdentity(const Proto& config, Findings& findings);
void ListIdentity(std::vector<RuleInfo>* list);
void CheckDynamicBatching(const Proto& config, Findings& findings);
void ListDynamicBatching(std::vector<RuleInfo>* list);
void CheckSequenceBatching(const Proto& config, Findings& findings);
void ListSequenceBatching(std::vector<RuleInfo>* list);
void CheckEnsemble(const Proto& config, Findings& findings);
void ListEnsemble(std::vector<RuleInfo>* list);
void CheckResponses(const Proto& config, Findings& findings);
void ListResponses(std::vector<RuleInfo>* list);
void CheckTensors(const Proto& config, Findings& findings);
void ListTensors(std::vector<RuleInfo>* list);
void CheckBatchIo(const Proto& config, Findings& findings);
void ListBatchIo(std::vector<RuleInfo>* list);
void CheckInstanceGroups(const Proto& config, const ValidateOptions& options, Findings& findings);
void ListInstanceGroups(std::vector<RuleInfo>* list);
void CheckSequenceStates(const Proto& config, Findings& findings);
void ListSequenceStates(std::vector<RuleInfo>* list);
void CheckAgents(const Proto& config, Findings& findings);
void ListAgents(std::vector<RuleInfo>* list);
void CheckWarmup(const Proto& config, Findings& findings);
void ListWarmup(std::vector<RuleInfo>* list);
void CheckDirectory(const Proto& config, const std::string& directory_name, Findings& findings);
void ListDirectory(std::vector<RuleInfo>* list);

}  // namespace nereid::config::rules
