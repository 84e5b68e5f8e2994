// SPDX-License-Identifier: Apache-2.0
// A backend: OUTPUT = INPUT * factor, element by element, FP32 of any shape. The model's parameter
// "factor" contains the factor; the default is 2.
#include <cmath>
#include <string>
#include <vector>

#include "nereid/backend/batch.h"
#include "nereid/backend/input.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/output.h"
#include "nereid/backend/plugin.h"

namespace {

namespace backend = nereid::backend;
using backend::Error;

// The object of one loaded version of a model.
class ScaleModel {
 public:
  explicit ScaleModel(backend::NoBackendState*) {}

  // Returns an error that says why the model cannot be loaded. The server shows the text to the
  // client that loads it.
  Error Load(TRITONBACKEND_Model* model) {
    backend::ModelConfig config;
    NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config));
    if (config.inputs.size() != 1 || config.outputs.size() != 1 ||
        config.inputs[0].data_type != TRITONSERVER_TYPE_FP32 ||
        config.outputs[0].data_type != TRITONSERVER_TYPE_FP32) {
      return Error::InvalidArgument("model '" + config.name +
                                    "' must have one input and one output, both TYPE_FP32");
    }
    input_ = config.inputs[0].name;
    output_ = config.outputs[0].name;
    int64_t factor = 2;
    NEREID_BACKEND_TRY(config.parameters.ReadInt("factor", -1000, 1000, &factor));
    factor_ = static_cast<float>(factor);
    return {};
  }

  const std::string& input() const { return input_; }
  const std::string& output() const { return output_; }
  float factor() const { return factor_; }

 private:
  std::string input_;
  std::string output_;
  float factor_ = 2;
};

// The object of one instance. Its Execute runs on one thread at a time.
class ScaleInstance {
 public:
  explicit ScaleInstance(ScaleModel* model) : model_(*model) {}

  Error Load(TRITONBACKEND_ModelInstance*) { return {}; }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    // Answers and releases every request when it goes out of scope, even after an error.
    backend::Batch batch(instance, requests, count, &members_);
    batch.ComputeStarts();
    for (size_t i = 0; i < batch.size(); ++i) {
      if (!batch.failed(i)) batch.Fail(i, backend::Catching([&] { return Scale(&batch[i]); }));
    }
    batch.ComputeEnds();
  }

 private:
  // Reads the request's input and writes the response in place: one copy, and no further memory.
  Error Scale(backend::BatchMember* member) {
    backend::Input input;
    NEREID_BACKEND_TRY(backend::FindInput(member->request, model_.input().c_str(), &input));
    NEREID_BACKEND_TRY(backend::CheckInputSize(input));
    char* buffer = nullptr;
    NEREID_BACKEND_TRY(backend::AllocateOutput(member->response, model_.output().c_str(),
                                               TRITONSERVER_TYPE_FP32, input.shape, input.byte_size,
                                               &buffer));
    NEREID_BACKEND_TRY(backend::CopyInput(input, buffer));
    auto* values = reinterpret_cast<float*>(buffer);
    const size_t elements = input.byte_size / sizeof(float);
    for (size_t i = 0; i < elements; ++i) {
      if (std::isnan(values[i])) return Error::InvalidArgument("the input holds a NaN");
      values[i] *= model_.factor();
    }
    return {};
  }

  ScaleModel& model_;
  std::vector<backend::BatchMember> members_;
};

}  // namespace

// The entry points that the server calls.
NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, ScaleModel, ScaleInstance);
