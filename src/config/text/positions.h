// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace nereid::config {

/// A place in a text as editors and compilers count: from 1, a column being a byte of its line.
/// {0, 0} is no place.
struct TextPosition {
  int line = 0;
  int column = 0;

  bool operator==(const TextPosition&) const = default;
};

/// Translates the places that protobuf's tokenizer names: counted from 0, a tab taking the column
/// to the next multiple of 8.
class TextLines {
 public:
  /// `text` must outlive the object.
  explicit TextLines(std::string_view text);

  /// The byte at a place; the end of the line or of the text if it lies behind that.
  size_t Offset(int tokenizer_line, int tokenizer_column) const;
  TextPosition Position(int tokenizer_line, int tokenizer_column) const;

 private:
  std::string_view text_;
  std::vector<size_t> line_starts_;
};

}  // namespace nereid::config
