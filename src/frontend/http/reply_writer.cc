// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/reply_writer.h"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include "frontend/http/reply_body.h"

namespace nereid::frontend::http {
namespace {

void AppendNumber(uint64_t value, int base, std::string* text) {
  char number[24];
  const char* const end = std::to_chars(number, number + sizeof(number), value, base).ptr;
  text->append(number, static_cast<size_t>(end - number));
}

}  // namespace

void ReplyWriter::AddContinue() { queue_.Copy("HTTP/1.1 100 Continue\r\n\r\n"); }

void ReplyWriter::Begin(const Reply& reply, const Framing& framing) {
  AppendStatusAndFields(reply, framing);
  if (HasLength(reply)) {
    head_.append("Content-Length: ");
    AppendNumber(reply.body_size(), 10, &head_);
    head_.append("\r\n");
  }
  head_.append(framing.close ? "Connection: close\r\n\r\n" : "\r\n");
  AddHead();
}

void ReplyWriter::BeginStream(const Reply& reply, const Framing& framing) {
  is_chunked_ = !framing.is_http_1_0;
  AppendStatusAndFields(reply, framing);
  if (is_chunked_) head_.append("Transfer-Encoding: chunked\r\n");
  head_.append(framing.close ? "Connection: close\r\n\r\n" : "\r\n");
}

void ReplyWriter::AppendStatusAndFields(const Reply& reply, const Framing& framing) {
  head_.assign("HTTP/1.1 ");
  AppendNumber(static_cast<uint64_t>(reply.status), 10, &head_);
  head_.append(" ").append(ReasonPhrase(reply.status)).append("\r\n");
  if (!reply.content_type.empty()) {
    head_.append("Content-Type: ").append(reply.content_type).append("\r\n");
  }
  head_.append(reply.extra_fields).append(framing.fields).append(framing.server_fields);
}

// A chunk is its size in hexadecimal, CRLF, the bytes, CRLF; the last one has the size 0 and no
// bytes. A chunk of size 0 must not be written for pieces without bytes, because it would end the
// body.
void ReplyWriter::AddPieces(ReplyStream::Ready ready) {
  stream_ended_ = ready.ended;
  size_t size = 0;
  for (const ReplyStream::Piece& piece : ready.pieces) size += piece.text.size();
  if (is_chunked_ && size != 0) {
    AppendNumber(size, 16, &head_);
    head_.append("\r\n");
  }
  AddHead();
  if (size != 0) http::AddPieces(std::move(ready.pieces), &queue_);
  if (!is_chunked_) return;
  static constexpr std::string_view kEndOfChunkAndBody = "\r\n0\r\n\r\n";
  const size_t from = size == 0 ? 2 : 0;
  const size_t to = ready.ended ? kEndOfChunkAndBody.size() : 2;
  if (to > from) queue_.Copy(kEndOfChunkAndBody.substr(from, to - from));
}

void ReplyWriter::AddHead() {
  queue_.Copy(head_);
  head_.clear();
}

}  // namespace nereid::frontend::http
