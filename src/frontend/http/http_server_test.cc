// SPDX-License-Identifier: Apache-2.0
// The server over loopback, in front of a fake service.
#include "frontend/http/http_server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/testing/fake_inference_service.h"
#include "base/testing/failing_allocation.h"
#include "frontend/http/content_encoding.h"
#include "frontend/http/kserve_handler.h"
#include "frontend/http/testing/raw_client.h"
#include "frontend/http/testing/server_fixture.h"
#include "request/response_factory.h"

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

class HttpServerTest : public testing::ServerFixture {
 protected:
  HttpServerTest() : ServerFixture(2) {}
};

std::string BinaryBody(std::string* fields, size_t floats = 2) {
  const std::string json =
      R"({"id":"7","inputs":[{"name":"INPUT0","shape":[)" + std::to_string(floats) +
      R"(],"datatype":"FP32","parameters":{"binary_data_size":)" + std::to_string(floats * 4) +
      R"(}}],"outputs":[{"name":"OUTPUT0","parameters":{"binary_data":true}}]})";
  *fields = "Inference-Header-Content-Length: " + std::to_string(json.size()) + "\r\n";
  std::string data;
  for (size_t i = 0; i < floats * 4; ++i) data += static_cast<char>(i * 31);
  return json + data;
}

TEST_F(HttpServerTest, JsonInference) {
  Start();
  const auto response = Ask(Post(kInfer, kJson));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, kJsonAnswer);
  EXPECT_EQ(response.Field("Content-Type"), "application/json");
  EXPECT_EQ(response.Field("Inference-Header-Content-Length"), "");
}

TEST_F(HttpServerTest, BinaryInference) {
  Start();
  std::string fields;
  const std::string body = BinaryBody(&fields);
  const auto response = Ask(Post(kInfer, body, fields));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.Field("Content-Type"), "application/octet-stream");
  const std::string json =
      R"({"id":"7","model_name":"echo","model_version":"1","outputs":[{"name":"OUTPUT0",)"
      R"("datatype":"FP32","shape":[2],"parameters":{"binary_data_size":8}}]})";
  EXPECT_EQ(response.Field("Inference-Header-Content-Length"), std::to_string(json.size()));
  EXPECT_EQ(response.body, json + body.substr(body.size() - 8));
}

TEST_F(HttpServerTest, BinaryDataIsAligned) {
  bool aligned = false;
  service_.handler = [&](std::unique_ptr<request::InferenceRequest> request) {
    aligned = reinterpret_cast<uintptr_t>(request->inputs()[0].pieces[0].data) % 64 == 0;
    FakeInferenceService::Echo(std::move(request));
  };
  Start();
  std::string fields;
  const std::string body = BinaryBody(&fields);
  EXPECT_EQ(Ask(Post(kInfer, body, fields)).status, 200);
  EXPECT_TRUE(aligned);
}

TEST_F(HttpServerTest, RawInference) {
  Start();
  const auto response =
      Ask(Post(kInfer, "0123456789abcdef", "Inference-Header-Content-Length: 0\r\n"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body.substr(response.body.size() - 16), "0123456789abcdef");
}

TEST_F(HttpServerTest, LargeBodiesBothWays) {
  Start();
  std::string fields;
  const std::string body = BinaryBody(&fields, 2'000'000);
  const auto response = Ask(Post(kInfer, body, fields));
  ASSERT_EQ(response.status, 200);
  EXPECT_TRUE(response.body.substr(response.body.size() - 8'000'000) ==
              body.substr(body.size() - 8'000'000));
}

TEST_F(HttpServerTest, PipelinedRequestsAreAnsweredInOrder) {
  Start();
  std::string requests;
  for (int i = 0; i < 100; ++i) {
    requests += Post(kInfer, R"({"id":")" + std::to_string(i) + R"(","inputs":[]})");
  }
  RawClient client(server_->port());
  client.Send(requests);
  client.FinishSending();
  for (int i = 0; i < 100; ++i) {
    const auto response = client.Receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->body.find(R"({"id":")" + std::to_string(i) + "\""), 0u);
  }
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(HttpServerTest, BytesOneByOne) {
  Start();
  RawClient client(server_->port());
  for (const char c : Post(kInfer, kJson)) client.Send({&c, 1});
  const auto response = client.Receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, kJsonAnswer);
}

