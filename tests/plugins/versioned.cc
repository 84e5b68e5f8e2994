// SPDX-License-Identifier: Apache-2.0
// A backend whose versions differ while one configuration serves them all, for tests of rollouts.
//
// OUTPUT0 = INPUT0 + bias, FP32 of one element. Each execution reads these files of the version's
// folder, so that a test can change a version that serves (by renaming another file):
//
//   bias      a number (default 0)
//   fail      a text: the error of every request
//   slow_ms   a number: how long each execution takes
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "nereid/backend/batch.h"
#include "nereid/backend/input.h"
#include "nereid/backend/output.h"
#include "nereid/backend/plugin.h"

namespace nereid::versioned {
namespace {

using backend::Batch;
using backend::Error;
using backend::NoBackendState;

struct VersionedModel {
  explicit VersionedModel(NoBackendState*) {}

  Error Load(TRITONBACKEND_Model* model) {
    TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
    const char* location = nullptr;
    uint64_t version = 0;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelRepository(model, &type, &location));
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelVersion(model, &version));
    folder = std::string(location) + "/" + std::to_string(version) + "/";
    return {};
  }

  std::string folder;
};

class VersionedInstance {
 public:
  explicit VersionedInstance(VersionedModel* model) : model_(*model) {}

  Error Load(TRITONBACKEND_ModelInstance*) { return {}; }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    Batch batch(instance, requests, count, &members_);
    batch.ComputeStarts();
    std::this_thread::sleep_for(std::chrono::milliseconds(static_cast<int>(Number("slow_ms"))));
    const float bias = Number("bias");
    const auto failure = Text("fail");
    for (size_t i = 0; i < batch.size(); ++i) {
      batch.Fail(i, failure ? Error::Internal(*failure) : Answer(&batch[i], bias));
    }
  }

 private:
  std::optional<std::string> Text(const char* name) const {
    std::ifstream file(model_.folder + name);
    if (!file) {
      return std::nullopt;
    }
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  float Number(const char* name) const {
    std::ifstream file(model_.folder + name);
    float value = 0;
    file >> value;
    return file ? value : 0;
  }

  static Error Answer(backend::BatchMember* member, float bias) {
    backend::Input input;
    NEREID_BACKEND_TRY(backend::FindInput(member->request, "INPUT0", &input));
    NEREID_BACKEND_TRY(backend::CheckInputSize(input));
    float value = 0;
    if (input.byte_size != sizeof(value)) {
      return Error::InvalidArgument("INPUT0 must have one element");
    }
    NEREID_BACKEND_TRY(backend::CopyInput(input, reinterpret_cast<char*>(&value)));
    char* buffer = nullptr;
    NEREID_BACKEND_TRY(backend::AllocateOutput(member->response, "OUTPUT0", TRITONSERVER_TYPE_FP32,
                                               input.shape, sizeof(value), &buffer));
    value += bias;
    std::memcpy(buffer, &value, sizeof(value));
    return {};
  }

  VersionedModel& model_;
  std::vector<backend::BatchMember> members_;
};

}  // namespace
}  // namespace nereid::versioned

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::versioned::VersionedModel,
                      nereid::versioned::VersionedInstance);
