// SPDX-License-Identifier: Apache-2.0
#include "codec/json/model_load.h"

#include "codec/json/base64.h"
#include "codec/json/cursor.h"
#include "codec/json/repository_members.h"
#include "config/load_parameter.h"

namespace nereid::codec::json {
namespace {

using base::Status;

/// The maximum number of files, plus the configuration, in one load request.
constexpr size_t kMaxLoadParameters = 16'384;

}  // namespace

base::Result<std::vector<api::LoadParameter>> DecodeModelLoadRequest(std::string_view json) {
  std::vector<api::LoadParameter> parameters;
  if (json.empty()) return parameters;
  NEREID_RETURN_IF_ERROR(
      ForEachParameter(json, [&](Cursor& cursor, std::string_view name) -> Status {
        const config::LoadParameterKind kind = config::KindOfLoadParameter(name);
        if (kind == config::LoadParameterKind::kUnknown) {
          return Status::InvalidArgument("unrecognized load parameter '" + std::string(name) +
                                         "'.");
        }
        if (parameters.size() == kMaxLoadParameters) {
          return Status::InvalidArgument("a request to load a model can have at most " +
                                         std::to_string(kMaxLoadParameters) + " parameters");
        }
        api::LoadParameter parameter{std::string(name), {}};
        if (kind == config::LoadParameterKind::kConfig && cursor.ReadNull()) return Status::Ok();
        NEREID_RETURN_IF_ERROR(ReadStringMember(cursor, name, &parameter.value));
        if (kind == config::LoadParameterKind::kFile) {
          parameter.value = DecodeBase64(parameter.value);
        }
        parameters.push_back(std::move(parameter));
        return Status::Ok();
      }));
  return parameters;
}

}  // namespace nereid::codec::json
