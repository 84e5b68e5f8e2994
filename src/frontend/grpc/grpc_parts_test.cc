// SPDX-License-Identifier: Apache-2.0
// The parts that need no socket of the server: texts, compression, message cutting.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "frontend/grpc/call_status.h"
#include "frontend/grpc/message_encoding.h"
#include "frontend/grpc/message_reader.h"
#include "frontend/grpc/request_head.h"
#include "frontend/grpc/testing/test_client.h"

namespace nereid::frontend::grpc {
namespace {

TEST(CallStatus, EncodesTextsForAHeader) {
  EXPECT_EQ(PercentEncode("plain text!"), "plain text!");
  EXPECT_EQ(PercentEncode("100%\n\xc3\xa4"), "100%25%0A%C3%A4");
  EXPECT_EQ(PercentEncode("x\xff"), "x%EF%BF%BD");
  EXPECT_LT(PercentEncode(std::string(100000, '\n')).size(), 8192u);
  std::string euros;
  for (int i = 0; i < 10000; ++i) euros += "\u20AC";
  const std::string cut = PercentEncode("a" + euros);
  EXPECT_LT(cut.size(), 8192u);
  EXPECT_TRUE(cut.ends_with("%E2%82%AC"));
}

TEST(CallStatus, KeepsTheBeginningAndTheEndOfALongText) {
  std::string traceback = "Failed to process the request(s): \n";
  for (int i = 0; i < 1000; ++i) traceback += "  File \"model.py\", line 1\n";
  const std::string encoded = PercentEncode(traceback + "ValueError: the cause");
  EXPECT_LE(encoded.size(), 6000u);
  EXPECT_GT(encoded.size(), 5000u);
  EXPECT_TRUE(encoded.starts_with("Failed to process the request(s): %0A"));
  EXPECT_TRUE(encoded.ends_with("ValueError: the cause"));
  EXPECT_NE(encoded.find(" bytes are left out ..."), std::string::npos);
  EXPECT_EQ(PercentEncode(std::string(6000, 'a')), std::string(6000, 'a'));
}

TEST(CallStatus, LongTextsOfBytesThatAreNotUtf8AreBoundedToo) {
  for (const char byte : {'\xff', '\x80', '\xe2'}) {
    const std::string encoded = PercentEncode(std::string(100000, byte) + "end");
    EXPECT_LE(encoded.size(), 6000u);
    EXPECT_TRUE(encoded.ends_with("end"));
  }
}

TEST(RequestHead, KnowsGrpcContentTypes) {
  for (const char* type : {"application/grpc", "application/grpc+proto", "application/grpc;x=y"}) {
    RequestHead head;
    head.Add("content-type", type, 1000);
    EXPECT_TRUE(head.is_grpc) << type;
  }
  for (const char* type : {"application/json", "application/grpc-web", "application/grp", ""}) {
    RequestHead head;
    head.Add("content-type", type, 1000);
    EXPECT_FALSE(head.is_grpc) << type;
  }
}

TEST(Compression, ChoosesWhatTheClientAccepts) {
  EXPECT_EQ(ChooseEncoding(""), Encoding::kIdentity);
  EXPECT_EQ(ChooseEncoding("identity"), Encoding::kIdentity);
  EXPECT_EQ(ChooseEncoding("identity, deflate"), Encoding::kDeflate);
  EXPECT_EQ(ChooseEncoding("identity,deflate, gzip ,br"), Encoding::kGzip);
}

TEST(Compression, RoundTripsAndBoundsTheResult) {
  const std::string text(300000, 'q');
  for (const Encoding encoding : {Encoding::kDeflate, Encoding::kGzip}) {
    const std::string_view pieces[] = {std::string_view(text).substr(0, 1),
                                       std::string_view(text).substr(1)};
    std::string compressed;
    ASSERT_TRUE(Compress(pieces, encoding, 1, &compressed).ok());
    const auto result = Decompress(compressed, encoding, text.size(), nullptr);
    ASSERT_TRUE(std::holds_alternative<StoredBytes>(result));
    EXPECT_EQ(std::get<StoredBytes>(result).bytes, text);
    const auto code = [&](std::string_view packed, size_t limit) {
      const auto failed = Decompress(packed, encoding, limit, nullptr);
      return std::get<CallStatus>(failed).code;
    };
    EXPECT_EQ(code(compressed, text.size() - 1), kGrpcResourceExhausted);
    EXPECT_EQ(code(compressed + "x", text.size()), kGrpcInternal);
    EXPECT_EQ(code(compressed.substr(0, compressed.size() - 1), text.size()), kGrpcInternal);
    EXPECT_EQ(code("", 10), kGrpcInternal);
  }
}

TEST(MessageReader, CutsMessagesWhereverTheyAreSplit) {
  const std::string bytes = testing::Frame("first") + testing::Frame("") + testing::Frame("third");
  for (size_t split = 1; split <= bytes.size(); ++split) {
    MessageReader reader(100, Encoding::kIdentity, nullptr);
    std::vector<std::string> found;
    for (size_t at = 0; at < bytes.size(); at += split) {
      std::string_view part = std::string_view(bytes).substr(at, split);
      while (!part.empty()) {
        const auto event = reader.Read(&part);
        ASSERT_NE(event, MessageReader::Event::kError);
        if (event != MessageReader::Event::kMessage) continue;
        const StoredBytes message = reader.TakeMessage();
        EXPECT_EQ(reinterpret_cast<uintptr_t>(message.bytes.data() + message.bytes.size()) % 64,
                  0u);
        found.emplace_back(message.bytes);
      }
    }
    EXPECT_EQ(found, (std::vector<std::string>{"first", "", "third"})) << split;
    EXPECT_FALSE(reader.InMessage());
  }
}

TEST(MessageReader, TakesMemoryForWhatComesNotForWhatIsAnnounced) {
  using Event = MessageReader::Event;
  const auto budget = std::make_shared<base::ByteBudget>(1 << 20, std::chrono::milliseconds(0));
  std::vector<std::unique_ptr<MessageReader>> readers;
  for (int i = 0; i < 100; ++i) {
    readers.push_back(std::make_unique<MessageReader>(0x7fffffff, Encoding::kIdentity, budget));
    std::string_view prefix("\0\x7f\xff\xff\xff", 5);
    ASSERT_EQ(readers.back()->Read(&prefix), Event::kNeedMore);
    std::string_view byte("x");
    ASSERT_EQ(readers.back()->Read(&byte), Event::kNeedMore);
  }
  base::ByteShare rest;
  EXPECT_TRUE(budget->Take(500'000, false, &rest));
  const std::string many(200'000, 'x');
  size_t refused = 0;
  for (const auto& reader : readers) {
    std::string_view data = many;
    if (reader->Read(&data) != Event::kError) continue;
    EXPECT_EQ(reader->error().code, kGrpcResourceExhausted);
    ++refused;
  }
  EXPECT_GT(refused, 90u);
  readers.clear();
  EXPECT_TRUE(budget->Take(500'000, false, &rest));
}

TEST(RequestHead, ParsesNothingBeyondTheLimit) {
  RequestHead head;
  head.Add(":path", "/first", 100);
  head.Add("x", std::string(100, 'x'), 100);
  head.Add(":path", "/second", 100);
  head.Add("grpc-accept-encoding", "gzip", 100);
  EXPECT_EQ(head.path, "/first");
  EXPECT_EQ(head.accepted, Encoding::kIdentity);
  EXPECT_GT(head.size, 200u);
}

TEST(RequestHead, KeepsTheTraceHeadersOfOneCall) {
  RequestHead head;
  head.Add("traceparent", "p", 1000);
  head.Add("tracestate", "a=1", 1000);
  head.Add("tracestate", "b=2", 1000);
  head.Add("trace-proto-bin", "x", 1000);
  EXPECT_EQ(head.trace.parent, "p");
  EXPECT_EQ(head.trace.state, "a=1,b=2");
  head.Clear();
  EXPECT_TRUE(head.trace.empty());
}

TEST(RequestHead, LooksAtTheBeginningOfALongListOfEncodings) {
  RequestHead head;
  head.Add("grpc-accept-encoding", "gzip," + std::string(10'000, 'x'), 100'000);
  EXPECT_EQ(head.accepted, Encoding::kGzip);
}

}  // namespace
}  // namespace nereid::frontend::grpc
