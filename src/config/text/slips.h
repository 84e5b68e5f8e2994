// SPDX-License-Identifier: Apache-2.0
// Mistakes in a text that protobuf's parser cannot name, because it sees only that a token is not
// the one that it expects: templates that were not filled in, quotes of word processors, stray and
// missing commas.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::config {

struct Slip {
  std::string_view rule;
  /// The bytes of the text that are wrong.
  size_t begin = 0;
  size_t end = 0;
  std::string message;
  std::string expected;
  std::string remedy;
  /// Whether the value that holds the bytes is lost. Otherwise the repair has restored it.
  bool loses_value = false;
};

/// A text in which each slip is replaced by bytes that can be parsed. Lines, tabs and the offsets
/// of all other bytes are unchanged.
struct RepairedText {
  std::string text;
  std::vector<Slip> slips;  // in the order of the text
  /// Whether the text is in another format, of which nothing can be read.
  bool is_lost = false;
};

/// Finds the slips of a text that cannot be parsed, the first few hundred of them.
RepairedText RepairText(std::string_view text);

}  // namespace nereid::config
