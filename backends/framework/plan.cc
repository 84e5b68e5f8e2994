// SPDX-License-Identifier: Apache-2.0
#include "framework/plan.h"

#include <algorithm>

#include "framework/mismatch.h"
#include "nereid/backend/data_type.h"

namespace nereid::framework {
namespace {

using backend::ModelConfig;
using backend::TensorConfig;

class Planner {
 public:
  Planner(const ModelConfig& config, const ModelSignature& signature, const std::string& framework)
      : config_(config), signature_(signature), framework_(framework) {}

  Error Make(RunPlan* plan) {
    plan->model_name = config_.name;
    plan->batching = config_.batching();
    NEREID_BACKEND_TRY(CheckFeatures());
    NEREID_BACKEND_TRY(CheckInputCount());
    for (const TensorConfig& input : config_.inputs) {
      NEREID_BACKEND_TRY(AddInput(input, plan));
    }
    for (const backend::ControlConfig& control : config_.controls) {
      NEREID_BACKEND_TRY(AddControl(control, plan));
    }
    for (const auto& state : config_.states) {
      NEREID_BACKEND_TRY(AddInput(WithName(state.input_name, state.output), plan));
    }
    NEREID_BACKEND_TRY(CheckComplete(*plan));
    for (const TensorConfig& output : config_.outputs) {
      NEREID_BACKEND_TRY(AddOutput(output, true, plan));
    }
    for (const auto& state : config_.states) {
      NEREID_BACKEND_TRY(AddStateOutput(state, plan));
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
                                " is not supported by the " + framework_ + " backend");
    };
    if (config_.decoupled) {
      return refuse("model_transaction_policy.decoupled");
    }
    if (!config_.batch_inputs.empty()) {
      return refuse("batch_input");
    }
    if (!config_.batch_outputs.empty()) {
      return refuse("batch_output");
    }
    for (const TensorConfig& input : config_.inputs) {
      if (input.allow_ragged_batch && config_.batching()) {
        return refuse("allow_ragged_batch (input '" + input.name + "')");
      }
    }
    return {};
  }

  /// Checks that the configuration has as many inputs as the model needs. Inputs with a default are
  /// not counted.
  Error CheckInputCount() const {
    size_t configured = 0;
    const auto count = [&](const std::string& name) {
      const int place = FindTensor(signature_.inputs, name);
      configured += place < 0 || !signature_.inputs[static_cast<size_t>(place)].has_default ? 1 : 0;
    };
    for (const TensorConfig& input : config_.inputs) {
      count(input.name);
    }
    for (const backend::ControlConfig& control : config_.controls) {
      count(control.name);
    }
    for (const auto& state : config_.states) {
      count(state.input_name);
    }
    const auto provided = static_cast<size_t>(
        std::count_if(signature_.inputs.begin(), signature_.inputs.end(),
                      [](const TensorSignature& tensor) { return !tensor.has_default; }));
    return configured == provided ? Error() : WrongInputCount(config_.name, configured, provided);
  }

  static TensorConfig WithName(const std::string& name, TensorConfig tensor) {
    tensor.name = name;
    return tensor;
  }

  Error CheckType(const std::string& kind, TRITONSERVER_DataType given,
                  const TensorSignature& tensor) const {
    if (!tensor.foreign_type.empty()) {
      return Bad(kind + " '" + tensor.name + "' is " + tensor.Text() + " in the " + framework_ +
                 " model, which the inference protocol cannot carry");
    }
    if (tensor.data_type != TRITONSERVER_TYPE_INVALID && given != tensor.data_type) {
      return WrongType(config_.name, kind, tensor.name, given, tensor.data_type);
    }
    return {};
  }

  Error CheckAgainst(const std::string& kind, const TensorConfig& given,
                     const TensorSignature& tensor) const {
    NEREID_BACKEND_TRY(CheckType(kind, given.data_type, tensor));
    if (!tensor.has_rank || !tensor.shape_binds || IsScalar(given, tensor)) {
      return {};
    }
    std::vector<int64_t> dims = given.ModelDims();
    if (config_.batching()) {
      dims.insert(dims.begin(), -1);
      if (tensor.dims.empty() || tensor.dims[0] != -1) {
        return NoBatchDimension(config_.name, given.name, tensor.dims);
      }
    }
    return Compatible(dims, tensor.dims)
               ? Error()
               : WrongShape(config_.name, given.name, tensor.dims, dims, config_.batching());
  }

  /// Returns whether the tensor is a scalar in a model without batching. A configuration cannot
  /// express rank 0 there, so [1] stands for it.
  bool IsScalar(const TensorConfig& given, const TensorSignature& tensor) const {
    return !config_.batching() && tensor.has_rank && tensor.dims.empty() &&
           given.ModelDims() == std::vector<int64_t>{1};
  }

