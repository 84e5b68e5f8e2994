// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "api/access_record.h"
#include "frontend/grpc/server_context.h"
#include "frontend/http2/stream.h"

namespace nereid::frontend::grpc {

/// Begins the access log's record of a call, or of a request of a stream. Returns null if the
/// access log is off. `path` is the RPC's.
std::unique_ptr<api::AccessRecord> BeginAccessRecord(const ServerContext& context,
                                                     http2::StreamHost& host, std::string_view path,
                                                     uint64_t start_ns);

}  // namespace nereid::frontend::grpc
