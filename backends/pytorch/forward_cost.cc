// SPDX-License-Identifier: Apache-2.0
// What one call of forward costs without a server: the CPU time of this process for each.
//
//   pytorch_forward_cost MODEL_FILE DIM...     one FP32 input of that shape; one thread
#include <ATen/Parallel.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

int main(int count, char** words) {
  if (count < 3) {
    std::fprintf(stderr, "usage: %s MODEL_FILE DIM...\n", words[0]);
    return 2;
  }
  std::vector<int64_t> shape;
  for (int i = 2; i < count; ++i) {
    shape.push_back(std::atoll(words[i]));
  }
  at::set_num_threads(1);
  const c10::InferenceMode inference;
  torch::jit::Module module = torch::jit::load(words[1], c10::Device(c10::kCPU));
  module.eval();
  const at::Tensor input = at::ones(shape);
  constexpr int kCalls = 200000;
  for (int i = 0; i < 1000; ++i) {
    module.forward({input});
  }
  const clock_t start = std::clock();
  for (int i = 0; i < kCalls; ++i) {
    module.forward({input});
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%.2f\n", seconds / kCalls * 1e6);
  return 0;
}
