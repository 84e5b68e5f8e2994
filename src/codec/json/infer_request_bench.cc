// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <string>

#include "codec/json/infer_request.h"

namespace nereid::codec::json {
namespace {

void Decode(benchmark::State& state, const std::string& json, const std::string& binary) {
  for (auto _ : state) {
    request::InferenceRequest request;
    OutputOptions outputs;
    request.model_name = "m";
    const base::Status status =
        DecodeInferRequest(json, binary, DecodeLimits(), &request, &outputs);
    if (!status.ok()) state.SkipWithError(status.message().c_str());
    benchmark::DoNotOptimize(request.inputs().size());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * (json.size() + binary.size())));
}

// The argument is the number of FP32 elements.
void DecodeNumbers(benchmark::State& state) {
  const int64_t count = state.range(0);
  std::string json = R"({"id":"7","inputs":[{"name":"INPUT0","shape":[)" + std::to_string(count) +
                     R"(],"datatype":"FP32","data":[)";
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) json += ',';
    json += "0." + std::to_string(1'000'000 + i * 7919 % 8'999'999);
  }
  Decode(state, json + R"(]}],"outputs":[{"name":"OUTPUT0"}]})", "");
}
BENCHMARK(DecodeNumbers)->Arg(16)->Arg(65536);

// The argument is the number of bytes.
void DecodeBinary(benchmark::State& state) {
  const std::string size = std::to_string(state.range(0));
  Decode(state,
         R"({"inputs":[{"name":"INPUT0","shape":[)" + size +
             R"(],"datatype":"UINT8","parameters":{"binary_data_size":)" + size +
             R"(}}],"outputs":[{"name":"OUTPUT0","parameters":{"binary_data":true}}]})",
         std::string(static_cast<size_t>(state.range(0)), 'x'));
}
BENCHMARK(DecodeBinary)->Arg(64)->Arg(1 << 20);

// The argument is the number of BYTES elements.
void DecodeTexts(benchmark::State& state) {
  const int64_t count = state.range(0);
  std::string json = R"({"inputs":[{"name":"TEXT","shape":[)" + std::to_string(count) +
                     R"(],"datatype":"BYTES","data":[)";
  for (int64_t i = 0; i < count; ++i) json += i > 0 ? R"(,"a text of words")" : R"("\"quoted\"")";
  Decode(state, json + "]}]}", "");
}
BENCHMARK(DecodeTexts)->Arg(1)->Arg(4096);

}  // namespace
}  // namespace nereid::codec::json
