// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nereid::config {

/// What a parameter of a model load replaces. Its name says it, in every protocol.
enum class LoadParameterKind {
  kConfig,   // "config": the configuration file, by JSON text
  kFile,     // "file:<path>": a file below the model's directory, by its bytes
  kUnknown,  // an error
};

inline constexpr std::string_view kLoadFilePrefix = "file:";

constexpr LoadParameterKind KindOfLoadParameter(std::string_view name) {
  if (name == "config") return LoadParameterKind::kConfig;
  return name.starts_with(kLoadFilePrefix) ? LoadParameterKind::kFile : LoadParameterKind::kUnknown;
}

}  // namespace nereid::config
