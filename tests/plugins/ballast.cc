// SPDX-License-Identifier: Apache-2.0
// A backend whose models occupy memory, for tests of budgets of memory.
//
// OUTPUT0 = INPUT0, FP32 of one element. A version reads these files of its folder when it is
// loaded:
//
//   ballast   is kept in memory
//   slow_ms   a number: how long the load takes at least
//   fail      a text: the error of the load
//
// An execution takes INPUT0 milliseconds if INPUT0 is greater than 100.
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

namespace nereid::ballast {
namespace {

using backend::Batch;
using backend::Error;
using backend::NoBackendState;

std::optional<std::string> ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return std::nullopt;
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void SleepMs(double ms) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
}

struct BallastModel {
  explicit BallastModel(NoBackendState*) {}

  Error Load(TRITONBACKEND_Model* model) {
    TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
    const char* location = nullptr;
    uint64_t version = 0;
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelRepository(model, &type, &location));
    NEREID_BACKEND_TRY(TRITONBACKEND_ModelVersion(model, &version));
    const std::string folder = std::string(location) + "/" + std::to_string(version) + "/";
    if (const auto slow = ReadAll(folder + "slow_ms")) {
      SleepMs(std::stod(*slow));
    }
    if (const auto failure = ReadAll(folder + "fail")) {
      return Error::Internal(*failure);
    }
    std::ifstream file(folder + "ballast", std::ios::binary | std::ios::ate);
    if (!file) {
      return {};
    }
    kept.resize(static_cast<size_t>(file.tellg()));
    file.seekg(0);
    file.read(kept.data(), static_cast<std::streamsize>(kept.size()));
    return {};
  }

  std::vector<char> kept;
};

class BallastInstance {
 public:
  explicit BallastInstance(BallastModel*) {}

  Error Load(TRITONBACKEND_ModelInstance*) { return {}; }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    Batch batch(instance, requests, count, &members_);
    batch.ComputeStarts();
    for (size_t i = 0; i < batch.size(); ++i) {
      batch.Fail(i, Answer(&batch[i]));
    }
  }

 private:
  static Error Answer(backend::BatchMember* member) {
    backend::Input input;
    NEREID_BACKEND_TRY(backend::FindInput(member->request, "INPUT0", &input));
    NEREID_BACKEND_TRY(backend::CheckInputSize(input));
    float value = 0;
    if (input.byte_size != sizeof(value)) {
      return Error::InvalidArgument("INPUT0 must have one element");
    }
    NEREID_BACKEND_TRY(backend::CopyInput(input, reinterpret_cast<char*>(&value)));
    if (value > 100) {
      SleepMs(value);
    }
    char* buffer = nullptr;
    NEREID_BACKEND_TRY(backend::AllocateOutput(member->response, "OUTPUT0", TRITONSERVER_TYPE_FP32,
                                               input.shape, sizeof(value), &buffer));
    std::memcpy(buffer, &value, sizeof(value));
    return {};
  }

  std::vector<backend::BatchMember> members_;
};

}  // namespace
}  // namespace nereid::ballast

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::ballast::BallastModel,
                      nereid::ballast::BallastInstance);
