// SPDX-License-Identifier: Apache-2.0
// Requests that are built to be misread, that never end, or that ask for too much. The server runs
// over loopback, in front of a fake service.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/testing/fake_inference_service.h"
#include "base/byte_budget.h"
#include "frontend/http/content_encoding.h"
#include "frontend/http/http_server.h"
#include "frontend/http/kserve_handler.h"
#include "frontend/http/off_loop.h"
#include "frontend/http/server_timing.h"
#include "frontend/http/testing/raw_client.h"
#include "frontend/http/testing/server_fixture.h"

namespace nereid::frontend::http {
namespace {

using api::testing::FakeInferenceService;
using std::chrono::milliseconds;
using testing::Get;
using testing::kInfer;
using testing::kJson;
using testing::kJsonAnswer;
using testing::Post;
using testing::RawClient;

class HttpFramingTest : public testing::ServerFixture {
 protected:
  // One thread, so that the loop has read the input of one client before it replies to a later one.
  HttpFramingTest() : ServerFixture(1) {}

  /// Sends `request` and returns everything that the server sends until it closes.
  std::string Exchange(const std::string& request) {
    RawClient client(server_->port());
    client.Send(request);
    return client.ReceiveRest();
  }
  /// Waits until the loop has read everything that was sent before.
  void PassTheLoop() {
    RawClient client(server_->port());
    client.Send(Get("/v2/health/live"));
    EXPECT_EQ(client.Receive()->status, 200);
  }
};

int CountAnswers(const std::string& text) {
  int count = 0;
  for (size_t at = 0; (at = text.find("HTTP/1.1 ", at)) != std::string::npos; ++at) ++count;
  return count;
}

std::string Head(const std::string& fields, const std::string& version = "1.1") {
  return std::string("POST ") + kInfer + " HTTP/" + version + "\r\nHost: h\r\n" + fields + "\r\n";
}

TEST_F(HttpFramingTest, AmbiguousEndsAreRefusedAndTheRestIsNotRead) {
  Start();
  const std::string chunk = "5\r\nhello\r\n0\r\n\r\n";
  const std::string zero("\0", 1);
  const std::vector<std::pair<std::string, int>> cases = {
      {Head("Transfer-Encoding: chunked\r\nContent-Length: 15\r\n") + chunk, 400},
      {Head("Content-Length: 15\r\nTransfer-Encoding: chunked\r\n") + chunk, 400},
      {Head("Content-Length: 0\r\nTransfer-Encoding: gzip\r\n"), 400},
      {Head("Transfer-Encoding: gzip\r\nContent-Length: 0\r\n"), 400},
      {Head("Transfer-Encoding: identity\r\n"), 400},
      {Head("Transfer-Encoding: xchunked\r\n"), 400},
      {Head("Transfer-Encoding: gzip\r\n"), 400},
      {Head("Transfer-Encoding:\r\n"), 400},
      {Head("Transfer-Encoding: chunked, identity\r\n"), 400},
      {Head("Transfer-Encoding: chunked, chunked\r\n") + chunk, 400},
      {Head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") + chunk, 400},
      {Head("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n") + chunk, 400},
      {Head("Transfer-Encoding: gzip, chunked\r\n") + chunk, 501},
      {Head("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n") + chunk, 501},
      {Head("Transfer-Encoding: chunked\r\n", "1.0") + chunk, 400},
      {Head("Content-Length: 5\r\nContent-Length: 6\r\n") + "hello", 400},
      {Head("Content-Length: 5, 6\r\n") + "hello", 400},
      {Head("Content-Length: +5\r\n") + "hello", 400},
      {Head("Content-Length: -5\r\n") + "hello", 400},
      {Head("Content-Length: 0x5\r\n") + "hello", 400},
      {Head("Content-Length: 5 5\r\n") + "hello", 400},
      {Head("Content-Length:\r\n") + "hello", 400},
      {Head("Content-Length: 18446744073709551621\r\n") + "hello", 400},
      {Head("Content-Length : 5\r\n") + "hello", 400},
      {Head("Transfer-Encoding : chunked\r\n") + chunk, 400},
      {std::string("POST ") + kInfer + " HTTP/1.1\r\n Host: h\r\n\r\n", 400},
      {Head("X: a\nTransfer-Encoding: chunked\r\n") + chunk, 400},
      {Head("X: a\rTransfer-Encoding: chunked\r\n") + chunk, 400},
      {Head("X" + zero + ": a\r\n"), 400},
      {Head("X: a" + zero + "b\r\n"), 400},
      {"GET /v2/health/live HTTP/1.1\nHost: h\n\n", 400},
      {Head("Transfer-Encoding: chunked\r\n") + "5\nhello\r\n0\r\n\r\n", 400},
      {Head("Transfer-Encoding: chunked\r\n") + "0x5\r\nhello\r\n0\r\n\r\n", 400},
      {Head("Transfer-Encoding: chunked\r\n") + "+5\r\nhello\r\n0\r\n\r\n", 400},
      {Head("Transfer-Encoding: chunked\r\n") + " 5\r\nhello\r\n0\r\n\r\n", 400},
      {Head("Transfer-Encoding: chunked\r\n") + "5\r\nhelloXX0\r\n\r\n", 400},
      {Head("Transfer-Encoding: chunked\r\n") + "10000000000000005\r\nhello\r\n0\r\n\r\n", 400},
      {Head("Transfer-Encoding: chunked\r\n") + "5\r\nhello\r\n0\r\nContent-Length : 1\r\n\r\n",
       400},
  };
  for (const auto& [request, status] : cases) {
    const std::string answers = Exchange(request + Get("/v2/health/live"));
    EXPECT_EQ(CountAnswers(answers), 1) << request << "\n->\n" << answers;
    EXPECT_EQ(answers.substr(0, 12), "HTTP/1.1 " + std::to_string(status)) << request;
    EXPECT_NE(answers.find("Connection: close"), std::string::npos) << request;
  }
}

TEST_F(HttpFramingTest, RepeatedEqualLengthsAreOneLength) {
  Start();
  const std::string json = kJson;
  const std::string size = std::to_string(json.size());
  for (const std::string& fields :
       {"Content-Length: " + size + ", " + size + "\r\n",
        "Content-Length: " + size + "\r\nContent-Length: " + size + "\r\n"}) {
    RawClient client(server_->port());
    client.Send(Head(fields) + json + Get("/v2/health/live"));
    EXPECT_EQ(client.Receive()->body, kJsonAnswer);
    EXPECT_EQ(client.Receive()->status, 200);
  }
}

TEST_F(HttpFramingTest, FieldNamesHaveAnyCaseAndValuesMayBeFolded) {
  Start();
  const std::string json = kJson;
  char size[32];
  snprintf(size, sizeof(size), "%zx\r\n", json.size());
  RawClient client(server_->port());
  client.Send(Head("TRANSFER-encoding:\r\n Chunked\r\n") + size + json + "\r\n0\r\n\r\n");
  EXPECT_EQ(client.Receive()->body, kJsonAnswer);
  codec::json::TextBuffer packed;
  const tensor::ByteSpan piece{json.data(), json.size()};
  ASSERT_TRUE(Compress({&piece, 1}, Encoding::kGzip, &packed).ok());
  for (const char* name : {"GZIP", "x-gzip", "Gzip"}) {
    client.Send(Post(kInfer, packed.view(),
                     "content-ENCODING: " + std::string(name) + "\r\nContent-Type: Text/JSON\r\n"));
    EXPECT_EQ(client.Receive()->body, kJsonAnswer) << name;
  }
  client.Send(Post(kInfer, json, "Accept-Encoding: GZIP;Q=0.5\r\n"));
  EXPECT_EQ(client.Receive()->Field("Content-Encoding"), "gzip");
}

TEST_F(HttpFramingTest, TrailersChangeNothing) {
  Start();
  const std::string json = kJson;
  char size[32];
  snprintf(size, sizeof(size), "%zx\r\n", json.size());
  RawClient client(server_->port());
  client.Send(Head("Transfer-Encoding: chunked\r\n") + size + json +
              "\r\n0\r\nInference-Header-Content-Length: 0\r\nContent-Encoding: gzip\r\n\r\n");
  EXPECT_EQ(client.Receive()->body, kJsonAnswer);
}

// ---- Clients that have finished sending, or are gone ----

TEST_F(HttpFramingTest, AClientThatHasFinishedSendingIsNotCancelled) {
  service_.handler = service_.HoldHandler();
  Start();
  RawClient client(server_->port());
  client.Send(Post(kInfer, kJson) + Post(kInfer, kJson));
  auto first = service_.TakeHeld();
  client.FinishSending();
  PassTheLoop();
  EXPECT_FALSE(first->IsCancelled());
  FakeInferenceService::Echo(std::move(first));
  EXPECT_EQ(client.Receive()->body, kJsonAnswer);
  auto second = service_.TakeHeld();
  EXPECT_FALSE(second->IsCancelled());
  FakeInferenceService::Echo(std::move(second));
  EXPECT_EQ(client.Receive()->body, kJsonAnswer);
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(HttpFramingTest, AClientThatHasClosedIsNoticed) {
  options_.half_closed_patience = milliseconds{20};
  service_.handler = service_.HoldHandler();
  Start();
  auto closed = std::make_unique<RawClient>(server_->port());
  RawClient half_closed(server_->port());
  closed->Send(Post(kInfer, kJson));
  auto first = service_.TakeHeld();
  half_closed.Send(Post(kInfer, kJson));
  auto second = service_.TakeHeld();
  half_closed.FinishSending();
  closed.reset();  // FIN, no reset
  while (!first->IsCancelled()) std::this_thread::yield();
  EXPECT_EQ(half_closed.Receive()->status, 100);
  EXPECT_FALSE(second->IsCancelled());
  FakeInferenceService::Echo(std::move(first));
  FakeInferenceService::Echo(std::move(second));
  EXPECT_EQ(half_closed.Receive()->body, kJsonAnswer);
  EXPECT_TRUE(half_closed.AtEnd());
}

TEST_F(HttpFramingTest, ARequestIsCancelledWhenItsClientIsLostAfterItFinishedSending) {
  service_.handler = service_.HoldHandler();
  Start();
  RawClient client(server_->port());
  client.Send(Post(kInfer, kJson));
  auto request = service_.TakeHeld();
  client.FinishSending();
  PassTheLoop();
  EXPECT_FALSE(request->IsCancelled());
  client.Abort();
  while (!request->IsCancelled()) std::this_thread::yield();
  FakeInferenceService::Echo(std::move(request));
}

TEST_F(HttpFramingTest, ManyRequestsBeforeTheEndOfInputAreAllAnswered) {
  Start();
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += Get("/v2/health/live");
  RawClient client(server_->port());
  client.Send(requests);
  client.FinishSending();
  EXPECT_EQ(CountAnswers(client.ReceiveRest()), 1000);
}

// ---- Memory ----

TEST_F(HttpFramingTest, AnnouncedBytesTakeNoMemory) {
  options_.receive_budget = std::make_shared<base::ByteBudget>(size_t{1} << 20, milliseconds{0});
  Start();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_->port()));
    clients.back()->Send(Head("Content-Length: 2000000000\r\n") + "{");
  }
  PassTheLoop();
  RawClient client(server_->port());
  client.Send(Post(kInfer, kJson));
  EXPECT_EQ(client.Receive()->body, kJsonAnswer);
}

TEST_F(HttpFramingTest, BodiesBeyondTheBudgetAreRefused) {
  options_.receive_budget = std::make_shared<base::ByteBudget>(size_t{1} << 20, milliseconds{0});
  Start();
  RawClient large(server_->port());
  large.Send(Head("Content-Length: 900000\r\n") + "{");  // allocated at once: there is room
  PassTheLoop();
  RawClient client(server_->port());
  client.Send(Post(kInfer, std::string(500'000, ' ')));
  const auto refused = client.Receive();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 503);
  EXPECT_NE(refused->body.find("--max-request-memory"), std::string::npos) << refused->body;
  EXPECT_TRUE(client.AtEnd());

  RawClient chunked(server_->port());
  chunked.Send(Head("Transfer-Encoding: chunked\r\n") + "7a120\r\n" + std::string(500'000, ' '));
  EXPECT_EQ(chunked.Receive()->status, 503);

  large.Send(std::string(899'999, ' '));  // not JSON, which is an ordinary error
  EXPECT_EQ(large.Receive()->status, 400);
  RawClient next(server_->port());
  next.Send(Post(kInfer, std::string(400'000, ' ') + kJson));
  EXPECT_EQ(next.Receive()->body, kJsonAnswer);
}

TEST_F(HttpFramingTest, ABodyThatTricklesTimesOut) {
  options_.stall_timeout = milliseconds{100};
  Start();
  RawClient client(server_->port());
  client.Send(Head("Content-Length: 1000000\r\n"));
  // One byte in every turn of the loop, as long as the server accepts it.
  RawClient pace(server_->port());
  constexpr int kMaxBytes = 15'000;  // fewer than what counts as progress
  int sent = 0;
  for (; sent < kMaxBytes && !client.IsEnded(); ++sent) {
    client.Send("x");
    pace.Send(Get("/v2/health/live"));
    EXPECT_EQ(pace.Receive()->status, 200);
  }
  EXPECT_TRUE(client.AtEnd());
}

/// A handler that runs out of memory.
class ThrowingHandler final : public HttpHandler {
 public:
  void Handle(Exchange& exchange) override {
    if (exchange.head().path().text() == "/on-loop") throw std::bad_alloc();
    if (exchange.head().path().text() == "/off-loop") {
      return off_loop_.Run(exchange, [] { throw std::bad_alloc(); });
    }
    exchange.Finish();
  }
  bool MakeInferenceReply(Exchange&, std::unique_ptr<request::InferenceResponse>, int) override {
    return true;
  }
  void Stop() override { off_loop_.Stop(); }

 private:
  OffLoop off_loop_{"test", 1};
};

TEST_F(HttpFramingTest, RunningOutOfMemoryEndsOnlyTheRequest) {
  Start(std::make_shared<ThrowingHandler>());
  RawClient bystander(server_->port());
  RawClient on_loop(server_->port());
  on_loop.Send(Get("/on-loop"));
  EXPECT_TRUE(on_loop.AtEnd());
  RawClient off_loop(server_->port());
  off_loop.Send(Get("/off-loop") + Get("/other"));
  EXPECT_EQ(off_loop.Receive()->status, 503);
  EXPECT_EQ(off_loop.Receive()->status, 200);
  bystander.Send(Get("/other"));
  EXPECT_EQ(bystander.Receive()->status, 200);
}

// ---- Work on other threads ----

TEST_F(HttpFramingTest, ASlowIndexDelaysNoOtherClient) {
  std::promise<void> asked, answer;
  service_.on_index = [&] {
    asked.set_value();
    answer.get_future().wait();
  };
  Start();
  RawClient slow(server_->port());
  slow.Send(Post("/v2/repository/index", ""));
  asked.get_future().wait();
  PassTheLoop();
  answer.set_value();
  EXPECT_EQ(slow.Receive()->status, 200);
}

/// A handler that works for a request, as the encoding of a large reply does, until the client has
/// gone and the test lets it go on.
class TimingHandler final : public HttpHandler {
 public:
  void Handle(Exchange& exchange) override {
    if (exchange.head().path().text() != "/timed") return exchange.Finish();
    exchange.timing() = std::make_shared<const ServerTiming>();
    off_loop_.Run(exchange, [this, &exchange] {
      begun.set_value();
      while (!exchange.IsGone()) std::this_thread::yield();
      gone.set_value();
      go_on.get_future().wait();
      has_timing.set_value(exchange.timing() != nullptr);
    });
  }
  bool MakeInferenceReply(Exchange&, std::unique_ptr<request::InferenceResponse>, int) override {
    return true;
  }
  void Stop() override { off_loop_.Stop(); }

  std::promise<void> begun, gone, go_on;
  std::promise<bool> has_timing;

 private:
  OffLoop off_loop_{"test", 1};
};

TEST_F(HttpFramingTest, TheTimesStayWhileAnotherThreadMakesTheReply) {
  const auto handler = std::make_shared<TimingHandler>();
  Start(handler);
  RawClient client(server_->port());
  client.Send(Get("/timed"));
  handler->begun.get_future().wait();
  client.Abort();
  handler->gone.get_future().wait();
  PassTheLoop();  // the loop has done all that it does for a client that has gone
  handler->go_on.set_value();
  EXPECT_TRUE(handler->has_timing.get_future().get());
}

std::string LargeJson(const std::string& id, int floats) {
  std::string json = R"({"id":")" + id + R"(","inputs":[{"name":"INPUT0","shape":[)" +
                     std::to_string(floats) + R"(],"datatype":"FP32","data":[0.5)";
  for (int i = 1; i < floats; ++i) json += ",0.25";
  return json + "]}]}";
}

TEST_F(HttpFramingTest, LargeJsonIsAnsweredInOrder) {
  Start();
  const std::string large = LargeJson("large", 200'000);
  RawClient client(server_->port());
  std::thread sender([&] {
    client.Send(Post(kInfer, large) + Post(kInfer, kJson) +
                Post(kInfer, large, "Accept-Encoding: gzip\r\n") + Post(kInfer, large + "x"));
  });
  const auto first = client.Receive();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->status, 200);
  EXPECT_EQ(first->body.find(R"({"id":"large","model_name":"echo")"), 0u);
  EXPECT_NE(first->body.find("0.25,0.25]"), std::string::npos);
  EXPECT_EQ(client.Receive()->body, kJsonAnswer);
  const auto packed = client.Receive();
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->Field("Content-Encoding"), "gzip");
  EXPECT_EQ(Decompress(packed->body, 0, 10'000'000)->view(), first->body);
  const auto malformed = client.Receive();
  ASSERT_TRUE(malformed);
  EXPECT_EQ(malformed->status, 400);
  EXPECT_EQ(malformed->Field("Content-Type"), "application/json");
  sender.join();
}

TEST_F(HttpFramingTest, LargeCompressedBodies) {
  Start();
  const std::string large = LargeJson("packed", 100'000);
  codec::json::TextBuffer packed;
  const tensor::ByteSpan piece{large.data(), large.size()};
  ASSERT_TRUE(Compress({&piece, 1}, Encoding::kGzip, &packed).ok());
  RawClient client(server_->port());
  client.Send(Post(kInfer, packed.view(), "Content-Encoding: gzip\r\n") + Get("/v2/health/live"));
  const auto answer = client.Receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body.find(R"({"id":"packed")"), 0u);
  EXPECT_EQ(client.Receive()->status, 200);
}

TEST_F(HttpFramingTest, ADrainWaitsForOtherThreads) {
  service_.handler = service_.HoldHandler();
  Start();
  RawClient idle(server_->port());
  idle.Send(Get("/v2/health/live"));
  EXPECT_EQ(idle.Receive()->status, 200);
  RawClient client(server_->port());
  client.Send(Post(kInfer, LargeJson("last", 100'000)));
  auto request = service_.TakeHeld();
  auto stopped = std::async(std::launch::async, [&] { server_->Stop(milliseconds{60'000}); });
  EXPECT_TRUE(idle.AtEnd());                       // closed by the drain, which has begun then
  FakeInferenceService::Echo(std::move(request));  // another thread writes the large JSON
  const auto answer = client.Receive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  stopped.get();
}

}  // namespace
}  // namespace nereid::frontend::http
