// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/rules/find_problems.h"
#include "config/rules/validate.h"

namespace nereid::config::rules {

/// Where the rules put what they find. Loading a model needs the first error only, and stops there.
class Findings {
 public:
  enum class Wanted { kFirst, kAll };
  explicit Findings(Wanted wanted) : wanted_(wanted) {}

  /// What is added from here on breaks this rule. `rule` must outlive the next Add.
  void Judge(const RuleInfo& rule, Severity severity) {
    rule_ = &rule;
    severity_ = severity;
  }

  /// `field`: with positions. `expected`: where it depends on the configuration; the rule's text
  /// otherwise. The same finding of the same rule counts once.
  void Add(std::string field, std::string message, std::string expected = "");

  /// Nothing more is of interest.
  bool done() const { return wanted_ == Wanted::kFirst && !problems_.empty(); }
  /// Of the rule that the first finding breaks.
  base::StatusCode first_code() const { return first_code_; }
  /// How many there are; a later rule asks whether it would only repeat an earlier one.
  size_t count() const { return problems_.size(); }
  std::vector<Problem> Take() { return std::move(problems_); }

 private:
  const Wanted wanted_;
  const RuleInfo* rule_ = nullptr;
  Severity severity_ = Severity::kError;
  base::StatusCode first_code_ = base::StatusCode::kOk;
  std::vector<Problem> problems_;
};

}  // namespace nereid::config::rules
