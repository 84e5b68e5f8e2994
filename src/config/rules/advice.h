// SPDX-License-Identifier: Apache-2.0
// Warnings about settings that Triton accepts but that have no effect, or not the expected one.
#pragma once

#include <vector>

#include "config/rules/rule.h"
#include "config/rules/validate_options.h"

namespace nereid::config::rules {

/// The input of a warning.
struct AdviceSubject {
  const Proto& config;
  const ValidateOptions& options;
};

void AdviseOnScheduling(const AdviceSubject& subject, Findings& findings);
void ListSchedulingAdvice(std::vector<RuleInfo>* list);
void AdviseOnOptimization(const AdviceSubject& subject, Findings& findings);
void ListOptimizationAdvice(std::vector<RuleInfo>* list);
void AdviseOnPlacement(const AdviceSubject& subject, Findings& findings);
void ListPlacementAdvice(std::vector<RuleInfo>* list);
void AdviseOnTensors(const AdviceSubject& subject, Findings& findings);
void ListTensorAdvice(std::vector<RuleInfo>* list);
void AdviseOnNames(const AdviceSubject& subject, Findings& findings);
void ListNameAdvice(std::vector<RuleInfo>* list);

}  // namespace nereid::config::rules
