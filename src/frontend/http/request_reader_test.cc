// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/request_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::frontend::http {
namespace {

using Result = RequestReader::Result;

constexpr char kHeadWithBody[] = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 40000\r\n\r\n";

TEST(RequestReader, KeepsTraceHeadersIfAsked) {
  const std::string text =
      "GET / HTTP/1.1\r\nHost: h\r\nTraceParent: p\r\nTRACESTATE: a=1\r\ntracestate: b=2\r\n\r\n";
  for (const bool keep : {false, true}) {
    HttpServerOptions options;
    options.keep_trace_headers = keep;
    base::FakeClock clock;
    ReceivedRequest request;
    RequestReader reader(options, clock, &request);
    ASSERT_EQ(reader.Read(text), Result::kComplete);
    EXPECT_EQ(request.head.trace.parent, keep ? "p" : "");
    EXPECT_EQ(request.head.trace.state, keep ? "a=1,b=2" : "");
  }
}

class RequestReaderTest : public ::testing::Test {
 protected:
  /// Receives the whole body directly, `step` bytes at a time.
  Result ReceiveBody(size_t step) {
    Result result = Result::kNeedsInput;
    while (result == Result::kNeedsInput) {
      std::span<char> room;
      EXPECT_EQ(reader_.MakeBodyRoom(step, &room), Result::kNeedsInput);
      EXPECT_LE(room.size(), step);
      std::memset(room.data(), 'x', room.size());
      result = reader_.AddBody(room.size());
    }
    return result;
  }

  HttpServerOptions options_;
  base::FakeClock clock_;
  ReceivedRequest request_;
  RequestReader reader_{options_, clock_, &request_};
};

TEST_F(RequestReaderTest, ReadsByteByByte) {
  const std::string text =
      "POST /x?y HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    ASSERT_EQ(reader_.Read(text.substr(i, 1)), Result::kNeedsInput) << i;
  }
  EXPECT_EQ(reader_.Read(text.substr(text.size() - 1)), Result::kComplete);
  EXPECT_EQ(request_.head.path().text(), "/x");
  EXPECT_EQ(request_.body.view(), "abcde");
  EXPECT_TRUE(reader_.IsIdle());
  EXPECT_FALSE(reader_.has_kept());
}

TEST_F(RequestReaderTest, ReadsOneRequestAtATimeAndKeepsTheRest) {
  EXPECT_EQ(reader_.Read("\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n\r\nGET /b HTTP/1.1\r\nHo"),
            Result::kComplete);
  EXPECT_EQ(request_.head.path().text(), "/a");
  EXPECT_TRUE(reader_.has_kept());
  reader_.Keep("st: h\r\n\r");
  EXPECT_EQ(reader_.Read(""), Result::kNeedsInput);
  EXPECT_EQ(reader_.Read("\nGET /c"), Result::kComplete);
  EXPECT_EQ(request_.head.path().text(), "/b");
  EXPECT_TRUE(reader_.has_kept());
  reader_.Drop();
  EXPECT_FALSE(reader_.has_kept());
}

TEST_F(RequestReaderTest, KeepsALimitedAmount) {
  reader_.Keep(std::string(RequestReader::kMaxAhead - 1, 'x'));
  EXPECT_FALSE(reader_.IsFarAhead());
  reader_.Keep("x");
  EXPECT_TRUE(reader_.IsFarAhead());
}

TEST_F(RequestReaderTest, EmptyLinesBeginNoRequest) {
  EXPECT_EQ(reader_.Read("\r\n\r\n"), Result::kNeedsInput);
  EXPECT_TRUE(reader_.IsIdle());
  EXPECT_FALSE(reader_.TakeProgress());
}

