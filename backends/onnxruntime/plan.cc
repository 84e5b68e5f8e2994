// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/plan.h"

#include <algorithm>

#include "framework/mismatch.h"
#include "nereid/backend/data_type.h"

namespace nereid::onnxruntime {
namespace {

using backend::BatchInputConfig;
using backend::BatchInputKind;
using backend::BatchOutputConfig;
using backend::ControlConfig;
using backend::StateConfig;
using backend::TensorConfig;

int PlaceOf(const std::vector<InputPlan>& inputs, const std::string& name) {
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const InputPlan& input) { return input.name == name; });
  return found == inputs.end() ? -1 : static_cast<int>(found - inputs.begin());
}

class Planner {
 public:
  Planner(const ModelConfig& config, const ModelSignature& signature, const ModelSource& source)
      : config_(config), signature_(signature), source_(source), the_("the " + source.kind) {}

  Error Make(Plan* plan) {
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
                                " is not supported by this version of the " + source_.backend +
                                " backend");
    };
    if (config_.decoupled) {
      return refuse("model_transaction_policy.decoupled");
    }
    return {};
  }

  /// Checks that the configuration has as many inputs as the model needs. Inputs with a default are
  /// not counted.
  Error CheckInputCount() const {
    size_t configured = 0;
    const auto count = [&](const std::string& name) {
      configured += FindTensor(signature_.initializers, name) == nullptr ? 1 : 0;
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
    return configured == signature_.inputs.size()
               ? Error()
               : framework::WrongInputCount(config_.name, configured, signature_.inputs.size());
  }

  /// Checks that the model declares a tensor of a type that the protocol has.
  Error CheckTensor(const std::string& kind, const TensorSignature& tensor) const {
    if (!tensor.is_tensor || tensor.data_type == TRITONSERVER_TYPE_INVALID) {
      return Bad(kind + " '" + tensor.name + "' is " + tensor.Text() + " in " + the_ +
                 ", which the inference protocol cannot carry");
    }
    return {};
  }

  Error CheckType(const std::string& kind, TRITONSERVER_DataType given,
                  const TensorSignature& tensor) const {
    NEREID_BACKEND_TRY(CheckTensor(kind, tensor));
    return given == tensor.data_type
               ? Error()
               : framework::WrongType(config_.name, kind, tensor.name, given, tensor.data_type);
  }

  Error CheckAgainst(const std::string& kind, const TensorConfig& given,
                     const TensorSignature& tensor) const {
    NEREID_BACKEND_TRY(CheckType(kind, given.data_type, tensor));
    if (given.allow_ragged_batch) {
      NEREID_BACKEND_TRY(CheckRagged(given, tensor));
    }
    return given.allow_ragged_batch && config_.batching() ? Error() : CheckDims(given, tensor);
  }

  Error CheckDims(const TensorConfig& given, const TensorSignature& tensor) const {
    std::vector<int64_t> dims = given.ModelDims();
    if (tensor.dims.empty()) {
      const bool fits = !source_.ranks_declared ||
                        std::all_of(dims.begin(), dims.end(), [](int64_t dim) { return dim == 1; });
      return fits ? Error() : framework::WrongScalar(config_.name, given.name, dims);
    }
    if (config_.batching()) {
      dims.insert(dims.begin(), -1);
      if (tensor.dims[0] != -1) {
        return framework::NoBatchDimension(config_.name, given.name, tensor.dims);
      }
    }
    return Compatible(dims, tensor.dims)
               ? Error()
               : framework::WrongShape(config_.name, given.name, tensor.dims, dims,
                                       config_.batching());
  }

  /// Checks a ragged input. Without batching each request runs alone, so only the model's shape
  /// matters.
  Error CheckRagged(const TensorConfig& given, const TensorSignature& tensor) const {
    if (tensor.dims != std::vector<int64_t>{-1}) {
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

  Error AddInput(const std::string& kind, const TensorConfig& given, Plan* plan) const {
    bool has_default = false;
    const TensorSignature* tensor = FindInput(given.name, &has_default);
    if (tensor == nullptr) {
      std::set<std::string> allowed = framework::NamesOf(signature_.inputs);
      allowed.merge(framework::NamesOf(signature_.initializers));
      return framework::UnexpectedTensor(kind, given.name, allowed);
    }
    NEREID_BACKEND_TRY(CheckAgainst(kind, given, *tensor));
    Push(*tensor, has_default, plan);
    InputPlan& input = plan->inputs.back();
    input.ragged = given.allow_ragged_batch && config_.batching();
    // A configuration cannot express rank 0 for a model without batching, so [1] stands for it.
    input.scalar =
        tensor->dims.empty() && !config_.batching() && given.ModelDims() == std::vector<int64_t>{1};
    return {};
  }

  Error AddControl(const ControlConfig& control, Plan* plan) const {
    bool has_default = false;
    const TensorSignature* tensor = FindInput(control.name, &has_default);
    if (tensor == nullptr) {
      return Bad("sequence_batching names the control input '" + control.name + "', which " + the_ +
                 " lacks; its inputs are: " + ListText(signature_.inputs));
    }
    TensorConfig given;
    given.name = control.name;
    given.data_type = control.data_type;
    given.dims = {1};
    NEREID_BACKEND_TRY(CheckAgainst("control input", given, *tensor));
    Push(*tensor, has_default, plan);
    plan->inputs.back().scalar = tensor->dims.empty() && !config_.batching();
    return {};
  }

  Error AddStateInput(const StateConfig& state, Plan* plan) const {
    if (PlaceOf(plan->inputs, state.input_name) >= 0) {
      return Bad("sequence_batching.state names the input '" + state.input_name +
                 "', which the configuration has already");
    }
    TensorConfig given = state.output;
    given.name = state.input_name;
    return AddInput("state input", given, plan);
  }

  /// Adds the output of a state. Every run computes it; clients may request it if it is also
  /// listed.
  Error AddStateOutput(const StateConfig& state, Plan* plan) const {
    int place = plan->FindOutput(state.output.name);
    if (place < 0) {
      NEREID_BACKEND_TRY(AddOutput("state output", state.output, plan));
      place = static_cast<int>(plan->outputs.size()) - 1;
    }
    OutputPlan& output = plan->outputs[static_cast<size_t>(place)];
    if (output.state || output.scatter) {
      return Bad("the output '" + output.name + "' cannot be a state and a " +
                 (output.state ? "second state" : "batch_output"));
    }
    output.state = true;
    // With a shared buffer the model might still read the old value while it writes the new one.
    output.direct = output.direct && !state.same_buffer;
    return {};
  }

  /// Finds the input from which a batch input or output is derived.
  Error FindSource(const std::string& field, const std::string& name, const Plan& plan,
                   size_t* source) const {
    const int place = PlaceOf(plan.inputs, name);
    if (place < 0) {
      return Bad(field + " names the source input '" + name +
                 "', which the configuration does not list");
    }
    *source = static_cast<size_t>(place);
    return {};
  }

  Error AddBatchInput(const BatchInputConfig& given, Plan* plan) const {
    size_t source = 0;
    NEREID_BACKEND_TRY(FindSource("batch_input", given.source, *plan, &source));
    if (given.kind == BatchInputKind::kUnknown || given.targets.empty()) {
      return Bad("batch_input of '" + given.source + "' lacks a known kind or a target_name");
    }
    for (const std::string& name : given.targets) {
      bool has_default = false;
      const TensorSignature* tensor = FindInput(name, &has_default);
      if (tensor == nullptr || PlaceOf(plan->inputs, name) >= 0) {
        return Bad("batch_input names the target '" + name + "', which " +
                   (tensor == nullptr ? the_ + " lacks" : "clients are to send as well") +
                   "; its inputs are: " + ListText(signature_.inputs));
      }
      NEREID_BACKEND_TRY(CheckType("batch_input", given.data_type, *tensor));
      const size_t rank = given.kind == BatchInputKind::kItemShape ? 2 : 1;
      if (!tensor->dims.empty() && tensor->dims.size() != rank) {
        return Bad("batch_input '" + name + "' has rank " + std::to_string(rank) + ", but " + the_ +
                   " declares " + backend::ShapeText(tensor->dims));
      }
      plan->batch_inputs.push_back({name, given, tensor->element_type, source,
                                    rank == 1 && !tensor->dims.empty() ? tensor->dims[0] : -1});
    }
    return {};
  }

  static bool IsBatchInput(const std::string& name, const Plan& plan) {
    return std::any_of(plan.batch_inputs.begin(), plan.batch_inputs.end(),
                       [&](const BatchInputPlan& input) { return input.name == name; });
  }

  Error CheckComplete(const Plan& plan) const {
    for (const TensorSignature& tensor : signature_.inputs) {
      if (PlaceOf(plan.inputs, tensor.name) < 0 && !IsBatchInput(tensor.name, plan)) {
        return Bad(the_ + " needs the input '" + tensor.name +
                   "', which the configuration does not list; its inputs are: " +
                   ListText(signature_.inputs));
      }
    }
    return {};
  }

  Error AddOutput(const std::string& kind, const TensorConfig& given, Plan* plan) const {
    const TensorSignature* tensor = FindTensor(signature_.outputs, given.name);
    if (tensor == nullptr) {
      return framework::UnexpectedTensor(kind, given.name, framework::NamesOf(signature_.outputs));
    }
    OutputPlan& output = plan->outputs.emplace_back();
    output.name = tensor->name;
    output.graph_name = tensor->graph_name;
    output.scalar = !config_.batching() && given.reshape && given.reshape->empty();
    output.data_type = tensor->data_type;
    output.element_type = tensor->element_type;
    if (const BatchOutputConfig* cut = FindBatchOutput(given.name); cut != nullptr) {
      NEREID_BACKEND_TRY(CheckType("output", given.data_type, *tensor));
      return AddScatter(given, *cut, *plan, &output);
    }
    NEREID_BACKEND_TRY(CheckAgainst(kind, given, *tensor));
    output.direct = !output.text() && !tensor->dims.empty();
    for (size_t i = 0; i < tensor->dims.size(); ++i) {
      output.dims.push_back(PlanDim(*tensor, i, *plan));
      output.direct = output.direct && output.dims.back().kind != DimPlan::Kind::kUnknown;
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
  Error AddScatter(const TensorConfig& given, const BatchOutputConfig& cut, const Plan& plan,
                   OutputPlan* output) const {
    ScatterPlan& scatter = output->scatter.emplace();
    scatter.dims = given.ModelDims();
    if (config_.batching()) {
      scatter.dims.insert(scatter.dims.begin(), -1);
    }
    return FindSource("batch_output", cut.source, plan, &scatter.source);
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
  const ModelSource& source_;
  /// For example, "the ONNX model".
  const std::string the_;
};

}  // namespace

int Plan::FindOutput(std::string_view name) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].listed && outputs[i].name == name) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

Error MakePlan(const ModelConfig& config, const ModelSignature& signature,
               const ModelSource& source, Plan* plan) {
  return Planner(config, signature, source).Make(plan);
}

}  // namespace nereid::onnxruntime
