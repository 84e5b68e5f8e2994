// SPDX-License-Identifier: Apache-2.0
#include "config/rules/findings.h"

namespace nereid::config::rules {

void Findings::Add(std::string field, std::string message, std::string expected) {
  if (done()) return;
  for (const Problem& problem : problems_) {
    if (problem.rule == rule_->id && problem.field == field && problem.message == message) return;
  }
  if (problems_.empty()) first_code_ = rule_->code;
  Problem problem;
  problem.rule = rule_->id;
  problem.severity = severity_;
  problem.field = std::move(field);
  problem.message = std::move(message);
  problem.expected = expected.empty() ? std::string(rule_->expected) : std::move(expected);
  problem.remedy = rule_->remedy;
  problems_.push_back(std::move(problem));
}

}  // namespace nereid::config::rules
