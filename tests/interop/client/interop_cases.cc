// SPDX-License-Identifier: Apache-2.0
// The gRPC project's interoperability tests, by their names there.
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "connection.h"
#include "interop.grpc.pb.h"

// Of the library's tests, but exported.
uint32_t grpc_call_test_only_get_message_flags(grpc_call* call);

namespace grpc::testing {

/// The library declares this class a friend of ClientContext for tests such as these.
class InteropClientContextInspector {
 public:
  /// Returns whether the last message from the server was compressed.
  static bool WasCompressed(const ClientContext& context) {
    constexpr uint32_t kWasCompressed = 0x40000000;
    return (grpc_call_test_only_get_message_flags(context.call_) & kWasCompressed) != 0;
  }
};

}  // namespace grpc::testing

namespace nereid::interop {
namespace {

using grpc::ClientContext;
using grpc::Status;
using grpc::StatusCode;
using grpc::testing::Empty;
using grpc::testing::InteropClientContextInspector;
using grpc::testing::SimpleRequest;
using grpc::testing::SimpleResponse;
using grpc::testing::StreamingInputCallRequest;
using grpc::testing::StreamingInputCallResponse;
using grpc::testing::StreamingOutputCallRequest;
using grpc::testing::StreamingOutputCallResponse;
using grpc::testing::TestService;

constexpr std::array<int, 4> kResponseSizes = {31415, 9, 2653, 58979};
constexpr std::array<int, 4> kRequestSizes = {27182, 8, 1828, 45904};
constexpr int kLargeRequest = 271828, kLargeResponse = 314159;

SimpleRequest LargeRequest() {
  SimpleRequest request;
  request.set_response_size(kLargeResponse);
  request.mutable_payload()->set_body(std::string(kLargeRequest, '\0'));
  return request;
}

StreamingOutputCallRequest OutputRequest(int request_size, int response_size) {
  StreamingOutputCallRequest request;
  request.add_response_parameters()->set_size(response_size);
  request.mutable_payload()->set_body(std::string(static_cast<size_t>(request_size), '\0'));
  return request;
}

void CheckLarge(const SimpleResponse& response) {
  Check(response.payload().body() == std::string(kLargeResponse, '\0'), "another payload");
}

void CheckSize(const StreamingOutputCallResponse& response, int size) {
  Check(response.payload().body().size() == static_cast<size_t>(size), "another size");
}

void EmptyUnary(TestService::Stub& stub) {
  ClientContext context;
  Empty response;
  Expect(stub.EmptyCall(&context, Empty(), &response), StatusCode::OK);
}

void LargeUnary(TestService::Stub& stub) {
  ClientContext context;
  SimpleResponse response;
  Expect(stub.UnaryCall(&context, LargeRequest(), &response), StatusCode::OK);
  CheckLarge(response);
}

void ClientCompressedUnary(TestService::Stub& stub) {
  SimpleRequest request = LargeRequest();
  request.mutable_expect_compressed()->set_value(true);
  {
    ClientContext probe;  // a server that does not look at the flag accepts it
    SimpleResponse response;
    Expect(stub.UnaryCall(&probe, request, &response), StatusCode::INVALID_ARGUMENT);
  }
  for (const bool compressed : {true, false}) {
    ClientContext context;
    SimpleResponse response;
    context.set_compression_algorithm(compressed ? GRPC_COMPRESS_GZIP : GRPC_COMPRESS_NONE);
    request.mutable_expect_compressed()->set_value(compressed);
    Expect(stub.UnaryCall(&context, request, &response), StatusCode::OK);
    CheckLarge(response);
  }
}

void ServerCompressedUnary(TestService::Stub& stub) {
  for (const bool compressed : {true, false}) {
    ClientContext context;
    SimpleRequest request = LargeRequest();
    request.mutable_response_compressed()->set_value(compressed);
    SimpleResponse response;
    Expect(stub.UnaryCall(&context, request, &response), StatusCode::OK);
    CheckLarge(response);
    Check(InteropClientContextInspector::WasCompressed(context) == compressed, "compression");
  }
}

void ClientCompressedStreaming(TestService::Stub& stub) {
  StreamingInputCallRequest request;
  request.mutable_payload()->set_body(std::string(kRequestSizes[0], '\0'));
  request.mutable_expect_compressed()->set_value(true);
  StreamingInputCallResponse response;
  {
    ClientContext probe;
    const auto writer = stub.StreamingInputCall(&probe, &response);
    writer->Write(request);
    writer->WritesDone();
    Expect(writer->Finish(), StatusCode::INVALID_ARGUMENT);
  }
  ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  const auto writer = stub.StreamingInputCall(&context, &response);
  Check(writer->Write(request), "the stream ended");
  request.mutable_expect_compressed()->set_value(false);
  Check(writer->Write(request, grpc::WriteOptions().set_no_compression()), "the stream ended");
  writer->WritesDone();
  Expect(writer->Finish(), StatusCode::OK);
  Check(response.aggregated_payload_size() == 2 * kRequestSizes[0], "another sum");
}

void ServerCompressedStreaming(TestService::Stub& stub) {
  ClientContext context;
  StreamingOutputCallRequest request;
  for (const bool compressed : {true, false}) {
    auto* const wanted = request.add_response_parameters();
    wanted->set_size(compressed ? 31415 : 92653);
    wanted->mutable_compressed()->set_value(compressed);
  }
  const auto reader = stub.StreamingOutputCall(&context, request);
  StreamingOutputCallResponse response;
  for (const bool compressed : {true, false}) {
    Check(reader->Read(&response), "a response is missing");
    CheckSize(response, compressed ? 31415 : 92653);
    Check(InteropClientContextInspector::WasCompressed(context) == compressed, "compression");
  }
  Check(!reader->Read(&response), "one response too many");
  Expect(reader->Finish(), StatusCode::OK);
}

void ClientStreaming(TestService::Stub& stub) {
  ClientContext context;
  StreamingInputCallResponse response;
  const auto writer = stub.StreamingInputCall(&context, &response);
  int sum = 0;
  for (const int size : kRequestSizes) {
    StreamingInputCallRequest request;
    request.mutable_payload()->set_body(std::string(static_cast<size_t>(size), '\0'));
    Check(writer->Write(request), "the stream ended");
    sum += size;
  }
  writer->WritesDone();
  Expect(writer->Finish(), StatusCode::OK);
  Check(response.aggregated_payload_size() == sum, "another sum");
}

void ServerStreaming(TestService::Stub& stub) {
  ClientContext context;
  StreamingOutputCallRequest request;
  for (const int size : kResponseSizes) request.add_response_parameters()->set_size(size);
  const auto reader = stub.StreamingOutputCall(&context, request);
  StreamingOutputCallResponse response;
  for (const int size : kResponseSizes) {
    Check(reader->Read(&response), "a response is missing");
    CheckSize(response, size);
  }
  Check(!reader->Read(&response), "one response too many");
  Expect(reader->Finish(), StatusCode::OK);
}

void PingPong(TestService::Stub& stub) {
  ClientContext context;
  const auto stream = stub.FullDuplexCall(&context);
  StreamingOutputCallResponse response;
  for (size_t i = 0; i < kRequestSizes.size(); ++i) {
    Check(stream->Write(OutputRequest(kRequestSizes[i], kResponseSizes[i])), "the stream ended");
    Check(stream->Read(&response), "a response is missing");
    CheckSize(response, kResponseSizes[i]);
  }
  stream->WritesDone();
  Check(!stream->Read(&response), "one response too many");
  Expect(stream->Finish(), StatusCode::OK);
}

void EmptyStream(TestService::Stub& stub) {
  ClientContext context;
  const auto stream = stub.FullDuplexCall(&context);
  stream->WritesDone();
  StreamingOutputCallResponse response;
  Check(!stream->Read(&response), "one response too many");
  Expect(stream->Finish(), StatusCode::OK);
}

constexpr char kInitial[] = "x-grpc-test-echo-initial";
constexpr char kTrailing[] = "x-grpc-test-echo-trailing-bin";
constexpr char kInitialValue[] = "test_initial_metadata_value";
constexpr char kTrailingValue[] = "\xab\xab\xab";

void AddMetadata(ClientContext* context) {
  context->AddMetadata(kInitial, kInitialValue);
  context->AddMetadata(kTrailing, kTrailingValue);
}

void CheckMetadata(const ClientContext& context) {
  const auto find = [](const auto& metadata, const char* name) {
    const auto found = metadata.find(name);
    return found == metadata.end() ? std::string()
                                   : std::string(found->second.data(), found->second.size());
  };
  Check(find(context.GetServerInitialMetadata(), kInitial) == kInitialValue, "initial metadata");
  Check(find(context.GetServerTrailingMetadata(), kTrailing) == kTrailingValue,
        "trailing metadata");
}

void CustomMetadata(TestService::Stub& stub) {
  {
    ClientContext context;
    AddMetadata(&context);
    SimpleResponse response;
    Expect(stub.UnaryCall(&context, LargeRequest(), &response), StatusCode::OK);
    CheckMetadata(context);
  }
  ClientContext context;
  AddMetadata(&context);
  const auto stream = stub.FullDuplexCall(&context);
  StreamingOutputCallResponse response;
  Check(stream->Write(OutputRequest(kLargeRequest, kLargeResponse)), "the stream ended");
  Check(stream->Read(&response), "a response is missing");
  stream->WritesDone();
  Check(!stream->Read(&response), "one response too many");
  Expect(stream->Finish(), StatusCode::OK);
  CheckMetadata(context);
}

void WithStatus(TestService::Stub& stub, const std::string& message) {
  {
    ClientContext context;
    SimpleRequest request;
    request.mutable_response_status()->set_code(StatusCode::UNKNOWN);
    request.mutable_response_status()->set_message(message);
    SimpleResponse response;
    const Status status = stub.UnaryCall(&context, request, &response);
    Expect(status, StatusCode::UNKNOWN);
    Check(status.error_message() == message, "another message: " + status.error_message());
  }
  ClientContext context;
  StreamingOutputCallRequest request;
  request.mutable_response_status()->set_code(StatusCode::UNKNOWN);
  request.mutable_response_status()->set_message(message);
  const auto stream = stub.FullDuplexCall(&context);
  stream->Write(request);
  stream->WritesDone();
  StreamingOutputCallResponse response;
  Check(!stream->Read(&response), "one response too many");
  const Status status = stream->Finish();
  Expect(status, StatusCode::UNKNOWN);
  Check(status.error_message() == message, "another message: " + status.error_message());
}

void StatusCodeAndMessage(TestService::Stub& stub) { WithStatus(stub, "test status message"); }

void SpecialStatusMessage(TestService::Stub& stub) {
  WithStatus(stub,
             "\t\ntest with whitespace\r\nand Unicode BMP \xe2\x98\xba and non-BMP "
             "\xf0\x9f\x98\x88\t\n");
}

void UnimplementedMethod(TestService::Stub& stub) {
  ClientContext context;
  Empty response;
  Expect(stub.UnimplementedCall(&context, Empty(), &response), StatusCode::UNIMPLEMENTED);
}

void UnimplementedService(const Connection& connection) {
  ClientContext context;
  Empty response;
  const auto stub = grpc::testing::UnimplementedService::NewStub(connection.channel);
  Expect(stub->UnimplementedCall(&context, Empty(), &response), StatusCode::UNIMPLEMENTED);
}

void CancelAfterBegin(TestService::Stub& stub) {
  ClientContext context;
  StreamingInputCallResponse response;
  const auto writer = stub.StreamingInputCall(&context, &response);
  context.TryCancel();
  Expect(writer->Finish(), StatusCode::CANCELLED);
}

void CancelAfterFirstResponse(TestService::Stub& stub) {
  ClientContext context;
  const auto stream = stub.FullDuplexCall(&context);
  StreamingOutputCallResponse response;
  Check(stream->Write(OutputRequest(kRequestSizes[0], kResponseSizes[0])), "the stream ended");
  Check(stream->Read(&response), "a response is missing");
  CheckSize(response, kResponseSizes[0]);
  context.TryCancel();
  Expect(stream->Finish(), StatusCode::CANCELLED);
}

void TimeoutOnSleepingServer(TestService::Stub& stub) {
  ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(1));
  const auto stream = stub.FullDuplexCall(&context);
  StreamingOutputCallRequest request = OutputRequest(kRequestSizes[0], kResponseSizes[0]);
  request.mutable_response_parameters(0)->set_interval_us(10'000'000);
  stream->Write(request);
  StreamingOutputCallResponse response;
  stream->Read(&response);
  Expect(stream->Finish(), StatusCode::DEADLINE_EXCEEDED);
}

template <void (*kBody)(TestService::Stub&)>
void With(const Connection& connection) {
  kBody(*TestService::NewStub(connection.channel));
}

}  // namespace

