// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/metadata.h"

namespace nereid::server {

/// Returns what a server with this id reports of itself: the version of the Triton release whose
/// behavior it has, since clients may test the number, and the protocol extensions.
api::ServerMetadata MakeServerMetadata(const std::string& server_id);

}  // namespace nereid::server