TEST_F(RequestReaderTest, ABodyIsReceivedDirectlyAndAligned) {
  const std::string head =
      "POST /x HTTP/1.1\r\nHost: h\r\nInference-Header-Content-Length: 10\r\n"
      "Content-Length: 40000\r\n\r\n";
  EXPECT_EQ(reader_.Read(head + "0123456789"), Result::kNeedsInput);
  ASSERT_TRUE(reader_.WantsBody());
  EXPECT_EQ(ReceiveBody(7'000), Result::kComplete);
  EXPECT_FALSE(reader_.WantsBody());
  EXPECT_EQ(request_.body.size, 40'000u);
  EXPECT_EQ(request_.body.view().substr(8, 4), "89xx");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(request_.body.view().data() + 10) % 64, 0u);
}

/// Memory for the tensors of a body, outside of the process for all that the reader knows.
struct LentBodies {
  memory::HostBuffer Take(size_t size) {
    class Lender final : public memory::BufferLender {
     public:
      size_t Prepare(size_t begin, size_t end) noexcept override {
        return std::min<size_t>(end - begin, 30'000);
      }
    };
    asked = size;
    if (refuses) return {};
    memory.assign(size, '-');
    return memory::HostBuffer::Borrow(memory.data(), size, std::make_unique<Lender>());
  }

  std::vector<char> memory;
  size_t asked = 0;
  bool refuses = false;
};

class LentBodyTest : public ::testing::Test {
 protected:
  /// Returns the text of a request whose JSON part has `json` bytes.
  static std::string Text(size_t json, size_t tensors, const std::string& fields = "") {
    return "POST /x HTTP/1.1\r\nHost: h\r\nInference-Header-Content-Length: " +
           std::to_string(json) + "\r\n" + fields +
           "Content-Length: " + std::to_string(json + tensors) + "\r\n\r\n" +
           std::string(json, 'j') + std::string(tensors - 1, 't') + "e";
  }

  /// Reads a text of which `first` bytes come at once, and the others `step` at a time.
  Result Receive(std::string_view text, size_t first, size_t step) {
    Result result = reader_.Read(text.substr(0, first));
    text.remove_prefix(first);
    while (result == Result::kNeedsInput && !text.empty()) {
      if (!reader_.WantsBody()) {
        result = reader_.Read(text.substr(0, step));
        text.remove_prefix(std::min(step, text.size()));
        continue;
      }
      std::span<char> room;
      EXPECT_EQ(reader_.MakeBodyRoom(step, &room), Result::kNeedsInput);
      std::memcpy(room.data(), text.data(), room.size());
      text.remove_prefix(room.size());
      result = reader_.AddBody(room.size());
    }
    return result;
  }

  static constexpr size_t kTensors = 100'000;
  HttpServerOptions options_;
  base::FakeClock clock_;
  ReceivedRequest request_;
  LentBodies lent_;
  RequestReader reader_{options_, clock_, &request_,
                        [this](size_t size) { return lent_.Take(size); }};
};

TEST_F(LentBodyTest, TheTensorsOfALargeBodyAreInLentMemoryAndTheJsonIsNot) {
  const std::string text = Text(300, kTensors);
  const size_t head = text.find("\r\n\r\n") + 4;
  for (const size_t first : {head, head + 1, head + 299, head + 300, head + 301, head + 40'000}) {
    for (const size_t step : {7u, 64'000u}) {
      ASSERT_EQ(Receive(text, first, step), Result::kComplete) << first - head << " " << step;
      EXPECT_EQ(lent_.asked, kTensors);
      EXPECT_EQ(request_.body.json, std::string(300, 'j'));
      EXPECT_EQ(request_.body.view().data(), lent_.memory.data());
      EXPECT_EQ(request_.body.view(), std::string(kTensors - 1, 't') + "e");
      EXPECT_EQ(request_.body.total_size(), kTensors + 300);
      EXPECT_TRUE(request_.body.buffer.is_borrowed());
    }
  }
}

TEST_F(LentBodyTest, TheNextRequestHasNothingOfIt) {
  ASSERT_EQ(Receive(Text(300, kTensors), 500, 64'000), Result::kComplete);
  request_.body.buffer.Reset();
  const std::string small = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc";
  ASSERT_EQ(reader_.Read(small), Result::kComplete);
  EXPECT_EQ(request_.body.json, "");
  EXPECT_EQ(request_.body.view(), "abc");
  lent_.refuses = true;
  ASSERT_EQ(Receive(Text(300, kTensors), 500, 64'000), Result::kComplete);
  EXPECT_EQ(request_.body.json, "");
  EXPECT_EQ(request_.body.size, kTensors + 300);
  EXPECT_FALSE(request_.body.buffer.is_borrowed());
}

TEST_F(LentBodyTest, OtherBodiesAreOnePiece) {
  for (const std::string& text : {Text(300, 1000), Text(0, kTensors), Text(20'000, kTensors),
                                  Text(300, kTensors, "Content-Encoding: gzip\r\n")}) {
    lent_.asked = 0;
    ASSERT_EQ(Receive(text, 600, 64'000), Result::kComplete);
    EXPECT_EQ(lent_.asked, 0u);
    EXPECT_FALSE(request_.body.buffer.is_borrowed());
    EXPECT_EQ(request_.body.view().back(), 'e');
  }
}

TEST_F(RequestReaderTest, ProgressIsAHeadABodyAndEvery16KiBOfIt) {
  EXPECT_EQ(reader_.Read("PO"), Result::kNeedsInput);
  EXPECT_TRUE(reader_.IsInHead());
  EXPECT_TRUE(reader_.TakeProgress());
  EXPECT_EQ(reader_.Read("ST /x HTTP/1.1\r\n"), Result::kNeedsInput);
  EXPECT_FALSE(reader_.TakeProgress());  // a head has its time as a whole
  EXPECT_EQ(reader_.Read("Host: h\r\nContent-Length: 40000\r\n\r\n"), Result::kNeedsInput);
  EXPECT_FALSE(reader_.IsInHead());
  EXPECT_TRUE(reader_.TakeProgress());

  std::span<char> room;
  EXPECT_EQ(reader_.MakeBodyRoom(16'383, &room), Result::kNeedsInput);
  EXPECT_EQ(reader_.AddBody(room.size()), Result::kNeedsInput);
  EXPECT_FALSE(reader_.TakeProgress());
  EXPECT_EQ(reader_.MakeBodyRoom(1, &room), Result::kNeedsInput);
  EXPECT_EQ(reader_.AddBody(1), Result::kNeedsInput);
  EXPECT_TRUE(reader_.TakeProgress());
}

TEST_F(RequestReaderTest, OnlyAClientThatWaitsGetsContinue) {
  const std::string head = "POST /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n";
  EXPECT_EQ(reader_.Read(head + "Content-Length: 2\r\n\r\n"), Result::kNeedsInput);
  EXPECT_TRUE(reader_.TakeContinueWish());
  EXPECT_FALSE(reader_.TakeContinueWish());
  EXPECT_EQ(ReceiveBody(2), Result::kComplete);

  EXPECT_EQ(reader_.Read(head + "Content-Length: 2\r\n\r\na"), Result::kNeedsInput);
  EXPECT_FALSE(reader_.TakeContinueWish());  // it has begun to send
  EXPECT_EQ(ReceiveBody(2), Result::kComplete);

  EXPECT_EQ(reader_.Read(head + "Transfer-Encoding: chunked\r\n\r\n"), Result::kNeedsInput);
  EXPECT_TRUE(reader_.TakeContinueWish());
  EXPECT_EQ(reader_.Read("0\r\n\r\n"), Result::kComplete);

  EXPECT_EQ(reader_.Read(head + "Content-Length: 0\r\n\r\n"), Result::kComplete);
  EXPECT_FALSE(reader_.TakeContinueWish());

  std::string old = head + "Content-Length: 2\r\n\r\n";
  old.replace(old.find("1.1"), 3, "1.0");
  EXPECT_EQ(reader_.Read(old), Result::kNeedsInput);
  EXPECT_FALSE(reader_.TakeContinueWish());  // an HTTP/1.0 client knows no interim responses
  EXPECT_EQ(ReceiveBody(2), Result::kComplete);
}

TEST_F(RequestReaderTest, TheDeadlineCountsFromTheEndOfTheHead) {
  EXPECT_EQ(
      reader_.Read("POST /x HTTP/1.1\r\nHost: h\r\ngrpc-timeout: 5S\r\nContent-Length: 1\r\n"),
      Result::kNeedsInput);
  clock_.Advance(1'000'000'000);
  const uint64_t at = clock_.NowNs();
  EXPECT_EQ(reader_.Read("\r\n"), Result::kNeedsInput);
  clock_.Advance(1'000'000'000);
  EXPECT_EQ(ReceiveBody(1), Result::kComplete);
  EXPECT_EQ(request_.head.deadline_ns, at + 5'000'000'000);
  EXPECT_EQ(reader_.Read("GET /x HTTP/1.1\r\nHost: h\r\n\r\n"), Result::kComplete);
  EXPECT_EQ(request_.head.deadline_ns, 0u);
}

TEST_F(RequestReaderTest, AClientMayPreferToLearnTheTimes) {
  const auto wants = [this](const std::string& field) {
    EXPECT_EQ(reader_.Read("GET /x HTTP/1.1\r\nHost: h\r\n" + field + "\r\n"), Result::kComplete);
    return request_.head.wants_timing;
  };
  EXPECT_TRUE(wants("Prefer: server-timing\r\n"));
  EXPECT_TRUE(wants("Prefer: respond-async, Server-Timing\r\n"));
  EXPECT_TRUE(wants("Prefer: server-timing\r\nPrefer: other\r\n"));
  EXPECT_FALSE(wants("Prefer: server-timings\r\n"));
  EXPECT_FALSE(wants(""));
}

TEST_F(RequestReaderTest, FieldsAreLimited) {
  std::string head = "GET /x HTTP/1.1\r\nHost: h\r\n";
  for (int i = 1; i < 256; ++i) head += "A: b\r\n";
  EXPECT_EQ(reader_.Read(head + "\r\n"), Result::kComplete);
  EXPECT_EQ(reader_.Read(head + "A: b\r\n\r\n"), Result::kRefused);
  EXPECT_EQ(reader_.refusal().status, 431);
  EXPECT_EQ(reader_.refusal().text, "the request has more than 256 header fields");
}

TEST_F(RequestReaderTest, LinesBetweenChunksAreLimited) {
  const std::string head = "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& endless :
       {"5;" + std::string(17'000, 'x'), "0\r\nA: " + std::string(17'000, 'a'),
        "1\r\nx\r\n" + std::string(17'000, '0')}) {
    EXPECT_EQ(reader_.Read(head), Result::kNeedsInput);
    EXPECT_EQ(reader_.Read(endless), Result::kRefused);
    EXPECT_EQ(reader_.refusal().status, 431);
    EXPECT_EQ(reader_.refusal().text, "the lines of the chunked body are larger than 16384 bytes");
    reader_.Drop();
  }
}

TEST_F(RequestReaderTest, RefusalsNameTheLimit) {
  EXPECT_EQ(reader_.Read("nonsense\r\n\r\n"), Result::kRefused);
  EXPECT_EQ(reader_.refusal().status, 400);
  reader_.Drop();

  EXPECT_EQ(reader_.Read("GET /x HTTP/1.1\r\nA: " + std::string(17'000, 'a')), Result::kRefused);
  EXPECT_EQ(reader_.refusal().status, 431);
  EXPECT_EQ(reader_.refusal().text, "the request's head is larger than 16384 bytes");
  reader_.Drop();

  options_.max_body_size = 39'999;
  EXPECT_EQ(reader_.Read(kHeadWithBody), Result::kRefused);
  EXPECT_EQ(reader_.refusal().status, 413);
  EXPECT_EQ(reader_.refusal().text,
            "the request's body of 40000 bytes exceeds the maximum of 39999 bytes");
  reader_.Drop();

  EXPECT_EQ(
      reader_.Read("POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n9c40\r\n"),
      Result::kRefused);
  EXPECT_EQ(reader_.refusal().status, 413);
  EXPECT_EQ(reader_.refusal().text, "the request's body exceeds the maximum of 39999 bytes");
}

TEST_F(RequestReaderTest, TheHostIsThereOnceAndWellFormed) {
  const auto read = [&](const std::string& fields, const std::string& version = "1.1") {
    const Result result = reader_.Read("GET /x HTTP/" + version + "\r\n" + fields + "\r\n");
    reader_.Drop();
    return result;
  };
  for (const char* host : {"h", "h:8000", "", "a_b.c-d:", "127.0.0.1:1", "[::1]:8000",
                           "[fe80::1%25e]", "%2Frun%2Fhttp"}) {
    EXPECT_EQ(read("Host: " + std::string(host) + "\r\n"), Result::kComplete) << host;
  }
  for (const char* host :
       {"a b", "a/b", "u@h", "h:x", "h:1:2", "::1", "[::1", "[::1]x", "h?", "\xc3\xa9"}) {
    EXPECT_EQ(read("Host: " + std::string(host) + "\r\n"), Result::kRefused) << host;
    EXPECT_EQ(reader_.refusal().text, "the field Host of the request is malformed");
    EXPECT_EQ(reader_.refusal().status, 400);
  }
  EXPECT_EQ(read("Host: h\r\nHost: h\r\n"), Result::kRefused);
  EXPECT_EQ(reader_.refusal().text, "the request names its host twice");
  EXPECT_EQ(read(""), Result::kRefused);
  EXPECT_EQ(reader_.refusal().text, "the request has no field Host");
  EXPECT_EQ(reader_.refusal().status, 400);
  EXPECT_EQ(read("", "1.0"), Result::kComplete);
  EXPECT_EQ(read("Host: a b\r\n", "1.0"), Result::kRefused);
}

// The limit of an input is 1000 bytes, that of all bodies 2 GiB.
TEST(RequestReader, AChunkedBodyEndsAtTheLimitOfTheSmallestPartThatItMayBe) {
  HttpServerOptions options;
  base::FakeClock clock;
  ReceivedRequest request;
  RequestReader reader(options, clock, &request, nullptr,
                       [&] { return LimitInferBody(request.head, 1000); });
  const auto read = [&](const std::string& fields, std::string_view size) {
    const std::string head =
        "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n" + fields + "\r\n";
    EXPECT_EQ(reader.Read(head + "3e8\r\n" + std::string(1000, 'x') + "\r\n"), Result::kNeedsInput);
    const Result result = reader.Read(std::string(size) + "\r\n");
    reader.Drop();
    return result;
  };
  const std::string json_size = "Inference-Header-Content-Length: ";
  for (const std::string& fields :
       {std::string(), json_size + "x\r\n", json_size + "0\r\n", json_size + "1001\r\n",
        std::string("Content-Encoding: identity\r\n")}) {
    EXPECT_EQ(read(fields, "1"), Result::kRefused) << fields;
    EXPECT_EQ(reader.refusal().status, 400) << fields;
    EXPECT_NE(reader.refusal().text.find("1000 bytes. Use --http-max-input-size"),
              std::string::npos)
        << reader.refusal().text;
  }
  EXPECT_EQ(read(json_size + "1000\r\n", "40000000"), Result::kNeedsInput);
  EXPECT_EQ(read("Content-Encoding: gzip\r\n", "3e8"), Result::kNeedsInput);
  EXPECT_EQ(read("Content-Encoding: gzip\r\n" + json_size + "10\r\n", "800"), Result::kRefused);
}

TEST(RequestReader, AnAnnouncedBodyBeyondTheLimitIsNotReceived) {
  HttpServerOptions options;
  base::FakeClock clock;
  ReceivedRequest request;
  RequestReader reader(options, clock, &request, nullptr,
                       [&] { return LimitInferBody(request.head, 100'000); });
  const std::string head = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 100001\r\n";
  EXPECT_EQ(reader.Read(head + "\r\n"), Result::kRefused);
  EXPECT_EQ(reader.refusal().status, 400);
  EXPECT_EQ(reader.refusal().text,
            "request JSON size of 100001 bytes exceeds the maximum allowed input size of 100000 "
            "bytes. Use --http-max-input-size to increase the limit.");
  reader.Drop();
  EXPECT_EQ(reader.Read(head + "Inference-Header-Content-Length: 0\r\n\r\n"), Result::kRefused);
  EXPECT_EQ(reader.refusal().text,
            "Raw input has a byte_size (100001 bytes) that exceeds the maximum allowed value of "
            "100000 bytes. Use --http-max-input-size to increase the limit.");
  reader.Drop();
  EXPECT_EQ(reader.Read(head + "Inference-Header-Content-Length: 9\r\n\r\n"), Result::kNeedsInput);
}

TEST(RequestReader, ABodyBeyondTheBudgetIsRefused) {
  HttpServerOptions options;
  options.receive_budget = std::make_shared<base::ByteBudget>(20'000, std::chrono::milliseconds(0));
  const base::ByteShare other = options.receive_budget->Force(10'000);
  base::FakeClock clock;
  ReceivedRequest request;
  RequestReader reader(options, clock, &request);
  ASSERT_EQ(reader.Read(kHeadWithBody), Result::kNeedsInput);
  Result result = Result::kNeedsInput;
  for (int i = 0; i < 40 && result == Result::kNeedsInput; ++i) {
    std::span<char> room;
    result = reader.MakeBodyRoom(1'000, &room);
    if (result == Result::kNeedsInput) result = reader.AddBody(room.size());
  }
  EXPECT_EQ(result, Result::kRefused);
  EXPECT_EQ(reader.refusal().status, 503);
}

}  // namespace
}  // namespace nereid::frontend::http
