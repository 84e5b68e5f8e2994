// SPDX-License-Identifier: Apache-2.0
// Runs protobuf's text parser once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/text/outline.h"
#include "config/text/positions.h"

namespace inference {
class ModelConfig;
}

namespace nereid::config {

/// The largest text that is parsed. A larger configuration is a mistake or an attack.
inline constexpr size_t kMaxTextBytes = size_t{32} << 20;

/// An error of protobuf's parser. Line and column are those of TextLines; line is -1 if unknown.
struct ParserError {
  int line = -1;
  int column = 0;
  std::string message;
};

/// Parses `text` into `config` and returns the errors in order; none if everything was read. There
/// is mostly one error, but the parser continues after an invalid token. `text` must not be larger
/// than kMaxTextBytes.
std::vector<ParserError> ParseText(std::string_view text, inference::ModelConfig* config);

/// Returns the field that an error is about, which may end before the position of the error; null
/// if there is none.
const TextField* FieldOfError(const ParserError& error, const std::vector<TextField>& outline,
                              const TextLines& lines);

/// Returns the quoted parts of one of protobuf's messages, in order.
std::vector<std::string> QuotedParts(const std::string& message);

}  // namespace nereid::config
