// SPDX-License-Identifier: Apache-2.0
// Parsing of header fields: lists with commas, optional white space, names in any case.
#pragma once

#include <string>
#include <string_view>

#include "base/ascii_case.h"

namespace nereid::frontend::http {

/// Returns `text` without the spaces and tabs at both ends.
inline std::string_view Trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Removes the part of `text` up to the first `separator`, and the separator, and returns that
/// part.
inline std::string_view TakeUntil(std::string_view* text, char separator) {
  const size_t end = text->find(separator);
  const std::string_view piece = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return piece;
}

using base::EqualsIgnoringCase;
using base::LowerCase;

/// Adds the value of a field to the values of earlier fields with the same name: together they are
/// one list (RFC 9110, section 5.3).
inline void AddToList(std::string_view value, std::string* list) {
  if (!list->empty()) list->append(", ");
  list->append(value);
}

}  // namespace nereid::frontend::http
