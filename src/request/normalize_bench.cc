// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "request/binding.h"
#include "request/discarding_sink.h"
#include "request/normalize.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"

namespace nereid::request {
namespace {

// Creates, binds and checks a request. The argument is the number of inputs.
void BindAndNormalize(benchmark::State& state) {
  const int64_t count = state.range(0);
  std::string config = "name: \"m\" max_batch_size: 8 ";
  for (int64_t i = 0; i < count; ++i) {
    config += "input { name: \"IN" + std::to_string(i) + "\" data_type: TYPE_FP32 dims: [ 4 ] } ";
  }
  config += "output { name: \"OUT\" data_type: TYPE_FP32 dims: [ 4 ] }";
  const auto model = MakeModel(config);
  const std::string data(16, 'x');
  const auto sink = std::make_shared<DiscardingSink>();
  for (auto _ : state) {
    InferenceRequest request;
    request.SetSink(sink);
    for (const config::TensorSpec& input : model->config->inputs()) {
      request.AddInput(input.name, tensor::DataType::kFp32, {1, 4})
          .value()
          ->Append(data.data(), 16);
    }
    BindRequest(request, model);
    const base::Status status = Normalize(request);
    if (!status.ok()) state.SkipWithError(status.message().c_str());
    request.response_factory()->Disarm();
  }
}
BENCHMARK(BindAndNormalize)->Arg(1)->Arg(4)->Arg(64);

}  // namespace
}  // namespace nereid::request
