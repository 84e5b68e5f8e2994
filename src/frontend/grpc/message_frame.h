// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "codec/proto/infer_response.h"

namespace nereid::frontend::grpc {

/// The bytes before each message on the wire: a compression flag (0 or 1), then the length of the
/// message as four bytes, big-endian.
inline constexpr size_t kMessagePrefixSize = 5;

/// Returns a message to send that contains a copy of `body`, with its prefix.
codec::proto::EncodedMessage FrameMessage(std::string_view body);

/// Writes the prefix into the headroom of `message`, which is kMessagePrefixSize bytes.
void WritePrefix(codec::proto::EncodedMessage* message, bool compressed);

}  // namespace nereid::frontend::grpc
