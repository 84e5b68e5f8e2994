// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/session_config.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "base/ascii_case.h"
#include "nereid/backend/log.h"
#include "tensorflow/wire.h"

namespace nereid::tensorflow {

// Field numbers in tensorflow/core/protobuf/config.proto. ConfigProto: intra_op_parallelism_threads
// = 2, inter_op_parallelism_threads = 5, use_per_session_threads = 9, graph_options = 10,
// experimental = 16; Experimental.disable_thread_spinning = 9; GraphOptions.optimizer_options = 3;
// OptimizerOptions.opt_level = 3 (L0 = -1), global_jit_level = 5 (OFF = -1, ON_1 = 1, ON_2 = 2).
// RunOptions: inter_op_thread_pool = 3.

namespace {

/// Checks the execution accelerators. Those that need a GPU are ignored with a warning; others are
/// errors.
Error CheckAccelerators(const backend::ModelConfig& config) {
  constexpr std::string_view kKnown[] = {"tensorrt", "gpu_io", "auto_mixed_precision"};
  std::string ignored;
  for (const auto& accelerator : config.gpu_accelerators) {
    if (std::find(std::begin(kKnown), std::end(kKnown), accelerator.name) == std::end(kKnown)) {
      return Error::InvalidArgument(
          "model '" + config.name + "': unknown Execution Accelerator '" + accelerator.name +
          "' is requested in optimization.execution_accelerators.gpu_execution_accelerator; the "
          "known ones are: tensorrt, gpu_io, auto_mixed_precision");
    }
    ignored += (ignored.empty() ? "'" : ", '") + accelerator.name + "'";
  }
  if (!config.cpu_accelerators.empty()) {
    return Error::InvalidArgument(
        "model '" + config.name + "': unknown Execution Accelerator '" +
        config.cpu_accelerators[0].name +
        "' is requested in optimization.execution_accelerators.cpu_execution_accelerator; the "
        "TensorFlow backend has none");
  }
  if (!ignored.empty()) {
    NEREID_BACKEND_LOG(WARN,
                       "model '" + config.name +
                           "' runs on the CPU and ignores these settings for GPUs: the Execution "
                           "Accelerator " +
                           ignored);
  }
  return {};
}

/// Reads a boolean. Triton accepts "True", "On" and "1", and its example uses "yes".
Error ReadSwitch(const backend::Parameters& parameters, const char* key, bool* value) {
  const std::string* text = parameters.Find(key);
  const std::string word = text == nullptr ? "" : base::ToLower(*text);
  if (word == "on" || word == "yes") {
    *value = true;
    return {};
  }
  if (word == "off" || word == "no") {
    *value = false;
    return {};
  }
  return parameters.ReadBool(key, value);
}

}  // namespace

Error ReadSharers(const backend::ModelConfig& config, bool changes_state, int64_t* sharers) {
  int64_t most = 1;
  NEREID_BACKEND_TRY(config.parameters.ReadInt("MAX_SESSION_SHARE_COUNT", 1, INT32_MAX, &most));
  *sharers = changes_state ? std::min(most, config.instance_count) : config.instance_count;
  return {};
}

Error MakeConfigProto(const backend::ModelConfig& config, int64_t sharers, std::string* proto) {
  int64_t intra = 0;
  int64_t inter = 0;
  bool own_threads = false;
  bool spins = false;
  const backend::Parameters& parameters = config.parameters;
  constexpr int64_t kMaxThreads = 1024;
  // The server's plan for each instance; the model's own setting overrides it.
  NEREID_BACKEND_TRY(parameters.ReadInt("cpu_threads_per_instance", 0, kMaxThreads, &intra));
  bool shared = false;
  NEREID_BACKEND_TRY(parameters.ReadBool("cpu_threads_shared", &shared));
  if (!shared) {
    intra *= sharers;
  }
  if (parameters.Find("TF_NUM_INTRA_THREADS") != nullptr) {
    shared = false;
    NEREID_BACKEND_TRY(parameters.ReadInt("TF_NUM_INTRA_THREADS", 0, kMaxThreads, &intra));
  }
  NEREID_BACKEND_TRY(parameters.ReadInt("TF_NUM_INTER_THREADS", 0, kMaxThreads, &inter));
  NEREID_BACKEND_TRY(ReadSwitch(parameters, "TF_USE_PER_SESSION_THREADS", &own_threads));
  NEREID_BACKEND_TRY(ReadSwitch(parameters, "TF_ALLOW_THREAD_SPINNING", &spins));
  NEREID_BACKEND_TRY(CheckAccelerators(config));

  proto->clear();
  if (intra > 0) {
    AppendNumber(2, intra, proto);
  }
  if (inter > 0) {
    AppendNumber(5, inter, proto);
  }
  // Without its own threads, a session uses the thread pools of the first session.
  if (own_threads || (intra > 0 && !shared) || inter > 0) {
    AppendNumber(9, 1, proto);
  }
  if (config.graph_level) {
    std::string optimizer;
    if (*config.graph_level < 0) {
      AppendNumber(3, -1, &optimizer);
    } else if (*config.graph_level > 0) {
      AppendNumber(5, *config.graph_level > 1 ? 2 : 1, &optimizer);
    }
    std::string graph;
    AppendMessage(3, optimizer, &graph);
    AppendMessage(10, graph, proto);
  }
  if (!spins) {
    // Threads that spin while they wait take the cores from other models and from the requests.
    std::string experimental;
    AppendNumber(9, 1, &experimental);
    AppendMessage(16, experimental, proto);
  }
  return {};
}

std::string RunOptionsProto() {
  std::string proto;
  AppendNumber(3, -1, &proto);
  return proto;
}

}  // namespace nereid::tensorflow
