// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/reply_writer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/http/reply_body.h"
#include "frontend/net/testing/memory_stream.h"

namespace nereid::frontend::http {
namespace {

/// A writer in front of a client whose stream is in memory.
class ReplyWriterTest : public ::testing::Test {
 protected:
  static ReplyStream::Ready Pieces(std::vector<std::string> texts, bool ended) {
    ReplyStream::Ready ready;
    for (std::string& text : texts) ready.pieces.push_back({std::move(text), {}});
    ready.ended = ended;
    return ready;
  }

  /// Returns what the client gets.
  std::string Written() {
    EXPECT_EQ(queue_.Write(client_), net::OutQueue::Outcome::kDone);
    return std::exchange(client_.output, {});
  }

  net::testing::MemoryStream client_;
  net::OutQueue queue_;
  Reply reply_;
  ReplyWriter writer_{queue_};
};

TEST_F(ReplyWriterTest, WritesHeadTextAndTail) {
  reply_.content_type = "text/plain";
  reply_.extra_fields = "X: y\r\n";
  reply_.text << "abc";
  reply_.tail.push_back({"defg", 4});
  reply_.tail.push_back({"", 0});
  writer_.Begin(reply_, {});
  AddBody(nullptr, &reply_, &queue_);
  EXPECT_EQ(reply_.body_size(), 0u);
  EXPECT_EQ(
      Written(),
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX: y\r\nContent-Length: 7\r\n\r\nabcdefg");
}

TEST_F(ReplyWriterTest, ALargeBodyIsNotCopiedAndKeptUntilItIsWritten) {
  reply_.text << std::string(100'000, 'x');
  const char* const text = reply_.text.data();
  std::string tail(3'000, 'y');
  reply_.tail.push_back({tail.data(), tail.size()});
  writer_.Begin(reply_, {});
  AddBody(nullptr, &reply_, &queue_);
  EXPECT_NE(reply_.text.data(), text);
  tail[0] = 'z';
  const std::string written = Written();
  EXPECT_EQ(written.substr(written.find("\r\n\r\n") + 4), std::string(100'000, 'x') + tail);
}

TEST_F(ReplyWriterTest, NotModifiedHasNoLength) {
  reply_.status = 304;
  writer_.Begin(reply_, {});
  EXPECT_EQ(Written(), "HTTP/1.1 304 Not Modified\r\n\r\n");
}

TEST_F(ReplyWriterTest, AContinueGoesOutBeforeTheReply) {
  writer_.AddContinue();
  writer_.Begin(reply_, {.close = true});
  EXPECT_EQ(Written(),
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
            "Connection: close\r\n\r\n");
}

TEST_F(ReplyWriterTest, WritesPiecesAsChunks) {
  writer_.BeginStream(reply_, {});
  writer_.AddPieces(Pieces({"ab", "cdefghijklmnopq"}, false));
  std::string written = Written();
  EXPECT_FALSE(writer_.stream_ended());
  writer_.AddPieces(Pieces({"r"}, true));
  EXPECT_TRUE(writer_.stream_ended());
  written += Written();
  EXPECT_EQ(written,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            "11\r\nabcdefghijklmnopq\r\n1\r\nr\r\n0\r\n\r\n");
}

TEST_F(ReplyWriterTest, APieceKeepsItsShareUntilItIsWritten) {
  const auto budget = std::make_shared<base::ByteBudget>(100, std::chrono::milliseconds(0));
  ReplyStream::Ready ready = Pieces({"a piece"}, false);
  ready.pieces[0].waiting = budget->Force(80);
  writer_.BeginStream(reply_, {});
  writer_.AddPieces(std::move(ready));
  EXPECT_TRUE(budget->IsHalfSpent());
  Written();
  EXPECT_FALSE(budget->IsHalfSpent());
}

TEST_F(ReplyWriterTest, AStreamWithoutPiecesIsAnEmptyBody) {
  writer_.BeginStream(reply_, {.close = true});
  writer_.AddPieces(Pieces({}, true));
  EXPECT_EQ(Written(),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n");
}

TEST_F(ReplyWriterTest, AnOldClientGetsNoChunks) {
  writer_.BeginStream(reply_, {.is_http_1_0 = true, .close = true});
  writer_.AddPieces(Pieces({"ab", "c"}, true));
  EXPECT_EQ(Written(), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc");
}

}  // namespace
}  // namespace nereid::frontend::http
