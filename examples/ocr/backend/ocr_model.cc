// SPDX-License-Identifier: Apache-2.0
#include "ocr_model.h"

#include <fstream>
#include <span>

namespace nereid::ocr {
namespace {

using backend::Error;

struct Tensor {
  const char* name;
  TRITONSERVER_DataType data_type;
  size_t rank;
};

struct StepTensors {
  const char* name;
  Step step;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
};

const std::vector<StepTensors>& AllSteps() {
  static const std::vector<StepTensors> steps = {
      {"prepare",
       Step::kPrepare,
       {{"image", TRITONSERVER_TYPE_UINT8, 3}},
       {{"tensor", TRITONSERVER_TYPE_FP32, 4}}},
      {"crop",
       Step::kCrop,
       {{"image", TRITONSERVER_TYPE_UINT8, 3}, {"probabilities", TRITONSERVER_TYPE_FP32, 4}},
       {{"lines", TRITONSERVER_TYPE_FP32, 4}, {"boxes", TRITONSERVER_TYPE_FP32, 3}}},
      {"decode",
       Step::kDecode,
       {{"steps", TRITONSERVER_TYPE_FP32, 3}, {"found_boxes", TRITONSERVER_TYPE_FP32, 3}},
       {{"texts", TRITONSERVER_TYPE_BYTES, 1},
        {"boxes", TRITONSERVER_TYPE_FP32, 3},
        {"scores", TRITONSERVER_TYPE_FP32, 1}}}};
  return steps;
}

Error CheckTensors(const backend::ModelConfig& config, const char* kind,
                   std::span<const backend::TensorConfig> given, std::span<const Tensor> wanted) {
  for (const Tensor& tensor : wanted) {
    bool found = false;
    for (const backend::TensorConfig& entry : given) {
      found = found || (entry.name == tensor.name && entry.data_type == tensor.data_type &&
                        entry.dims.size() == tensor.rank);
    }
    if (!found) {
      return Error::InvalidArgument("model '" + config.name + "' must have an " + kind + " '" +
                                    tensor.name + "' of type " +
                                    backend::DataTypeToConfig(tensor.data_type) + " with " +
                                    std::to_string(tensor.rank) + " dims");
    }
  }
  if (given.size() != wanted.size()) {
    return Error::InvalidArgument("model '" + config.name + "' has " +
                                  std::to_string(given.size()) + " " + kind + "s, expected " +
                                  std::to_string(wanted.size()));
  }
  return {};
}

}  // namespace

Error OcrModel::Load(TRITONBACKEND_Model* model) {
  backend::ModelConfig config;
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config));
  name_ = config.name;
  if (config.batching()) {
    return Error::InvalidArgument("model '" + name_ +
                                  "' takes one image per request: max_batch_size must be 0");
  }
  NEREID_BACKEND_TRY(ReadStep(config));
  NEREID_BACKEND_TRY(config.parameters.ReadInt("longest_side", 32, 8192, &longest_side_));
  NEREID_BACKEND_TRY(config.parameters.ReadInt("max_boxes", 1, 4096, &max_boxes_));
  NEREID_BACKEND_TRY(config.parameters.ReadInt("max_columns", kLineRows, 8192, &max_columns_));
  NEREID_BACKEND_TRY(config.parameters.ReadInt("unclip_percent", 0, 1000, &unclip_percent_));
  NEREID_BACKEND_TRY(
      config.parameters.ReadInt("least_score_percent", 0, 100, &least_score_percent_));
  return step_ == Step::kDecode ? ReadCharacters(config) : Error();
}

Error OcrModel::ReadStep(const backend::ModelConfig& config) {
  const std::string* step = config.parameters.Find("step");
  for (const StepTensors& known : AllSteps()) {
    if (step != nullptr && *step == known.name) {
      step_ = known.step;
      NEREID_BACKEND_TRY(CheckTensors(config, "input", config.inputs, known.inputs));
      return CheckTensors(config, "output", config.outputs, known.outputs);
    }
  }
  return Error::InvalidArgument("model '" + name_ +
                                "': the parameter 'step' must be prepare, crop or decode" +
                                (step == nullptr ? "" : ", not '" + *step + "'"));
}

Error OcrModel::ReadCharacters(const backend::ModelConfig& config) {
  const std::string path = config.directory + "/characters.txt";
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    characters_.push_back(line);
  }
  if (characters_.size() < 2) {
    return Error::InvalidArgument("model '" + name_ + "' needs " + path +
                                  ": a line for each entry of the recognition model's output");
  }
  return {};
}

}  // namespace nereid::ocr
