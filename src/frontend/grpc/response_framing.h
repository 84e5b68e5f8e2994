// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/blocking_workers.h"
#include "codec/proto/infer_response.h"
#include "frontend/grpc/message_encoding.h"
#include "frontend/grpc/request_head.h"
#include "frontend/grpc/server_context.h"

namespace nereid::frontend::grpc {

/// How the response messages of one call get their prefix, and whether they are compressed.
/// Immutable: any thread may use it.
class ResponseFraming {
 public:
  /// Nothing is compressed.
  ResponseFraming() = default;
  /// Compresses as the server's options say, with the best encoding that the client accepts.
  ResponseFraming(const ServerContext& context, const RequestHead& head);

  /// Returns the encoding for the response header grpc-encoding.
  Encoding encoding() const { return encoding_; }

  /// Completes `message`, whose headroom must be kMessagePrefixSize: compresses it and writes its
  /// prefix. A message stays as it is if compression does not make it smaller, or would hold up the
  /// event loop on whose thread this is called.
  void Complete(codec::proto::EncodedMessage* message) const;

  /// Returns the threads on which Complete() should be called, because it would hold up the calling
  /// thread's event loop; null if the calling thread may do it.
  base::BlockingWorkers* WorkersFor(const codec::proto::EncodedMessage& message) const;

 private:
  Encoding encoding_ = Encoding::kIdentity;
  int level_ = 0;                                   // zlib's
  std::shared_ptr<base::BlockingWorkers> workers_;  // null if nothing is compressed
};

}  // namespace nereid::frontend::grpc
