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

/// The maximum size of a message, 2147483647 bytes: gRPC's own limit.
inline constexpr uint64_t kMaxMessageSize = 0x7fffffff;

/// One encoded message as pieces that are written one after the other. Large tensors are views of
/// the response's memory; everything else is in `head`. Movable; the pieces stay valid.
struct EncodedMessage {
  /// In order. The first one begins with the requested headroom, which is not initialized.
  std::vector<std::string_view> pieces;
  /// Bytes of the message, without the headroom.
  size_t size = 0;
  std::unique_ptr<char[]> head;
  std::unique_ptr<request::InferenceResponse> response;
};

struct EncodeOptions {
  /// Bytes to leave free before the message, for the caller's framing.
  size_t headroom = 0;
  /// Whether to wrap the response in a ModelStreamInferResponse.
  bool stream = false;
  /// The value of the response parameter triton_final_response; none: no such parameter.
  std::optional<bool> final_response = std::nullopt;
};

/// Encodes a response without an error as ModelInferResponse or ModelStreamInferResponse. The
/// result owns the response. Returns INVALID_ARGUMENT if the message exceeds kMaxMessageSize.
base::Result<EncodedMessage> EncodeInferResponse(
    std::unique_ptr<request::InferenceResponse> response, const EncodeOptions& options);

/// A ModelStreamInferResponse without tensors: an error, or the end of a request's responses.
struct StreamNotice {
  std::string_view error_message = {};  // empty: no error
  std::string_view id = {};
  std::string_view model_name = {};
  std::string_view model_version = {};
  std::optional<bool> final_response = std::nullopt;
};
/// Encodes a notice. Cannot fail: the middle of a long error text is left out, and so are names
/// that do not fit.
EncodedMessage EncodeStreamNotice(const StreamNotice& notice, size_t headroom);

}  // namespace nereid::codec::proto
