// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/name_index.h"

namespace nereid::base {
namespace {

// Finds each name of a new list, as the decoder of a request does. The argument is the length.
void FindEachName(benchmark::State& state) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < state.range(0); ++i) names.push_back("INPUT" + std::to_string(i));
  for (auto _ : state) {
    NameIndex index;
    for (const std::string& name : names) {
      benchmark::DoNotOptimize(index.Find(
          names, name, [](const std::string& text) -> std::string_view { return text; }));
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(FindEachName)->Arg(1)->Arg(16)->Arg(17)->Arg(4096);

}  // namespace
}  // namespace nereid::base
