// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/metadata.h"

namespace inference {
class ServerMetadataResponse;
}  // namespace inference

namespace nereid::codec::proto {

/// Fills the message of the server's metadata.
void EncodeServerMetadata(const api::ServerMetadata& metadata,
                          inference::ServerMetadataResponse* message);

}  // namespace nereid::codec::proto
