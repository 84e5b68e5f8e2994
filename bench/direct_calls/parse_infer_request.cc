// SPDX-License-Identifier: Apache-2.0
// Parses one ModelInferRequest in a loop: with the server's reader (codec/proto), and with the
// classes that protoc generates, as a new message, as a reused message, and on an arena.
//
//   direct_parse_infer_request RAW_BYTES [CALLS]
//
// The request has one FP32 input of RAW_BYTES in raw_input_contents, an id and one parameter.
#include <google/protobuf/arena.h>

#include <string>

#include "codec/proto/infer_request_view.h"
#include "direct_calls/measure.h"
#include "grpc_service.pb.h"

namespace {

using inference::ModelInferRequest;
using nereid::bench::Fail;
using nereid::bench::PrintCpuPerCall;

std::string Encode(size_t raw_bytes) {
  ModelInferRequest request;
  request.set_model_name("identity");
  request.set_id("1");
  (*request.mutable_parameters())["priority"].set_uint64_param(1);
  auto* input = request.add_inputs();
  input->set_name("INPUT0");
  input->set_datatype("FP32");
  input->add_shape(1);
  input->add_shape(static_cast<int64_t>(raw_bytes / sizeof(float)));
  request.add_raw_input_contents(std::string(raw_bytes, 'x'));
  return request.SerializeAsString();
}

void Parse(ModelInferRequest* request, const std::string& message) {
  if (!request->ParseFromString(message)) Fail("the message cannot be parsed");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) Fail("usage: direct_parse_infer_request RAW_BYTES [CALLS]");
  const std::string message = Encode(std::stoul(argv[1]));
  const int calls = argc > 2 ? std::stoi(argv[2]) : 100'000;

  std::printf("codec/proto: ");
  nereid::codec::proto::InferRequestView view;
  PrintCpuPerCall(calls, [&] {
    if (!view.Parse(message).ok()) Fail("the message cannot be parsed");
  });
  std::printf("generated, new message: ");
  PrintCpuPerCall(calls, [&] {
    ModelInferRequest request;
    Parse(&request, message);
  });
  std::printf("generated, reused message: ");
  ModelInferRequest reused;
  PrintCpuPerCall(calls, [&] { Parse(&reused, message); });
  std::printf("generated, on an arena: ");
  google::protobuf::Arena arena;
  PrintCpuPerCall(calls, [&] {
    Parse(google::protobuf::Arena::CreateMessage<ModelInferRequest>(&arena), message);
    arena.Reset();
  });
  return 0;
}
