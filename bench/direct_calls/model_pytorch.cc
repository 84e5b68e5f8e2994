// SPDX-License-Identifier: Apache-2.0
// direct_model_pytorch MODEL REQUEST THREADS: forward of one TorchScript module, whose arguments
// are the inputs in the order of the request, with THREADS threads for each caller. Inputs of rank
// 0 become numbers.
#include <ATen/Parallel.h>
#include <torch/script.h>

#include <map>

#include "direct_calls/measure.h"
#include "direct_calls/model_load.h"

namespace {

using nereid::bench::Fail;
using nereid::bench::InputTensor;

c10::IValue ValueOf(InputTensor* input) {
  static const std::map<std::string, at::ScalarType> types = {
      {"FP32", at::kFloat}, {"INT64", at::kLong}, {"INT32", at::kInt}};
  const auto found = types.find(input->datatype);
  if (found == types.end()) Fail("inputs of type " + input->datatype + " are not supported");
  const at::Tensor tensor = at::from_blob(input->bytes.data(), input->shape, found->second);
  return input->shape.empty() ? c10::IValue(tensor.item()) : c10::IValue(tensor);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) Fail("usage: direct_model_pytorch MODEL REQUEST THREADS");
  const int threads = std::atoi(argv[3]);
  torch::jit::Module module = torch::jit::load(argv[1]);
  module.eval();
  std::vector<InputTensor> inputs = nereid::bench::ReadInputs(argv[2]);
  std::vector<c10::IValue> arguments;
  for (InputTensor& input : inputs) arguments.push_back(ValueOf(&input));
  return nereid::bench::ServeMeasurements([&] { at::set_num_threads(threads); },
                                          [&] {
                                            c10::InferenceMode guard;
                                            module.forward(arguments);
                                          });
}
