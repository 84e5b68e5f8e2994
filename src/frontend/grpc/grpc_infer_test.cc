// SPDX-License-Identifier: Apache-2.0
// ModelInfer and ModelStreamInfer over a socket.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/testing/failing_allocation.h"
#include "frontend/grpc/message_encoding.h"
#include "frontend/grpc/testing/server_fixture.h"
#include "memory/shared/testing/temporary_object.h"
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

class GrpcInferTest : public GrpcServerTest {};
class GrpcStreamTest : public GrpcServerTest {};

void Release(RequestPtr request) {
  const auto sink = request->sink();
  sink->RequestReleased(std::move(request));
}

// Sends `count` responses without outputs; the last one has the final flag if `final`.
void SendResponses(const request::InferenceRequest& request, int count, bool final) {
  for (int i = 1; i <= count; ++i) {
    auto response = request.response_factory()->NewResponse();
    request.response_factory()->Send(std::move(response).value(), final && i == count);
  }
}

inference::InferParameter TextParameter(const std::string& text) {
  inference::InferParameter parameter;
  parameter.set_string_param(text);
  return parameter;
}

inference::InferParameter NumberParameter(int64_t number) {
  inference::InferParameter parameter;
  parameter.set_int64_param(number);
  return parameter;
}

TEST_F(GrpcInferTest, TensorsMayBeInSharedMemory) {
  ASSERT_TRUE(service_.shared_memory().Allow(api::AllowedRegions::kAll, {}).ok());
  Start();
  TestClient client(port());
  memory::TemporaryObject object(4096);
  object.Write(0, "12345678");
  inference::SystemSharedMemoryRegisterRequest region;
  region.set_name("r");
  region.set_key(object.key());
  region.set_byte_size(4096);
  const std::string service = "/inference.GRPCInferenceService/";
  const auto unary = [&](const std::string& method, const google::protobuf::Message& message) {
    return client.Unary(service + method, message.SerializeAsString());
  };
  EXPECT_EQ(unary("SystemSharedMemoryRegister", region).status(), 0);
  EXPECT_EQ(unary("SystemSharedMemoryRegister", region).status(), 6);  // ALREADY_EXISTS
  inference::SystemSharedMemoryStatusResponse status;
  ASSERT_TRUE(status.ParseFromString(
      unary("SystemSharedMemoryStatus", inference::SystemSharedMemoryStatusRequest())
          .messages()
          .at(0)));
  EXPECT_EQ(status.regions().at("r").key(), object.key());

  inference::ModelInferRequest request;
  request.set_model_name("echo");
  auto* const input = request.add_inputs();
  input->set_name("INPUT0");
  input->set_datatype("UINT8");
  input->add_shape(8);
  (*input->mutable_parameters())["shared_memory_region"] = TextParameter("r");
  (*input->mutable_parameters())["shared_memory_byte_size"] = NumberParameter(8);
  auto* const output = request.add_outputs();
  output->set_name("OUTPUT0");
  (*output->mutable_parameters())["shared_memory_region"] = TextParameter("r");
  (*output->mutable_parameters())["shared_memory_offset"] = NumberParameter(100);
  (*output->mutable_parameters())["shared_memory_byte_size"] = NumberParameter(8);
  const Reply reply = client.Unary(kModelInfer, request.SerializeAsString());
  ASSERT_EQ(reply.status(), 0) << reply.message();
  EXPECT_EQ(ParseResponse(reply.messages()[0]).raw_output_contents(0), "");
  EXPECT_EQ(object.Read(100, 8), "12345678");

  EXPECT_EQ(unary("SystemSharedMemoryUnregister", inference::SystemSharedMemoryUnregisterRequest())
                .status(),
            0);
  EXPECT_EQ(client.Unary(kModelInfer, request.SerializeAsString()).status(), 5);  // NOT_FOUND
  inference::CudaSharedMemoryRegisterRequest cuda;
  cuda.set_name("c");
  const Reply refused = unary("CudaSharedMemoryRegister", cuda);
  EXPECT_EQ(refused.status(), 3);
  EXPECT_EQ(refused.message(),
            "failed to register CUDA shared memory region: 'c', GPUs not supported");
  EXPECT_EQ(
      unary("CudaSharedMemoryUnregister", inference::CudaSharedMemoryUnregisterRequest()).status(),
      0);
  EXPECT_EQ(unary("CudaSharedMemoryStatus", inference::CudaSharedMemoryStatusRequest()).status(),
            0);
}

