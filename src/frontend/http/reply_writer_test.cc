// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/reply_writer.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nereid::frontend::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Outcome = ReplyWriter::Outcome;

/// A writer in front of a socket whose other end the test reads.
class ReplyWriterTest : public ::testing::Test {
 protected:
  ReplyWriterTest() {
    asio::basic_socket_acceptor<tcp, asio::io_context::executor_type> acceptor(
        context_.get_executor(), tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    client_.connect(acceptor.local_endpoint());
    net::Socket accepted(context_.get_executor());
    acceptor.accept(accepted);
    socket_.emplace(std::move(accepted));
    socket_->Prepare();
  }

  std::string Receive(size_t size) {
    std::string text(size, '\0');
    asio::read(client_, asio::buffer(text));
    return text;
  }
  /// What the client gets when the server closes the connection.
  std::string ReceiveRest() {
    socket_->FinishSending();
    std::string text;
    boost::system::error_code end;
    asio::read(client_, asio::dynamic_buffer(text), end);
    return text;
  }
  static ReplyStream::Ready Pieces(std::vector<std::string> texts, bool ended) {
    ReplyStream::Ready ready;
    for (std::string& text : texts) ready.pieces.push_back({std::move(text), {}});
    ready.ended = ended;
    return ready;
  }

  asio::io_context context_;
  tcp::socket client_{context_};
  std::optional<ClientSocket> socket_;
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
  EXPECT_EQ(writer_.Write(*socket_), Outcome::kDone);
  EXPECT_TRUE(writer_.IsIdle());
  EXPECT_EQ(
      ReceiveRest(),
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX: y\r\nContent-Length: 7\r\n\r\nabcdefg");
}

TEST_F(ReplyWriterTest, AReplyToHeadHasNoBodyButItsLength) {
  reply_.text << "abc";
  writer_.Begin(reply_, {.head_only = true, .close = true});
  EXPECT_EQ(writer_.Write(*socket_), Outcome::kDone);
  EXPECT_EQ(ReceiveRest(), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n");
}

TEST_F(ReplyWriterTest, ManyEmptyPiecesDoNotStopTheWriting) {
  for (int i = 0; i < 1000; ++i) reply_.tail.push_back({"", 0});
  reply_.tail.push_back({"end", 3});
  writer_.Begin(reply_, {});
  EXPECT_EQ(writer_.Write(*socket_), Outcome::kDone);
  EXPECT_EQ(ReceiveRest(), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend");
}

TEST_F(ReplyWriterTest, PausesWhereTheClientDoesNotRead) {
  const std::string large(size_t{64} << 20, 'x');
  reply_.tail.push_back({large.data(), large.size()});
  writer_.Begin(reply_, {});
  // A turn writes 2 MiB at most, also if the socket takes more.
  int turns = 0;
  std::string got;
  while (writer_.Write(*socket_) == Outcome::kPaused) {
    ASSERT_LT(++turns, 1'000'000);
    if (client_.available() > 0) got += Receive(client_.available());
  }
  EXPECT_GE(turns, 31);
  got += ReceiveRest();
  EXPECT_EQ(got.substr(0, 15), "HTTP/1.1 200 OK");
  EXPECT_EQ(got.substr(got.find("\r\n\r\n") + 4), large);
}

TEST_F(ReplyWriterTest, WritesPiecesAsChunks) {
  writer_.BeginStream(reply_, {});
  writer_.AddPieces(Pieces({"ab", "cdefghijklmnopq"}, false));
  EXPECT_EQ(writer_.Write(*socket_), Outcome::kDone);
  EXPECT_FALSE(writer_.stream_ended());
  writer_.AddPieces(Pieces({"r"}, true));
  EXPECT_TRUE(writer_.stream_ended());
  EXPECT_EQ(writer_.Write(*socket_), Outcome::kDone);
  EXPECT_EQ(ReceiveRest(),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            "11\r\nabcdefghijklmnopq\r\n1\r\nr\r\n0\r\n\r\n");
}

TEST_F(ReplyWriterTest, AStreamWithoutPiecesIsAnEmptyBody) {
  writer_.BeginStream(reply_, {.close = true});
  writer_.AddPieces(Pieces({}, true));
  EXPECT_EQ(writer_.Write(*socket_), Outcome::kDone);
  EXPECT_EQ(ReceiveRest(),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n");
}

TEST_F(ReplyWriterTest, AnOldClientGetsNoChunks) {
  writer_.BeginStream(reply_, {.is_http_1_0 = true, .close = true});
  writer_.AddPieces(Pieces({"ab", "c"}, true));
  EXPECT_EQ(writer_.Write(*socket_), Outcome::kDone);
  EXPECT_EQ(ReceiveRest(), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc");
}

TEST_F(ReplyWriterTest, ALostClientIsNoticed) {
  client_.set_option(asio::socket_base::linger(true, 0));
  client_.close();
  reply_.text << "abc";
  writer_.Begin(reply_, {});
  EXPECT_EQ(writer_.Write(*socket_), Outcome::kLost);
}

}  // namespace
}  // namespace nereid::frontend::http
