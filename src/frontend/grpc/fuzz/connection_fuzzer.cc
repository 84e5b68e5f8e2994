// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: all that one client sends to the gRPC port, in the clear, after the preface of
// HTTP/2. See ServeFuzzedClient for the first three bytes.
#include "api/testing/fake_inference_service.h"
#include "frontend/grpc/loop.h"
#include "frontend/grpc/method_table.h"
#include "frontend/grpc/protobuf_log.h"
#include "frontend/grpc/server_context.h"
#include "frontend/net/testing/fuzzed_client.h"

namespace {

using namespace nereid::frontend;

// The preface of a client and its empty SETTINGS.
constexpr std::string_view kOpening{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33};

grpc::GrpcOptions Options() {
  grpc::GrpcOptions options;
  options.max_message_size = size_t{1} << 20;
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static nereid::api::testing::FakeInferenceService service;
  static grpc::ServerContext context{
      .options = Options(), .service = service, .make_call = &grpc::MakeCall};
  [[maybe_unused]] static const bool quiet = (grpc::TakeOverProtobufLog(), true);
  const auto make = [](net::ServerLoop& loop) {
    return std::make_shared<grpc::Loop>(context, loop);
  };
  net::testing::ServeFuzzedClient(make, kOpening, data, size);
  return 0;
}
