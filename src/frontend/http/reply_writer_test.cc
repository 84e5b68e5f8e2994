// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/reply_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "frontend/net/testing/memory_stream.h"

namespace nereid::frontend::http {
namespace {

using Outcome = ReplyWriter::Outcome;

/// A writer in front of a client whose stream is in memory.
class ReplyWriterTest : public ::testing::Test {
 protected:
  static ReplyStream::Ready Pieces(std::vector<std::string> texts, bool ended) {
    ReplyStream::Ready ready;
    for (std::string& text : texts) ready.pieces.push_back({std::move(text), {}});
    ready.ended = ended;
    return ready;
  }

  net::testing::MemoryStream client_;
  Reply reply_;
  ReplyWriter writer_;
};

TEST_F(ReplyWriterTest, WritesHeadTextAndTail) {
  reply_.content_type = "text/plain";
  reply_.extra_fields = "X: y\r\n";
  reply_.text << "abc";
  reply_.tail.push_back({"defg", 4});
  writer_.Begin(reply_, {});
  EXPECT_FALSE(writer_.IsIdle());
  EXPECT_EQ(writer_.Write(client_), Outcome::kDone);
  EXPECT_TRUE(writer_.IsIdle());
  EXPECT_EQ(
      client_.output,
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX: y\r\nContent-Length: 7\r\n\r\nabcdefg");
}

TEST_F(ReplyWriterTest, AContinueThatDoesNotFitGoesOutBeforeTheReply) {
  client_.room = 10;
  writer_.SendContinue(client_);
  EXPECT_EQ(client_.output, "HTTP/1.1 1");
  reply_.text << "abc";
  writer_.Begin(reply_, {});
  client_.room = SIZE_MAX;
  EXPECT_EQ(writer_.Write(client_), Outcome::kDone);
  EXPECT_EQ(client_.output,
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
}

TEST_F(ReplyWriterTest, AReplyToHeadHasNoBodyButItsLength) {
  reply_.text << "abc";
  writer_.Begin(reply_, {.head_only = true, .close = true});
  EXPECT_EQ(writer_.Write(client_), Outcome::kDone);
  EXPECT_EQ(client_.output, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n");
}

TEST_F(ReplyWriterTest, ManyEmptyPiecesDoNotStopTheWriting) {
  for (int i = 0; i < 1000; ++i) reply_.tail.push_back({"", 0});
  reply_.tail.push_back({"end", 3});
  writer_.Begin(reply_, {});
  EXPECT_EQ(writer_.Write(client_), Outcome::kDone);
  EXPECT_EQ(client_.output, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend");
}

TEST_F(ReplyWriterTest, PausesWhereTheClientDoesNotRead) {
  const std::string large(size_t{64} << 20, 'x');
  reply_.tail.push_back({large.data(), large.size()});
  writer_.Begin(reply_, {});
  client_.max_write = 100'000;
  client_.room = 1'000'000;
  EXPECT_EQ(writer_.Write(client_), Outcome::kPaused);
  EXPECT_EQ(client_.output.size(), 1'000'000u);
  client_.room = SIZE_MAX;
  // A turn writes 2 MiB at most, also if the client takes more.
  int turns = 1;
  while (writer_.Write(client_) == Outcome::kPaused) ASSERT_LT(++turns, 100);
  EXPECT_GE(turns, 31);
  EXPECT_EQ(client_.output.substr(0, 15), "HTTP/1.1 200 OK");
  EXPECT_EQ(client_.output.substr(client_.output.find("\r\n\r\n") + 4), large);
}

TEST_F(ReplyWriterTest, WritesPiecesAsChunks) {
  writer_.BeginStream(reply_, {});
  writer_.AddPieces(Pieces({"ab", "cdefghijklmnopq"}, false));
  EXPECT_EQ(writer_.Write(client_), Outcome::kDone);
  EXPECT_FALSE(writer_.stream_ended());
  writer_.AddPieces(Pieces({"r"}, true));
  EXPECT_TRUE(writer_.stream_ended());
  EXPECT_EQ(writer_.Write(client_), Outcome::kDone);
  EXPECT_EQ(client_.output,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            "11\r\nabcdefghijklmnopq\r\n1\r\nr\r\n0\r\n\r\n");
}

TEST_F(ReplyWriterTest, AStreamWithoutPiecesIsAnEmptyBody) {
  writer_.BeginStream(reply_, {.close = true});
  writer_.AddPieces(Pieces({}, true));
  EXPECT_EQ(writer_.Write(client_), Outcome::kDone);
  EXPECT_EQ(client_.output,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n");
}

TEST_F(ReplyWriterTest, AnOldClientGetsNoChunks) {
  writer_.BeginStream(reply_, {.is_http_1_0 = true, .close = true});
  writer_.AddPieces(Pieces({"ab", "c"}, true));
  EXPECT_EQ(writer_.Write(client_), Outcome::kDone);
  EXPECT_EQ(client_.output, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc");
}

TEST_F(ReplyWriterTest, ALostClientIsNoticed) {
  client_.is_lost = true;
  reply_.text << "abc";
  writer_.Begin(reply_, {});
  EXPECT_EQ(writer_.Write(client_), Outcome::kLost);
}

}  // namespace
}  // namespace nereid::frontend::http
