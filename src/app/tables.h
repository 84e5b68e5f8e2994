// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/options/server_options.h"
#include "device/gpus.h"

namespace nereid::app {

/// Draws a table with '+', '-' and '|'. Each column is as wide as its widest cell, and the text
/// ends with a newline:
///   +-------+---------+
///   | Model | Version |
///   +-------+---------+
///   | a     | 1       |
///   +-------+---------+
/// Lines are not wrapped. A cell with several lines makes its row several lines high; other control
/// characters become '?'. Widths are counted in UTF-8 characters. A row that is too short gets
/// empty cells; cells beyond the headers are dropped.
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
  std::string version;  // "" if the model failed before it had a version
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

/// Returns the table of how the models share the CPUs.
std::string CpuPlanTable(const std::vector<CpuShareRow>& shares);

/// Returns the table of the GPUs that were found, also of those that are not used.
std::string GpuTable(const device::Gpus& gpus);

/// Return the tables that a start prints, with Triton's columns and rows.
std::string RepositoryAgentTable(const std::vector<RepositoryAgentRow>& agents);
std::string BackendTable(const std::vector<BackendRow>& backends);
/// The status of a model is cut so that no line is longer than `max_columns` characters; 0: no
/// limit.
std::string ModelTable(const std::vector<ModelRow>& models, size_t max_columns = 0);
std::string SettingsTable(const ServerOptions& options, const ServerIdentity& identity);

}  // namespace nereid::app
