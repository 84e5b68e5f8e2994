// SPDX-License-Identifier: Apache-2.0
// The fields of a text in protobuf's text format, each with its place, whether or not they mean
// anything. protobuf's own ParseInfoTree knows no list elements and no map keys, and nothing at all
// of a text with an error in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/text/positions.h"

namespace nereid::config {

struct TextField;

/// A scalar, or a message in braces.
struct TextValue {
  TextPosition position;
  bool is_message = false;
  /// Scalars: as written, but strings without quotes and escapes, adjacent ones joined.
  std::string scalar;
  std::vector<TextField> fields;
};

/// `name: value`, `name { ... }` or `name: [ value, ... ]`.
struct TextField {
  std::string name;
  TextPosition position;
  /// The bytes from the name to the end of the value. `end` is 0 if the text ends or goes wrong
  /// within the field.
  size_t begin = 0;
  size_t end = 0;
  std::vector<TextValue> values;
};

/// What can be recognised, up to the first place that is not the text format at all. Names are not
/// looked up, values not interpreted. Messages deeper than 64 end the outline.
std::vector<TextField> ReadOutline(std::string_view text, const TextLines& lines);

/// The innermost whole field whose bytes hold `offset`; null if there is none.
const TextField* FindField(const std::vector<TextField>& fields, size_t offset);

}  // namespace nereid::config
