// SPDX-License-Identifier: Apache-2.0
// Messages whose decoding is too long for an event loop: nothing changes but the thread.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "frontend/grpc/message_encoding.h"
#include "frontend/grpc/testing/server_fixture.h"
#include "request/inference_response.h"
#include "request/response_factory.h"

namespace nereid::frontend::grpc {
namespace {

using api::testing::FakeInferenceService;
using testing::Frame;
using testing::GrpcServerTest;
using testing::kModelInfer;
using testing::kModelStreamInfer;
using testing::Reply;
using testing::TestClient;
using RequestPtr = std::unique_ptr<request::InferenceRequest>;

const testing::Headers kGzip = {{"grpc-encoding", "gzip"}};

std::string Packed(const std::string& message) {
  const std::string_view piece = message;
  std::string packed;
  EXPECT_TRUE(Compress({&piece, 1}, Encoding::kGzip, 1, &packed).ok());
  return Frame(packed, /*compressed=*/true);
}

// Bytes that hardly compress.
std::string Noise(size_t size) {
  std::string noise(size, '\0');
  uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return noise;
}

class GrpcDetourTest : public GrpcServerTest {
 protected:
  // A request whose tensor is in typed contents, the more the longer it takes to decode.
  static std::string ContentsRequest(int elements, const std::string& id) {
    inference::ModelInferRequest request;
    request.set_model_name("echo");
    request.set_id(id);
    auto* input = request.add_inputs();
    input->set_name("INPUT0");
    input->set_datatype("FP32");
    input->add_shape(elements);
    for (int i = 0; i < elements; ++i) {
      input->mutable_contents()->add_fp32_contents(static_cast<float>(i));
    }
    return request.SerializeAsString();
  }

