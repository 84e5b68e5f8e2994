// SPDX-License-Identifier: Apache-2.0
#include "codec/json/model_unload.h"

#include "codec/json/cursor.h"
#include "codec/json/repository_members.h"

namespace nereid::codec::json {

base::Result<bool> DecodeModelUnloadRequest(std::string_view json) {
  bool dependents = false;
  if (json.empty()) return dependents;
  NEREID_RETURN_IF_ERROR(
      ForEachParameter(json, [&](Cursor& cursor, std::string_view name) -> base::Status {
        if (name != "unload_dependents") return cursor.SkipValue();
        if (cursor.ReadNull()) return base::Status::Ok();
        return ReadBoolMember(cursor, name, &dependents);
      }));
  return dependents;
}

}  // namespace nereid::codec::json
