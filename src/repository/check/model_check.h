// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/complete/model_files.h"
#include "config/model_config.h"
#include "config/rules/find_problems.h"
#include "config/text/fields.h"
#include "config/text/read_text.h"
#include "layout/advise.h"
#include "repository/check/finding.h"
#include "repository/model_poll.h"

namespace nereid::repository {

struct CheckOptions {
  /// The backend will not complete configurations: files, inputs and outputs must be complete.
  bool strict_config = false;
  /// configs/<name>.pbtxt is used if it exists.
  std::string config_name;
  /// The directory of the backends. If empty, their libraries are not checked.
  std::string backend_directory;
  /// The directory of the repository agents. If empty, their libraries are not checked.
  std::string repoagent_directory;
  /// The numbers of the GPUs of the machine that will serve, if known.
  std::optional<std::vector<int32_t>> gpus;
  /// At most this many errors in the text of one configuration are reported.
  size_t max_text_problems = 100;
};

/// A model's directory that is checked without loading anything.
class CheckedModel {
 public:
  /// Reads the directory and finds all problems that depend on it alone.
  static CheckedModel Check(const ModelDirectory& directory, const CheckOptions& options);

  const ModelDirectory& directory() const { return directory_; }
  const std::string& config_path() const { return config_path_; }
  /// Returns the configuration, completed as far as this needs no backend; null if the text cannot
  /// be parsed or the backend is unknown.
  const config::ModelConfigPtr& config() const { return config_; }
  /// Returns the versions that the version policy selects.
  const std::vector<int64_t>& versions() const { return versions_; }
  /// Returns whether inputs or outputs may be missing here, because the backend will add them or a
  /// field could not be read.
  bool incomplete() const { return incomplete_; }
  /// Returns whether the field, one around it or one in it could not be read.
  bool IsUnread(std::string_view field) const;

  /// Returns whether the field already has an error; further errors would be its consequences.
  bool HasErrorAt(std::string_view field) const;

  /// Adds a problem of the configuration, with its position in the text.
  void Add(const config::Problem& problem);
  void Add(const config::RuleInfo& rule, const std::string& field, std::string message,
           std::string expected = "");
  /// Adds a problem of the configuration that concerns one version.
  void AddOfVersion(const config::RuleInfo& rule, int64_t version, const std::string& field,
                    std::string message, std::string expected);
  /// Adds a problem at a position of the configuration's text.
  void AddAt(const config::RuleInfo& rule, config::TextPosition position, std::string message);
  /// Adds a problem of a file or directory other than the configuration.
  void AddOfFile(const config::RuleInfo& rule, std::string file, std::string message);

  const std::vector<Finding>& findings() const { return findings_; }

  /// Replaces the general remedies of findings about the layout by what is to do in this directory,
  /// and adds the findings about the content of files.
  void AddAdvice();

 private:
  void ReadText(const CheckOptions& options);
  void Complete(const config::ModelConfig& written, const CheckOptions& options);
  void FindProblems(const CheckOptions& options);
  const config::Locations& Places();
  void AddContentAdvice(const layout::Folder& folder);

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
  layout::ModelFacts facts_;  // of the written configuration
};

namespace check {

/// Finds the values in a configuration that nereid init wrote as examples, and that are unchanged.
void CheckExamples(const std::string& text, CheckedModel* model);

/// Warns of placeholders of templates in texts that are in quotes.
void CheckPlaceholders(const std::string& text, CheckedModel* model);

/// Warns of TorchScript modules that keep state between calls but serve all clients at once.
void CheckModuleState(CheckedModel* model);

/// Checks the version directories and returns the versions that are served.
std::vector<int64_t> CheckVersions(const config::ModelFiles& files,
                                   const config::ModelConfig& config, CheckedModel* model);

/// Adds the finding that no version is there.
void AddNoVersion(CheckedModel* model);

/// Checks the files that the configuration names, and the backend's library.
void CheckFiles(const config::ModelFiles& files, const CheckOptions& options, CheckedModel* model);

}  // namespace check

}  // namespace nereid::repository
