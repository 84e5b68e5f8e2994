// SPDX-License-Identifier: Apache-2.0
// What one call of infer costs without a server: the CPU time of this process for each.
//
//   openvino_infer_cost MODEL_FILE DIM...     one FP32 input of that shape; one thread, one stream
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <openvino/openvino.hpp>

int main(int count, char** words) {
  if (count < 3) {
    std::fprintf(stderr, "usage: %s MODEL_FILE DIM...\n", words[0]);
    return 2;
  }
  ov::Shape shape;
  for (int i = 2; i < count; ++i) {
    shape.push_back(static_cast<size_t>(std::atoll(words[i])));
  }
  ov::Core core;
  ov::InferRequest request =
      core.compile_model(words[1], "CPU", ov::num_streams(1), ov::inference_num_threads(1),
                         ov::hint::enable_cpu_pinning(false))
          .create_infer_request();
  ov::Tensor input(ov::element::f32, shape);
  std::fill_n(input.data<float>(), input.get_size(), 1.0F);
  request.set_input_tensor(input);
  constexpr int kCalls = 200000;
  for (int i = 0; i < 1000; ++i) {
    request.infer();
  }
  const clock_t start = std::clock();
  for (int i = 0; i < kCalls; ++i) {
    request.infer();
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%.2f\n", seconds / kCalls * 1e6);
  return 0;
}
