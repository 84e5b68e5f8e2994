// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace nereid::config {

/// A position in a text as editors show it, counted from 1; the column counts bytes. {0, 0} means
/// none.
struct TextPosition {
  int line = 0;
  int column = 0;

  bool operator==(const TextPosition&) const = default;
};

/// Converts the positions of protobuf's tokenizer, which count from 0 and advance the column to the
/// next multiple of 8 at a tab.
class TextLines {
 public:
  /// `text` must outlive the object.
  explicit TextLines(std::string_view text);

  /// Returns the offset of a position in bytes. A position behind the end of a line or of the text
  /// becomes that end.
  size_t Offset(int tokenizer_line, int tokenizer_column) const;
  TextPosition Position(int tokenizer_line, int tokenizer_column) const;
  /// Returns the position of a byte of the text.
  TextPosition PositionOf(size_t offset) const;

 private:
  std::string_view text_;
  std::vector<size_t> line_starts_;
};

}  // namespace nereid::config