  static std::string StringsRequest(size_t size) {
    inference::ModelInferRequest request;
    request.set_model_name("echo");
    auto* input = request.add_inputs();
    input->set_name("INPUT0");
    input->set_datatype("BYTES");
    input->add_shape(static_cast<int64_t>(size / 4));
    request.add_raw_input_contents(std::string(size / 4 * 4, '\0'));
    return request.SerializeAsString();
  }
};

TEST_F(GrpcDetourTest, InflatesLargeMessages) {
  Start();
  TestClient client(port());
  const std::string bytes = Noise(300'000) + std::string(2'000'000, 'z');
  const int32_t stream = client.Open(kModelInfer, kGzip);
  client.Send(stream, Packed(EchoRequest(bytes)), true);
  const Reply& reply = client.Finish(stream);
  ASSERT_EQ(reply.status(), 0) << reply.message();
  EXPECT_EQ(ParseResponse(reply.messages().at(0)).raw_output_contents(0), bytes);
}

TEST_F(GrpcDetourTest, RefusesWhatBecomesTooLarge) {
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelInfer, kGzip);
  client.Send(stream, Packed(std::string(80 << 20, '\0')), true);
  const Reply& reply = client.Finish(stream);
  EXPECT_EQ(reply.status(), 8);
  EXPECT_EQ(reply.message(),
            "Received message larger than max (67108865 vs. 67108864) after decompression");
  ExpectAlive();
}

TEST_F(GrpcDetourTest, KeepsTheOrderOfAStream) {
  std::vector<std::string> ids;
  service_.handler = [&ids](RequestPtr request) {
    ids.push_back(request->id);
    FakeInferenceService::Echo(std::move(request));
  };
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelStreamInfer, kGzip);
  const std::string large = EchoRequest(Noise(500'000), "echo", "inflated");
  client.Send(stream,
              Frame(EchoRequest("x", "echo", "first")) + Packed(large) +
                  Frame(EchoRequest("x", "echo", "second")) +
                  Frame(ContentsRequest(100'000, "contents")) +
                  Frame(EchoRequest("x", "echo", "third")),
              true);
  const Reply& reply = client.Finish(stream);
  EXPECT_EQ(reply.status(), 0) << reply.message();
  EXPECT_EQ(reply.messages().size(), 5u);
  EXPECT_EQ(ids, (std::vector<std::string>{"first", "inflated", "second", "contents", "third"}));
}

TEST_F(GrpcDetourTest, DecodesLongContentsAndStrings) {
  Start();
  TestClient client(port());
  const Reply contents = client.Unary(kModelInfer, ContentsRequest(100'000, ""));
  ASSERT_EQ(contents.status(), 0) << contents.message();
  EXPECT_EQ(ParseResponse(contents.messages().at(0)).raw_output_contents(0).size(), 400'000u);
  const Reply strings = client.Unary(kModelInfer, StringsRequest(2 << 20));
  ASSERT_EQ(strings.status(), 0) << strings.message();
  EXPECT_EQ(ParseResponse(strings.messages().at(0)).raw_output_contents(0).size(), 2u << 20);
}

TEST_F(GrpcDetourTest, TheClientMayGoMeanwhile) {
  Start();
  for (int i = 0; i < 20; ++i) {
    TestClient client(port());
    const std::string message = Frame(ContentsRequest(50'000, ""));
    client.Reset(client.Open(kModelInfer));
    client.Send(client.Open(kModelInfer), message, true);
    const int32_t stream = client.Open(kModelStreamInfer);
    client.Send(stream, message + message, i % 2 == 0);
    if (i % 3 == 0) client.Reset(stream);
  }
  ExpectAlive();
}

TEST_F(GrpcDetourTest, RequestsBeyondTheBudgetAreRefused) {
  options_.receive_budget =
      std::make_shared<base::ByteBudget>(size_t{4} << 20, std::chrono::milliseconds(0));
  service_.handler = service_.HoldHandler();
  Start();
  TestClient client(port());
  std::thread first([this] {
    TestClient holder(port());
    EXPECT_EQ(holder.Unary(kModelInfer, EchoRequest(std::string(3 << 20, 'x'))).status(), 0);
  });
  RequestPtr request = service_.TakeHeld();
  const Reply refused = client.Unary(kModelInfer, EchoRequest(std::string(2 << 20, 'y')));
  EXPECT_EQ(refused.status(), 8);
  EXPECT_EQ(refused.message(),
            "the server holds as many bytes of requests as it may: try again later, or raise "
            "--max-request-memory");
  FakeInferenceService::Echo(std::move(request));
  first.join();
  service_.handler = &FakeInferenceService::Echo;
  EXPECT_EQ(client.Unary(kModelInfer, EchoRequest(std::string(2 << 20, 'y'))).status(), 0);
}

TEST_F(GrpcDetourTest, CompressesLargeAnswersOfALoop) {
  options_.response_compression = CompressionLevel::kLow;
  Start();  // the echo answers on the loop
  TestClient client(port());
  const std::string bytes(1 << 20, 'z');
  const Reply reply =
      client.Unary(kModelInfer, EchoRequest(bytes), {{"grpc-accept-encoding", "gzip"}});
  ASSERT_EQ(reply.status(), 0);
  EXPECT_EQ(reply.body.at(0), 1);
  EXPECT_LT(reply.body.size(), 100'000u);
}

TEST_F(GrpcDetourTest, TheFirstResponseIsTheAnswerOfAModelThatIsNotDecoupled) {
  service_.handler = [](RequestPtr request) {
    const auto factory = request->response_factory();
    for (const char value : {'1', '2'}) {
      auto response = factory->NewResponse().value();
      request::Output* output = *response->AddOutput("OUT", tensor::DataType::kUint8, {1});
      memory::MemoryType type = memory::MemoryType::kCpu;
      int64_t id = 0;
      ASSERT_TRUE(response->AllocateOutput(output, 1, &type, &id).ok());
      *output->data = value;
      factory->Send(std::move(response), false);
    }
    auto failure = factory->NewResponse().value();
    failure->SetError(base::Status::Internal("too late"));
    factory->Send(std::move(failure), true);
    const auto sink = request->sink();
    request->Unbind();
    sink->RequestReleased(std::move(request));
  };
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelStreamInfer);
  client.Send(stream, Frame(EchoRequest("x")), true);
  const Reply& reply = client.Finish(stream);
  EXPECT_EQ(reply.status(), 0);
  ASSERT_EQ(reply.messages().size(), 1u);
  const auto answer = ParseStreamResponse(reply.messages()[0]);
  EXPECT_EQ(answer.error_message(), "");
  EXPECT_EQ(answer.infer_response().raw_output_contents(0), "1");
}

}  // namespace
}  // namespace nereid::frontend::grpc
