// SPDX-License-Identifier: Apache-2.0
// A backend as other projects build theirs, for tests of loading. It is linked with
//
//   g++ -shared -fPIC plain.cc -o libtriton_plain.so
//
// so it leaves the functions of the C API undefined and names no library for them. It completes its
// configuration as Triton's utilities for backends do: it sets missing fields, then reads the
// configuration that the server returns. OUTPUT repeats INPUT.
#include <string>
#include <vector>

#include "nereid/backend/batch.h"
#include "nereid/backend/input.h"
#include "nereid/backend/json.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/output.h"
#include "nereid/backend/plugin.h"

namespace nereid::plain {
namespace {

using backend::Error;

constexpr const char* kMissing =
    R"({"input":[{"name":"INPUT","data_type":"TYPE_FP32","dims":[-1]}],)"
    R"("output":[{"name":"OUTPUT","data_type":"TYPE_FP32","dims":[-1]}],)"
    R"("max_batch_size":4,"dynamic_batching":{}})";

Error Complete(TRITONBACKEND_Model* model) {
  bool wanted = false;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelAutoCompleteConfig(model, &wanted));
  rapidjson::Document missing;
  missing.Parse(kMissing);
  return wanted ? backend::WriteConfigDocument(model, missing) : Error();
}

struct PlainModel {
  explicit PlainModel(backend::NoBackendState*) {}

  Error Load(TRITONBACKEND_Model* model) {
    backend::ModelConfig config;
    NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config));
    if (config.inputs.empty()) {
      NEREID_BACKEND_TRY(Complete(model));
    }
    NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config));
    if (config.inputs.size() != 1 || config.outputs.size() != 1) {
      return Error::InvalidArgument(
          "unable to load model '" + config.name + "', configuration expects " +
          std::to_string(config.inputs.size()) + " inputs, model provides 1");
    }
    return {};
  }
};

class PlainInstance {
 public:
  explicit PlainInstance(PlainModel*) {}
  Error Load(TRITONBACKEND_ModelInstance*) { return {}; }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    backend::Batch batch(instance, requests, count, &members_);
    batch.ComputeStarts();
    for (size_t i = 0; i < batch.size(); ++i) {
      if (!batch.failed(i)) {
        batch.Fail(i, backend::Catching([&] { return Copy(&batch[i]); }));
      }
    }
    batch.ComputeEnds();
  }

 private:
  static Error Copy(backend::BatchMember* member) {
    backend::Input input;
    NEREID_BACKEND_TRY(backend::InputAt(member->request, 0, &input));
    char* buffer = nullptr;
    NEREID_BACKEND_TRY(backend::AllocateOutput(member->response, "OUTPUT", input.data_type,
                                               input.shape, input.byte_size, &buffer));
    return backend::CopyInput(input, buffer);
  }

  std::vector<backend::BatchMember> members_;
};

}  // namespace
}  // namespace nereid::plain

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::plain::PlainModel,
                      nereid::plain::PlainInstance);
