// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/begin_access_record.h"

namespace nereid::frontend::grpc {

std::unique_ptr<api::AccessRecord> BeginAccessRecord(const ServerContext& context,
                                                     http2::StreamHost& host, std::string_view path,
                                                     uint64_t start_ns) {
  if (!context.options.access_log) return nullptr;
  return std::make_unique<api::AccessRecord>(api::AccessRecord::Request{
      .protocol = "grpc", .path = path, .peer = host.peer().address, .start_ns = start_ns});
}

}  // namespace nereid::frontend::grpc