Case FindInteropCase(std::string_view name) {
  static const std::map<std::string_view, Case> kCases = {
      {"empty_unary", With<EmptyUnary>},
      {"large_unary", With<LargeUnary>},
      {"client_compressed_unary", With<ClientCompressedUnary>},
      {"server_compressed_unary", With<ServerCompressedUnary>},
      {"client_compressed_streaming", With<ClientCompressedStreaming>},
      {"server_compressed_streaming", With<ServerCompressedStreaming>},
      {"client_streaming", With<ClientStreaming>},
      {"server_streaming", With<ServerStreaming>},
      {"ping_pong", With<PingPong>},
      {"empty_stream", With<EmptyStream>},
      {"custom_metadata", With<CustomMetadata>},
      {"status_code_and_message", With<StatusCodeAndMessage>},
      {"special_status_message", With<SpecialStatusMessage>},
      {"unimplemented_method", With<UnimplementedMethod>},
      {"unimplemented_service", UnimplementedService},
      {"cancel_after_begin", With<CancelAfterBegin>},
      {"cancel_after_first_response", With<CancelAfterFirstResponse>},
      {"timeout_on_sleeping_server", With<TimeoutOnSleepingServer>},
  };
  const auto found = kCases.find(name);
  return found == kCases.end() ? nullptr : found->second;
}

}  // namespace nereid::interop
