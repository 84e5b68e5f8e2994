// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/rules/validate.h"
#include "repository/check/repository_check.h"

namespace nereid::app::tools {

/// How many findings of each severity a report has.
struct ReportCounts {
  size_t errors = 0;
  size_t warnings = 0;
};
ReportCounts CountFindings(const repository::CheckReport& report);

/// The report for people: each finding as file:line:column, as compilers write them, with what was
/// expected and what to do; a line of counts at the end.
std::string ReportText(const repository::CheckReport& report);

/// The report for programs; docs/user/model_configuration.md describes it.
std::string ReportJson(const repository::CheckReport& report);

/// The list of rules: "text", "json" or "markdown" (docs/user/config_rules.md).
std::string RulesText(const std::vector<config::RuleInfo>& rules, std::string_view format);

/// `text` as a JSON string; bytes that are no UTF-8 become U+FFFD.
std::string JsonText(std::string_view text);

}  // namespace nereid::app::tools