TEST_F(GrpcInferTest, EchoesTensorsOfManySizes) {
  Start();
  TestClient client(port());
  for (const size_t size : {0, 1, 100, 2048, 2049, 70000, 1 << 20, 9 << 20}) {
    std::string bytes(size, 'x');
    for (size_t i = 0; i < size; i += 97) bytes[i] = static_cast<char>(i);
    const Reply reply = client.Unary(kModelInfer, EchoRequest(bytes, "echo", "id"));
    ASSERT_EQ(reply.status(), 0) << reply.message();
    ASSERT_EQ(reply.messages().size(), 1u);
    const auto response = ParseResponse(reply.messages()[0]);
    EXPECT_EQ(response.model_name(), "echo");
    EXPECT_EQ(response.model_version(), "1");
    EXPECT_EQ(response.id(), "id");
    ASSERT_EQ(response.outputs_size(), 1);
    EXPECT_EQ(response.outputs(0).name(), "OUTPUT0");
    EXPECT_EQ(response.raw_output_contents(0), bytes) << size;
  }
}

TEST_F(GrpcInferTest, LastTensorIsAlignedWithoutACopy) {
  std::atomic<uintptr_t> address{1};
  service_.handler = [&](RequestPtr request) {
    address = reinterpret_cast<uintptr_t>(request->inputs().at(0).pieces.at(0).data);
    FakeInferenceService::Echo(std::move(request));
  };
  Start();
  TestClient client(port());
  for (const size_t size : {64, 640, 1 << 20}) {
    EXPECT_EQ(client.Unary(kModelInfer, EchoRequest(std::string(size, 'a'))).status(), 0);
    EXPECT_EQ(address % 64, 0u) << size;
  }
}

TEST_F(GrpcInferTest, AResponseThatCannotBeDeliveredForLackOfMemoryEndsItsCallAlone) {
  service_.handler = service_.HoldHandler();
  Start();
  TestClient client(port());
  const int32_t lost = client.Open(kModelInfer);
  client.Send(lost, Frame(EchoRequest("lost")), true);
  client.RoundTrip();
  RequestPtr request = service_.TakeHeld();
  auto response = request->response_factory()->NewResponse().value();
  {
    const base::testing::FailingAllocation no_memory;
    request->response_factory()->Send(std::move(response), true);
  }
  Release(std::move(request));
  const Reply& reply = client.Finish(lost);
  EXPECT_NE(reply.status(), 0);
  EXPECT_NE(reply.error_code, 0u);  // the stream was reset

  const int32_t next = client.Open(kModelInfer);
  client.Send(next, Frame(EchoRequest("next")), true);
  client.RoundTrip();
  FakeInferenceService::Echo(service_.TakeHeld());
  EXPECT_EQ(client.Finish(next).status(), 0);
}

TEST_F(GrpcInferTest, ManyCallsShareAConnection) {
  Start();
  TestClient client(port());
  std::vector<int32_t> streams;
  for (int i = 0; i < 500; ++i) {
    streams.push_back(client.Open(kModelInfer));
    client.Send(streams.back(), Frame(EchoRequest(std::to_string(i))), true);
  }
  for (int i = 0; i < 500; ++i) {
    const Reply& reply = client.Finish(streams[i]);
    ASSERT_EQ(reply.status(), 0);
    EXPECT_EQ(ParseResponse(reply.messages().at(0)).raw_output_contents(0), std::to_string(i));
  }
}

TEST_F(GrpcInferTest, AnswersFromOtherThreads) {
  service_.handler = service_.HoldHandler();
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelInfer);
  client.Send(stream, Frame(EchoRequest("later")), true);
  std::thread([this] { FakeInferenceService::Echo(service_.TakeHeld()); }).join();
  EXPECT_EQ(ParseResponse(client.Finish(stream).messages().at(0)).raw_output_contents(0), "later");
}

