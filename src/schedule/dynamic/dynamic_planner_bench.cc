// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "request/testing/make_model.h"
#include "schedule/dynamic/dynamic_planner.h"

namespace nereid::schedule {
namespace {

// Queues requests and takes them as batches of eight. The argument is the length of the queue.
void PushAndNext(benchmark::State& state) {
  const auto model = request::MakeModel(
      "name: \"m\" max_batch_size: 8 dynamic_batching { } "
      "input { name: \"V\" data_type: TYPE_INT8 dims: [ -1 ] }");
  DynamicPlanner planner(*model->config);
  std::vector<RequestPtr> requests;
  for (int64_t i = 0; i < state.range(0); ++i) {
    auto request = std::make_unique<request::InferenceRequest>();
    request->batch_size = 1;
    if (!request->AddInput("V", tensor::DataType::kInt8, {1, 1}).ok()) return;
    requests.push_back(std::move(request));
  }
  uint64_t now = 0;
  std::vector<Refusal> refused;
  for (auto _ : state) {
    ++now;
    for (RequestPtr& request : requests) {
      request->times.queue_ns = now;
      if (!planner.Push(request, now).ok()) state.SkipWithError("the queue is full");
    }
    requests.clear();
    while (planner.size() > 0) {
      Decision decision = planner.Next(now, 0, &refused);
      for (RequestPtr& request : decision.batch->requests) requests.push_back(std::move(request));
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(PushAndNext)->Arg(1)->Arg(8)->Arg(512);

}  // namespace
}  // namespace nereid::schedule
