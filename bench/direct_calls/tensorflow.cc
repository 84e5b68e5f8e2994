// SPDX-License-Identifier: Apache-2.0
// direct_tensorflow MODEL INPUT N OUTPUT: TensorFlow's Session::Run on [1,N] floats. MODEL is a
// GraphDef, or the folder of a SavedModel, whose tensors are INPUT:0 and OUTPUT:0. One thread.
#include <tensorflow/c/c_api.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "direct_calls/measure.h"
#include "direct_calls/tensorflow_graph.h"

using nereid::bench::Check;
using nereid::bench::Fail;
using nereid::bench::Find;

int main(int argc, char** argv) {
  if (argc != 5) Fail("usage: direct_tensorflow MODEL INPUT N OUTPUT");
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_SessionOptions* options = TF_NewSessionOptions();
  // ConfigProto: intra_op_parallelism_threads (2) and inter_op_parallelism_threads (5) are 1.
  constexpr unsigned char kOneThread[] = {0x10, 1, 0x28, 1};
  TF_SetConfig(options, kOneThread, sizeof(kOneThread), status);
  Check(status);
  // RunOptions: inter_op_thread_pool (3) is -1, the caller's thread.
  constexpr unsigned char kHere[] = {0x18, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1};
  TF_Buffer* run_options = TF_NewBufferFromString(kHere, sizeof(kHere));
  TF_Session* session = nullptr;
  if (std::filesystem::is_directory(argv[1])) {
    const char* tags[] = {"serve"};
    session =
        TF_LoadSessionFromSavedModel(options, nullptr, argv[1], tags, 1, graph, nullptr, status);
  } else {
    std::ifstream file(argv[1], std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    TF_ImportGraphDefOptions* import = TF_NewImportGraphDefOptions();
    TF_GraphImportGraphDef(graph, TF_NewBufferFromString(bytes.data(), bytes.size()), import,
                           status);
    Check(status);
    session = TF_NewSession(graph, options, status);
  }
  Check(status);
  const int64_t shape[2] = {1, std::atoll(argv[3])};
  const size_t size = static_cast<size_t>(shape[1]) * sizeof(float);
  const TF_Output input = Find(graph, argv[2]);
  const TF_Output output = Find(graph, argv[4]);
  return nereid::bench::PrintCpuPerCall(20000, [&] {
    TF_Tensor* given = TF_AllocateTensor(TF_FLOAT, shape, 2, size);
    std::memset(TF_TensorData(given), 0, size);
    TF_Tensor* result = nullptr;
    TF_SessionRun(session, run_options, &input, &given, 1, &output, &result, 1, nullptr, 0, nullptr,
                  status);
    Check(status);
    TF_DeleteTensor(result);
    TF_DeleteTensor(given);
  });
}
