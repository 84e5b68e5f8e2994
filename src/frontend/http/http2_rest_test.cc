// SPDX-License-Identifier: Apache-2.0
// REST over HTTP/2, over loopback, in front of a fake service.
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "api/testing/fake_inference_service.h"
#include "frontend/http/cors.h"
#include "frontend/http/testing/raw_client.h"
#include "frontend/http/testing/server_fixture.h"
#include "frontend/http2/testing/test_client.h"
#include "request/response_factory.h"

namespace nereid::frontend::http {
namespace {

using api::testing::FakeInferenceService;
using http2::testing::Headers;
using http2::testing::Reply;
using http2::testing::TestClient;
using std::chrono::milliseconds;
using testing::kInfer;
using testing::kJson;
using testing::kJsonAnswer;
using RequestPtr = std::unique_ptr<request::InferenceRequest>;

constexpr char kStream[] = "/v2/models/decoupled/generate_stream";
constexpr char kGenerateBody[] = R"({"INPUT0":[1,2.5]})";

class Http2RestTest : public testing::ServerFixture {
 protected:
  Http2RestTest() : ServerFixture(1) {}

  TestClient& client() {
    if (client_ == nullptr) client_ = std::make_unique<TestClient>(server_->port());
    return *client_;
  }
  void ExpectAlive() {
    const Reply reply = client().Request("POST", kInfer, kJson);
    EXPECT_EQ(reply.Field(":status"), "200");
    EXPECT_EQ(reply.body, kJsonAnswer);
  }

