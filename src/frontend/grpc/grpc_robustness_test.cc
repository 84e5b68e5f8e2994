// SPDX-License-Identifier: Apache-2.0
// Peers that break the rules: of gRPC, of HTTP/2, of everything.
#include <gtest/gtest.h>
#include <malloc.h>

#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "frontend/grpc/testing/server_fixture.h"

namespace nereid::frontend::grpc {
namespace {

using testing::Frame;
using testing::GrpcServerTest;
using testing::kModelInfer;
using testing::kServerLive;
using testing::RawClient;
using testing::Reply;
using testing::TestClient;
using namespace std::string_literals;

class GrpcRobustnessTest : public GrpcServerTest {
 protected:
  GrpcRobustnessTest() { options_.max_message_size = 1 << 20; }
};

const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr uint32_t kEnhanceYourCalm = 11;

std::string FrameHeader(uint32_t length, uint8_t type, uint8_t flags, uint32_t stream) {
  std::string header;
  for (int shift = 16; shift >= 0; shift -= 8) header.push_back(static_cast<char>(length >> shift));
  header.push_back(static_cast<char>(type));
  header.push_back(static_cast<char>(flags));
  for (int shift = 24; shift >= 0; shift -= 8) header.push_back(static_cast<char>(stream >> shift));
  return header;
}

const std::string kSettings = FrameHeader(0, 4, 0, 0);

TEST_F(GrpcRobustnessTest, MessagesThatBreakTheRules) {
  Start();
  TestClient client(port());
  struct Case {
    std::string name, bytes;
    testing::Headers headers;
    int status;
    std::string message;
  };
  const Case cases[] = {
      {"too large",
       "\0\x00\x10\x00\x01"s,
       {},
       8,
       "Received message larger than max (1048577 vs. 1048576)"},
      {"largest possible",
       "\0\xff\xff\xff\xff"s,
       {},
       8,
       "Received message larger than max (4294967295 vs. 1048576)"},
      {"cut in the prefix", "\0\0"s, {}, 13, "the call ended in the middle of a message"},
      {"cut in the body",
       "\0\0\0\0\x05"
       "abc"s,
       {},
       13,
       "the call ended in the middle of a message"},
      {"no message", "", {}, 13, "the call ended without a request message"},
      {"two messages",
       Frame("") + Frame(""),
       {},
       13,
       "the call carries more than one request message"},
      {"unknown flag", "\2\0\0\0\0"s, {}, 13, "a message's compression flag is 2, expected 0 or 1"},
      {"flag without encoding",
       Frame("x", true),
       {},
       13,
       "a message is marked as compressed, but grpc-encoding names no compression"},
      {"not compressed",
       Frame("plain", true),
       {{"grpc-encoding", "gzip"}},
       13,
       "the message is not what its compression flag says: the compressed data is malformed"},
      {"large metadata", Frame(""), {{"x-large", std::string(17000, 'm')}}, 8, ""},
  };
  for (const Case& test : cases) {
    const int32_t stream = client.Open(kServerLive, test.headers);
    client.Send(stream, test.bytes, true);
    const Reply& reply = client.Finish(stream);
    EXPECT_EQ(reply.status(), test.status) << test.name;
    if (!test.message.empty()) {
      EXPECT_EQ(reply.message(), test.message) << test.name;
    }
  }
  EXPECT_EQ(client.Unary(kServerLive, "").status(), 0);
}

TEST_F(GrpcRobustnessTest, RefusedCallsEndWhileTheClientStillSends) {
  Start();
  TestClient client(port());
  const int32_t stream = client.Open("/no/Method");
  client.Send(stream, std::string(100000, 'x'), false);
  const Reply& reply = client.Finish(stream);
  EXPECT_EQ(reply.status(), 12);
  EXPECT_EQ(reply.error_code, 0u);  // RST_STREAM(NO_ERROR) after the answer
  EXPECT_EQ(client.Unary(kServerLive, "").status(), 0);
}

TEST_F(GrpcRobustnessTest, BytesThatAreNoHttp2CloseTheConnection) {
  Start();
  const std::string cases[] = {
      "GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
      std::string(1000, '\0'),
      std::string(100000, '\xff'),
      kPreface + "garbage that is no frame at all, but long enough for a few headers",
      kPreface + FrameHeader(0, 6, 0, 0),                                 // no SETTINGS first
      kPreface + FrameHeader(0xffffff, 4, 0, 0) + std::string(100, 's'),  // huge SETTINGS
      kPreface + FrameHeader(5, 4, 0, 0) + "12345",                       // not a multiple of six
      kPreface + kSettings + FrameHeader(4, 1, 4, 0) + "abcd",            // HEADERS on stream 0
      kPreface + kSettings + FrameHeader(4, 1, 4, 2) + "abcd",            // an even stream
      kPreface + kSettings + FrameHeader(3, 1, 5, 1) + "\xff\xff\xff",    // no HPACK
      kPreface + kSettings + FrameHeader(4, 0, 0, 9) + "data",            // DATA on an idle stream
      kPreface + kSettings + FrameHeader(8, 8, 0, 0) + "12345678",   // WINDOW_UPDATE of 8 bytes
      kPreface + kSettings + FrameHeader(4, 8, 0, 0) + "\0\0\0\0"s,  // by zero
      kPreface + kSettings + FrameHeader(0x200000, 0, 0, 1),         // a frame above the limit
  };
  for (const std::string& bytes : cases) {
    RawClient client(port());
    client.Send(bytes);
    client.ReadToEnd();  // returns only when the server closes
  }
  ExpectAlive();
}

TEST_F(GrpcRobustnessTest, HalfClosedAndCutConnections) {
  Start();
  const std::string pieces[] = {"",
                                "PRI * HT",
                                kPreface,
                                kPreface + kSettings,
                                kPreface + kSettings.substr(0, 4),
                                kPreface + kSettings + FrameHeader(100, 1, 4, 1) + "cut"};
  for (const std::string& bytes : pieces) {
    RawClient client(port());
    client.Send(bytes);
    client.HalfClose();
    client.ReadToEnd();
    RawClient gone(port());
    gone.Send(bytes);
  }
  ExpectAlive();
}

TEST_F(GrpcRobustnessTest, RandomFramesNeverHurt) {
  Start();
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string bytes = kPreface + kSettings;
    for (int frame = 0; frame < 8; ++frame) {
      const uint32_t length = random() % 40;
      bytes += FrameHeader(length, random() % 11, random() % 256, random() % 6);
      for (uint32_t k = 0; k < length; ++k) bytes.push_back(static_cast<char>(random()));
    }
    RawClient client(port());
    client.Send(bytes);
    client.HalfClose();
    client.ReadToEnd();
  }
  ExpectAlive();
}

TEST_F(GrpcRobustnessTest, PingFloodIsStopped) {
  Start();
  TestClient client(port());
  while (client.connected() && !client.going_away()) {
    for (int i = 0; i < 100; ++i) client.Ping();
    client.Unary(kServerLive, "");  // reads what came; pays for one ping
  }
  client.WaitForClose();
  EXPECT_EQ(client.goaway_error(), kEnhanceYourCalm);
  ExpectAlive();
}

TEST_F(GrpcRobustnessTest, PingFloodIsStoppedDuringAStopToo) {
  service_.handler = service_.HoldHandler();
  Start();
  TestClient client(port());
  client.Send(client.Open(kModelInfer), Frame(EchoRequest("x")), true);
  const auto held = service_.TakeHeld();  // keeps the connection open
  server_->BeginStop();
  client.WaitForGoAway();
  EXPECT_EQ(client.goaway_error(), 0u);
  for (int i = 0; i < 100 && client.connected(); ++i) {
    for (int k = 0; k < 100; ++k) client.Ping();
    client.RoundTrip();
  }
  EXPECT_FALSE(client.connected());
  EXPECT_EQ(client.goaway_error(), kEnhanceYourCalm);
}

TEST_F(GrpcRobustnessTest, RapidResetsAreStopped) {
  options_.max_concurrent_streams = 100;
  service_.handler = [](std::unique_ptr<request::InferenceRequest> request) {
    api::testing::FakeInferenceService::Echo(std::move(request));
  };
  Start();
  TestClient client(port());
  const std::string message = Frame(EchoRequest("x"));
  for (int i = 0; client.connected() && !client.going_away() && i < 20000; ++i) {
    client.Reset(client.Open(kModelInfer));
    if (i % 100 == 99) client.Unary(kServerLive, "");
  }
  client.WaitForClose();
  EXPECT_EQ(client.goaway_error(), kEnhanceYourCalm);
  ExpectAlive();
}

// The header block of a call in HPACK that leaves no table.
std::string PlainHead(const std::string& path) {
  const std::string type = "application/grpc";
  return "\x83\x86\x01\x01x\x04" + std::string(1, static_cast<char>(path.size())) + path +
         "\x0f\x10" + std::string(1, static_cast<char>(type.size())) + type;
}

// The error codes of the GOAWAY frames in `bytes`.
std::vector<uint32_t> GoAways(std::string_view bytes) {
  std::vector<uint32_t> found;
  while (bytes.size() >= 9) {
    const auto byte = [&](size_t i) {
      return static_cast<uint32_t>(static_cast<uint8_t>(bytes[i]));
    };
    const size_t size = byte(0) << 16 | byte(1) << 8 | byte(2);
    if (bytes.size() < 9 + size) break;
    if (bytes[3] == 7 && size >= 8) {
      found.push_back(byte(13) << 24 | byte(14) << 16 | byte(15) << 8 | byte(16));
    }
    bytes.remove_prefix(9 + size);
  }
  return found;
}

TEST_F(GrpcRobustnessTest, ResetsThatTheClientProvokesAreStopped) {
  options_.max_concurrent_streams = 100;
  Start();
  RawClient client(port());
  client.Send(kPreface + kSettings);
  const std::string head = PlainHead(kModelInfer);
  const std::string overflow = "\x7f\xff\xff\xff";
  uint32_t stream = 1;
  // One by one: streams that wait for their reset are refused without one.
  for (int i = 0; i < 100; ++i) {
    std::string bytes;
    for (int j = 0; j < 50; ++j, stream += 2) {
      bytes += FrameHeader(static_cast<uint32_t>(head.size()), 1, 4, stream) + head;
      bytes += FrameHeader(4, 8, 0, stream) + overflow;
    }
    if (!client.Send(bytes)) break;
  }
  const std::vector<uint32_t> goaways = GoAways(client.ReadToEnd());
  if (!goaways.empty()) {  // else the kernel dropped what the client had not read
    EXPECT_EQ(goaways.back(), kEnhanceYourCalm);
  }
  ExpectAlive();
}

TEST_F(GrpcRobustnessTest, AHopelessHeadIsNotReadToItsEnd) {
  options_.max_metadata_size = 4096;
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kServerLive, {{"x-large", std::string(5000, 'm')}});
  EXPECT_EQ(client.Finish(stream).status(), 8);
  const Reply& hopeless =
      client.Finish(client.Open(kServerLive, {{"x-large", std::string(9000, 'm')}}));
  EXPECT_EQ(hopeless.status(), -1);
  EXPECT_EQ(hopeless.error_code, 2u);  // INTERNAL_ERROR
  EXPECT_EQ(client.Unary(kServerLive, "").status(), 0);
}

