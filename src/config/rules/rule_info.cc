// SPDX-License-Identifier: Apache-2.0
#include "config/rules/rule_info.h"

namespace nereid::config {

std::string_view SeverityName(Severity severity) {
  return severity == Severity::kError ? "error" : "warning";
}

}  // namespace nereid::config
