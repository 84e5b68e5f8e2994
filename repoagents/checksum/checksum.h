// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace nereid::checksum {

/// The agent's parameters of one model: "MD5:<path relative to the model's directory>" and the hash
/// that the file must have, in hexadecimal digits.
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// Checks every file that `parameters` name below `model_directory`. Returns what is wrong with the
/// first one that is not as it should be; empty if all are.
std::string CheckFiles(const std::string& model_directory, const Parameters& parameters);

}  // namespace nereid::checksum
