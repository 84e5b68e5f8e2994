// SPDX-License-Identifier: Apache-2.0
// The rules about wrong layouts of model directories: what lies there, and the one thing to do.
// Load errors, `nereid check` and `nereid init` use them. They are pure functions: ReadFolder looks
// at the files before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/model_config.h"
#include "layout/advice.h"
#include "layout/folder.h"

namespace nereid::layout {

/// What a configuration says, as far as the rules use it.
struct ModelFacts {
  /// Whether a configuration is written, and its path relative to the model's directory.
  bool has_config = false;
  std::string config_file = "config.pbtxt";
  bool is_ensemble = false;
  /// The written backend, or that of the written platform; empty if neither is written.
  std::string backend;
  std::string platform;
  /// The written default_model_filename; empty if none is written.
  std::string filename;
  bool has_inputs = false;
};

/// Returns the facts of a configuration, as it is written or completed.
ModelFacts FactsOf(const config::ModelConfig& written, bool has_config);

/// Advises on a model without a version, or whose backend nothing tells.
std::optional<Advice> AdviseOnFolder(const Folder& folder, const ModelFacts& facts);

/// Advises on a version that cannot be loaded: its model file is missing, has another name, another
/// content than its backend reads, or lacks files beside it.
std::optional<Advice> AdviseOnVersion(const Folder& folder, const ModelFacts& facts,
                                      int64_t version);

/// Advises on a file that no backend can read because of its content: it is empty, a pointer of
/// git-lfs, an archive, weights without a model. `path` is how texts show it.
std::optional<Advice> AdviseOnFile(const std::string& path, const FolderEntry& entry);

/// Advises on a written backend or platform that the server does not know, or on two that do not
/// belong together.
std::optional<Advice> AdviseOnBackend(const Folder& folder, const ModelFacts& facts);

/// Advises on a configuration whose file has another name or place than the server looks for.
/// Nothing if the model has a configuration.
std::optional<Advice> AdviseOnConfigName(const Folder& folder, const ModelFacts& facts);

/// Returns whether the folder holds a model, but no directory of a version: the model is then
/// known, and only its place is wrong.
bool IsModelWithoutVersion(const Folder& folder, const ModelFacts& facts);

/// Returns whether a model lies in the folder itself or in the directory of a version, whatever its
/// name there is. Models in other directories belong to other folders.
bool HoldsModel(const Folder& folder);

/// Advises on a broken rule of the configuration or the files (an id of `nereid check
/// --list-rules`); nothing for rules that do not concern the layout. `version` is the one that has
/// the problem, or nothing.
std::optional<Advice> AdviseOnRule(const Folder& folder, const ModelFacts& facts,
                                   std::string_view rule, std::optional<int64_t> version);

/// Advises on files that lie in a model repository itself, outside of any model's directory. `path`
/// is the name of the file in the repository.
std::optional<Advice> AdviseOnStrayFile(const std::string& path, const FolderEntry& entry);

}  // namespace nereid::layout
