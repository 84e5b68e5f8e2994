// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "config/rules/validate.h"
#include "config/text/positions.h"
#include "repository/check/repository_check.h"

namespace nereid::app::tools {

/// The number of findings of each severity.
struct ReportCounts {
  size_t errors = 0;
  size_t warnings = 0;
};
ReportCounts CountFindings(const repository::CheckReport& report);

/// Returns the report for people: for each finding file:line:column and the message, as compilers
/// write them, the expected value and the remedy; and a line of counts at the end.
std::string ReportText(const repository::CheckReport& report);

/// Returns the report as JSON; docs/user/model_configuration.md describes it.
std::string ReportJson(const repository::CheckReport& report);

/// Returns the list of rules. `format` is "text", "json" or "markdown" (docs/user/config_rules.md).
std::string RulesText(const std::vector<config::RuleInfo>& rules, std::string_view format);

/// Writes a member of an object. Bytes of `value` that are not UTF-8 become U+FFFD: files and
/// messages may contain them.
void WriteMember(std::string_view key, std::string_view value, base::JsonWriter* json);

/// Writes the members "line" and "column"; null if the position is unknown.
void WritePosition(const config::TextPosition& position, base::JsonWriter* json);

}  // namespace nereid::app::tools
