// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/complete/model_files.h"
#include "config/model_config.h"
#include "config/rules/find_problems.h"
#include "config/text/fields.h"
#include "config/text/read_text.h"
#include "repository/check/finding.h"
#include "repository/model_poll.h"

namespace nereid::repository {

struct CheckOptions {
  /// The backend will not complete configurations: files must be there, inputs and outputs whole.
  bool strict_config = false;
  /// configs/<name>.pbtxt is preferred where it exists.
  std::string config_name;
  /// Where backends are; empty: their libraries are not looked for.
  std::string backend_directory;
  /// The GPUs of the machine that will serve; nothing if it is another one.
  std::optional<int> gpu_count;
  /// Errors in the text of one configuration beyond this number are not told.
  size_t max_text_problems = 100;
};

/// One model's directory, looked at without loading anything.
class CheckedModel {
 public:
  /// Reads the directory and finds everything that can be told from it alone.
  static CheckedModel Check(const ModelDirectory& directory, const CheckOptions& options);

  const ModelDirectory& directory() const { return directory_; }
  const std::string& config_path() const { return config_path_; }
  /// Completed as far as that needs no backend; null if the text or the backend cannot be told.
  const config::ModelConfigPtr& config() const { return config_; }
  /// What the version policy selects.
  const std::vector<int64_t>& versions() const { return versions_; }
  /// The backend, or a field that could not be read, would add inputs or outputs.
  bool incomplete() const { return incomplete_; }
  /// Whether the field, one around it or one in it was not read.
  bool IsUnread(std::string_view field) const;

  /// Whether the field has an error already; further ones would be its consequences.
  bool HasErrorAt(std::string_view field) const;

  /// Adds a problem of the configuration, with its place in the text.
  void Add(const config::Problem& problem);
  void Add(const config::RuleInfo& rule, const std::string& field, std::string message,
           std::string expected = "");
  /// Adds what is about another file or directory than the configuration.
  void AddOfFile(const config::RuleInfo& rule, std::string file, std::string message);

  const std::vector<Finding>& findings() const { return findings_; }

 private:
  void ReadText(const CheckOptions& options);
  void Complete(const config::ModelConfig& written, const CheckOptions& options);
  void FindProblems(const CheckOptions& options);
  const config::Locations& Places();

  ModelDirectory directory_;
  std::string config_path_;
  bool has_config_file_ = false;
  std::string text_;
  config::ModelConfigPtr config_;
  std::optional<config::ModelFiles> files_;
  std::vector<int64_t> versions_;
  bool incomplete_ = false;
  std::vector<std::string> unread_;
  std::optional<config::Locations> places_;  // made when the first problem needs it
  std::vector<Finding> findings_;
};

namespace check {

/// The version directories; returns the versions that are served.
std::vector<int64_t> CheckVersions(const config::ModelFiles& files,
                                   const config::ModelConfig& config, CheckedModel* model);

/// The files that the configuration names, and the backend's library.
void CheckFiles(const config::ModelFiles& files, const CheckOptions& options, CheckedModel* model);

}  // namespace check

}  // namespace nereid::repository
