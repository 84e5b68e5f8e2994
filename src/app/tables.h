// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/options/server_options.h"

namespace nereid::app {

/// A box drawn with '+', '-' and '|', each column as wide as its widest cell, a newline at the end:
///   +-------+---------+
///   | Model | Version |
///   +-------+---------+
///   | a     | 1       |
///   +-------+---------+
/// Nothing is wrapped. A cell of several lines makes its row several lines high; other control
/// characters are shown as '?'. Widths are counted in UTF-8 characters. A row that is too short
/// gets empty cells; cells beyond the headers are left out.
std::string RenderTable(const std::vector<std::string>& headers,
                        const std::vector<std::vector<std::string>>& rows);

struct RepositoryAgentRow {
  std::string name;
  std::string path;
};

struct BackendRow {
  std::string name;
  std::string path;    // of the library
  std::string config;  // JSON, {"cmdline":{…}}
};

struct ModelRow {
  std::string model;
  std::string version;  // "" where a model failed before it had one
  std::string status;   // "READY", "UNAVAILABLE: <reason>"
};

struct ServerIdentity {
  std::string version;
  std::vector<std::string> extensions;
};

struct CpuShareRow {
  std::string model;
  std::string version;
  std::string instances;
  std::string threads;  // of each instance
  std::string cpus;     // "0-3", or "any"
  std::string set_by;
};

/// How the models share the CPUs.
std::string CpuPlanTable(const std::vector<CpuShareRow>& shares);

/// The tables that a start prints, in Triton's columns and rows.
std::string RepositoryAgentTable(const std::vector<RepositoryAgentRow>& agents);
std::string BackendTable(const std::vector<BackendRow>& backends);
std::string ModelTable(const std::vector<ModelRow>& models);
std::string SettingsTable(const ServerOptions& options, const ServerIdentity& identity);

}  // namespace nereid::app
