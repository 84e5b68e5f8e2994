// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/reply_writer.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

namespace nereid::frontend::http {
namespace {

/// How many buffers one system call writes.
constexpr size_t kMaxPieces = 64;
/// How many bytes one connection may write before the other connections of its loop have a turn.
constexpr size_t kMaxWrittenPerTurn = size_t{2} << 20;

void AppendNumber(uint64_t value, int base, std::string* text) {
  char number[24];
  const char* const end = std::to_chars(number, number + sizeof(number), value, base).ptr;
  text->append(number, static_cast<size_t>(end - number));
}

}  // namespace

void ReplyWriter::SendContinue(net::ByteStream& client) {
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  unwritten_.push_back({kContinue.data(), kContinue.size()});
  (void)Write(client);  // a loss is found again by reading, and by the reply
}

void ReplyWriter::Begin(const Reply& reply, const Framing& framing) {
  AppendStatusAndFields(reply, framing);
  head_.append("Content-Length: ");
  AppendNumber(reply.body_size(), 10, &head_);
  head_.append(framing.close ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n");
  unwritten_.push_back({head_.data(), head_.size()});
  if (framing.head_only) return;
  if (reply.text.size() != 0) unwritten_.push_back({reply.text.data(), reply.text.size()});
  unwritten_.insert(unwritten_.end(), reply.tail.begin(), reply.tail.end());
}

void ReplyWriter::BeginStream(const Reply& reply, const Framing& framing) {
  is_chunked_ = !framing.is_http_1_0;
  AppendStatusAndFields(reply, framing);
  if (is_chunked_) head_.append("Transfer-Encoding: chunked\r\n");
  head_.append(framing.close ? "Connection: close\r\n\r\n" : "\r\n");
}

void ReplyWriter::AppendStatusAndFields(const Reply& reply, const Framing& framing) {
  head_.append("HTTP/1.1 ");
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
  pieces_ = std::move(ready.pieces);
  stream_ended_ = ready.ended;
  size_t size = 0;
  for (const ReplyStream::Piece& piece : pieces_) size += piece.text.size();
  if (is_chunked_ && size != 0) {
    AppendNumber(size, 16, &head_);
    head_.append("\r\n");
  }
  if (!head_.empty()) unwritten_.push_back({head_.data(), head_.size()});
  for (const ReplyStream::Piece& piece : pieces_) {
    unwritten_.push_back({piece.text.data(), piece.text.size()});
  }
  if (!is_chunked_) return;
  static constexpr std::string_view kEndOfChunkAndBody = "\r\n0\r\n\r\n";
  const size_t from = size == 0 ? 2 : 0;
  const size_t to = ready.ended ? kEndOfChunkAndBody.size() : 2;
  if (to > from) unwritten_.push_back({kEndOfChunkAndBody.data() + from, to - from});
}

ReplyWriter::Outcome ReplyWriter::Write(net::ByteStream& client) {
  size_t room = kMaxWrittenPerTurn;
  while (!IsIdle()) {
    // The stream is still writable: the loop reports that after the other connections' turns.
    if (room == 0) return Outcome::kPaused;
    iovec pieces[kMaxPieces];
    size_t count = 0;
    for (size_t size = 0; count < kMaxPieces && size < room; ++count) {
      if (first_unwritten_ + count == unwritten_.size()) break;
      const tensor::ByteSpan& piece = unwritten_[first_unwritten_ + count];
      pieces[count] = {const_cast<char*>(piece.data), std::min(piece.size, room - size)};
      size += piece.size;
    }
    const net::ByteStream::Outcome sent = client.Write({pieces, count});
    if (sent.state == net::ByteStream::State::kLost) return Outcome::kLost;
    if (sent.state == net::ByteStream::State::kBlocked) return Outcome::kPaused;
    room -= sent.size;
    Discard(sent.size);
  }
  Drop();
  return Outcome::kDone;
}

// Also discards the pieces of no bytes that follow: the system calls would write nothing of them,
// for ever.
void ReplyWriter::Discard(size_t written) {
  while (!IsIdle() && written >= unwritten_[first_unwritten_].size) {
    written -= unwritten_[first_unwritten_++].size;
  }
  if (written == 0) return;
  unwritten_[first_unwritten_].data += written;
  unwritten_[first_unwritten_].size -= written;
}

void ReplyWriter::Drop() {
  head_.clear();
  pieces_.clear();
  unwritten_.clear();
  first_unwritten_ = 0;
}

}  // namespace nereid::frontend::http
