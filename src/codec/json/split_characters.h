// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "codec/json/text_buffer.h"

namespace nereid::codec::json {

/// The characters that a stream of responses divides: a model that sends one token at a time may
/// send the bytes of a character in several responses. The bytes wait here until a response has the
/// rest of the character in the same element of the same output. Not thread-safe.
class SplitCharacters {
 public:
  /// Appends an element of a BYTES output as a JSON string: the bytes that wait for it and `text`,
  /// without a character that is incomplete at the end, whose bytes wait then.
  void Append(std::string_view output, size_t element, std::string_view text, TextBuffer* json);

  /// No response follows the next one: no bytes wait any more.
  void EndWithNext() { is_last_ = true; }

  /// Returns the bytes that wait, by output and element.
  const std::map<std::pair<std::string, size_t>, std::string>& waiting() const { return waiting_; }

 private:
  std::map<std::pair<std::string, size_t>, std::string> waiting_;
  bool is_last_ = false;
};

}  // namespace nereid::codec::json
