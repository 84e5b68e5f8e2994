// SPDX-License-Identifier: Apache-2.0
#include "app/tools/remote/document_reader.h"

#include "base/parse_number.h"

namespace nereid::app::tools {

using base::Status;
using codec::json::Cursor;

Status ReadText(Cursor& cursor, std::string_view name, std::string* text) {
  if (cursor.Peek() != '"') return cursor.SkipValue();
  return codec::json::ReadStringMember(cursor, name, text);
}

Status ReadCount(Cursor& cursor, std::string_view name, std::optional<uint64_t>* count) {
  if (cursor.Peek() == '"') {
    std::string text;
    NEREID_RETURN_IF_ERROR(codec::json::ReadStringMember(cursor, name, &text));
    *count = base::ParseWhole<uint64_t>(text);
    return Status::Ok();
  }
  const char c = cursor.Peek();
  if (c < '0' || c > '9') return cursor.SkipValue();
  uint64_t number = 0;
  NEREID_RETURN_IF_ERROR(codec::json::ReadUnsignedMember(cursor, name, &number));
  *count = number;
  return Status::Ok();
}

Status ReadTexts(Cursor& cursor, std::vector<std::string>* texts) {
  if (cursor.Peek() != '[') return cursor.SkipValue();
  return cursor.ForEachElement([&]() -> Status {
    if (texts->size() == kMaxListed) {
      return Status::InvalidArgument("the server's list is too long");
    }
    return ReadText(cursor, "text", &texts->emplace_back());
  });
}

}  // namespace nereid::app::tools
