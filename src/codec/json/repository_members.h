// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/status.h"
#include "codec/json/cursor.h"

namespace nereid::codec::json {

/// Calls `visit(cursor, key)` for the members of the document.
template <typename Visit>
base::Status ForEachRootMember(std::string_view json, Visit&& visit) {
  Cursor cursor(json);
  if (cursor.Peek() != '{') {
    NEREID_RETURN_IF_ERROR(cursor.SkipValue());
    NEREID_RETURN_IF_ERROR(cursor.ExpectEnd());
    return base::Status::InvalidArgument("attempt to get members for non-object");
  }
  NEREID_RETURN_IF_ERROR(
      cursor.ForEachMember([&](std::string_view key) { return visit(cursor, key); }));
  return cursor.ExpectEnd();
}

/// Calls `visit(cursor, name)` for the members of the document's "parameters", unless it is null.
template <typename Visit>
base::Status ForEachParameter(std::string_view json, Visit&& visit) {
  return ForEachRootMember(json, [&](Cursor& cursor, std::string_view key) -> base::Status {
    if (key != "parameters") return cursor.SkipValue();
    if (cursor.ReadNull()) return base::Status::Ok();
    if (cursor.Peek() != '{') {
      NEREID_RETURN_IF_ERROR(cursor.SkipValue());
      return base::Status::InvalidArgument(
          "Unable to parse 'parameters': attempt to get members for non-object");
    }
    return cursor.ForEachMember([&](std::string_view name) { return visit(cursor, name); });
  });
}

}  // namespace nereid::codec::json
