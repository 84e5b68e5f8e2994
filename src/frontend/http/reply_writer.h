// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "frontend/http/reply.h"
#include "frontend/http/reply_stream.h"
#include "frontend/net/out_queue.h"

namespace nereid::frontend::http {

/// Formats replies for a client's queue: the head of a whole one with a Content-Length, or one that
/// is streamed in pieces, each as a chunk (RFC 9112, section 7.1). Not thread-safe.
class ReplyWriter {
 public:
  /// How a reply depends on its request and its connection.
  struct Framing {
    bool is_http_1_0 = false;  // the client does not understand chunks
    bool close = false;        // the connection is closed after the reply
    // Whole lines: those for web pages, and those of every reply of the server.
    std::string_view fields = {};
    std::string_view server_fields = {};
  };

  explicit ReplyWriter(net::OutQueue& queue) : queue_(queue) {}

  /// Adds "100 Continue".
  void AddContinue();

  /// Adds the head of a reply, which is followed by its body.
  void Begin(const Reply& reply, const Framing& framing);

  /// Begins a streamed reply. The body of a client of HTTP/1.0 ends with the connection.
  void BeginStream(const Reply& reply, const Framing& framing);
  /// Adds pieces as one chunk; and, after the last ones, the end of the body.
  void AddPieces(ReplyStream::Ready ready);
  /// Returns whether AddPieces has added the end of the body.
  bool stream_ended() const { return stream_ended_; }

 private:
  void AppendStatusAndFields(const Reply& reply, const Framing& framing);
  void AddHead();

  net::OutQueue& queue_;
  std::string head_;  // the head, and the size line of a chunk
  bool is_chunked_ = false;
  bool stream_ended_ = false;
};

}  // namespace nereid::frontend::http
