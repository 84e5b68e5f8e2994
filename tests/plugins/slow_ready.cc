// SPDX-License-Identifier: Apache-2.0
// A backend whose instances take as long as a test wants to say whether they are ready.
//
// The model's parameter "gate" is the path of a file. While the file exists, CheckReady() waits,
// for 60 seconds at most; before, it appends a line to the file GATE.asked. OUTPUT0 repeats INPUT0.
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "gate.h"
#include "nereid/backend/batch.h"
#include "nereid/backend/input.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/output.h"
#include "nereid/backend/plugin.h"

namespace nereid::slow_ready {
namespace {

using backend::Error;

constexpr std::chrono::milliseconds kPoll{1};
constexpr std::chrono::seconds kLongest{60};

struct SlowModel {
  explicit SlowModel(backend::NoBackendState*) {}

  Error Load(TRITONBACKEND_Model* model) {
    backend::ModelConfig config;
    NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config));
    const std::string* const path = config.parameters.Find("gate");
    gate = path == nullptr ? "" : *path;
    return {};
  }

  std::string gate;
};

class SlowInstance {
 public:
  explicit SlowInstance(SlowModel* model) : gate_(model->gate) {}

  Error Load(TRITONBACKEND_ModelInstance*) { return {}; }

  Error CheckReady() const {
    if (!std::filesystem::exists(gate_)) {
      return {};
    }
    testing::AppendLine(gate_ + ".asked", "asked");
    const auto end = std::chrono::steady_clock::now() + kLongest;
    while (std::filesystem::exists(gate_) && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(kPoll);
    }
    return {};
  }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    backend::Batch batch(instance, requests, count, &members_);
    batch.ComputeStarts();
    for (size_t i = 0; i < batch.size(); ++i) {
      batch.Fail(i, Copy(&batch[i]));
    }
  }

 private:
  static Error Copy(backend::BatchMember* member) {
    backend::Input input;
    NEREID_BACKEND_TRY(backend::FindInput(member->request, "INPUT0", &input));
    char* buffer = nullptr;
    NEREID_BACKEND_TRY(backend::AllocateOutput(member->response, "OUTPUT0", input.data_type,
                                               input.shape, input.byte_size, &buffer));
    return backend::CopyInput(input, buffer);
  }

  const std::string gate_;
  std::vector<backend::BatchMember> members_;
};

}  // namespace
}  // namespace nereid::slow_ready

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::slow_ready::SlowModel,
                      nereid::slow_ready::SlowInstance);
NEREID_BACKEND_READINESS;
