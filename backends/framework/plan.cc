// SPDX-License-Identifier: Apache-2.0
#include "framework/plan.h"

#include <algorithm>

#include "framework/mismatch.h"
#include "nereid/backend/data_type.h"

namespace nereid::framework {
namespace {

using backend::BatchInputConfig;
using backend::BatchInputKind;
using backend::BatchOutputConfig;
using backend::ControlConfig;
using backend::ModelConfig;
using backend::StateConfig;
using backend::TensorConfig;

int PlaceOf(const std::vector<PlannedInput>& inputs, const std::string& name) {
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const PlannedInput& input) { return input.name == name; });
  return found == inputs.end() ? -1 : static_cast<int>(found - inputs.begin());
}

/// Lists the inputs without a default. An old ONNX model declares each of its weights as an input
/// with a default.
std::string ListNeeded(const std::vector<TensorSignature>& inputs) {
  std::vector<TensorSignature> needed;
  std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(needed),
               [](const TensorSignature& tensor) { return !tensor.has_default; });
  return ListText(needed);
}

bool Compatible(const std::vector<int64_t>& given, const std::vector<int64_t>& declared) {
  return std::equal(given.begin(), given.end(), declared.begin(), declared.end(),
                    [](int64_t a, int64_t b) { return a == b || a == -1 || b == -1; });
}

/// Returns whether the configuration must agree with the dimensions that the model declares.
bool DimsBind(const TensorSignature& tensor) { return tensor.has_rank && tensor.shape_binds; }

TensorConfig WithName(const std::string& name, TensorConfig tensor) {
  tensor.name = name;
  return tensor;
}

class Planner {
 public:
  Planner(const ModelConfig& config, const ModelSignature& signature, const FrameworkTraits& traits)
      : config_(config), signature_(signature), traits_(traits), the_("the " + traits.model) {}

