// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::config {

/// One label a line, the index being the line; a carriage return before the line feed is dropped,
/// and an end of file right after a line feed adds no label.
std::vector<std::string> ParseLabels(std::string_view text);

/// Reads `label_filename`, which is relative to `model_directory` and must not lead out of it
/// (UNSUPPORTED). NOT_FOUND or INTERNAL if it cannot be read.
base::Result<std::vector<std::string>> ReadLabelFile(const std::string& model_directory,
                                                     const std::string& label_filename);

}  // namespace nereid::config
