// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/message_frame.h"

#include <cstring>

namespace nereid::frontend::grpc {

using codec::proto::EncodedMessage;

EncodedMessage FrameMessage(std::string_view body) {
  EncodedMessage message;
  message.size = body.size();
  message.head.reset(new char[kMessagePrefixSize + body.size()]);
  if (!body.empty()) std::memcpy(message.head.get() + kMessagePrefixSize, body.data(), body.size());
  message.pieces.emplace_back(message.head.get(), kMessagePrefixSize + body.size());
  WritePrefix(&message, /*compressed=*/false);
  return message;
}

void WritePrefix(EncodedMessage* message, bool compressed) {
  char* const prefix = message->head.get();
  prefix[0] = compressed ? 1 : 0;
  for (int i = 0; i < 4; ++i) prefix[1 + i] = static_cast<char>(message->size >> (24 - 8 * i));
}

}  // namespace nereid::frontend::grpc
