// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/tools/doctor/machine_facts.h"

namespace nereid::app::tools {

enum class Severity {
  kOk,
  kNote,     // worth knowing; nothing is wrong
  kWarning,  // a server works, but slower or not for everything
  kError,    // a server does not work as it should
};

/// One line of the report.
struct DoctorFinding {
  Severity severity = Severity::kOk;
  std::string area;    // "cpu", "memory", "limits", …
  std::string text;    // what was found
  std::string remedy;  // the one thing to do; empty if nothing is to be done
};

/// Judges a machine. Pure: the same facts give the same findings.
std::vector<DoctorFinding> Diagnose(const MachineFacts& facts);

/// Returns "ok", "note", "warning" or "error".
std::string_view SeverityName(Severity severity);

/// Returns the report for people. `color`: with the escapes of terminals.
std::string FindingsText(const std::vector<DoctorFinding>& findings, bool color);
/// Returns the report as JSON.
std::string FindingsJson(const std::vector<DoctorFinding>& findings);

}  // namespace nereid::app::tools