TEST_F(GrpcInferTest, FailuresBecomeStatuses) {
  service_.handler = [](RequestPtr request) {
    FakeInferenceService::Fail(std::move(request),
                               base::Status::Unavailable("busy: 100 % \u00e4\n"));
  };
  Start();
  TestClient client(port());
  Reply reply = client.Unary(kModelInfer, EchoRequest("x"));
  EXPECT_EQ(reply.status(), 14);
  EXPECT_EQ(reply.message(), "busy: 100 % \u00e4\n");
  EXPECT_TRUE(reply.messages().empty());
  reply = client.Unary(kModelInfer, EchoRequest("x", "unknown"));
  EXPECT_EQ(reply.status(), 5);
  reply = client.Unary(kModelInfer, EchoRequest("x", "decoupled"));
  EXPECT_EQ(reply.status(), 12);
  EXPECT_EQ(reply.message(),
            "ModelInfer RPC doesn't support models with decoupled transaction policy");
  reply = client.Unary(kModelInfer, "\x0a\x7f");
  EXPECT_EQ(reply.status(), 13);
}

TEST_F(GrpcInferTest, RefusedRequestsAreNotAnswered) {
  service_.infer_refusal = base::Status::InvalidArgument("not this one");
  Start();
  TestClient client(port());
  const Reply reply = client.Unary(kModelInfer, EchoRequest("x"));
  EXPECT_EQ(reply.status(), 3);
  EXPECT_EQ(reply.message(), "not this one");
}

TEST_F(GrpcInferTest, NeedsExactlyOneResponse) {
  int responses = 0;
  service_.handler = [&responses](RequestPtr request) {
    if (responses == 0) return FakeInferenceService::AnswerNothing(std::move(request));
    SendResponses(*request, responses, true);
    Release(std::move(request));
  };
  Start();
  TestClient client(port());
  Reply reply = client.Unary(kModelInfer, EchoRequest("x"));
  EXPECT_EQ(reply.status(), 13);
  EXPECT_EQ(reply.message(), "expected a single response, got 0");
  responses = 2;
  reply = client.Unary(kModelInfer, EchoRequest("x"));
  EXPECT_EQ(reply.message(), "expected a single response, got 2");
}

TEST_F(GrpcInferTest, DeadlineEndsTheCallAndCancelsTheRequest) {
  service_.handler = service_.HoldHandler();
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelInfer, {{"grpc-timeout", "50m"}});
  client.Send(stream, Frame(EchoRequest("x")), true);
  RequestPtr request = service_.TakeHeld();
  EXPECT_NE(request->deadline_ns, 0u);
  const Reply& reply = client.Finish(stream);
  EXPECT_EQ(reply.status(), 4);
  EXPECT_EQ(reply.message(), "Deadline Exceeded");
  EXPECT_TRUE(request->IsCancelled());
  FakeInferenceService::Echo(std::move(request));  // too late: nobody listens
  service_.handler = &FakeInferenceService::Echo;
  EXPECT_EQ(client.Unary(kModelInfer, EchoRequest("x")).status(), 0);
}

TEST_F(GrpcInferTest, RefusalAfterTheDeadlineIsTheDeadline) {
  // Answered on the loop's thread, which has no time to look at its timers: the call must see it.
  service_.handler = [](RequestPtr request) {
    while (base::SteadyClock().NowNs() < request->deadline_ns) {
    }
    FakeInferenceService::Fail(std::move(request), base::Status::Unavailable("expired"));
  };
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelInfer, {{"grpc-timeout", "5m"}});
  client.Send(stream, Frame(EchoRequest("x")), true);
  EXPECT_EQ(client.Finish(stream).status(), 4);
  const int32_t many = client.Open(kModelStreamInfer, {{"grpc-timeout", "5m"}});
  client.Send(many, Frame(EchoRequest("x")), true);
  EXPECT_EQ(client.Finish(many).status(), 4);
  EXPECT_TRUE(client.Finish(many).messages().empty());
}

