// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace nereid::checksum {

/// The agent's parameters for one model. A key is "MD5:<path relative to the model's directory>",
/// and its value is the hash that the file must have, in hexadecimal digits.
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// Checks every file in `parameters`. Returns the error message of the first file that does not
/// match, or an empty string.
std::string CheckFiles(const std::string& model_directory, const Parameters& parameters);

}  // namespace nereid::checksum
