// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/signature.h"

#include <algorithm>

namespace nereid::tensorrt {
namespace {

using backend::ModelConfig;
using backend::TensorConfig;

const EngineTensor* Find(const std::vector<EngineTensor>& tensors, const std::string& name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const EngineTensor& tensor) {
    return tensor.signature.name == name;
  });
  return found == tensors.end() ? nullptr : &*found;
}

Error CheckList(const ModelConfig& config, const std::string& kind,
                const std::vector<TensorConfig>& given, const std::vector<EngineTensor>& tensors) {
  for (const TensorConfig& entry : given) {
    const EngineTensor* tensor = Find(tensors, entry.name);
    if (tensor == nullptr) {
      continue;  // MakePlan reports unknown names
    }
    const std::string what = "model '" + config.name + "': " + kind + " '" + entry.name + "' is ";
    if (tensor->shape_tensor != entry.is_shape_tensor) {
      return Error::InvalidArgument(
          what + (tensor->shape_tensor ? "a" : "no") +
          " shape tensor of the TensorRT engine; set is_shape_tensor to " +
          (tensor->shape_tensor ? "true" : "false"));
    }
    if (tensor->layout.linear == entry.is_non_linear_format_io) {
      return Error::InvalidArgument(
          what + "in the " +
          (tensor->layout.linear
               ? "linear format in the TensorRT engine; set is_non_linear_format_io to false"
               : "format '" + tensor->layout.text +
                     "' in the TensorRT engine; set is_non_linear_format_io to true and exchange "
                     "the data in this format"));
    }
  }
  return {};
}

/// Returns whether the first dimension of an input is the batch size.
bool HasBatch(const ModelConfig& config, const EngineTensor& tensor) {
  const std::string& name = tensor.signature.name;
  const bool ragged = std::any_of(
      config.inputs.begin(), config.inputs.end(),
      [&](const TensorConfig& input) { return input.name == name && input.allow_ragged_batch; });
  const bool derived = std::any_of(config.batch_inputs.begin(), config.batch_inputs.end(),
                                   [&](const backend::BatchInputConfig& input) {
                                     return std::find(input.targets.begin(), input.targets.end(),
                                                      name) != input.targets.end();
                                   });
  return !tensor.shape_tensor && !ragged && !derived;
}

}  // namespace

Error FindMaxBatchSize(const Engine& engine, const std::vector<int>& profiles,
                       const ModelConfig& config, std::optional<int64_t>* size) {
  size->reset();
  for (const int index : profiles) {
    Profile profile;
    NEREID_BACKEND_TRY(engine.ReadProfile(index, &profile));
    std::optional<int64_t> smallest;
    for (size_t i = 0; i < profile.inputs.size(); ++i) {
      if (HasBatch(config, engine.inputs()[i])) {
        const std::vector<int64_t>& most = profile.inputs[i].most;
        smallest = std::min(smallest.value_or(INT32_MAX), most.empty() ? 0 : most[0]);
      }
    }
    *size = std::max(*size, smallest);
  }
  return {};
}

Error MakeSignature(const Engine& engine, const std::vector<int>& profiles,
                    const ModelConfig& config, framework::ModelSignature* signature) {
  for (const EngineTensor& input : engine.inputs()) {
    signature->inputs.push_back(input.signature);
  }
  for (const EngineTensor& output : engine.outputs()) {
    signature->outputs.push_back(output.signature);
  }
  return FindMaxBatchSize(engine, profiles, config, &signature->max_batch_size);
}

Error CheckMarks(const ModelConfig& config, const Engine& engine) {
  NEREID_BACKEND_TRY(CheckList(config, "input", config.inputs, engine.inputs()));
  return CheckList(config, "output", config.outputs, engine.outputs());
}

}  // namespace nereid::tensorrt
