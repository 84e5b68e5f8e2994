// SPDX-License-Identifier: Apache-2.0
// What one TF_SessionRun costs without a server: the CPU time of this process for each.
//
//   tensorflow_run_cost GRAPHDEF INPUT OUTPUT DIM...     one FP32 input of that shape
//
// One thread in each pool and inter_op_thread_pool = -1, like the backend's.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tensorflow/c/c_api.h"

namespace {

void Check(const TF_Status* status) {
  if (TF_GetCode(status) != TF_OK) {
    std::fprintf(stderr, "%s\n", TF_Message(status));
    std::exit(1);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) {
    std::fprintf(stderr, "usage: %s GRAPHDEF INPUT OUTPUT DIM...\n", words[0]);
    return 2;
  }
  std::ifstream file(words[1], std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<int64_t> shape;
  size_t elements = 1;
  for (int i = 4; i < count; ++i) {
    shape.push_back(std::atoll(words[i]));
    elements *= static_cast<size_t>(shape.back());
  }
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_Buffer* graph_def = TF_NewBufferFromString(bytes.data(), bytes.size());
  TF_ImportGraphDefOptions* import = TF_NewImportGraphDefOptions();
  TF_GraphImportGraphDef(graph, graph_def, import, status);
  Check(status);
  TF_SessionOptions* options = TF_NewSessionOptions();
  const std::string config = {0x10, 1, 0x28, 1, 0x48, 1};  // intra 1, inter 1, threads of its own
  TF_SetConfig(options, config.data(), config.size(), status);
  TF_Session* session = TF_NewSession(graph, options, status);
  Check(status);
  const std::string run = {0x18,   '\xff', '\xff', '\xff', '\xff', '\xff',
                           '\xff', '\xff', '\xff', '\xff', 1};
  TF_Buffer* run_options = TF_NewBufferFromString(run.data(), run.size());
  const TF_Output input = {TF_GraphOperationByName(graph, words[2]), 0};
  const TF_Output output = {TF_GraphOperationByName(graph, words[3]), 0};
  const std::vector<float> values(elements, 1.0F);
  const auto call = [&] {
    TF_Tensor* fed = TF_NewTensor(
        TF_FLOAT, shape.data(), static_cast<int>(shape.size()), const_cast<float*>(values.data()),
        elements * sizeof(float), [](void* /*data*/, size_t /*size*/, void* /*arg*/) {}, nullptr);
    TF_Tensor* fetched = nullptr;
    TF_SessionRun(session, run_options, &input, &fed, 1, &output, &fetched, 1, nullptr, 0, nullptr,
                  status);
    Check(status);
    TF_DeleteTensor(fed);
    TF_DeleteTensor(fetched);
  };
  constexpr int kCalls = 200000;
  for (int i = 0; i < 1000; ++i) {
    call();
  }
  const clock_t start = std::clock();
  for (int i = 0; i < kCalls; ++i) {
    call();
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%.2f\n", seconds / kCalls * 1e6);
  return 0;
}
