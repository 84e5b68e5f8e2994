// SPDX-License-Identifier: Apache-2.0
// Where each part of a configuration that is in effect comes from.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/complete.h"
#include "config/model_config.h"
#include "config/text/fields.h"

namespace nereid::config {

enum class FieldOrigin {
  kWritten,  // the configuration file says so
  kDerived,  // from the directory's name, from files, or from another field
  kDefault,  // a default of the server
  kBackend,  // the backend completed it
};

/// "file", "derived", "default", "backend".
std::string_view FieldOriginName(FieldOrigin origin);

/// One scalar, one element of a list, or an empty list or message.
struct ExplainedField {
  std::string path;   // as in config::Problem
  std::string value;  // in the text format: 4, "text", TYPE_FP32; "[ ]", "{ }"
  FieldOrigin origin = FieldOrigin::kWritten;
  TextPosition position;  // kWritten: of the field
  std::string rule;       // kDerived, kDefault: the row of ListDefaults
  std::string reason;     // in a few words; empty if written
};

/// What the explanation needs to know beside the configuration that is in effect.
struct ExplainSources {
  /// The configuration as it is written, its text's places, and the files beside it.
  const ModelConfig& written;
  const Locations& places;
  const ModelFiles& files;
  /// The configuration before the backend was asked; null if it was not.
  const ModelConfig* before_backend = nullptr;
};

/// The fields that are set, in the order of their declaration.
std::vector<ExplainedField> ExplainModelConfig(const ModelConfig& effective,
                                               const ExplainSources& sources);

/// The value that counts where the field is not set, in the text format: 0, "", false, the first
/// name of an enumeration, "[ ]", "{ }" of a message. Nothing if the configuration has no field of
/// that path.
std::optional<std::string> UnsetFieldValue(std::string_view path);

/// A default or a derivation.
struct DefaultInfo {
  std::string_view rule;
  std::string_view field;
  std::string_view summary;
};
std::vector<DefaultInfo> ListDefaults();

}  // namespace nereid::config