  std::unique_ptr<TestClient> client_;
};

/// Sends a response of `bytes` bytes.
void Respond(request::ResponseFactory& factory, size_t bytes, bool final = false) {
  auto response = factory.NewResponse().value();
  request::Output* output =
      *response->AddOutput("OUT", tensor::DataType::kUint8, {static_cast<int64_t>(bytes)});
  memory::MemoryType type = memory::MemoryType::kCpu;
  int64_t id = 0;
  ASSERT_TRUE(response->AllocateOutput(output, bytes, &type, &id).ok());
  std::fill_n(output->data, bytes, '\x07');
  factory.Send(std::move(response), final);
}

void Release(RequestPtr request) {
  const auto sink = request->sink();
  request->Unbind();
  sink->RequestReleased(std::move(request));
}

TEST_F(Http2RestTest, Inference) {
  Start();
  const Reply reply = client().Request("POST", kInfer, kJson);
  EXPECT_EQ(reply.Field(":status"), "200");
  EXPECT_EQ(reply.Field("content-type"), "application/json");
  EXPECT_EQ(reply.Field("content-length"), std::to_string(reply.body.size()));
  EXPECT_EQ(reply.body, kJsonAnswer);
  EXPECT_EQ(reply.error_code, 0u);
}

TEST_F(Http2RestTest, BinaryInferenceWithAndWithoutALength) {
  Start();
  const size_t floats = 1 << 20;
  const std::string json =
      R"({"inputs":[{"name":"INPUT0","shape":[)" + std::to_string(floats) +
      R"(],"datatype":"FP32","parameters":{"binary_data_size":)" + std::to_string(floats * 4) +
      R"(}}],"outputs":[{"name":"OUTPUT0","parameters":{"binary_data":true}}]})";
  std::string data;
  for (size_t i = 0; i < floats * 4; ++i) data += static_cast<char>(i * 31);
  bool is_aligned = false;
  service_.handler = [&](RequestPtr request) {
    is_aligned = reinterpret_cast<uintptr_t>(request->inputs()[0].pieces[0].data) % 64 == 0;
    FakeInferenceService::Echo(std::move(request));
  };
  const std::string size = std::to_string(json.size());
  for (const bool has_length : {true, false}) {
    Headers headers = {{"inference-header-content-length", size}};
    if (has_length) {
      headers.emplace_back("content-length", std::to_string(json.size() + data.size()));
    }
    const Reply reply = client().Request("POST", kInfer, json + data, headers);
    EXPECT_EQ(reply.Field(":status"), "200") << reply.body.substr(0, 200);
    EXPECT_EQ(reply.Field("content-type"), "application/octet-stream");
    const size_t head = std::stoul(reply.Field("inference-header-content-length"));
    EXPECT_TRUE(reply.body.substr(head) == data);
    EXPECT_TRUE(is_aligned);
  }
}

TEST_F(Http2RestTest, OtherMethodsAndPaths) {
  Start();
  EXPECT_EQ(client().Request("GET", "/v2/health/live").Field(":status"), "200");
  EXPECT_EQ(client().Request("GET", "/v2/health/live").Field("content-length"), "0");
  EXPECT_EQ(client().Request("GET", "/nowhere").Field(":status"), "404");
  EXPECT_EQ(client().Request("PUT", "/v2").Field(":status"), "405");
  EXPECT_EQ(client().Request("PUT", "/v2").Field("allow"), "GET, HEAD");
  const Reply head = client().Request("HEAD", "/v2");
  EXPECT_EQ(head.Field(":status"), "200");
  EXPECT_EQ(head.Field("content-length"), client().Request("GET", "/v2").Field("content-length"));
  EXPECT_EQ(head.body, "");
  EXPECT_TRUE(head.Field("date").ends_with(" GMT")) << head.Field("date");
  EXPECT_EQ(client().Request("GET", "/v2?a=b").Field(":status"), "200");
}

TEST_F(Http2RestTest, RequestsAreAnsweredAsTheyComplete) {
  service_.handler = service_.HoldHandler();
  Start();
  std::vector<int32_t> streams;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(client().OpenRequest("POST", kInfer));
    client().Send(streams.back(), kJson, /*end=*/true);
  }
  std::vector<RequestPtr> requests;
  for (int i = 0; i < 3; ++i) requests.push_back(service_.TakeHeld());
  for (const size_t i : {2, 0, 1}) {
    std::thread([&] { FakeInferenceService::Echo(std::move(requests[i])); }).join();
    EXPECT_EQ(client().Finish(streams[i]).body, kJsonAnswer);
  }
}

// The reply is complete in an event of another connection, in which no task and no timer runs.
TEST_F(Http2RestTest, ARequestOfHttp1MayCompleteOneOfHttp2) {
  RequestPtr held;
  std::promise<void> is_held;
  service_.handler = [&](RequestPtr request) {
    if (held == nullptr) {
      held = std::move(request);
      return is_held.set_value();
    }
    FakeInferenceService::Echo(std::move(held));
    FakeInferenceService::Echo(std::move(request));
  };
  Start();
  const int32_t stream = client().OpenRequest("POST", kInfer);
  client().Send(stream, kJson, /*end=*/true);
  is_held.get_future().wait();
  client().RoundTrip();
  testing::RawClient other(server_->port());
  other.Send(testing::Post(kInfer, kJson));
  EXPECT_EQ(other.Receive()->body, kJsonAnswer);
  EXPECT_EQ(client().Finish(stream).body, kJsonAnswer);
}

TEST_F(Http2RestTest, ExpectContinue) {
  Start();
  const int32_t stream = client().OpenRequest("POST", kInfer, {{"expect", "100-continue"}});
  client().RoundTrip();
  client().Send(stream, kJson, /*end=*/true);
  EXPECT_EQ(client().Finish(stream).statuses, (std::vector<std::string>{"100", "200"}));
}

TEST_F(Http2RestTest, LimitsOfTheHead) {
  options_.max_fields = 20;
  Start();
  Headers many;
  for (int i = 0; i < 21; ++i) many.emplace_back("x-" + std::to_string(i), "1");
  EXPECT_EQ(client().Request("GET", "/v2", {}, many).body,
            R"({"error":"the request has more than 20 header fields"})");
  EXPECT_EQ(client().Request("GET", "/v2", {}, many).Field(":status"), "431");
  const Headers large = {{"x", std::string(17 << 10, 'x')}};
  EXPECT_EQ(client().Request("GET", "/v2", {}, large).body,
            R"({"error":"the request's head is larger than 16384 bytes"})");
  const Headers huge = {{"x", std::string(30 << 10, 'x')}, {"y", std::string(30 << 10, 'y')}};
  EXPECT_NE(client().Request("GET", "/v2", {}, huge).error_code, 0u);
  ExpectAlive();
}

TEST_F(Http2RestTest, TheHostIsNamedOnce) {
  Start();
  const auto status = [&](const Headers& extra) {
    return client().Request("GET", "/v2/health/live", {}, extra).Field(":status");
  };
  EXPECT_EQ(status({{"host", "LOCALHOST"}}), "200");
  EXPECT_EQ(status({{"host", "other"}}), "400");
}

TEST_F(Http2RestTest, BlanksAroundAFieldAreRemoved) {
  Start();
  EXPECT_EQ(client().Request("GET", "/v2/health/live", {}, {{"x-a", " v\t"}}).Field(":status"),
            "200");
  const Reply reply = client().Request("POST", kInfer, kJson, {{"grpc-timeout", " x "}});
  EXPECT_EQ(reply.Field(":status"), "400");
  EXPECT_NE(reply.body.find("the header 'grpc-timeout' has the value 'x'"), std::string::npos)
      << reply.body;
}

TEST_F(Http2RestTest, LimitsOfTheBody) {
  options_.max_body_size = 1000;
  Start();
  Reply reply =
      client().Request("POST", kInfer, std::string(1001, ' '), {{"content-length", "1001"}});
  EXPECT_EQ(reply.Field(":status"), "413");
  EXPECT_EQ(reply.body,
            R"({"error":"the request's body of 1001 bytes exceeds the maximum of 1000 bytes"})");
  // Of unknown length, and never ended: the server says that it is enough.
  const int32_t stream = client().OpenRequest("POST", kInfer);
  client().Send(stream, std::string(2000, ' '), /*end=*/false);
  reply = client().Finish(stream);
  EXPECT_EQ(reply.Field(":status"), "413");
  EXPECT_EQ(reply.error_code, uint32_t{NGHTTP2_NO_ERROR});
  ExpectAlive();
}

TEST_F(Http2RestTest, ABodyEndsAtTheLimitOfThePartThatItIs) {
  kserve_.max_input_size = 100'000;
  Start();
  const int32_t stream = client().OpenRequest("POST", kInfer);
  client().Send(stream, std::string(100'001, ' '), /*end=*/false);
  Reply reply = client().Finish(stream);
  EXPECT_EQ(reply.Field(":status"), "400");
  EXPECT_EQ(
      reply.body,
      R"({"error":"request JSON size exceeds the maximum allowed input size of 100000 bytes. )"
      R"(Use --http-max-input-size to increase the limit."})");
  const int32_t announced =
      client().OpenRequest("POST", "/v2/models/echo/generate", {{"content-length", "100001"}});
  reply = client().Finish(announced);
  EXPECT_EQ(reply.Field(":status"), "400");
  EXPECT_NE(reply.body.find("request JSON size of 100001 bytes"), std::string::npos);
  ExpectAlive();
}

TEST_F(Http2RestTest, BodiesBeyondTheBudgetAreRefused) {
  options_.receive_budget = std::make_shared<base::ByteBudget>(1 << 20, milliseconds{0});
  Start();
  const int32_t large = client().OpenRequest("POST", kInfer, {{"content-length", "900000"}});
  client().Send(large, "{", /*end=*/false);  // allocated at once: there is room
  const Reply reply = client().Request("POST", kInfer, std::string(500'000, ' '));
  EXPECT_EQ(reply.Field(":status"), "503");
  EXPECT_NE(reply.body.find("--max-request-memory"), std::string::npos);
  client().Reset(large);
  client().RoundTrip();
  // Several incomplete requests of a connection have half of the budget.
  std::vector<int32_t> streams;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(client().OpenRequest("POST", kInfer));
    client().Send(streams.back(), std::string(200 << 10, ' '), /*end=*/false);
    client().RoundTrip();
  }
  EXPECT_EQ(client().Finish(streams[2]).Field(":status"), "503");
  client().Reset(streams[0]);
  client().Reset(streams[1]);
  ExpectAlive();
}

// RFC 9113, sections 8.1.1 and 8.2.2.
TEST_F(Http2RestTest, MalformedRequestsAreErrorsOfTheirStream) {
  Start();
  const std::string length = std::to_string(std::strlen(kJson));
  for (const Headers& headers :
       {Headers{{"connection", "close"}}, Headers{{"transfer-encoding", "chunked"}},
        Headers{{"upgrade", "h2c"}}, Headers{{"content-length", "3"}},
        Headers{{"content-length", "500"}},
        Headers{{"content-length", length}, {"content-length", length}}, Headers{{"te", "gzip"}}}) {
    const Reply reply = client().Request("POST", kInfer, kJson, headers);
    EXPECT_EQ(reply.Field(":status"), "") << headers[0].first;
    EXPECT_EQ(reply.error_code, uint32_t{NGHTTP2_PROTOCOL_ERROR}) << headers[0].first;
  }
  ExpectAlive();
}

TEST_F(Http2RestTest, ADeadlineIsAnsweredAndCancels) {
  service_.handler = service_.HoldHandler();
  Start();
  const int32_t stream = client().OpenRequest("POST", kInfer, {{"grpc-timeout", "20m"}});
  client().Send(stream, kJson, /*end=*/true);
  RequestPtr held = service_.TakeHeld();
  const Reply reply = client().Finish(stream);
  EXPECT_EQ(reply.Field(":status"), "504");
  EXPECT_TRUE(held->response_factory()->IsCancelled());
  FakeInferenceService::Echo(std::move(held));
  EXPECT_EQ(client().Request("GET", "/v2").Field(":status"), "200");
}

TEST_F(Http2RestTest, AResetAndTheLossOfTheClientCancel) {
  service_.handler = service_.HoldHandler();
  Start();
  std::vector<RequestPtr> held;
  for (int i = 0; i < 2; ++i) {
    const int32_t stream = client().OpenRequest("POST", kInfer);
    client().Send(stream, kJson, /*end=*/true);
    held.push_back(service_.TakeHeld());
    if (i == 0) {
      client().Reset(stream);
      client().RoundTrip();
      EXPECT_TRUE(held[0]->response_factory()->IsCancelled());
    }
  }
  EXPECT_FALSE(held[1]->response_factory()->IsCancelled());
  client_.reset();
  while (!held[1]->response_factory()->IsCancelled()) std::this_thread::yield();
  for (RequestPtr& request : held) FakeInferenceService::Echo(std::move(request));
}

TEST_F(Http2RestTest, EventsAreSentAsTheyCome) {
  service_.handler = service_.HoldHandler();
  Start();
  const int32_t stream = client().OpenRequest("POST", kStream);
  client().Send(stream, kGenerateBody, /*end=*/true);
  RequestPtr request = service_.TakeHeld();
  const auto factory = request->response_factory();
  const std::string event =
      "data: {\"OUT\":7,\"model_name\":\"decoupled\",\"model_version\":\"1\"}\n\n";
  for (size_t i = 1; i <= 3; ++i) {
    Respond(*factory, 1, /*final=*/i == 3);
    EXPECT_EQ(client().WaitForBody(stream, i * event.size()).body.size(), i * event.size());
  }
  Release(std::move(request));
  const Reply reply = client().Finish(stream);
  EXPECT_EQ(reply.body, event + event + event);
  EXPECT_EQ(reply.Field(":status"), "200");
  EXPECT_EQ(reply.Field("content-type"), "text/event-stream; charset=utf-8");
  EXPECT_EQ(reply.Field("content-length"), "");
}

TEST_F(Http2RestTest, AStreamWithoutResponsesIsEmptyAndAnErrorFirstDecidesTheStatus) {
  bool is_first = true;
  service_.handler = [&](RequestPtr request) {
    if (std::exchange(is_first, false)) {
      FakeInferenceService::AnswerNothing(std::move(request));
    } else {
      FakeInferenceService::Fail(std::move(request), base::Status::Unavailable("busy"));
    }
  };
  Start();
  Reply reply = client().Request("POST", kStream, kGenerateBody);
  EXPECT_EQ(reply.Field(":status"), "200");
  EXPECT_EQ(reply.body, "");
  reply = client().Request("POST", kStream, kGenerateBody);
  EXPECT_EQ(reply.Field(":status"), "503");
  EXPECT_EQ(reply.body, "data: {\"error\":\"busy\"}\n\n");
}

TEST_F(Http2RestTest, AClientWithoutWindowBoundsWhatABackendMaySend) {
  options_.max_waiting_bytes = 64 << 10;
  options_.slow_reader_patience = milliseconds{10};
  service_.traits["decoupled"].decoupled = true;
  service_.handler = service_.HoldHandler();
  Start();
  client_ = std::make_unique<TestClient>(server_->port(), /*window=*/0);
  const int32_t stream = client().OpenRequest("POST", kStream);
  client().Send(stream, kGenerateBody, /*end=*/true);
  RequestPtr request = service_.TakeHeld();
  const auto factory = request->response_factory();
  for (int i = 0; i < 100 && !factory->IsCancelled(); ++i) Respond(*factory, 10'000);
  EXPECT_TRUE(factory->IsCancelled());
  Release(std::move(request));
  client().SetWindow(1 << 20);
  EXPECT_NE(client().Finish(stream).body.find("the client reads too slowly"), std::string::npos);
}

TEST_F(Http2RestTest, ALargeReplyIsSentAsTheWindowPermits) {
  Start();
  client_ = std::make_unique<TestClient>(server_->port(), /*window=*/1000);
  std::string json = R"({"inputs":[{"name":"INPUT0","shape":[50000],"datatype":"INT8","data":[1)";
  for (int i = 1; i < 50000; ++i) json += ",1";
  const Reply reply = client().Request("POST", kInfer, json + "]}]}");
  EXPECT_EQ(reply.Field(":status"), "200");
  EXPECT_EQ(reply.body.size(), std::stoul(reply.Field("content-length")));
  EXPECT_GT(reply.body.size(), 100'000u);
}

TEST_F(Http2RestTest, StalledStreamsAreReset) {
  options_.stall_timeout = milliseconds{40};
  Start();
  const int32_t body = client().OpenRequest("POST", kInfer);
  client().Send(body, "{", /*end=*/false);
  EXPECT_EQ(client().Finish(body).error_code, uint32_t{NGHTTP2_CANCEL});
  client_ = std::make_unique<TestClient>(server_->port(), /*window=*/0);
  const int32_t reply = client().OpenRequest("POST", kInfer);
  client().Send(reply, kJson, /*end=*/true);
  EXPECT_EQ(client().Finish(reply).error_code, uint32_t{NGHTTP2_CANCEL});
}

TEST_F(Http2RestTest, AnIdleConnectionEnds) {
  options_.stall_timeout = options_.idle_timeout = milliseconds{40};
  Start();
  ExpectAlive();
  client().WaitForClose();
  EXPECT_TRUE(client().going_away());
  EXPECT_EQ(client().goaway_error(), uint32_t{NGHTTP2_NO_ERROR});
}

TEST_F(Http2RestTest, DrainFinishesWhatRunsAndRefusesTheRest) {
  service_.handler = service_.HoldHandler();
  Start();
  const int32_t running = client().OpenRequest("POST", kInfer);
  client().Send(running, kJson, /*end=*/true);
  RequestPtr held = service_.TakeHeld();
  const int32_t half = client().OpenRequest("POST", kInfer);
  client().Send(half, "{", /*end=*/false);
  client().RoundTrip();
  server_->BeginStop();
  client().WaitForGoAway();
  EXPECT_EQ(client().Finish(half).error_code, uint32_t{NGHTTP2_REFUSED_STREAM});
  FakeInferenceService::Echo(std::move(held));
  EXPECT_EQ(client().Finish(running).body, kJsonAnswer);
  client().WaitForClose();
}

TEST_F(Http2RestTest, ALateResponseAfterTheEndOfTheServerIsDropped) {
  service_.handler = service_.HoldHandler();
  Start();
  const int32_t stream = client().OpenRequest("POST", kInfer);
  client().Send(stream, kJson, /*end=*/true);
  RequestPtr held = service_.TakeHeld();
  server_->Stop(milliseconds{0});
  server_.reset();
  FakeInferenceService::Echo(std::move(held));
}

TEST_F(Http2RestTest, PagesAndPreflights) {
  options_.cors = std::make_shared<CorsPolicy>(std::vector<std::string>{"https://page.example"});
  Start();
  const Headers page = {{"origin", "https://page.example"},
                        {"access-control-request-method", "POST"}};
  const Reply preflight = client().Request("OPTIONS", kInfer, {}, page);
  EXPECT_EQ(preflight.Field(":status"), "200");
  EXPECT_EQ(preflight.Field("access-control-allow-methods"), "GET, POST");
  EXPECT_EQ(preflight.Field("access-control-allow-origin"), "https://page.example");
  EXPECT_EQ(client().Request("GET", "/v2").Field("vary"), "Origin");
}

TEST_F(Http2RestTest, TheFirstBytesDecideTheProtocol) {
  Start();
  const std::string post = testing::Post(kInfer, kJson);
  const std::string preface = NGHTTP2_CLIENT_MAGIC;
  for (const size_t cut : {1, 2, 3}) {  // "P" and "PO" may begin either
    testing::RawClient client(server_->port());
    client.Send(post.substr(0, cut));
    std::this_thread::yield();
    client.Send(post.substr(cut));
    EXPECT_EQ(client.Receive()->body, kJsonAnswer);
  }
  {
    testing::RawClient client(server_->port());
    client.Send("PRI * HTTP/2.0\r\n\r\nNO\r\n\r\n");
    EXPECT_EQ(client.Receive()->status, 400);
  }
  testing::RawClient client(server_->port());
  for (const char byte : preface) client.Send({&byte, 1});
  client.Send(std::string("\0\0\0\4\0\0\0\0\0", 9));  // SETTINGS
  // The answer begins with SETTINGS, too: that of HTTP/1 would be a text.
  client.Send(std::string("\0\0\0\6\0\0\0\0\0", 9));  // PING of a wrong size: ends the connection
  EXPECT_EQ(client.ReceiveRest().substr(2, 2), std::string("\x18\4", 2));
}

TEST_F(Http2RestTest, UpgradesFromHttp1AreIgnored) {
  Start();
  testing::RawClient client(server_->port());
  client.Send(testing::Post(kInfer, kJson,
                            "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                            "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n"));
  const auto reply = client.Receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, kJsonAnswer);
}

class ThrowingHandler final : public HttpHandler {
 public:
  void Handle(Exchange& exchange) override {
    if (exchange.head().path().text() == "/no-memory") throw std::bad_alloc();
    exchange.Finish();
  }
  bool MakeInferenceReply(Exchange&, std::unique_ptr<request::InferenceResponse>, int) override {
    return true;
  }
};

TEST_F(Http2RestTest, RunningOutOfMemoryEndsOnlyTheRequest) {
  Start(std::make_shared<ThrowingHandler>());
  EXPECT_EQ(client().Request("GET", "/no-memory").error_code, uint32_t{NGHTTP2_INTERNAL_ERROR});
  EXPECT_EQ(client().Request("GET", "/other").Field(":status"), "200");
}

}  // namespace
}  // namespace nereid::frontend::http
