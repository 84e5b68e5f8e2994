// SPDX-License-Identifier: Apache-2.0
// Source: Triton's extension_classification.md, which uses the labels, and the comment of
// label_filename in model_config.proto.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::config {

/// Splits the text of a label file: line i is the label of class i. A carriage return before a line
/// feed is removed, and a byte order mark at the beginning. A line feed at the end adds no empty
/// label.
std::vector<std::string> ParseLabels(std::string_view text);

/// Reads `label_filename`, a path relative to `model_directory`. UNSUPPORTED if it leads out of
/// that directory, also through a link; NOT_FOUND, INVALID_ARG or INTERNAL if the file cannot be
/// read.
base::Result<std::vector<std::string>> ReadLabelFile(const std::string& model_directory,
                                                     const std::string& label_filename);

}  // namespace nereid::config
