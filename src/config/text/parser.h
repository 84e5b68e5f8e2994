// SPDX-License-Identifier: Apache-2.0
// One run of protobuf's text parser.
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

/// A configuration is written by hand or by a tool; more than this is a mistake or an attack.
inline constexpr size_t kMaxTextBytes = size_t{32} << 20;

/// An error as protobuf tells it; line and column as TextLines takes them, -1 for none.
struct ParserError {
  int line = -1;
  int column = 0;
  std::string message;
};

/// Fills `config`; the errors in the order in which they were met (one is the rule; after a bad
/// token the parser goes on). None: all was read. `text` must not be larger than kMaxTextBytes.
std::vector<ParserError> ParseText(std::string_view text, inference::ModelConfig* config);

/// The field that an error is about, which may end before the place that the parser names; null if
/// there is none.
const TextField* FieldOfError(const ParserError& error, const std::vector<TextField>& outline,
                              const TextLines& lines);

/// The texts between quotes in a message of protobuf, in order.
std::vector<std::string> QuotedParts(const std::string& message);

}  // namespace nereid::config
