// SPDX-License-Identifier: Apache-2.0
#include "openvino/signature.h"

#include <algorithm>
#include <openvino/core/layout.hpp>
#include <openvino/op/util/variable.hpp>

#include "openvino/ov_types.h"

namespace nereid::openvino {
namespace {

using backend::ModelConfig;
using framework::TensorSignature;

bool IsBatchInput(const ModelConfig& config, const std::string& name) {
  return std::any_of(config.batch_inputs.begin(), config.batch_inputs.end(),
                     [&](const backend::BatchInputConfig& input) {
                       return std::find(input.targets.begin(), input.targets.end(), name) !=
                              input.targets.end();
                     });
}

/// Returns whether the configuration contains a tensor with this name.
bool IsConfigured(const ModelConfig& config, const std::string& name, bool output) {
  const auto named = [&](const auto& tensor) { return tensor.name == name; };
  const auto& tensors = output ? config.outputs : config.inputs;
  return std::any_of(tensors.begin(), tensors.end(), named) ||
         (!output && std::any_of(config.controls.begin(), config.controls.end(), named)) ||
         (!output && IsBatchInput(config, name)) ||
         std::any_of(config.states.begin(), config.states.end(), [&](const auto& state) {
           return (output ? state.output.name : state.input_name) == name;
         });
}

std::string NameOf(const ov::Output<const ov::Node>& port, const ModelConfig& config, bool output,
                   size_t place) {
  const auto& names = port.get_names();
  for (const std::string& name : names) {
    if (IsConfigured(config, name, output)) {
      return name;
    }
  }
  return names.empty() ? (output ? "output_" : "input_") + std::to_string(place)
                       : *std::min_element(names.begin(), names.end());
}

TensorSignature Describe(const std::string& name, const ov::element::Type& type,
                         const ov::PartialShape& shape) {
  TensorSignature tensor;
  tensor.name = name;
  tensor.data_type = DataTypeOf(type);
  if (tensor.data_type == TRITONSERVER_TYPE_INVALID && type.is_static()) {
    tensor.foreign_type = type.get_type_name();
  }
  tensor.has_rank = shape.rank().is_static();
  for (size_t i = 0; tensor.has_rank && i < shape.size(); ++i) {
    tensor.dims.push_back(shape[i].is_static() ? shape[i].get_length() : -1);
  }
  return tensor;
}

}  // namespace

framework::ModelSignature DescribeModel(const ov::Model& model, const ModelConfig& config) {
  framework::ModelSignature signature;
  const auto describe = [&](const auto& ports, bool output, auto* tensors) {
    for (size_t i = 0; i < ports.size(); ++i) {
      tensors->push_back(Describe(NameOf(ports[i], config, output, i), ports[i].get_element_type(),
                                  ports[i].get_partial_shape()));
    }
  };
  describe(model.inputs(), false, &signature.inputs);
  describe(model.outputs(), true, &signature.outputs);
  return signature;
}

bool HasBatch(const ov::Output<const ov::Node>& input, const ModelConfig& config) {
  const auto& names = input.get_names();
  return std::none_of(names.begin(), names.end(), [&](const std::string& name) {
    return IsBatchInput(config, name) ||
           std::any_of(config.inputs.begin(), config.inputs.end(), [&](const auto& given) {
             return given.name == name && given.allow_ragged_batch;
           });
  });
}

bool LayoutsHaveBatch(const ov::Model& model) {
  const auto has_batch = [](const ov::Output<const ov::Node>& port) {
    const ov::Layout layout = ov::layout::get_layout(port);
    return ov::layout::has_batch(layout) && ov::layout::batch_idx(layout) == 0;
  };
  const auto inputs = model.inputs();
  const auto outputs = model.outputs();
  return std::all_of(inputs.begin(), inputs.end(), has_batch) &&
         std::all_of(outputs.begin(), outputs.end(), has_batch);
}

void OpenBatch(framework::ModelSignature* signature) {
  for (auto* tensors : {&signature->inputs, &signature->outputs}) {
    for (TensorSignature& tensor : *tensors) {
      if (!tensor.dims.empty()) {
        tensor.dims[0] = -1;
      }
    }
  }
}

void AddVariables(const ov::Model& model, framework::ModelSignature* signature) {
  for (const auto& variable : model.get_variables()) {
    const ov::op::util::VariableInfo info = variable->get_info();
    TensorSignature tensor = Describe(info.variable_id, info.data_type, info.data_shape);
    signature->outputs.push_back(tensor);
    tensor.has_default = true;
    signature->inputs.push_back(std::move(tensor));
  }
}

}  // namespace nereid::openvino
