// SPDX-License-Identifier: Apache-2.0
// direct_model_tensorflow SAVED_MODEL REQUEST THREADS OUTPUT...: TensorFlow's Session::Run, with
// THREADS intra-op and inter-op threads. The names of inputs and outputs are those of the graph's
// tensors ("serving_default_x:0").
#include <tensorflow/c/c_api.h>

#include <cstring>

#include "direct_calls/measure.h"
#include "direct_calls/model_load.h"
#include "direct_calls/tensorflow_graph.h"

using nereid::bench::Check;
using nereid::bench::Fail;
using nereid::bench::Find;
using nereid::bench::InputTensor;

namespace {

TF_Session* Open(const char* folder, int threads, TF_Graph* graph, TF_Status* status) {
  TF_SessionOptions* options = TF_NewSessionOptions();
  // ConfigProto: intra_op_parallelism_threads (2) and inter_op_parallelism_threads (5).
  const auto count = static_cast<unsigned char>(threads);
  const unsigned char config[] = {0x10, count, 0x28, count};
  TF_SetConfig(options, config, sizeof(config), status);
  Check(status);
  const char* tags[] = {"serve"};
  TF_Session* session =
      TF_LoadSessionFromSavedModel(options, nullptr, folder, tags, 1, graph, nullptr, status);
  Check(status);
  return session;
}

TF_Tensor* TensorOf(const InputTensor& input) {
  if (input.datatype != "FP32") Fail("inputs of type " + input.datatype + " are not supported");
  TF_Tensor* tensor = TF_AllocateTensor(TF_FLOAT, input.shape.data(),
                                        static_cast<int>(input.shape.size()), input.bytes.size());
  std::memcpy(TF_TensorData(tensor), input.bytes.data(), input.bytes.size());
  return tensor;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) Fail("usage: direct_model_tensorflow SAVED_MODEL REQUEST THREADS OUTPUT...");
  const int threads = std::atoi(argv[3]);
  if (threads < 1 || threads > 127) Fail("THREADS must be from 1 to 127");
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_Session* session = Open(argv[1], threads, graph, status);
  std::vector<TF_Output> given, wanted;
  std::vector<TF_Tensor*> tensors;
  for (const InputTensor& input : nereid::bench::ReadInputs(argv[2])) {
    given.push_back(Find(graph, input.name));
    tensors.push_back(TensorOf(input));
  }
  for (int i = 4; i < argc; ++i) wanted.push_back(Find(graph, argv[i]));
  return nereid::bench::ServeMeasurements(
      [] {},
      [&] {
        TF_Status* outcome = TF_NewStatus();
        std::vector<TF_Tensor*> results(wanted.size(), nullptr);
        TF_SessionRun(session, nullptr, given.data(), tensors.data(),
                      static_cast<int>(given.size()), wanted.data(), results.data(),
                      static_cast<int>(wanted.size()), nullptr, 0, nullptr, outcome);
        Check(outcome);
        for (TF_Tensor* result : results) TF_DeleteTensor(result);
        TF_DeleteStatus(outcome);
      });
}
