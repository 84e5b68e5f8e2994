// SPDX-License-Identifier: Apache-2.0
// The parts of the documents of a v2 server, which may be hostile: members of another type are
// skipped or refused, lists have a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "codec/json/cursor.h"

namespace nereid::app::tools {

/// The largest number of elements of a list in a document.
inline constexpr size_t kMaxListed = 100'000;

/// Reads a member that should be a text. Another value is skipped, and the text stays.
base::Status ReadText(codec::json::Cursor& cursor, std::string_view name, std::string* text);

/// Reads a number, also one in quotes, as some servers write 64 bits. Another value is skipped.
base::Status ReadCount(codec::json::Cursor& cursor, std::string_view name,
                       std::optional<uint64_t>* count);

/// Reads a list of texts; another value is skipped.
base::Status ReadTexts(codec::json::Cursor& cursor, std::vector<std::string>* texts);

/// Appends an element for each object of the array at the cursor; read(cursor, key, element) reads
/// a member.
template <typename Element, typename Read>
base::Status ReadObjects(codec::json::Cursor& cursor, std::vector<Element>* elements, Read&& read) {
  if (cursor.Peek() != '[') return cursor.SyntaxError("expected a list");
  return cursor.ForEachElement([&]() -> base::Status {
    if (cursor.Peek() != '{') return cursor.SyntaxError("expected an object");
    if (elements->size() == kMaxListed) {
      return base::Status::InvalidArgument("the server's list has more than " +
                                           std::to_string(kMaxListed) + " elements");
    }
    Element& element = elements->emplace_back();
    return cursor.ForEachMember([&](std::string_view key) { return read(cursor, key, element); });
  });
}

/// Reads the members of the object at the cursor with read(cursor, key); skips another value.
template <typename Read>
base::Status ReadMembers(codec::json::Cursor& cursor, Read&& read) {
  if (cursor.Peek() != '{') return cursor.SkipValue();
  return cursor.ForEachMember([&](std::string_view key) { return read(cursor, key); });
}

/// Reads the members of the document, an object.
template <typename Read>
base::Status ReadRoot(std::string_view json, Read&& read) {
  codec::json::Cursor cursor(json);
  if (cursor.Peek() != '{') return cursor.SyntaxError("expected an object");
  NEREID_RETURN_IF_ERROR(
      cursor.ForEachMember([&](std::string_view key) { return read(cursor, key); }));
  return cursor.ExpectEnd();
}

}  // namespace nereid::app::tools
