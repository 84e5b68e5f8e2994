// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/reply_body.h"

#include <exception>
#include <string_view>
#include <utility>

#include "frontend/http/large_work.h"

namespace nereid::frontend::http {
namespace {

/// The body of a reply that is being sent.
struct SentBody {
  SentBody(std::shared_ptr<LoopServices> its_loop, Reply* reply)
      : loop(std::move(its_loop)),
        text(std::move(reply->text)),
        tail(std::move(reply->tail)),
        owner(std::move(reply->owner)) {}
  SentBody(const SentBody&) = delete;
  SentBody& operator=(const SentBody&) = delete;
  ~SentBody() {
    size_t size = 0;
    for (const tensor::ByteSpan& piece : tail) size += piece.size;
    if (size <= kMaxFreedOnLoop || owner == nullptr) return;
    try {
      loop->handler().FreeElsewhere(std::move(owner));
    } catch (const std::exception&) {
      // There is no memory for handing it over: it is freed here.
    }
  }

  const std::shared_ptr<LoopServices> loop;
  const codec::json::TextBuffer text;
  const std::vector<tensor::ByteSpan> tail;
  std::unique_ptr<request::InferenceResponse> owner;
};

}  // namespace

void AddBody(const std::shared_ptr<LoopServices>& loop, Reply* reply, net::OutQueue* queue) {
  if (reply->body_size() <= net::OutQueue::kMaxCopied) {
    queue->Copy(reply->text.view());
    for (const tensor::ByteSpan& piece : reply->tail) queue->Copy({piece.data, piece.size});
    reply->text.Clear();
    reply->tail.clear();
    reply->owner.reset();
    return;
  }
  const auto sent = std::make_shared<const SentBody>(loop, reply);
  queue->View(sent->text.view(), sent);
  for (const tensor::ByteSpan& piece : sent->tail) queue->View({piece.data, piece.size}, sent);
}

void AddPieces(std::vector<ReplyStream::Piece> pieces, net::OutQueue* queue) {
  const auto sent = std::make_shared<const std::vector<ReplyStream::Piece>>(std::move(pieces));
  for (const ReplyStream::Piece& piece : *sent) queue->View(piece.text, sent);
}

}  // namespace nereid::frontend::http
