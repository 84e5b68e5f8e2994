// SPDX-License-Identifier: Apache-2.0
// Streamed replies, over loopback, in front of a fake service.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/testing/fake_inference_service.h"
#include "frontend/http/http_server.h"
#include "frontend/http/kserve_handler.h"
#include "frontend/http/testing/raw_client.h"
#include "frontend/http/testing/server_fixture.h"
#include "request/inference_response.h"
#include "request/response_factory.h"

namespace nereid::frontend::http {
namespace {

using api::testing::FakeInferenceService;
using std::chrono::milliseconds;
using testing::Post;
using testing::RawClient;
using testing::RawResponse;
using RequestPtr = std::unique_ptr<request::InferenceRequest>;

constexpr char kStream[] = "/v2/models/decoupled/generate_stream";
constexpr char kGenerate[] = "/v2/models/decoupled/generate";
constexpr char kBody[] = R"({"INPUT0":[1,2.5]})";

/// A request that was submitted, with the factory of its responses.
class Held {
 public:
  explicit Held(RequestPtr request)
      : request_(std::move(request)), factory_(request_->response_factory()) {}
  ~Held() {
    const auto sink = request_->sink();
    request_->Unbind();
    sink->RequestReleased(std::move(request_));
  }

  void Send(size_t bytes = 0, bool final = false) {
    auto response = factory_->NewResponse().value();
    request::Output* output =
        *response->AddOutput("OUT", tensor::DataType::kUint8, {static_cast<int64_t>(bytes)});
    memory::MemoryType type = memory::MemoryType::kCpu;
    int64_t id = 0;
    ASSERT_TRUE(response->AllocateOutput(output, bytes, &type, &id).ok());
    std::fill_n(output->data, bytes, '\x07');
    factory_->Send(std::move(response), final);
  }
  void SendError(base::Status error, bool final) {
    auto response = factory_->NewResponse().value();
    response->SetError(std::move(error));
    factory_->Send(std::move(response), final);
  }
  void SendFinal() { factory_->SendFinal(); }
  bool IsCancelled() const { return factory_->IsCancelled(); }

 private:
  RequestPtr request_;
  const std::shared_ptr<request::ResponseFactory> factory_;
};

std::string Event(const std::string& data) {
  return "data: {\"OUT\":" + data + ",\"model_name\":\"decoupled\",\"model_version\":\"1\"}\n\n";
}

class HttpStreamTest : public testing::ServerFixture {
 protected:
  HttpStreamTest() : ServerFixture(1) { service_.handler = service_.HoldHandler(); }

  Held Take() { return Held(service_.TakeHeld()); }
};

TEST_F(HttpStreamTest, EventsAreSentAsTheyCome) {
  Start();
  RawClient client(server_->port());
  client.Send(Post(kStream, kBody));
  Held held = Take();
  held.Send(1);
  EXPECT_EQ(client.ReceiveHead().Field("Transfer-Encoding"), "chunked");
  EXPECT_EQ(client.ReceiveChunk(), Event("7"));
  held.Send(2);
  EXPECT_EQ(client.ReceiveChunk(), Event("[7,7]"));
  held.SendFinal();
  EXPECT_EQ(client.ReceiveChunk(), "");
}

TEST_F(HttpStreamTest, TheConnectionServesTheNextRequest) {
  Start();
  RawClient client(server_->port());
  client.Send(Post(kStream, kBody) + Post(kStream, kBody) + testing::Get("/v2/health/live"));
  for (int i = 0; i < 2; ++i) {
    Held held = Take();
    held.Send(1);
    held.Send(1, /*final=*/true);
    const RawResponse response = client.ReceiveChunked();
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.Field("Content-Type"), "text/event-stream; charset=utf-8");
    EXPECT_EQ(response.Field("Content-Length"), "");
    EXPECT_EQ(response.body, Event("7") + Event("7"));
  }
  EXPECT_EQ(client.Receive()->status, 200);
}

TEST_F(HttpStreamTest, WithoutAResponseTheBodyIsEmpty) {
  Start();
  RawClient client(server_->port());
  client.Send(Post(kStream, kBody));
  Take().SendFinal();
  const RawResponse response = client.ReceiveChunked();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "");
}

