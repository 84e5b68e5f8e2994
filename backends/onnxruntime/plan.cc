// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/plan.h"

#include <algorithm>

#include "nereid/backend/data_type.h"

namespace nereid::onnxruntime {
namespace {

using backend::TensorConfig;

class Planner {
 public:
  Planner(const ModelConfig& config, const ModelSignature& signature)
      : config_(config), signature_(signature) {}

  Error Make(Plan* plan) {
    plan->model_name = config_.name;
    plan->batching = config_.batching();
    NEREID_BACKEND_TRY(CheckFeatures());
    for (const TensorConfig& input : config_.inputs) {
      NEREID_BACKEND_TRY(AddInput(input, plan));
    }
    for (const std::string& control : config_.control_inputs) {
      NEREID_BACKEND_TRY(AddControl(control, plan));
    }
    NEREID_BACKEND_TRY(CheckComplete(*plan));
    for (const TensorConfig& output : config_.outputs) {
      NEREID_BACKEND_TRY(AddOutput(output, plan));
    }
    return {};
  }

 private:
  Error Bad(const std::string& text) const {
    return Error::InvalidArgument("model '" + config_.name + "': " + text);
  }

  Error CheckFeatures() const {
    const auto refuse = [&](const std::string& feature) {
      return Error::Unsupported("model '" + config_.name + "': " + feature +
                                " is not supported by this version of the ONNX Runtime backend");
    };
    if (config_.batch_inputs.size() > 0) {
      return refuse("batch_input");
    }
    if (config_.batch_outputs.size() > 0) {
      return refuse("batch_output");
    }
    if (config_.state_count > 0) {
      return refuse("sequence_batching.state (implicit state)");
    }
    if (config_.decoupled) {
      return refuse("model_transaction_policy.decoupled");
    }
    return {};
  }

  /// The kind of tensor that the model declares, and its type.
  Error CheckTensor(const std::string& kind, const TensorSignature& tensor) const {
    if (!tensor.is_tensor || tensor.data_type == TRITONSERVER_TYPE_INVALID) {
      return Bad(kind + " '" + tensor.name + "' is " + tensor.Text() +
                 " in the ONNX model, which the inference protocol cannot carry");
    }
    return {};
  }

  Error CheckAgainst(const std::string& kind, const TensorConfig& given,
                     const TensorSignature& tensor) const {
    NEREID_BACKEND_TRY(CheckTensor(kind, tensor));
    if (given.data_type != tensor.data_type) {
      return Bad("the configuration gives " + kind + " '" + given.name + "' the data type " +
                 backend::DataTypeToConfig(given.data_type) + ", but the ONNX model declares " +
                 backend::DataTypeToConfig(tensor.data_type));
    }
    if (given.allow_ragged_batch) {
      return CheckRagged(given, tensor);
    }
    std::vector<int64_t> dims = given.ModelDims();
    if (config_.batching()) {
      dims.insert(dims.begin(), -1);
      if (!tensor.dims.empty() && tensor.dims[0] != -1) {
        return Bad("max_batch_size is " + std::to_string(config_.max_batch_size) + ", but " + kind +
                   " '" + given.name + "' of the ONNX model has the shape " +
                   backend::ShapeText(tensor.dims) +
                   ", whose first dimension is not variable; set max_batch_size to 0");
      }
    }
    if (!tensor.dims.empty() && !Compatible(dims, tensor.dims)) {
      return Bad("the configuration gives " + kind + " '" + given.name + "' the shape " +
                 backend::ShapeText(dims) + (config_.batching() ? " (with the batch)" : "") +
                 ", but the ONNX model declares " + backend::ShapeText(tensor.dims));
    }
    return {};
  }

  Error CheckRagged(const TensorConfig& given, const TensorSignature& tensor) const {
    if (!config_.batching() || tensor.dims != std::vector<int64_t>{-1}) {
      return Bad("input '" + given.name +
                 "' has allow_ragged_batch, for which max_batch_size must be above 0 and the ONNX "
                 "model's input of shape [-1], not " +
                 backend::ShapeText(tensor.dims));
    }
    if (given.optional) {
      return Bad("input '" + given.name + "' cannot be both optional and allow_ragged_batch");
    }
    return {};
  }

  static bool Compatible(const std::vector<int64_t>& given, const std::vector<int64_t>& declared) {
    return std::equal(given.begin(), given.end(), declared.begin(), declared.end(),
                      [](int64_t a, int64_t b) { return a == b || a == -1 || b == -1; });
  }

  const TensorSignature* FindInput(const std::string& name, bool* has_default) const {
    const TensorSignature* tensor = FindTensor(signature_.inputs, name);
    *has_default = tensor == nullptr;
    return tensor != nullptr ? tensor : FindTensor(signature_.initializers, name);
  }