TEST_F(HttpServerTest, ChunkedBody) {
  Start();
  const std::string json = kJson;
  const auto chunk = [](const std::string& text) {
    char size[32];
    snprintf(size, sizeof(size), "%zx\r\n", text.size());
    return size + text + "\r\n";
  };
  const std::string request = std::string("POST ") + kInfer +
                              " HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" +
                              chunk(json.substr(0, 10)) + chunk(json.substr(10)) + "0\r\n\r\n";
  EXPECT_EQ(Ask(request).body, kJsonAnswer);
  RawClient client(server_->port());
  for (const char c : request) client.Send({&c, 1});
  client.Send(Post(kInfer, kJson));
  EXPECT_EQ(client.Receive()->body, kJsonAnswer);
  EXPECT_EQ(client.Receive()->body, kJsonAnswer);
}

TEST_F(HttpServerTest, TooManyChunks) {
  Start();
  std::string request =
      std::string("POST ") + kInfer + " HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 65'537; ++i) request += "1\r\nx\r\n";
  RawClient client(server_->port());
  client.Send(request);
  const auto response = client.Receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 400);
  EXPECT_EQ(response->body,
            R"({"error":"Chunked request body exceeds maximum of 65536 non-empty chunks. Send )"
            R"(fewer or larger HTTP chunks."})");
}

TEST_F(HttpServerTest, ExpectContinue) {
  Start();
  RawClient client(server_->port());
  const std::string request = Post(kInfer, kJson, "Expect: 100-continue\r\n");
  const size_t head = request.find("\r\n\r\n") + 4;
  client.Send(request.substr(0, head));
  EXPECT_EQ(client.Receive()->status, 100);
  client.Send(request.substr(head));
  EXPECT_EQ(client.Receive()->body, kJsonAnswer);
}

