// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/http/reply.h"
#include "frontend/http/reply_stream.h"
#include "frontend/net/byte_stream.h"
#include "tensor/bytes.h"

namespace nereid::frontend::http {

/// Writes replies to a client: a whole one with a Content-Length, or one that is streamed in
/// pieces, each as a chunk (RFC 9112, section 7.1). The bytes of bodies are not copied. Not
/// thread-safe.
class ReplyWriter {
 public:
  /// How a reply depends on its request and its connection.
  struct Framing {
    bool head_only = false;    // the reply to a HEAD request: the head of the GET, and no body
    bool is_http_1_0 = false;  // the client does not understand chunks
    bool close = false;        // the connection is closed after the reply
    // Whole lines: those for web pages, and those of every reply of the server.
    std::string_view fields = {};
    std::string_view server_fields = {};
  };

  /// Writes "100 Continue" into the client's buffer, which is usually empty. What does not fit goes
  /// out before the reply; the client waits for it in vain, and sends its body after a while (RFC
  /// 9110, section 10.1.1).
  void SendContinue(net::ByteStream& client);

  /// Begins a reply, which must live until it is written. All replies before it must be written.
  void Begin(const Reply& reply, const Framing& framing);

  /// Begins a streamed reply, likewise. The body of a client of HTTP/1.0 ends with the connection.
  void BeginStream(const Reply& reply, const Framing& framing);
  /// Adds pieces as one chunk, when all before them is written; and, after the last ones, the end
  /// of the body.
  void AddPieces(ReplyStream::Ready ready);
  /// Returns whether AddPieces has added the end of the body.
  bool stream_ended() const { return stream_ended_; }

  enum class Outcome {
    kDone,    // all is written
    kPaused,  // the rest has to wait until the client's stream is writable
    kLost,    // the connection is broken
  };
  Outcome Write(net::ByteStream& client);
  /// Returns whether all is written.
  bool IsIdle() const { return first_unwritten_ == unwritten_.size(); }
  /// Drops what is not written.
  void Drop();

 private:
  void AppendStatusAndFields(const Reply& reply, const Framing& framing);
  void Discard(size_t written);

  std::string head_;                         // the head, and the size line of a chunk
  std::vector<ReplyStream::Piece> pieces_;   // of a stream
  std::vector<tensor::ByteSpan> unwritten_;  // views of head_, pieces_ and the reply, in order
  size_t first_unwritten_ = 0;
  bool is_chunked_ = false;
  bool stream_ended_ = false;
};

}  // namespace nereid::frontend::http
