// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/repository_index.h"

#include "api/unsupported.h"
#include "grpc_service.pb.h"

namespace nereid::codec::proto {

base::Result<bool> DecodeRepositoryIndexRequest(const inference::RepositoryIndexRequest& message) {
  NEREID_RETURN_IF_ERROR(api::CheckRepositoryName(message.repository_name()));
  return message.ready();
}

void EncodeRepositoryIndex(const std::vector<api::RepositoryIndexEntry>& entries,
                           inference::RepositoryIndexResponse* message) {
  for (const api::RepositoryIndexEntry& entry : entries) {
    auto* const model = message->add_models();
    model->set_name(entry.name);
    model->set_version(entry.version);
    model->set_state(entry.state);
    model->set_reason(entry.reason);
  }
}

}  // namespace nereid::codec::proto
