// SPDX-License-Identifier: Apache-2.0
// Streams whose clients do not read: what waits for them is bounded, and nobody else notices.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "frontend/grpc/testing/server_fixture.h"
#include "request/inference_response.h"
#include "request/response_factory.h"

namespace nereid::frontend::grpc {
namespace {

using api::testing::FakeInferenceService;
using std::chrono::milliseconds;
using testing::Frame;
using testing::GrpcServerTest;
using testing::kModelStreamInfer;
using testing::Reply;
using testing::TestClient;
using RequestPtr = std::unique_ptr<request::InferenceRequest>;

constexpr milliseconds kNoPatience{0};
constexpr milliseconds kLongPatience{60'000};  // never waited for
constexpr size_t kPiece = 64 << 10;

class GrpcSlowReaderTest : public GrpcServerTest {
 protected:
  GrpcSlowReaderTest() {
    options_.max_waiting_bytes = 1 << 20;
    service_.handler = service_.HoldHandler();
  }

  static void Send(request::ResponseFactory& factory, size_t bytes) {
    auto response = factory.NewResponse().value();
    request::Output* output =
        *response->AddOutput("OUT", tensor::DataType::kUint8, {static_cast<int64_t>(bytes)});
    memory::MemoryType type = memory::MemoryType::kCpu;
    int64_t id = 0;
    ASSERT_TRUE(response->AllocateOutput(output, bytes, &type, &id).ok());
    std::fill_n(output->data, bytes, 'x');
    factory.Send(std::move(response), false);
  }
  static void End(RequestPtr request) {
    request->response_factory()->SendFinal();
    const auto sink = request->sink();
    request->Unbind();
    sink->RequestReleased(std::move(request));
  }
};

TEST_F(GrpcSlowReaderTest, LosesItsRequest) {
  options_.slow_reader_patience = kNoPatience;
  Start();
  TestClient client(port(), /*window=*/0);
  const int32_t stream = client.Open(kModelStreamInfer);
  client.Send(stream, Frame(EchoRequest("x", "decoupled", "d")), true);
  RequestPtr request = service_.TakeHeld();
  size_t sent = 0;
  while (!request->IsCancelled()) {
    Send(*request->response_factory(), kPiece);
    ASSERT_LE(++sent, 17u) << "more waits than may";
  }
  Send(*request->response_factory(), kPiece);  // deaf: dropped
  service_.handler = &FakeInferenceService::Echo;
  ExpectAlive();
  End(std::move(request));
  client.SetWindow(1 << 30);
  const Reply& reply = client.Finish(stream);
  EXPECT_EQ(reply.status(), 0);
  ASSERT_EQ(reply.messages().size(), sent);  // the last one is the error
  const auto last = ParseStreamResponse(reply.messages().back());
  EXPECT_EQ(last.error_message(),
            "the stream's client reads too slowly: more than 1048576 bytes of responses wait for "
            "it, so this request was ended");
  EXPECT_EQ(last.infer_response().id(), "d");
  EXPECT_TRUE(last.infer_response().parameters().at("triton_final_response").bool_param());
}

TEST_F(GrpcSlowReaderTest, TheNumberOfItsResponsesIsBoundedToo) {
  options_.slow_reader_patience = kNoPatience;
  options_.max_waiting_responses = 4;
  Start();
  TestClient client(port(), /*window=*/0);
  const int32_t stream = client.Open(kModelStreamInfer);
  client.Send(stream, Frame(EchoRequest("x", "decoupled", "d")), true);
  RequestPtr request = service_.TakeHeld();
  size_t sent = 0;
  while (!request->IsCancelled()) {
    Send(*request->response_factory(), /*bytes=*/1);
    ASSERT_LE(++sent, 5u) << "more wait than may";
  }
  End(std::move(request));
  client.SetWindow(1 << 30);
  const Reply& reply = client.Finish(stream);
  ASSERT_EQ(reply.messages().size(), 5u);  // the last one is the error
  EXPECT_EQ(ParseStreamResponse(reply.messages().back()).error_message(),
            "the stream's client reads too slowly: more than 4 responses or 1048576 bytes of "
            "responses wait for it, so this request was ended");
}

TEST_F(GrpcSlowReaderTest, ABackendWaitsForPlacesAsForBytes) {
  options_.slow_reader_patience = kLongPatience;
  options_.max_waiting_responses = 1;
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelStreamInfer);
  client.Send(stream, Frame(EchoRequest("x", "decoupled")), true);
  RequestPtr request = service_.TakeHeld();
  constexpr size_t kCount = 300;
  std::thread backend([&] {
    for (size_t i = 0; i < kCount; ++i) Send(*request->response_factory(), 10);
    End(std::move(request));
  });
  const Reply& reply = client.Finish(stream);
  backend.join();
  EXPECT_EQ(reply.status(), 0);
  EXPECT_EQ(reply.messages().size(), kCount);
}

TEST_F(GrpcSlowReaderTest, LosesTheStreamInErrorMode) {
  options_.slow_reader_patience = kNoPatience;
  Start();
  TestClient client(port(), /*window=*/0);
  const int32_t stream = client.Open(kModelStreamInfer, {{"triton_grpc_error", "true"}});
  client.Send(stream, Frame(EchoRequest("x", "decoupled")), false);
  RequestPtr request = service_.TakeHeld();
  while (!request->IsCancelled()) Send(*request->response_factory(), kPiece);
  client.SetWindow(1 << 30);
  EXPECT_EQ(client.Finish(stream).status(), 8);
  End(std::move(request));
}

TEST_F(GrpcSlowReaderTest, AFastBackendWaitsForItsReader) {
  options_.slow_reader_patience = kLongPatience;
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelStreamInfer);
  client.Send(stream, Frame(EchoRequest("x", "decoupled")), true);
  RequestPtr request = service_.TakeHeld();
  constexpr size_t kCount = 300;
  std::thread backend([&] {
    for (size_t i = 0; i < kCount; ++i) Send(*request->response_factory(), kPiece);
    End(std::move(request));
  });
  const Reply& reply = client.Finish(stream);
  backend.join();
  EXPECT_EQ(reply.status(), 0);
  EXPECT_EQ(reply.messages().size(), kCount);
}

TEST_F(GrpcSlowReaderTest, ABackendThatWaitsIsWokenWhenTheClientGoes) {
  options_.slow_reader_patience = kLongPatience;
  Start();
  for (const bool disconnect : {false, true}) {
    auto client = std::make_unique<TestClient>(port(), /*window=*/0);
    const int32_t stream = client->Open(kModelStreamInfer);
    client->Send(stream, Frame(EchoRequest("x", "decoupled")), true);
    RequestPtr request = service_.TakeHeld();
    std::thread backend([&] {
      while (!request->IsCancelled()) Send(*request->response_factory(), kPiece);
      End(std::move(request));
    });
    if (disconnect) {
      client.reset();
    } else {
      client->Reset(stream);
    }
    backend.join();
  }
}

TEST_F(GrpcSlowReaderTest, ALoopNeverWaits) {
  options_.slow_reader_patience = kLongPatience;
  service_.handler = [](RequestPtr request) {  // on the loop's thread
    while (!request->IsCancelled()) Send(*request->response_factory(), kPiece);
    End(std::move(request));
  };
  Start();
  TestClient client(port(), /*window=*/0);
  const int32_t stream = client.Open(kModelStreamInfer);
  client.Send(stream, Frame(EchoRequest("x", "decoupled")), true);
  client.RoundTrip();
  client.SetWindow(1 << 30);
  EXPECT_EQ(client.Finish(stream).status(), 0);
}

// One response each, and requests without end: they are not received before the client reads.
TEST_F(GrpcSlowReaderTest, IsNotReadEither) {
  options_.max_waiting_bytes = 16 << 20;
  std::atomic<int> received{0};
  service_.handler = [&received](RequestPtr request) {
    ++received;
    FakeInferenceService::Echo(std::move(request));
  };
  Start();
  TestClient client(port(), /*window=*/0);
  const int32_t stream = client.Open(kModelStreamInfer);
  client.RoundTrip();  // the server's window is known
  constexpr int kCount = 40;
  const std::string request = Frame(EchoRequest(std::string(1 << 20, 'x')));
  for (int i = 0; i < kCount; ++i) {
    client.Send(stream, request, i + 1 == kCount);
    client.RoundTrip();
  }
  // Half the bytes that may wait, and what the client's window let in after that.
  EXPECT_GE(received, 8);
  EXPECT_LE(received, 8 + 4 + 1);
  client.SetWindow(1 << 30);
  const Reply& reply = client.Finish(stream);
  EXPECT_EQ(reply.status(), 0);
  EXPECT_EQ(received, kCount);
  ASSERT_EQ(reply.messages().size(), static_cast<size_t>(kCount));
  for (const std::string& message : reply.messages()) {
    EXPECT_EQ(ParseStreamResponse(message).error_message(), "");
  }
}

}  // namespace
}  // namespace nereid::frontend::grpc