TEST_F(HttpStreamTest, AnErrorFirstDecidesTheStatus) {
  Start();
  RawClient client(server_->port());
  client.Send(Post(kStream, kBody));
  Take().SendError(base::Status::Unavailable("busy"), true);
  RawResponse response = client.ReceiveChunked();
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.body, "data: {\"error\":\"busy\"}\n\n");
  client.Send(Post(kStream, kBody));
  {
    Held held = Take();
    held.Send(1);
    held.SendError(base::Status::Internal("broken"), false);
    held.Send(1, true);
  }
  response = client.ReceiveChunked();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, Event("7") + "data: {\"error\":\"broken\"}\n\n" + Event("7"));
}

TEST_F(HttpStreamTest, AnOldClientReadsUntilTheEndOfTheConnection) {
  Start();
  RawClient client(server_->port());
  client.Send("POST " + std::string(kStream) + " HTTP/1.0\r\nContent-Length: " +
              std::to_string(sizeof(kBody) - 1) + "\r\n\r\n" + kBody);
  {
    Held held = Take();
    held.Send(1);
    held.Send(1, true);
  }
  const RawResponse head = client.ReceiveHead();
  EXPECT_EQ(head.Field("Transfer-Encoding"), "");
  EXPECT_EQ(client.ReceiveRest(), Event("7") + Event("7"));
}

TEST_F(HttpStreamTest, AClientThatHasClosedIsNoticed) {
  options_.half_closed_patience = milliseconds{20};
  Start();
  auto closed = std::make_unique<RawClient>(server_->port());
  RawClient half_closed(server_->port());
  closed->Send(Post(kStream, kBody));
  Held first = Take();
  half_closed.Send(Post(kStream, kBody));
  Held second = Take();
  first.Send(1);
  second.Send(1);
  EXPECT_EQ(closed->ReceiveHead().status, 200);
  EXPECT_EQ(closed->ReceiveChunk(), Event("7"));
  closed.reset();  // FIN, no reset
  while (!first.IsCancelled()) std::this_thread::yield();

  half_closed.FinishSending();
  EXPECT_EQ(half_closed.ReceiveHead().status, 200);
  EXPECT_EQ(half_closed.ReceiveChunk(), Event("7"));
  EXPECT_EQ(half_closed.ReceiveChunk(), ":\n\n");
  EXPECT_FALSE(second.IsCancelled());
  second.Send(1, true);
  EXPECT_EQ(half_closed.ReceiveChunk(), Event("7"));
  EXPECT_EQ(half_closed.ReceiveChunk(), "");
}

TEST_F(HttpStreamTest, AClientThatGoesAwayCancels) {
  Start();
  auto client = std::make_unique<RawClient>(server_->port());
  client->Send(Post(kStream, kBody));
  Held held = Take();
  held.Send(1);
  EXPECT_EQ(client->ReceiveHead().status, 200);
  EXPECT_FALSE(held.IsCancelled());
  client->Abort();
  while (!held.IsCancelled()) std::this_thread::yield();
  held.Send(1);  // nobody reads it
  held.SendFinal();
}

TEST_F(HttpStreamTest, TheDeadlineEndsTheStream) {
  Start();
  RawClient client(server_->port());
  client.Send(Post(kStream, kBody, "grpc-timeout: 1m\r\n"));
  Held first = Take();
  EXPECT_EQ(client.Receive()->status, 504);
  EXPECT_TRUE(first.IsCancelled());
  client.Send(Post(kStream, kBody, "grpc-timeout: 100m\r\n"));
  Held second = Take();
  second.Send(1);
  const RawResponse response = client.ReceiveChunked();
  if (response.status == 200) {  // the response was in time
    EXPECT_EQ(response.body,
              Event("7") + "data: {\"error\":\"the deadline of the request has passed\"}\n\n");
  }
  EXPECT_TRUE(second.IsCancelled());
  first.SendFinal();
  second.SendFinal();
}