  static bool Compatible(const std::vector<int64_t>& given, const std::vector<int64_t>& declared) {
    return std::equal(given.begin(), given.end(), declared.begin(), declared.end(),
                      [](int64_t a, int64_t b) { return a == b || a == -1 || b == -1; });
  }

  void Push(TRITONSERVER_DataType type, int place, RunPlan* plan) const {
    const TensorSignature& tensor = signature_.inputs[static_cast<size_t>(place)];
    PlannedInput& input = plan->inputs.emplace_back();
    input.name = tensor.name;
    input.data_type = type;
    input.place = static_cast<size_t>(place);
    input.has_default = tensor.has_default;
  }

  Error AddInput(const TensorConfig& given, RunPlan* plan) const {
    const int place = FindTensor(signature_.inputs, given.name);
    if (place < 0) {
      return UnexpectedTensor("input", given.name, NamesOf(signature_.inputs));
    }
    const TensorSignature& tensor = signature_.inputs[static_cast<size_t>(place)];
    NEREID_BACKEND_TRY(CheckAgainst("input", given, tensor));
    Push(given.data_type, place, plan);
    plan->inputs.back().scalar = IsScalar(given, tensor);
    plan->inputs.back().has_default = tensor.has_default || given.optional;
    plan->inputs.back().shape_tensor = given.is_shape_tensor;
    return {};
  }

  Error AddControl(const backend::ControlConfig& control, RunPlan* plan) const {
    const int place = FindTensor(signature_.inputs, control.name);
    if (place < 0) {
      return Bad("sequence_batching names the control input '" + control.name + "', which the " +
                 framework_ + " model lacks; its inputs are: " + ListText(signature_.inputs));
    }
    const TensorSignature& tensor = signature_.inputs[static_cast<size_t>(place)];
    NEREID_BACKEND_TRY(CheckType("control input", control.data_type, tensor));
    Push(control.data_type, place, plan);
    return {};
  }

  /// Checks that every input of the model without a default is fed.
  Error CheckComplete(const RunPlan& plan) const {
    for (size_t i = 0; i < signature_.inputs.size(); ++i) {
      const TensorSignature& tensor = signature_.inputs[i];
      const bool fed = std::any_of(plan.inputs.begin(), plan.inputs.end(),
                                   [&](const PlannedInput& input) { return input.place == i; });
      if (!fed && !tensor.has_default) {
        return Bad("the configuration lacks the input '" + tensor.name + "' (" + tensor.Text() +
                   ") of the " + framework_ + " model");
      }
    }
    return {};
  }

  Error AddOutput(const TensorConfig& given, bool listed, RunPlan* plan) const {
    const int place = FindTensor(signature_.outputs, given.name);
    if (place < 0) {
      return UnexpectedTensor("output", given.name, NamesOf(signature_.outputs));
    }
    const TensorSignature& tensor = signature_.outputs[static_cast<size_t>(place)];
    NEREID_BACKEND_TRY(CheckAgainst("output", given, tensor));
    plan->outputs.push_back({given.name, given.data_type, static_cast<size_t>(place), listed,
                             !listed, given.is_shape_tensor});
    return {};
  }

  Error AddStateOutput(const backend::StateConfig& state, RunPlan* plan) const {
    const int listed = plan->FindListed(state.output.name);
    if (listed >= 0) {
      plan->outputs[static_cast<size_t>(listed)].state = true;
      return {};
    }
    return AddOutput(state.output, false, plan);
  }

  const ModelConfig& config_;
  const ModelSignature& signature_;
  const std::string& framework_;
};

}  // namespace

int RunPlan::FindListed(std::string_view name) const {
  const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const PlannedOutput& output) {
    return output.listed && output.name == name;
  });
  return found == outputs.end() ? -1 : static_cast<int>(found - outputs.begin());
}

Error RequireCpu(TRITONBACKEND_ModelInstance* instance, const ModelConfig& config,
                 const std::string& framework) {
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_CPU;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelInstanceKind(instance, &kind));
  if (kind == TRITONSERVER_INSTANCEGROUPKIND_GPU) {
    return Error::Unsupported("model '" + config.name + "': this " + framework +
                              " runs on the CPU; set the instance group's kind to KIND_CPU");
  }
  return {};
}

Error CheckInputNames(const ModelConfig& config, const ModelSignature& signature) {
  for (const TensorConfig& input : config.inputs) {
    if (FindTensor(signature.inputs, input.name) < 0) {
      return UnexpectedTensor("input", input.name, NamesOf(signature.inputs));
    }
  }
  return {};
}

Error MakePlan(const ModelConfig& config, const ModelSignature& signature,
               const std::string& framework, RunPlan* plan) {
  return Planner(config, signature, framework).Make(plan);
}

}  // namespace nereid::framework
