// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/session.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "frontend/http2/field.h"
#include "frontend/net/testing/manual_loop.h"
#include "frontend/net/testing/memory_stream.h"

namespace nereid::frontend::http2 {
namespace {

using namespace std::string_literals;
using std::chrono::milliseconds;

constexpr uint64_t kMs = 1'000'000;
// :method GET, :scheme http, :path /, :authority test
constexpr std::string_view kGetRoot = "\x82\x86\x84\x01\x04test";

std::string Frame(uint8_t type, uint8_t flags, uint8_t stream, std::string_view payload = {}) {
  std::string frame = "\0\0"s;
  frame.push_back(static_cast<char>(payload.size()));
  frame.push_back(static_cast<char>(type));
  frame.push_back(static_cast<char>(flags));
  return frame.append("\0\0\0"s).append(1, static_cast<char>(stream)).append(payload);
}

std::string Preface() { return NGHTTP2_CLIENT_MAGIC + Frame(NGHTTP2_SETTINGS, 0, 0); }

/// A stream that answers with a text as soon as its request is complete.
class FakeStream final : public Stream {
 public:
  FakeStream(const Opening& opening, std::vector<std::string>* events)
      : Stream(opening.id), host_(opening.host), events_(*events) {}

  void Begin(bool has_body) override { events_.push_back(has_body ? "begin" : "begin empty"); }
  void ReceiveData(std::string_view data) override { events_.push_back(std::string(data)); }
  void ReceiveEnd() override {
    events_.push_back("end");
    const auto text = std::make_shared<const std::string>("answer");
    outbox_.push_back(text);
    host_.StreamChanged(*this);
  }
  size_t missing() const override { return 0; }
  void SubmitResponse(nghttp2_session* session, const nghttp2_data_provider& body) override {
    const nghttp2_nv status = Field(":status", "200", NGHTTP2_NV_FLAG_NONE);
    nghttp2_submit_response(session, notes.id, &status, 1, &body);
  }
  size_t unsent() const override { return outbox_.empty() ? 0 : outbox_.front()->size(); }
  void MoveUnsent(size_t, net::OutQueue* queue) override {
    queue->Copy(*outbox_.front());
    outbox_.clear();
  }
  bool is_complete() const override { return true; }
  void EndIfIdle() override { host_.ResetStream(*this, NGHTTP2_REFUSED_STREAM); }
  void Tick() override { events_.push_back("tick"); }
  void Detach() override { events_.push_back("detached"); }

 private:
  StreamHost& host_;
  std::vector<std::string>& events_;
  std::vector<std::shared_ptr<const std::string>> outbox_;
};

class FakeMaker final : public StreamMaker {
 public:
  std::vector<std::string> events;

  void BeginHead(const Opening&) override { size_ = 0; }
  size_t AddField(std::string_view name, std::string_view value) override {
    return size_ += name.size() + value.size() + 32;
  }
  std::shared_ptr<Stream> Make(const Opening& opening) override {
    return std::make_shared<FakeStream>(opening, &events);
  }

 private:
  size_t size_ = 0;
};

class SessionTest : public ::testing::Test, private Session::Transport {
 protected:
  SessionTest() {
    options_.stall_timeout = milliseconds(400);
    options_.head_timeout = milliseconds(300);
  }

  Session& session() {
    if (session_ == nullptr) {
      Session::Transport& transport = *this;
      session_ = std::make_unique<Session>(options_, maker_, loop_, transport);
    }
    return *session_;
  }
  // Lets time pass in steps of a tick. Returns how many ticks the connection survives, at most 20.
  int TicksOfLife() {
    for (int i = 0; i < 20; ++i) {
      now_ns_ += 100 * kMs;
      if (!session().Upkeep(loop_.NowNs() + now_ns_) || Flushed().Finished()) return i;
    }
    return 20;
  }
  Session& Flushed() {
    EXPECT_TRUE(session().FillQueue());
    EXPECT_EQ(session().queue().Write(stream_), net::OutQueue::Outcome::kDone);
    return session();
  }
  std::vector<std::string> TakeEvents() { return std::exchange(maker_.events, {}); }
  std::string TakeOutput() { return std::exchange(stream_.output, {}); }

  SessionOptions options_;
  int flushes_ = 0;

 private:
  void RequestFlush() override { ++flushes_; }
  const net::Peer& peer() override { return stream_.who; }

