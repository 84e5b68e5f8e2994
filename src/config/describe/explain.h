// SPDX-License-Identifier: Apache-2.0
// Explains where each part of the effective configuration comes from.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/complete/model_files.h"
#include "config/model_config.h"
#include "config/text/fields.h"

namespace nereid::config {

enum class FieldOrigin {
  kWritten,  // written in the configuration file
  kDerived,  // derived from the directory's name, from files or from another field
  kDefault,  // a default of the server
  kBackend,  // completed by the backend
  kLoaded,   // written in the file with another value than that with which the model was loaded
};

/// Returns "file", "derived", "default", "backend" or "load".
std::string_view FieldOriginName(FieldOrigin origin);

/// A scalar, an element of a list, or an empty list or message.
struct ExplainedField {
  std::string path;   // as in config::Problem
  std::string value;  // in the text format: 4, "text", TYPE_FP32; "[ ]", "{ }"
  FieldOrigin origin = FieldOrigin::kWritten;
  TextPosition position;  // of the field; kWritten only
  std::string rule;       // kDerived and kDefault: a row of AllCompletions
  std::string reason;     // a short explanation; empty for kWritten
};

/// The inputs of an explanation, besides the effective configuration.
struct ExplainSources {
  /// The configuration as it was written, the positions in its text, and the files beside it.
  const ModelConfig& written;
  const Locations& places;
  const ModelFiles& files;
  /// The configuration before the backend completed it; null if the backend was not asked.
  const ModelConfig* before_backend = nullptr;
};

/// Returns the fields that are set, in the order of their declaration.
std::vector<ExplainedField> ExplainModelConfig(const ModelConfig& effective,
                                               const ExplainSources& sources);

/// Returns the value that an unset field has, in the text format: 0, "", false, the first name of
/// an enum, "[ ]", or "{ }" for a message. Returns nothing if the configuration has no field with
/// this path.
std::optional<std::string> UnsetFieldValue(std::string_view path);

}  // namespace nereid::config
