// SPDX-License-Identifier: Apache-2.0
// direct_pytorch MODEL N: forward of a TorchScript module on [1,N] floats, one thread.
#include <ATen/Parallel.h>
#include <torch/script.h>

#include "direct_calls/measure.h"

int main(int argc, char** argv) {
  if (argc != 3) nereid::bench::Fail("usage: direct_pytorch MODEL N");
  at::set_num_threads(1);
  torch::jit::Module module = torch::jit::load(argv[1]);
  module.eval();
  std::vector<float> values(static_cast<size_t>(std::atoll(argv[2])), 0.5f);
  const int64_t n = static_cast<int64_t>(values.size());
  c10::InferenceMode guard;
  return nereid::bench::PrintCpuPerCall(20000, [&] {
    const at::Tensor input = at::from_blob(values.data(), {1, n}, at::kFloat);
    module.forward({input});
  });
}