TEST_F(GrpcInferTest, Classification) {
  service_.labels = {{"OUTPUT0", {"cat", "dog"}}};
  Start();
  TestClient client(port());
  const auto request = [](const std::string& type, int64_t count) {
    inference::ModelInferRequest message;
    message.set_model_name("echo");
    auto* const input = message.add_inputs();
    input->set_name("INPUT0");
    input->set_datatype(type);
    input->add_shape(3);
    message.add_raw_input_contents("\1\3\2");
    auto* const output = message.add_outputs();
    output->set_name("OUTPUT0");
    (*output->mutable_parameters())["classification"].set_int64_param(count);
    return message.SerializeAsString();
  };
  const std::string classes("\7\0\0\0003:1:dog\3\0\0\0002:2", 18);
  const Reply& unary = client.Unary(kModelInfer, request("UINT8", 2));
  ASSERT_EQ(unary.status(), 0) << unary.message();
  const auto response = ParseResponse(unary.messages().at(0));
  EXPECT_EQ(response.outputs(0).datatype(), "BYTES");
  EXPECT_EQ(response.outputs(0).shape(0), 2);
  EXPECT_EQ(response.raw_output_contents(0), classes);
  const Reply refused = client.Unary(kModelInfer, request("BOOL", 2));
  EXPECT_EQ(refused.status(), 3);
  EXPECT_EQ(refused.message(),
            "class result not available for output due to unsupported type 'BOOL'");

  const int32_t stream = client.Open(kModelStreamInfer);
  client.Send(stream, Frame(request("UINT8", 2)) + Frame(request("BOOL", 2)), true);
  const Reply& both = client.Finish(stream);
  ASSERT_EQ(both.messages().size(), 2u);
  inference::ModelStreamInferResponse message;
  ASSERT_TRUE(message.ParseFromString(both.messages()[0]));
  EXPECT_EQ(message.infer_response().raw_output_contents(0), classes);
  ASSERT_TRUE(message.ParseFromString(both.messages()[1]));
  EXPECT_EQ(message.error_message(), refused.message());
}

TEST_F(GrpcInferTest, ResetCancelsTheRequest) {
  service_.handler = service_.HoldHandler();
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelInfer);
  client.Send(stream, Frame(EchoRequest("x")), true);
  RequestPtr request = service_.TakeHeld();
  EXPECT_FALSE(request->IsCancelled());
  client.Reset(stream);
  // Frames are taken in order: when this is answered the reset has been seen.
  EXPECT_EQ(client.Unary(testing::kServerLive, "").status(), 0);
  EXPECT_TRUE(request->IsCancelled());
  FakeInferenceService::Echo(std::move(request));
}

TEST_F(GrpcInferTest, DisconnectionCancelsTheRequest) {
  service_.handler = service_.HoldHandler();
  Start();
  RequestPtr request;
  {
    TestClient client(port());
    client.Send(client.Open(kModelInfer), Frame(EchoRequest("x")), true);
    request = service_.TakeHeld();
  }
  while (!request->IsCancelled()) std::this_thread::yield();
  FakeInferenceService::Echo(std::move(request));
}

TEST_F(GrpcInferTest, CompressedMessagesBothWays) {
  options_.response_compression = CompressionLevel::kMedium;
  Start();
  TestClient client(port());
  const std::string bytes(100000, 'z');
  for (const Encoding encoding : {Encoding::kGzip, Encoding::kDeflate}) {
    const std::string name(EncodingName(encoding));
    const std::string message = EchoRequest(bytes);
    const std::string_view pieces[] = {std::string_view(message).substr(0, 10),
                                       std::string_view(message).substr(10)};
    std::string compressed;
    ASSERT_TRUE(Compress(pieces, encoding, 6, &compressed).ok());
    const int32_t stream = client.Open(
        kModelInfer, {{"grpc-encoding", name}, {"grpc-accept-encoding", "identity, " + name}});
    client.Send(stream, Frame(compressed, true), true);
    const Reply& reply = client.Finish(stream);
    ASSERT_EQ(reply.status(), 0) << reply.message();
    EXPECT_EQ(reply.headers.at("grpc-encoding"), name);
    EXPECT_EQ(reply.body.at(0), 1);
    EXPECT_LT(reply.body.size(), 2000u);
    const std::string packed = reply.messages().at(0);
    const auto plain = Decompress(packed, encoding, 1 << 20, nullptr);
    ASSERT_TRUE(std::holds_alternative<StoredBytes>(plain));
    const std::string_view plain_bytes = std::get<StoredBytes>(plain).bytes;
    EXPECT_EQ(ParseResponse(std::string(plain_bytes)).raw_output_contents(0), bytes);
  }
  const Reply reply = client.Unary(kModelInfer, EchoRequest(bytes));  // accepts nothing
  EXPECT_EQ(reply.headers.count("grpc-encoding"), 0u);
  EXPECT_EQ(ParseResponse(reply.messages().at(0)).raw_output_contents(0), bytes);
}