  static void Push(const TensorSignature& tensor, bool has_default, Plan* plan) {
    InputPlan& input = plan->inputs.emplace_back();
    input.name = tensor.name;
    input.data_type = tensor.data_type;
    input.element_type = tensor.element_type;
    input.element_size = std::max<size_t>(1, TRITONSERVER_DataTypeByteSize(tensor.data_type));
    input.has_default = has_default;
  }

  Error AddInput(const TensorConfig& given, Plan* plan) const {
    bool has_default = false;
    const TensorSignature* tensor = FindInput(given.name, &has_default);
    if (tensor == nullptr) {
      return Bad("the ONNX model has no input '" + given.name +
                 "'; its inputs are: " + ListText(signature_.inputs));
    }
    NEREID_BACKEND_TRY(CheckAgainst("input", given, *tensor));
    Push(*tensor, has_default, plan);
    InputPlan& input = plan->inputs.back();
    input.ragged = given.allow_ragged_batch;
    // The configuration cannot write rank 0 for a model without batching: [1] stands for it. Any
    // other shape tells that the ONNX model left its rank open.
    input.scalar =
        tensor->dims.empty() && !config_.batching() && given.ModelDims() == std::vector<int64_t>{1};
    return {};
  }

  Error AddControl(const std::string& name, Plan* plan) const {
    bool has_default = false;
    const TensorSignature* tensor = FindInput(name, &has_default);
    if (tensor == nullptr) {
      return Bad("sequence_batching names the control input '" + name +
                 "', which the ONNX model lacks; its inputs are: " + ListText(signature_.inputs));
    }
    NEREID_BACKEND_TRY(CheckTensor("control input", *tensor));
    Push(*tensor, has_default, plan);
    return {};
  }

  Error CheckComplete(const Plan& plan) const {
    for (const TensorSignature& tensor : signature_.inputs) {
      const bool given = std::any_of(plan.inputs.begin(), plan.inputs.end(),
                                     [&](const InputPlan& i) { return i.name == tensor.name; });
      if (!given) {
        return Bad("the ONNX model needs the input '" + tensor.name +
                   "', which the configuration does not list; its inputs are: " +
                   ListText(signature_.inputs));
      }
    }
    return {};
  }

  Error AddOutput(const TensorConfig& given, Plan* plan) const {
    const TensorSignature* tensor = FindTensor(signature_.outputs, given.name);
    if (tensor == nullptr) {
      return Bad("the ONNX model has no output '" + given.name +
                 "'; its outputs are: " + ListText(signature_.outputs));
    }
    NEREID_BACKEND_TRY(CheckAgainst("output", given, *tensor));
    OutputPlan& output = plan->outputs.emplace_back();
    output.name = tensor->name;
    output.data_type = tensor->data_type;
    output.element_type = tensor->element_type;
    output.direct = !output.text() && !tensor->dims.empty();
    for (size_t i = 0; i < tensor->dims.size(); ++i) {
      output.dims.push_back(PlanDim(*tensor, i, *plan));
      output.direct = output.direct && output.dims.back().kind != DimPlan::Kind::kUnknown;
    }
    return {};
  }

  DimPlan PlanDim(const TensorSignature& tensor, size_t index, const Plan& plan) const {
    DimPlan dim;
    if (tensor.dims[index] >= 0) {
      dim.kind = DimPlan::Kind::kFixed;
      dim.size = tensor.dims[index];
      return dim;
    }
    if (index == 0 && config_.batching()) {
      dim.kind = DimPlan::Kind::kBatch;
      return dim;
    }
    if (tensor.symbols[index].empty()) {
      return dim;
    }
    for (size_t input = 0; input < plan.inputs.size(); ++input) {
      const TensorSignature* source = FindTensor(signature_.inputs, plan.inputs[input].name);
      if (source == nullptr || plan.inputs[input].ragged) {
        continue;
      }
      const auto& symbols = source->symbols;
      const auto found = std::find(symbols.begin(), symbols.end(), tensor.symbols[index]);
      if (found != symbols.end()) {
        dim.kind = DimPlan::Kind::kInputDim;
        dim.input = input;
        dim.dim = static_cast<size_t>(found - symbols.begin());
        break;
      }
    }
    return dim;
  }

  const ModelConfig& config_;
  const ModelSignature& signature_;
};

}  // namespace

int Plan::FindOutput(std::string_view name) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].name == name) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

Error MakePlan(const ModelConfig& config, const ModelSignature& signature, Plan* plan) {
  return Planner(config, signature).Make(plan);
}

}  // namespace nereid::onnxruntime
