// SPDX-License-Identifier: Apache-2.0
// The generated classes are measured in bench/direct_calls/parse_infer_request.cc.
#include <benchmark/benchmark.h>

#include <string>

#include "codec/proto/infer_request.h"
#include "grpc_service.pb.h"

namespace nereid::codec::proto {
namespace {

inference::ModelInferRequest OneInput(int64_t count) {
  inference::ModelInferRequest message;
  message.set_model_name("identity");
  message.set_id("1");
  (*message.mutable_parameters())["priority"].set_uint64_param(1);
  auto* input = message.add_inputs();
  input->set_name("INPUT0");
  input->set_datatype("FP32");
  input->add_shape(1);
  input->add_shape(count);
  message.add_outputs()->set_name("OUTPUT0");
  return message;
}

void ParseAndFill(benchmark::State& state, const inference::ModelInferRequest& message) {
  const std::string bytes = message.SerializeAsString();
  InferRequestView view;
  for (auto _ : state) {
    request::InferenceRequest request;
    ResponseOptions options;
    const bool ok = view.Parse(bytes).ok() && FillInferRequest(view, &request, &options).ok();
    if (!ok) state.SkipWithError("the message is not accepted");
    benchmark::DoNotOptimize(request.inputs().size());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}

// The argument is the number of FP32 elements.
void RawContents(benchmark::State& state) {
  inference::ModelInferRequest message = OneInput(state.range(0));
  message.add_raw_input_contents(std::string(static_cast<size_t>(state.range(0)) * 4, 'x'));
  ParseAndFill(state, message);
}
BENCHMARK(RawContents)->Arg(16)->Arg(262'144);

void TypedContents(benchmark::State& state) {
  inference::ModelInferRequest message = OneInput(state.range(0));
  auto* contents = message.mutable_inputs(0)->mutable_contents();
  for (int64_t i = 0; i < state.range(0); ++i) contents->add_fp32_contents(0.5f);
  ParseAndFill(state, message);
}
BENCHMARK(TypedContents)->Arg(16)->Arg(262'144);

}  // namespace
}  // namespace nereid::codec::proto