TEST_F(HttpServerTest, HalfClosedClientGetsItsAnswer) {
  service_.handler = service_.HoldHandler();
  Start();
  RawClient client(server_->port());
  client.Send(Post(kInfer, kJson));
  auto request = service_.TakeHeld();
  client.FinishSending();
  FakeInferenceService::Echo(std::move(request));
  EXPECT_EQ(client.Receive()->body, kJsonAnswer);
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(HttpServerTest, LostClientCancelsItsRequest) {
  service_.handler = service_.HoldHandler();
  Start();
  RawClient client(server_->port());
  client.Send(Post(kInfer, kJson));
  auto request = service_.TakeHeld();
  client.Abort();
  while (!request->IsCancelled()) std::this_thread::yield();
  FakeInferenceService::Echo(std::move(request));
  service_.handler = &FakeInferenceService::Echo;
  EXPECT_EQ(Ask(Post(kInfer, kJson)).status, 200);
}

TEST_F(HttpServerTest, InputThatIsSentAheadDoesNotCancel) {
  service_.handler = service_.HoldHandler();
  Start();
  RawClient client(server_->port());
  client.Send(Post(kInfer, kJson));
  auto first = service_.TakeHeld();
  client.Send(Post(kInfer, kJson) + Get("/v2/health/live"));
  FakeInferenceService::Echo(std::move(first));
  EXPECT_EQ(client.Receive()->body, kJsonAnswer);
  auto second = service_.TakeHeld();
  EXPECT_FALSE(second->IsCancelled());
  FakeInferenceService::Echo(std::move(second));
  EXPECT_EQ(client.Receive()->body, kJsonAnswer);
  EXPECT_EQ(client.Receive()->status, 200);
}

TEST_F(HttpServerTest, TheLossOfAClientThatIsFarAheadCancels) {
  options_.idle_timeout = milliseconds{40};  // makes the loop check its clients more often
  service_.handler = service_.HoldHandler();
  Start();
  RawClient client(server_->port());
  client.Send(Post(kInfer, kJson));
  auto request = service_.TakeHeld();
  client.Send(Post(kInfer, std::string(100'000, ' ')));
  client.Abort();
  while (!request->IsCancelled()) std::this_thread::yield();
  FakeInferenceService::Echo(std::move(request));
}

TEST_F(HttpServerTest, DeadlineIsAnsweredAndCancels) {
  service_.handler = service_.HoldHandler();
  Start();
  RawClient client(server_->port());
  client.Send(Post(kInfer, kJson, "Grpc-Timeout: 20m\r\n"));
  auto late = service_.TakeHeld();
  EXPECT_NE(late->deadline_ns, 0u);
  const auto answer = client.Receive();
  EXPECT_EQ(answer->status, 504);
  EXPECT_EQ(answer->body, R"({"error":"the deadline of the request has passed"})");
  EXPECT_TRUE(late->IsCancelled());

  // The connection serves the next request, and drops the core's late response to the first one.
  client.Send(Post(kInfer, kJson, "X-Envoy-Expected-Rq-Timeout-Ms: 60000\r\n"));
  auto next = service_.TakeHeld();
  EXPECT_NE(next->deadline_ns, 0u);
  FakeInferenceService::Fail(std::move(late), base::Status::Internal("late"));
  FakeInferenceService::Echo(std::move(next));
  EXPECT_EQ(client.Receive()->body, kJsonAnswer);
  client.Send(Post(kInfer, kJson));
  auto last = service_.TakeHeld();
  EXPECT_EQ(last->deadline_ns, 0u);
  FakeInferenceService::Echo(std::move(last));
  EXPECT_EQ(client.Receive()->body, kJsonAnswer);
}

TEST_F(HttpServerTest, AClientWithADeadlineGoesAway) {
  service_.handler = service_.HoldHandler();
  Start();
  RawClient client(server_->port());
  client.Send(Post(kInfer, kJson, "grpc-timeout: 1H\r\n"));
  auto request = service_.TakeHeld();
  client.Abort();
  while (!request->IsCancelled()) std::this_thread::yield();
  FakeInferenceService::Echo(std::move(request));
}

TEST_F(HttpServerTest, TheShorterTimeoutCounts) {
  service_.handler = service_.HoldHandler();
  Start();
  for (const char* fields : {"grpc-timeout: 20m\r\nx-envoy-expected-rq-timeout-ms: 60000\r\n",
                             "grpc-timeout: 1M\r\nx-envoy-expected-rq-timeout-ms: 20\r\n",
                             "grpc-timeout: 99999999H\r\nx-envoy-expected-rq-timeout-ms: 0\r\n"}) {
    RawClient client(server_->port());
    client.Send(Post(kInfer, kJson, fields));
    auto request = service_.TakeHeld();
    EXPECT_EQ(client.Receive()->status, 504) << fields;
    FakeInferenceService::Echo(std::move(request));
  }
}

TEST_F(HttpServerTest, MalformedTimeouts) {
  Start();
  EXPECT_EQ(Ask(Post(kInfer, kJson, "Grpc-Timeout: 5\r\n")).body,
            R"({"error":"the header 'grpc-timeout' has the value '5', expected up to 8 digits and )"
            R"(a unit of H, M, S, m, u or n"})");
  const auto answer = Ask(Post(kInfer, kJson, "x-envoy-expected-rq-timeout-ms: soon\r\n"));
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.body,
            R"({"error":"the header 'x-envoy-expected-rq-timeout-ms' has the value 'soon', )"
            R"(expected a number of milliseconds"})");
  EXPECT_EQ(Ask(Get("/v2", "Grpc-Timeout: x\r\n")).status, 200);  // only inference has deadlines
}

TEST_F(HttpServerTest, AnswersFromOtherThreads) {
  service_.handler = service_.HoldHandler();
  Start();
  std::thread backend([&] {
    for (int i = 0; i < 200; ++i) FakeInferenceService::Echo(service_.TakeHeld());
  });
  RawClient first(server_->port());
  RawClient second(server_->port());
  for (int i = 0; i < 100; ++i) {
    first.Send(Post(kInfer, kJson));
    second.Send(Post(kInfer, kJson));
    EXPECT_EQ(first.Receive()->body, kJsonAnswer);
    EXPECT_EQ(second.Receive()->body, kJsonAnswer);
  }
  backend.join();
}

/// Keeps the sink of a request, with which the test sends what it wants.
struct HeldSink {
  explicit HeldSink(std::unique_ptr<request::InferenceRequest> request)
      : factory(request->response_factory()), response(factory->NewResponse().value()) {
    const auto sink = request->sink();
    sink->RequestReleased(std::move(request));
  }
  std::shared_ptr<request::ResponseFactory> factory;
  std::unique_ptr<request::InferenceResponse> response;
};

