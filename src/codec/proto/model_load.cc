// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/model_load.h"

#include <string>

#include "api/unsupported.h"
#include "config/load_parameter.h"
#include "grpc_service.pb.h"

namespace nereid::codec::proto {
namespace {

using base::Status;

base::Result<api::LoadParameter> DecodeParameter(const std::string& key,
                                                 const inference::ModelRepositoryParameter& value) {
  const auto wrong_kind = [&key](const char* expected) {
    return Status::InvalidArgument("invalid value type for load parameter '" + key +
                                   "', expected " + expected + ".");
  };
  switch (config::KindOfLoadParameter(key)) {
    case config::LoadParameterKind::kConfig:
      if (!value.has_string_param()) return wrong_kind("string_param");
      return api::LoadParameter{key, value.string_param()};
    case config::LoadParameterKind::kFile:
      if (!value.has_bytes_param()) return wrong_kind("bytes_param");
      return api::LoadParameter{key, value.bytes_param()};
    case config::LoadParameterKind::kUnknown:
      break;
  }
  return Status::InvalidArgument("unrecognized load parameter '" + key + "'.");
}

}  // namespace

base::Result<std::vector<api::LoadParameter>> DecodeModelLoadRequest(
    const inference::RepositoryModelLoadRequest& message) {
  NEREID_RETURN_IF_ERROR(api::CheckRepositoryName(message.repository_name()));
  std::vector<api::LoadParameter> parameters;
  for (const auto& [key, value] : message.parameters()) {
    NEREID_ASSIGN_OR_RETURN(parameters.emplace_back(), DecodeParameter(key, value));
  }
  return parameters;
}

}  // namespace nereid::codec::proto