// The bytes that wait for a client are bounded, and other clients are not delayed.
TEST_F(HttpStreamTest, ASlowReaderLosesItsRequest) {
  options_.max_waiting_bytes = 1 << 20;
  options_.slow_reader_patience = milliseconds{0};
  Start();
  RawClient client(server_->port());
  client.Send(Post(kStream, kBody));
  Held held = Take();
  int sent = 0;
  while (!held.IsCancelled()) {
    held.Send(64 << 10);
    ASSERT_LT(++sent, 10'000) << "never refused";
  }
  held.Send(64 << 10);  // dropped: the request has ended
  RawClient other(server_->port());
  other.Send(testing::Get("/v2/health/live"));
  EXPECT_EQ(other.Receive()->status, 200);
  held.SendFinal();
  const RawResponse response = client.ReceiveChunked();
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(response.body.ends_with(
      "data: {\"error\":\"the client reads too slowly: more than 1048576 bytes of responses wait "
      "for it, so the request was ended\"}\n\n"))
      << response.body.substr(response.body.size() - std::min<size_t>(300, response.body.size()));
}

TEST_F(HttpStreamTest, AFastBackendWaitsForItsReader) {
  options_.max_waiting_bytes = 1 << 20;
  options_.slow_reader_patience = milliseconds{60'000};  // longer than the test
  Start();
  RawClient client(server_->port());
  client.Send(Post(kStream, kBody));
  Held held = Take();
  constexpr int kCount = 100;
  std::thread backend([&] {
    for (int i = 0; i < kCount; ++i) held.Send(256 << 10);
    held.SendFinal();
  });
  const RawResponse response = client.ReceiveChunked();
  backend.join();
  size_t events = 0;
  for (size_t at = 0; (at = response.body.find("data: ", at)) != std::string::npos; ++at) ++events;
  EXPECT_EQ(events, kCount);
  EXPECT_FALSE(held.IsCancelled());
}

TEST_F(HttpStreamTest, ABackendThatWaitsIsWokenWhenTheClientGoes) {
  options_.max_waiting_bytes = 1 << 20;
  options_.slow_reader_patience = milliseconds{60'000};  // longer than the test
  Start();
  RawClient client(server_->port());
  client.Send(Post(kStream, kBody));
  Held held = Take();
  std::thread backend([&] {
    while (!held.IsCancelled()) held.Send(256 << 10);
    held.SendFinal();
  });
  EXPECT_EQ(client.ReceiveHead().status, 200);
  client.Abort();
  backend.join();
}

TEST_F(HttpStreamTest, ABackendThatWaitsIsWokenByTheDeadline) {
  options_.max_waiting_bytes = 1 << 20;
  options_.slow_reader_patience = milliseconds{60'000};  // longer than the test
  Start();
  RawClient client(server_->port());
  client.Send(Post(kStream, kBody, "grpc-timeout: 100m\r\n"));
  Held held = Take();
  while (!held.IsCancelled()) held.Send(256 << 10);
  held.SendFinal();
}

TEST_F(HttpStreamTest, StoppingEndsStreams) {
  Start();
  RawClient client(server_->port());
  client.Send(Post(kStream, kBody));
  Held held = Take();
  held.Send(1);
  EXPECT_EQ(client.ReceiveHead().status, 200);
  server_->Stop(milliseconds{0});
  EXPECT_TRUE(held.IsCancelled());
  held.Send(1);
  held.SendFinal();
}

TEST_F(HttpStreamTest, GenerateExpectsExactlyOneResponse) {
  Start();
  RawClient client(server_->port());
  client.Send(Post(kGenerate, kBody));
  Take().Send(1, true);
  const auto one = client.Receive();
  EXPECT_EQ(one->status, 200);
  EXPECT_EQ(one->Field("Content-Type"), "application/json");
  EXPECT_EQ(one->body, R"({"OUT":7,"model_name":"decoupled","model_version":"1"})");
  for (const int count : {0, 2}) {
    client.Send(Post(kGenerate, kBody));
    Held held = Take();
    for (int i = 0; i < count; ++i) held.Send(1);
    held.SendFinal();
    const auto response = client.Receive();
    EXPECT_EQ(response->status, 500);
    EXPECT_EQ(response->body,
              R"({"error":"generate expects model to produce exactly 1 response, use generate )"
              R"(stream for model that generates various number of responses"})");
  }
  client.Send(Post(kGenerate, kBody));
  Take().SendError(base::Status::NotFound("gone"), true);
  const auto failed = client.Receive();
  EXPECT_EQ(failed->status, 404);
  EXPECT_EQ(failed->body, R"({"error":"gone"})");
}

}  // namespace
}  // namespace nereid::frontend::http
