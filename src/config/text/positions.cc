// SPDX-License-Identifier: Apache-2.0
#include "config/text/positions.h"

#include <algorithm>

namespace nereid::config {

namespace {

constexpr int kTabWidth = 8;

}  // namespace

TextLines::TextLines(std::string_view text) : text_(text), line_starts_{0} {
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    line_starts_.push_back(at + 1);
  }
}

size_t TextLines::Offset(int tokenizer_line, int tokenizer_column) const {
  if (tokenizer_line < 0 || static_cast<size_t>(tokenizer_line) >= line_starts_.size()) {
    return text_.size();
  }
  size_t offset = line_starts_[static_cast<size_t>(tokenizer_line)];
  for (int column = 0; column < tokenizer_column && offset < text_.size(); ++offset) {
    if (text_[offset] == '\n') break;
    column += text_[offset] == '\t' ? kTabWidth - column % kTabWidth : 1;
  }
  return offset;
}

TextPosition TextLines::Position(int tokenizer_line, int tokenizer_column) const {
  const size_t offset = Offset(tokenizer_line, tokenizer_column);
  const auto line =
      std::min(static_cast<size_t>(std::max(tokenizer_line, 0)), line_starts_.size() - 1);
  return {static_cast<int>(line) + 1, static_cast<int>(offset - line_starts_[line]) + 1};
}

TextPosition TextLines::PositionOf(size_t offset) const {
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<size_t>(next - line_starts_.begin()) - 1;
  return {static_cast<int>(line) + 1, static_cast<int>(offset - line_starts_[line]) + 1};
}

}  // namespace nereid::config
