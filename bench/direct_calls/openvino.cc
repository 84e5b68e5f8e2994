// SPDX-License-Identifier: Apache-2.0
// direct_openvino MODEL N: OpenVINO's infer on [1,N] floats, on the calling thread.
#include <openvino/openvino.hpp>

#include "direct_calls/measure.h"

int main(int argc, char** argv) {
  if (argc != 3) nereid::bench::Fail("usage: direct_openvino MODEL N");
  ov::Core core;
  ov::CompiledModel model = core.compile_model(argv[1], "CPU", ov::inference_num_threads(1),
                                               ov::hint::inference_precision(ov::element::f32));
  ov::InferRequest request = model.create_infer_request();
  std::vector<float> values(static_cast<size_t>(std::atoll(argv[2])), 0.5f);
  return nereid::bench::PrintCpuPerCall(20000, [&] {
    request.set_input_tensor(ov::Tensor(ov::element::f32, {1, values.size()}, values.data()));
    request.infer();
  });
}
