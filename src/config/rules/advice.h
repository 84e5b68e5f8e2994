// SPDX-License-Identifier: Apache-2.0
// Warnings: settings that the reference server accepts, and that cannot do what they look like.
#pragma once

#include <vector>

#include "config/rules/rule.h"

namespace nereid::config::rules {

/// What a warning looks at.
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
