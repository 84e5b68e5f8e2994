// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/server_metadata.h"

#include <string>

#include "grpc_service.pb.h"

namespace nereid::codec::proto {

void EncodeServerMetadata(const api::ServerMetadata& metadata,
                          inference::ServerMetadataResponse* message) {
  message->set_name(metadata.name);
  message->set_version(metadata.version);
  for (const std::string& extension : metadata.extensions) message->add_extensions(extension);
}

}  // namespace nereid::codec::proto
