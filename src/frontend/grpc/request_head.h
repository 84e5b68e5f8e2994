// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/grpc/message_encoding.h"

namespace nereid::frontend::grpc {

/// What a call's headers say. Reused for one call after the other.
struct RequestHead {
  std::string path;
  bool is_post = false;
  bool is_grpc = false;                // content-type
  std::optional<uint64_t> timeout_ns;  // grpc-timeout
  bool bad_timeout = false;
  std::optional<Encoding> encoding;  // grpc-encoding; nothing when unknown
  std::string unknown_encoding;
  Encoding accepted = Encoding::kIdentity;  // the best of grpc-accept-encoding
  bool stream_errors_end_call = false;      // triton_grpc_error: true
  size_t size = 0;                          // as HTTP/2 counts: 32 bytes more for each header

  void Clear();
  /// Takes one header. Those that mean nothing here are counted only, and so is everything once all
  /// together is larger than `limit`: a client can repeat a large header with one byte.
  void Add(std::string_view name, std::string_view value, size_t limit);
};

}  // namespace nereid::frontend::grpc