TEST_F(GrpcInferTest, AnswersAfterTheServerIsGone) {
  service_.handler = service_.HoldHandler();
  Start();
  TestClient client(port());
  client.Send(client.Open(kModelInfer), Frame(EchoRequest("x")), true);
  RequestPtr request = service_.TakeHeld();
  server_.reset();
  EXPECT_TRUE(request->IsCancelled());
  FakeInferenceService::Echo(std::move(request));
}

TEST_F(GrpcStreamTest, KeepsTheOrderOfRequests) {
  service_.handler = service_.HoldHandler();
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelStreamInfer);
  for (const std::string id : {"1", "2", "3"}) {
    client.Send(stream, Frame(EchoRequest("bytes" + id, "echo", id)), false);
  }
  std::vector<RequestPtr> requests;
  for (int i = 0; i < 3; ++i) requests.push_back(service_.TakeHeld());
  for (int i = 2; i >= 0; --i) FakeInferenceService::Echo(std::move(requests[i]));
  client.Send(stream, "", true);
  const Reply& reply = client.Finish(stream);
  EXPECT_EQ(reply.status(), 0);
  ASSERT_EQ(reply.messages().size(), 3u);
  for (int i = 0; i < 3; ++i) {
    const auto message = ParseStreamResponse(reply.messages()[i]);
    EXPECT_EQ(message.error_message(), "");
    EXPECT_EQ(message.infer_response().id(), std::to_string(i + 1));
    EXPECT_EQ(message.infer_response().raw_output_contents(0), "bytes" + std::to_string(i + 1));
    EXPECT_TRUE(message.infer_response().parameters().at("triton_final_response").bool_param());
  }
}

TEST_F(GrpcStreamTest, FailuresBeforeExecutionCarryTheIdOnly) {
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelStreamInfer, {{"triton_grpc_error", "true"}});
  client.Send(stream, Frame(EchoRequest("x", "unknown", "a")), false);
  const auto message = ParseStreamResponse(client.WaitForMessages(stream, 1).messages().at(0));
  EXPECT_EQ(message.error_message(), "Request for unknown model: 'unknown' is not found");
  EXPECT_EQ(message.infer_response().id(), "a");
  EXPECT_EQ(message.infer_response().model_name(), "");
  EXPECT_TRUE(message.infer_response().parameters().empty());
  client.Send(stream, Frame(EchoRequest("x")), true);  // the stream goes on
  EXPECT_EQ(client.Finish(stream).messages().size(), 2u);
  EXPECT_EQ(client.Finish(stream).status(), 0);
}

TEST_F(GrpcStreamTest, BackendErrorsCarryNamesAndTheFinalFlag) {
  service_.handler = [](RequestPtr request) {
    FakeInferenceService::Fail(std::move(request), base::Status::Internal("broken"));
  };
  Start();
  TestClient client(port());
  int32_t stream = client.Open(kModelStreamInfer);
  client.Send(stream, Frame(EchoRequest("x", "echo", "e")), true);
  const auto message = ParseStreamResponse(client.Finish(stream).messages().at(0));
  EXPECT_EQ(message.error_message(), "broken");
  EXPECT_EQ(message.infer_response().id(), "e");
  EXPECT_EQ(message.infer_response().model_name(), "echo");
  EXPECT_EQ(message.infer_response().model_version(), "");
  EXPECT_TRUE(message.infer_response().parameters().at("triton_final_response").bool_param());
  EXPECT_EQ(client.Finish(stream).status(), 0);

  stream = client.Open(kModelStreamInfer, {{"triton_grpc_error", "true"}});
  client.Send(stream, Frame(EchoRequest("x")), false);
  const Reply& reply = client.Finish(stream);
  EXPECT_EQ(reply.status(), 13);
  EXPECT_EQ(reply.message(), "broken");
  EXPECT_TRUE(reply.messages().empty());
}