TEST_F(HttpServerTest, AnAnswerThatCompletesWithoutMemoryIsSent) {
  service_.handler = service_.HoldHandler();
  Start();
  for (const std::string& fields : {std::string(), std::string("grpc-timeout: 1H\r\n")}) {
    RawClient client(server_->port());
    client.Send(Post(kInfer, kJson, fields));
    HeldSink held(service_.TakeHeld());
    {
      const base::testing::FailingAllocation no_memory;
      held.factory->Send(std::move(held.response), true);
    }
    EXPECT_EQ(client.Receive()->status, 200);
  }
}

TEST_F(HttpServerTest, MalformedHttp) {
  Start();
  for (const char* text :
       {"nonsense\r\n\r\n", "GET /v2 HTTP/9.1\r\n\r\n", "GET /v2 HTTP/1.1\r\nbad header\r\n\r\n",
        "POST /v2 HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
        "POST /v2 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    RawClient client(server_->port());
    client.Send(text);
    const auto response = client.Receive();
    ASSERT_TRUE(response) << text;
    EXPECT_EQ(response->status, 400) << text;
    EXPECT_TRUE(client.AtEnd()) << text;
  }
}

TEST_F(HttpServerTest, OversizedHead) {
  Start();
  RawClient client(server_->port());
  client.Send("GET /v2 HTTP/1.1\r\nX: " + std::string(20'000, 'x'));
  const auto response = client.Receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 431);
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(HttpServerTest, OversizedBody) {
  options_.max_body_size = 1000;
  Start();
  RawClient client(server_->port());
  client.Send(Post(kInfer, std::string(1001, 'x')));
  const auto response = client.Receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 413);
  EXPECT_TRUE(client.AtEnd());
  RawClient chunked(server_->port());
  chunked.Send(std::string("POST ") + kInfer +
               " HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" +
               std::string(2000, 'x') + "\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.Receive()->status, 413);
}

TEST_F(HttpServerTest, SlowClientsAreClosed) {
  options_.head_timeout = milliseconds{40};
  options_.stall_timeout = milliseconds{40};
  options_.idle_timeout = milliseconds{40};
  Start();
  RawClient idle(server_->port());
  RawClient in_head(server_->port());
  in_head.Send("POST /v2 HTTP/1.1\r\nHost:");
  RawClient in_body(server_->port());
  in_body.Send(std::string("POST ") + kInfer +
               " HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc");
  EXPECT_TRUE(idle.AtEnd());
  EXPECT_TRUE(in_head.AtEnd());
  EXPECT_TRUE(in_body.AtEnd());
}

TEST_F(HttpServerTest, ASilentClientIsClosedAndOneThatHasAskedIsKept) {
  options_.head_timeout = milliseconds{40};
  Start();
  RawClient kept(server_->port());
  kept.Send(Get("/v2/health/live"));
  EXPECT_EQ(kept.Receive()->status, 200);
  RawClient silent(server_->port());
  EXPECT_TRUE(silent.AtEnd());
  EXPECT_FALSE(kept.IsEnded());
  kept.Send(Get("/v2/health/live"));
  EXPECT_EQ(kept.Receive()->status, 200);
}

TEST_F(HttpServerTest, ConnectionClose) {
  Start();
  RawClient client(server_->port());
  client.Send(Get("/v2/health/live", "Connection: close\r\n"));
  const auto response = client.Receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->Field("Connection"), "close");
  EXPECT_TRUE(client.AtEnd());
}

TEST_F(HttpServerTest, DrainFinishesRequestsInFlight) {
  service_.handler = service_.HoldHandler();
  options_.threads = 1;  // so that the drain has reached all connections when it closes one
  Start();
  RawClient idle(server_->port());
  idle.Send(Get("/v2/health/live"));
  EXPECT_EQ(idle.Receive()->status, 200);
  RawClient busy(server_->port());
  busy.Send(Post(kInfer, kJson));
  auto request = service_.TakeHeld();
  auto stopped = std::async(std::launch::async, [&] { server_->Stop(milliseconds{60'000}); });
  EXPECT_TRUE(idle.AtEnd());  // closed by the drain, which has begun then
  FakeInferenceService::Echo(std::move(request));
  const auto response = busy.Receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, kJsonAnswer);
  EXPECT_EQ(response->Field("Connection"), "close");
  EXPECT_TRUE(busy.AtEnd());
  stopped.get();
  EXPECT_FALSE(RawClient(server_->port()).connected());
}

TEST_F(HttpServerTest, DrainDoesNotWaitForHalfARequest) {
  options_.threads = 1;
  Start();
  const std::string whole = Post(kInfer, kJson);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (const std::string& part :
       {whole.substr(0, 10), whole.substr(0, whole.size() - 1), Get("/v2") + whole.substr(0, 30)}) {
    clients.push_back(std::make_unique<RawClient>(server_->port()));
    clients.back()->Send(part);
  }
  EXPECT_EQ(clients.back()->Receive()->status, 200);  // whole requests are answered
  EXPECT_EQ(Ask(Get("/v2/health/live")).status, 200);
  server_->Stop(milliseconds{60'000});
  for (const auto& client : clients) EXPECT_TRUE(client->AtEnd());
}

// A load balancer that opens a connection for each request does so until it learns of the stop.
TEST_F(HttpServerTest, AStopAnswersTheClientsThatHaveConnectedBeforeIt) {
  options_.threads = 1;
  std::promise<void> blocks, connected;
  service_.handler = [&](std::unique_ptr<request::InferenceRequest> request) {
    blocks.set_value();
    connected.get_future().wait();  // the only loop does nothing else in the meantime
    FakeInferenceService::Echo(std::move(request));
  };
  Start();
  RawClient first(server_->port());
  first.Send(Post(kInfer, kJson));
  blocks.get_future().wait();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_->port()));
    clients.back()->Send(Get("/v2/health/live"));
  }
  server_->BeginStop();
  connected.set_value();
  EXPECT_EQ(first.Receive()->status, 200);
  for (const auto& client : clients) {
    const auto response = client->Receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->Field("Connection"), "close");
  }
}

// Loops that have ended are told to end once more; a leak checker reports what that leaves behind.
TEST_F(HttpServerTest, AStopAfterBeginStopLeaksNothing) {
  Start();
  EXPECT_EQ(Ask(Post(kInfer, kJson)).status, 200);
  server_->BeginStop();
  server_->BeginStop();
  server_->Stop(milliseconds{10'000});
  server_->BeginStop();
}

TEST_F(HttpServerTest, StopDoesNotWaitBeyondItsGrace) {
  service_.handler = service_.HoldHandler();
  Start();
  RawClient client(server_->port());
  client.Send(Post(kInfer, kJson));
  auto request = service_.TakeHeld();
  server_->Stop(milliseconds{0});
  EXPECT_TRUE(request->IsCancelled());
  EXPECT_TRUE(client.AtEnd());
  FakeInferenceService::Echo(std::move(request));  // a late response, which is dropped
}

TEST_F(HttpServerTest, PortInUse) {
  Start();
  HttpServerOptions options = options_;
  options.port = server_->port();
  HttpServer second(options, MakeKserveHandler(kserve_, service_));
  EXPECT_EQ(second.Start().message(),
            "Socket '127.0.0.1:" + std::to_string(server_->port()) + "' already in use ");
}

TEST_F(HttpServerTest, BadAddress) {
  options_.address = "not an address";
  HttpServer server(options_, MakeKserveHandler(kserve_, service_));
  EXPECT_EQ(server.Start().code(), base::StatusCode::kInvalidArgument);
}

TEST_F(HttpServerTest, TheIndexIsReadOffTheLoopAndDoesNotWaitForLoads) {
  std::promise<void> allowed;
  const std::shared_future<void> may_go = allowed.get_future().share();
  std::promise<void> reading;
  service_.on_load = [may_go](const auto&, const auto&) { may_go.wait(); };
  service_.on_index = [&, may_go] {
    reading.set_value();
    may_go.wait();
  };
  options_.threads = 1;
  Start();
  const auto post = [](const std::string& path) {
    return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
  };
  constexpr int kLoads = 10;  // more than there are threads for loads
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < kLoads; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_->port()));
    clients.back()->Send(post("/v2/repository/models/m/load"));
  }
  clients.push_back(std::make_unique<RawClient>(server_->port()));
  clients.back()->Send(post("/v2/repository/index"));
  reading.get_future().wait();
  EXPECT_EQ(Ask("GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
  allowed.set_value();
  for (const auto& client : clients) {
    const auto response = client->Receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
  }
}

}  // namespace
}  // namespace nereid::frontend::http