  base::FakeClock clock_;
  net::testing::ManualLoop loop_{clock_};
  net::testing::MemoryStream stream_;
  FakeMaker maker_;
  uint64_t now_ns_ = 0;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, TakesARequestAndSendsItsResponse) {
  ASSERT_TRUE(session().Receive(Preface()));
  EXPECT_TRUE(session().received_preface());
  ASSERT_TRUE(session().Receive(
      Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1, kGetRoot)));
  Flushed();
  EXPECT_EQ(TakeEvents(), (std::vector<std::string>{"begin empty", "end", "detached"}));
  EXPECT_NE(TakeOutput().find(Frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 1, "answer")),
            std::string::npos);
}

TEST_F(SessionTest, ManySmallFramesFillTheQueueBeforeTheirBytesDo) {
  ASSERT_TRUE(session().Receive(Preface()));
  Flushed();
  EXPECT_FALSE(session().filled_up());
  TakeOutput();
  const std::string settings = Frame(NGHTTP2_SETTINGS, 0, 0);
  const std::string answer = Frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0);
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(session().Receive(settings));
  for (int batch = 0; batch < 2; ++batch) {
    Flushed();
    EXPECT_TRUE(session().filled_up());
    EXPECT_EQ(TakeOutput().size(), 128 * answer.size());
  }
  Flushed();
  EXPECT_FALSE(session().filled_up());
  EXPECT_EQ(TakeOutput().size(), 44 * answer.size());
}

TEST_F(SessionTest, PassesTheBodyOnAsItComes) {
  ASSERT_TRUE(session().Receive(Preface()));
  ASSERT_TRUE(session().Receive(Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, kGetRoot)));
  ASSERT_TRUE(session().Receive(Frame(NGHTTP2_DATA, 0, 1, "one")));
  ASSERT_TRUE(session().Receive(Frame(NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, 1, "two")));
  EXPECT_EQ(TakeEvents(), (std::vector<std::string>{"begin", "one", "two", "end"}));
}

TEST_F(SessionTest, EndsWhenAHeadIsNotCompleted) {
  ASSERT_TRUE(session().Receive(Preface()));
  ASSERT_TRUE(session().Receive(Frame(NGHTTP2_HEADERS, 0, 1, kGetRoot)));
  EXPECT_EQ(TicksOfLife(), 3);
}

TEST_F(SessionTest, EndsWhenTheRestOfAHeadComesInTinyPieces) {
  ASSERT_TRUE(session().Receive(Preface()));
  ASSERT_TRUE(session().Receive(Frame(NGHTTP2_HEADERS, 0, 1, kGetRoot)));
  ASSERT_TRUE(session().Receive(Frame(NGHTTP2_CONTINUATION, 0, 1, "\0\1a\1b"s)));
  EXPECT_EQ(TicksOfLife(), 3);
}

TEST_F(SessionTest, EndsWhenTheRestOfAMalformedHeadDoesNotCome) {
  ASSERT_TRUE(session().Receive(Preface()));
  ASSERT_TRUE(session().Receive(Frame(NGHTTP2_HEADERS, 0, 1, "\x82\x82")));  // two methods
  EXPECT_EQ(TicksOfLife(), 3);
}

TEST_F(SessionTest, LivesOnAfterAMalformedHead) {
  ASSERT_TRUE(session().Receive(Preface()));
  // Without :scheme and :path the request is malformed, which is an error of the stream.
  ASSERT_TRUE(session().Receive(
      Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1, "\x82")));
  ASSERT_TRUE(session().Receive(Frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0)));
  EXPECT_EQ(TicksOfLife(), 20);
  EXPECT_EQ(TakeEvents(), std::vector<std::string>());
}

TEST_F(SessionTest, EndsWithGoAwayAfterTheTimeWithoutRequests) {
  options_.idle_timeout = milliseconds(500);
  ASSERT_TRUE(session().Receive(Preface()));
  TakeOutput();
  EXPECT_EQ(TicksOfLife(), 5);
  EXPECT_NE(TakeOutput().find(Frame(NGHTTP2_GOAWAY, 0, 0, std::string(8, '\0'))),
            std::string::npos);
}

TEST_F(SessionTest, IsNotIdleDuringARequest) {
  options_.idle_timeout = milliseconds(500);
  ASSERT_TRUE(session().Receive(Preface()));
  ASSERT_TRUE(session().Receive(Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, kGetRoot)));
  EXPECT_EQ(TicksOfLife(), 20);
}

TEST_F(SessionTest, GoAwayEndsIdleStreams) {
  ASSERT_TRUE(session().Receive(Preface()));
  ASSERT_TRUE(session().Receive(Frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, kGetRoot)));
  session().GoAway();
  EXPECT_TRUE(Flushed().Finished());
  EXPECT_EQ(TakeEvents(), (std::vector<std::string>{"begin", "detached"}));
}

}  // namespace
}  // namespace nereid::frontend::http2