TEST_F(GrpcStreamTest, DecoupledModelsMayAnswerSeveralTimesOrNever) {
  int responses = 2;
  service_.handler = [&responses](RequestPtr request) {
    SendResponses(*request, responses, false);
    request->response_factory()->SendFinal();
    Release(std::move(request));
  };
  Start();
  TestClient client(port());
  int32_t stream = client.Open(kModelStreamInfer);
  client.Send(stream, Frame(EchoRequest("x", "decoupled", "d")), true);
  const Reply& two = client.Finish(stream);
  ASSERT_EQ(two.messages().size(), 2u);
  for (const std::string& message : two.messages()) {
    const auto parsed = ParseStreamResponse(message).infer_response();
    EXPECT_FALSE(parsed.parameters().at("triton_final_response").bool_param());
  }
  responses = 0;
  stream = client.Open(kModelStreamInfer);
  client.Send(stream, Frame(EchoRequest("x", "decoupled")), true);
  EXPECT_TRUE(client.Finish(stream).messages().empty());
  EXPECT_EQ(client.Finish(stream).status(), 0);

  inference::ModelInferRequest request;
  request.ParseFromString(EchoRequest("x", "decoupled", "d"));
  (*request.mutable_parameters())["triton_enable_empty_final_response"].set_bool_param(true);
  stream = client.Open(kModelStreamInfer);
  client.Send(stream, Frame(request.SerializeAsString()), true);
  const Reply& empty = client.Finish(stream);
  ASSERT_EQ(empty.messages().size(), 1u);
  const auto final = ParseStreamResponse(empty.messages()[0]).infer_response();
  EXPECT_EQ(final.id(), "d");
  EXPECT_EQ(final.model_name(), "decoupled");
  EXPECT_EQ(final.outputs_size(), 0);
  EXPECT_TRUE(final.parameters().at("triton_final_response").bool_param());
}

/// Sends a response with one empty output of this name.
void SendNamed(request::ResponseFactory& factory, const std::string& output) {
  auto response = factory.NewResponse().value();
  request::Output* const added = *response->AddOutput(output, tensor::DataType::kUint8, {0});
  memory::MemoryType type = memory::MemoryType::kCpu;
  int64_t id = 0;
  ASSERT_TRUE(response->AllocateOutput(added, 0, &type, &id).ok());
  factory.Send(std::move(response), false);
}

// The first response is on its way to the event loop when the loop's own thread sends the next one.
TEST_F(GrpcStreamTest, ResponsesOfSeveralThreadsArriveInTheOrderInWhichTheyWereSent) {
  service_.handler = [](RequestPtr request) {
    request::ResponseFactory& factory = *request->response_factory();
    std::thread([&factory] { SendNamed(factory, "FIRST"); }).join();
    SendNamed(factory, "SECOND");
    factory.SendFinal();
    Release(std::move(request));
  };
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelStreamInfer);
  client.Send(stream, Frame(EchoRequest("x", "decoupled")), true);
  const Reply& reply = client.Finish(stream);
  ASSERT_EQ(reply.messages().size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const auto response = ParseStreamResponse(reply.messages()[i]).infer_response();
    ASSERT_EQ(response.outputs_size(), 1);
    EXPECT_EQ(response.outputs(0).name(), i == 0 ? "FIRST" : "SECOND");
  }
}

TEST_F(GrpcStreamTest, ResetCancelsEveryRequest) {
  service_.handler = service_.HoldHandler();
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelStreamInfer);
  client.Send(stream, Frame(EchoRequest("1")), false);
  client.Send(stream, Frame(EchoRequest("2", "decoupled")), false);
  RequestPtr first = service_.TakeHeld();
  RequestPtr second = service_.TakeHeld();
  client.Reset(stream);
  EXPECT_EQ(client.Unary(testing::kServerLive, "").status(), 0);
  EXPECT_TRUE(first->IsCancelled());
  EXPECT_TRUE(second->IsCancelled());
  FakeInferenceService::Echo(std::move(first));
  FakeInferenceService::Echo(std::move(second));
}

TEST_F(GrpcStreamTest, MalformedMessageEndsTheStream) {
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelStreamInfer);
  client.Send(stream, Frame("\x0a\x7f"), false);
  EXPECT_EQ(client.Finish(stream).status(), 13);
}

}  // namespace
}  // namespace nereid::frontend::grpc
