// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/model_unload.h"

#include "api/unsupported.h"
#include "grpc_service.pb.h"

namespace nereid::codec::proto {

base::Result<bool> DecodeModelUnloadRequest(
    const inference::RepositoryModelUnloadRequest& message) {
  NEREID_RETURN_IF_ERROR(api::CheckRepositoryName(message.repository_name()));
  const auto found = message.parameters().find("unload_dependents");
  if (found == message.parameters().end()) return false;
  if (!found->second.has_bool_param()) {
    return base::Status::InvalidArgument(
        "invalid value type for 'unload_dependents' parameter, expected bool_param.");
  }
  return found->second.bool_param();
}

}  // namespace nereid::codec::proto