TEST_F(GrpcRobustnessTest, BlanksAroundMetadataAreRemoved) {
  Start();
  TestClient client(port());
  EXPECT_EQ(client.Unary(kServerLive, "", {{"x-a", " v\t"}, {"x-b", "   "}, {"x-c", ""}}).status(),
            0);
  const Reply reply = client.Unary(kServerLive, "", {{"grpc-timeout", " nonsense "}});
  EXPECT_EQ(reply.message().find(" nonsense "), std::string::npos);
  EXPECT_NE(reply.status(), -1);
}

TEST_F(GrpcRobustnessTest, ReflectionAnswersThatNobodyReadsAreBounded) {
  Start();
  TestClient client(port(), /*window=*/0);
  // ServerReflectionRequest.file_containing_symbol
  const std::string symbol = "inference.GRPCInferenceService";
  const std::string question =
      Frame("\x22" + std::string(1, static_cast<char>(symbol.size())) + symbol);
  std::string questions;
  for (int i = 0; i < 10'000; ++i) questions += question;
  const int32_t stream = client.Open("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo");
  client.Send(stream, questions, true);
  client.RoundTrip();  // all that it may send is answered
  ExpectAlive();
  client.SetWindow(1 << 30);
  const Reply& reply = client.Finish(stream);
  EXPECT_EQ(reply.status(), 8);
  EXPECT_LT(reply.body.size(), size_t{80} << 20);
}

TEST_F(GrpcRobustnessTest, ProtobufDoesNotWriteToStderr) {
  Start();
  TestClient client(port());
  ::testing::internal::CaptureStderr();
  const std::string bad_name = "\x0a\x02\xff\xff";
  client.Unary("/inference.GRPCInferenceService/ModelReady", bad_name);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(GrpcRobustnessTest, CallsThatAreOverLeaveNothingInTheirConnection) {
  Start();
  TestClient client(port());
  const auto play = [&] {
    for (int i = 0; i < 2000; ++i) client.Unary(kServerLive, "");
  };
  play();
  const size_t before = mallinfo2().uordblks;
  play();
  EXPECT_LT(mallinfo2().uordblks, before + 2000 * 20);
}
#endif

TEST_F(GrpcRobustnessTest, AClientThatDoesNotReadHoldsNobodyUp) {
  options_.max_message_size = 16 << 20;
  Start();
  const std::string large(8 << 20, 'b');
  TestClient slow(port());
  std::vector<int32_t> streams;
  for (int i = 0; i < 4; ++i) {
    streams.push_back(slow.Open(kModelInfer));
    // Our own window is small: the answer waits in the server until we read.
    slow.Send(streams.back(), Frame(EchoRequest("small")), true);
  }
  const int32_t big = slow.Open(kModelInfer);
  std::thread sender([&] { slow.Send(big, Frame(EchoRequest(large)), true); });
  sender.join();
  ExpectAlive();
  EXPECT_EQ(ParseResponse(slow.Finish(big).messages().at(0)).raw_output_contents(0), large);
  for (const int32_t stream : streams) EXPECT_EQ(slow.Finish(stream).status(), 0);
}

}  // namespace
}  // namespace nereid::frontend::grpc
