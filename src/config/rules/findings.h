// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "config/rules/problem.h"
#include "config/rules/rule_info.h"

namespace nereid::config::rules {

/// Collects the violations that the rules find. Loading a model needs only the first error, so with
/// Wanted::kFirst the check stops there.
class Findings {
 public:
  enum class Wanted { kFirst, kAll };
  explicit Findings(Wanted wanted) : wanted_(wanted) {}

  /// Sets the rule that following calls of Add() report. `rule` must outlive them.
  void Judge(const RuleInfo& rule, Severity severity) {
    rule_ = &rule;
    severity_ = severity;
  }

  /// Reports a violation. `field` is a path with positions. `expected` is given if it depends on
  /// the configuration; otherwise the rule's text is used. Duplicates are ignored.
  void Add(std::string field, std::string message, std::string expected = "");

  /// Returns whether no further violation is needed.
  bool done() const { return wanted_ == Wanted::kFirst && !problems_.empty(); }
  /// Returns the status code of the rule that the first violation belongs to.
  base::StatusCode first_code() const { return first_code_; }
  /// Returns the number of violations so far. A later group of rules uses it to skip checks that
  /// would only repeat earlier errors.
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