  Error Make(RunPlan* plan) {
    plan->model_name = config_.name;
    plan->batching = config_.batching();
    NEREID_BACKEND_TRY(CheckFeatures());
    // Errors of the batch inputs themselves are reported before a wrong number of inputs.
    if (config_.batch_inputs.empty()) {
      NEREID_BACKEND_TRY(CheckInputCount());
    }
    for (const TensorConfig& input : config_.inputs) {
      NEREID_BACKEND_TRY(AddInput("input", input, plan));
    }
    for (const ControlConfig& control : config_.controls) {
      NEREID_BACKEND_TRY(AddControl(control, plan));
    }
    for (const StateConfig& state : config_.states) {
      NEREID_BACKEND_TRY(AddStateInput(state, plan));
    }
    for (const BatchInputConfig& input : config_.batch_inputs) {
      NEREID_BACKEND_TRY(AddBatchInput(input, plan));
    }
    NEREID_BACKEND_TRY(CheckInputCount());
    NEREID_BACKEND_TRY(CheckComplete(*plan));
    for (const TensorConfig& output : config_.outputs) {
      NEREID_BACKEND_TRY(AddOutput("output", output, plan));
      plan->outputs.back().listed = true;
    }
    for (const StateConfig& state : config_.states) {
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
                                " is not supported by the " + traits_.backend + " backend");
    };
    if (config_.decoupled) {
      return refuse("model_transaction_policy.decoupled");
    }
    if (traits_.ragged_batches) {
      return {};
    }
    if (!config_.batch_inputs.empty()) {
      return refuse("batch_input");
    }
    if (!config_.batch_outputs.empty()) {
      return refuse("batch_output");
    }
    const auto ragged =
        std::find_if(config_.inputs.begin(), config_.inputs.end(),
                     [](const TensorConfig& input) { return input.allow_ragged_batch; });
    return ragged == config_.inputs.end() || !config_.batching()
               ? Error()
               : refuse("allow_ragged_batch (input '" + ragged->name + "')");
  }

  /// Returns whether the input is concatenated in one dimension. Without batching, each request
  /// runs alone, and its tensor is flattened.
  bool IsRagged(const TensorConfig& input) const {
    return input.allow_ragged_batch && traits_.ragged_batches;
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
    for (const ControlConfig& control : config_.controls) {
      count(control.name);
    }
    for (const StateConfig& state : config_.states) {
      count(state.input_name);
    }
    for (const BatchInputConfig& input : config_.batch_inputs) {
      std::for_each(input.targets.begin(), input.targets.end(), count);
    }
    const auto provided = static_cast<size_t>(
        std::count_if(signature_.inputs.begin(), signature_.inputs.end(),
                      [](const TensorSignature& tensor) { return !tensor.has_default; }));
    return configured == provided ? Error() : WrongInputCount(config_.name, configured, provided);
  }

  Error CheckType(const std::string& kind, TRITONSERVER_DataType given,
                  const TensorSignature& tensor) const {
    if (!tensor.foreign_type.empty()) {
      return Bad(kind + " '" + tensor.name + "' is " + tensor.Text() + " in " + the_ +
                 ", which the inference protocol cannot carry");
    }
    if (tensor.data_type != TRITONSERVER_TYPE_INVALID && given != tensor.data_type) {
      return WrongType(config_.name, kind, tensor.name, given, tensor.data_type);
    }
    return {};
  }

  Error CheckAgainst(const std::string& kind, const TensorConfig& given,
                     const TensorSignature& tensor) const {
    NEREID_BACKEND_TRY(CheckType(kind, given.data_type, tensor));
    return IsRagged(given) ? CheckRagged(given, tensor) : CheckDims(given, tensor);
  }

  Error CheckDims(const TensorConfig& given, const TensorSignature& tensor) const {
    std::vector<int64_t> dims = given.ModelDims();
    if (!DimsBind(tensor) || IsScalar(given, tensor)) {
      return {};
    }
    if (tensor.shape_tensor) {
      return CheckShapeTensor(given, tensor);
    }
    if (tensor.scalar_or_open) {
      const bool ones = std::all_of(dims.begin(), dims.end(), [](int64_t dim) { return dim == 1; });
      return ones ? Error() : WrongScalar(config_.name, given.name, dims);
    }
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

  /// In a model that batches, the tensor contains the batch size before the configured values.
  Error CheckShapeTensor(const TensorConfig& given, const TensorSignature& tensor) const {
    std::vector<int64_t> dims = given.ModelDims();
    if (config_.batching() && !dims.empty()) {
      dims[0] += 1;
    }
    return Compatible(dims, tensor.dims)
               ? Error()
               : WrongShape(config_.name, given.name, tensor.dims, dims, false);
  }

  Error CheckRagged(const TensorConfig& given, const TensorSignature& tensor) const {
    if (DimsBind(tensor) && tensor.dims != std::vector<int64_t>{-1}) {
      return Error::InvalidArgument("unable to load model '" + config_.name +
                                    "', configuration expects model provides input with shape [-1] "
                                    " for ragged input '" +
                                    given.name + "', model provides " +
                                    backend::ShapeText(tensor.dims));
    }
    if (given.optional) {
      return Bad("input '" + given.name + "' cannot be both optional and allow_ragged_batch");
    }
    return {};
  }

  /// Returns whether the tensor is a scalar in a model without batching. A configuration cannot
  /// express rank 0 there, so [1] stands for it.
  bool IsScalar(const TensorConfig& given, const TensorSignature& tensor) const {
    return (!config_.batching() || tensor.shape_tensor) && tensor.has_rank && tensor.dims.empty() &&
           given.ModelDims() == std::vector<int64_t>{1};
  }

  PlannedInput* Push(TRITONSERVER_DataType type, int place, RunPlan* plan) const {
    const TensorSignature& tensor = signature_.inputs[static_cast<size_t>(place)];
    PlannedInput& input = plan->inputs.emplace_back();
    input.name = tensor.name;
    input.data_type = type;
    input.place = static_cast<size_t>(place);
    input.alignment = std::max<size_t>(1, TRITONSERVER_DataTypeByteSize(type));
    input.has_default = tensor.has_default;
    return &input;
  }

  Error AddInput(const std::string& kind, const TensorConfig& given, RunPlan* plan) const {
    const int place = FindTensor(signature_.inputs, given.name);
    if (place < 0) {
      return UnexpectedTensor(kind, given.name, NamesOf(signature_.inputs));
    }
    const TensorSignature& tensor = signature_.inputs[static_cast<size_t>(place)];
    NEREID_BACKEND_TRY(CheckAgainst(kind, given, tensor));
    PlannedInput* input = Push(given.data_type, place, plan);
    input->scalar = IsScalar(given, tensor);
    input->has_default = tensor.has_default || (traits_.omits_inputs && given.optional);
    input->shape_tensor = given.is_shape_tensor;
    input->non_linear = given.is_non_linear_format_io;
    input->ragged = IsRagged(given);
    return {};
  }

  Error AddControl(const ControlConfig& control, RunPlan* plan) const {
    if (FindTensor(signature_.inputs, control.name) < 0) {
      return Bad("sequence_batching names the control input '" + control.name + "', which " + the_ +
                 " lacks; its inputs are: " + ListNeeded(signature_.inputs));
    }
    TensorConfig given;
    given.name = control.name;
    given.data_type = control.data_type;
    given.dims = {1};
    return AddInput("control input", given, plan);
  }

  Error AddStateInput(const StateConfig& state, RunPlan* plan) const {
    if (PlaceOf(plan->inputs, state.input_name) >= 0) {
      return Bad("sequence_batching.state names the input '" + state.input_name +
                 "', which the configuration has already");
    }
    return AddInput("state input", WithName(state.input_name, state.output), plan);
  }

  /// Finds the input from which a batch input or output is derived.
  Error FindSource(const std::string& field, const std::string& name, const RunPlan& plan,
                   size_t* source) const {
    const int place = PlaceOf(plan.inputs, name);
    if (place < 0 || plan.inputs[static_cast<size_t>(place)].derived) {
      return Bad(field + " names the source input '" + name +
                 "', which the configuration does not list");
    }
    *source = static_cast<size_t>(place);
    return {};
  }

  Error AddBatchInput(const BatchInputConfig& given, RunPlan* plan) const {
    size_t source = 0;
    NEREID_BACKEND_TRY(FindSource("batch_input", given.source, *plan, &source));
    if (given.kind == BatchInputKind::kUnknown || given.targets.empty()) {
      return Bad("batch_input of '" + given.source + "' lacks a known kind or a target_name");
    }
    for (const std::string& name : given.targets) {
      const int place = FindTensor(signature_.inputs, name);
      if (place < 0 || PlaceOf(plan->inputs, name) >= 0) {
        return Bad("batch_input names the target '" + name + "', which " +
                   (place < 0 ? the_ + " lacks" : "clients are to send as well") +
                   "; its inputs are: " + ListNeeded(signature_.inputs));
      }
      const TensorSignature& tensor = signature_.inputs[static_cast<size_t>(place)];
      NEREID_BACKEND_TRY(CheckType("batch_input", given.data_type, tensor));
      const size_t rank = given.kind == BatchInputKind::kItemShape ? 2 : 1;
      const bool declared = DimsBind(tensor) && !tensor.scalar_or_open;
      if (declared && tensor.dims.size() != rank) {
        return Bad("batch_input '" + name + "' has rank " + std::to_string(rank) + ", but " + the_ +
                   " declares " + backend::ShapeText(tensor.dims));
      }
      PlannedInput* input = Push(given.data_type, place, plan);
      input->has_default = false;
      input->derived = {given, source, declared && rank == 1 ? tensor.dims[0] : -1};
    }
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
                   ") of " + the_);
      }
    }
    return {};
  }

  Error AddOutput(const std::string& kind, const TensorConfig& given, RunPlan* plan) const {
    const int place = FindTensor(signature_.outputs, given.name);
    if (place < 0) {
      return UnexpectedTensor(kind, given.name, NamesOf(signature_.outputs));
    }
    const TensorSignature& tensor = signature_.outputs[static_cast<size_t>(place)];
    PlannedOutput& output = plan->outputs.emplace_back();
    output.name = given.name;
    output.data_type = given.data_type;
    output.place = static_cast<size_t>(place);
    output.shape_tensor = given.is_shape_tensor;
    output.scalar = given.reshape && given.reshape->empty();
    if (const BatchOutputConfig* cut = FindBatchOutput(given.name); cut != nullptr) {
      NEREID_BACKEND_TRY(CheckType(kind, given.data_type, tensor));
      return AddScatter(given, *cut, *plan, &output);
    }
    NEREID_BACKEND_TRY(CheckAgainst(kind, given, tensor));
    if (traits_.writes_in_place && !output.text()) {
      PlanDims(tensor, *plan, &output.dims);
    }
    return {};
  }

  const BatchOutputConfig* FindBatchOutput(const std::string& name) const {
    for (const BatchOutputConfig& output : config_.batch_outputs) {
      if (std::find(output.targets.begin(), output.targets.end(), name) != output.targets.end()) {
        return &output;
      }
    }
    return nullptr;
  }

  /// Adds an output that is divided by batch_output. The model may return it in any shape; only its
  /// number of elements is checked.
  Error AddScatter(const TensorConfig& given, const BatchOutputConfig& cut, const RunPlan& plan,
                   PlannedOutput* output) const {
    PlannedScatter& scatter = output->scatter.emplace();
    scatter.dims = given.ModelDims();
    if (config_.batching()) {
      scatter.dims.insert(scatter.dims.begin(), -1);
    }
    return FindSource("batch_output", cut.source, plan, &scatter.source);
  }

  /// Adds the output of a state. Every run computes it; clients may request it if it is also
  /// listed.
  Error AddStateOutput(const StateConfig& state, RunPlan* plan) const {
    int place = plan->FindListed(state.output.name);
    if (place < 0) {
      NEREID_BACKEND_TRY(AddOutput("state output", state.output, plan));
      place = static_cast<int>(plan->outputs.size()) - 1;
    }
    PlannedOutput& output = plan->outputs[static_cast<size_t>(place)];
    if (output.state || output.scatter) {
      return Bad("the output '" + output.name + "' cannot be a state and a " +
                 (output.state ? "second state" : "batch_output"));
    }
    output.state = true;
    if (state.same_buffer) {
      // The model might still read the old value while it writes the new one.
      output.dims.clear();
    }
    return {};
  }

  /// Sets `dims` if every dimension is fixed, the batch, or the dimension of an input.
  void PlanDims(const TensorSignature& tensor, const RunPlan& plan,
                std::vector<PlannedDim>* dims) const {
    for (size_t i = 0; i < tensor.dims.size(); ++i) {
      std::optional<PlannedDim> dim = PlanDim(tensor, i, plan);
      if (!dim) {
        dims->clear();
        return;
      }
      dims->push_back(*dim);
    }
  }

  std::optional<PlannedDim> PlanDim(const TensorSignature& tensor, size_t index,
                                    const RunPlan& plan) const {
    if (tensor.dims[index] >= 0) {
      return PlannedDim{PlannedDim::Kind::kFixed, tensor.dims[index]};
    }
    if (index == 0 && config_.batching()) {
      return PlannedDim{PlannedDim::Kind::kBatch};
    }
    if (tensor.symbols.empty() || tensor.symbols[index].empty()) {
      return std::nullopt;
    }
    for (size_t input = 0; input < plan.inputs.size(); ++input) {
      if (plan.inputs[input].ragged || plan.inputs[input].derived) {
        continue;
      }
      const auto& symbols = signature_.inputs[plan.inputs[input].place].symbols;
      const auto found = std::find(symbols.begin(), symbols.end(), tensor.symbols[index]);
      if (found != symbols.end()) {
        return PlannedDim{PlannedDim::Kind::kInputDim, 0, input,
                          static_cast<size_t>(found - symbols.begin())};
      }
    }
    return std::nullopt;
  }

  const ModelConfig& config_;
  const ModelSignature& signature_;
  const FrameworkTraits& traits_;
  /// For example, "the ONNX model".
  const std::string the_;
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
               const FrameworkTraits& traits, RunPlan* plan) {
  return Planner(config, signature, traits).Make(plan);
}

}  // namespace nereid::framework
