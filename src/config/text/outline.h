// SPDX-License-Identifier: Apache-2.0
// The fields of a text in protobuf's text format with their positions, whether or not the fields
// are known. Protobuf's own ParseInfoTree has no list elements and no map keys, and is empty for a
// text with an error.
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
  /// Scalars as written, except that strings have no quotes and escapes and adjacent strings are
  /// joined.
  std::string scalar;
  std::vector<TextField> fields;
};

/// A field in one of the forms `name: value`, `name { ... }` and `name: [ value, ... ]`.
struct TextField {
  std::string name;
  TextPosition position;
  /// The bytes from the name to the end of the value. `end` is 0 if the text ends or becomes
  /// unreadable inside the field.
  size_t begin = 0;
  size_t end = 0;
  std::vector<TextValue> values;
  /// Whether no value follows the colon.
  bool is_without_value = false;
};

/// Reads the fields up to the first place that is not in the text format. Names are not looked up
/// and values are not interpreted. Messages more than 64 levels deep end the outline.
std::vector<TextField> ReadOutline(std::string_view text, const TextLines& lines);

/// Returns the innermost complete field that contains the byte `offset`; null if there is none.
const TextField* FindField(const std::vector<TextField>& fields, size_t offset);

}  // namespace nereid::config
