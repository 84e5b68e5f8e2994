// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "request/inference_response.h"

namespace nereid::codec::proto {

/// No message may be larger (2147483647 bytes): gRPC's own limit.
inline constexpr uint64_t kMaxMessageSize = 0x7fffffff;

/// One encoded message as pieces to be written one after the other. Large tensors are views of the
/// response's own memory, everything else stands in `head`. Movable; the pieces stay valid.
struct EncodedMessage {
  /// In order. The first begins with the headroom that was asked for, not yet written.
  std::vector<std::string_view> pieces;
  /// Bytes of the message, without the headroom.
  size_t size = 0;
  std::unique_ptr<char[]> head;
  std::unique_ptr<request::InferenceResponse> response;
};

struct EncodeOptions {
  /// Bytes to leave free before the message, for the caller's framing.
  size_t headroom = 0;
  /// Wraps the response in a ModelStreamInferResponse.
  bool stream = false;
  /// Sets the response parameter triton_final_response.
  std::optional<bool> final_response = std::nullopt;
};

/// Encodes a response without error as ModelInferResponse (or ModelStreamInferResponse). The
/// result owns the response. INVALID_ARGUMENT when it is larger than a message may be.
base::Result<EncodedMessage> EncodeInferResponse(
    std::unique_ptr<request::InferenceResponse> response, const EncodeOptions& options);

/// A ModelStreamInferResponse without tensors: a failure, or the end of a request's responses.
struct StreamNotice {
  std::string_view error_message = {};  // empty = no failure
  std::string_view id = {};
  std::string_view model_name = {};
  std::string_view model_version = {};
  std::optional<bool> final_response = std::nullopt;
};
EncodedMessage EncodeStreamNotice(const StreamNotice& notice, size_t headroom);

}  // namespace nereid::codec::proto
