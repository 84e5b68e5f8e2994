// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/describe/explain.h"
#include "config/model_config.h"

namespace nereid::app::tools {

/// The configuration of a model and the origin of its fields.
struct Explanation {
  std::string model;
  std::string config_path;
  config::ModelConfigPtr effective;
  std::vector<config::ExplainedField> fields;
};

/// Returns the configuration with which the model in a directory, an absolute path, serves.
using LoadedConfig =
    std::function<base::Result<config::ModelConfigPtr>(const std::string& directory)>;

/// Explains the configuration of the model in `directory`. `config_name` is that of
/// --model-config-name. Without `loaded` the values are missing that only the backend knows. Blocks
/// while the files are read. Returns an error that names the file, and the line if one is wrong.
base::Result<Explanation> ExplainModel(const std::string& directory, const std::string& config_name,
                                       const LoadedConfig& loaded = nullptr);

/// Marks the fields whose values differ from those in the file: the model was loaded with another
/// configuration, or the file has changed since. `before_load` is an explanation of the same
/// directory without a loaded configuration.
void MarkLoadedValues(const Explanation& before_load, Explanation* explanation);

/// Returns the explanation as JSON; docs/user/model_configuration.md describes it.
std::string ExplanationJson(const Explanation& explanation);

}  // namespace nereid::app::tools
