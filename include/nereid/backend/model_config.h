// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nereid/backend/data_type.h"
#include "nereid/backend/error.h"
#include "nereid/backend/json.h"
#include "nereid/backend/parameters.h"
#include "triton/core/tritonbackend.h"

namespace nereid::backend {

/// An entry of `input` or `output`. Dimensions are without the batch dimension; -1 is variable.
struct TensorConfig {
  std::string name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  std::vector<int64_t> dims;
  std::optional<std::vector<int64_t>> reshape;
  bool allow_ragged_batch = false;
  bool optional = false;
  bool is_shape_tensor = false;
  /// Whether its data are in a format of the model's own, which may take more bytes than the shape
  /// says.
  bool is_non_linear_format_io = false;

  /// Returns the dimensions that the framework sees.
  const std::vector<int64_t>& ModelDims() const { return reshape ? *reshape : dims; }
};

/// The content of a tensor that the backend builds for a whole batch (`batch_input`); see
/// batch_input.h.
enum class BatchInputKind {
  kUnknown,
  kElementCount,
  kAccumulatedElementCount,
  kAccumulatedElementCountWithZero,
  kMaxElementCountAsShape,
  kItemShape,
  kItemShapeFlatten,
};

/// An entry of `batch_input`. The model's inputs `targets` are built from the requests' input
/// `source`. `data_type` is INT32 or FP32.
struct BatchInputConfig {
  BatchInputKind kind = BatchInputKind::kUnknown;
  std::vector<std::string> targets;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  std::string source;
};

/// An entry of `batch_output`. The outputs `targets` are divided according to the shapes of the
/// requests' input `source` (BATCH_SCATTER_WITH_INPUT_SHAPE, the only kind); see batch_output.h.
struct BatchOutputConfig {
  std::vector<std::string> targets;
  std::string source;
};

/// A control tensor of `sequence_batching.control_input`. The server adds it to each request, with
/// one element for each batch item.
struct ControlConfig {
  std::string name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
};

/// An entry of `sequence_batching.state`. The server adds the input, and the backend writes the
/// output (sequence.h). Both have the data type and dims of `output`.
struct StateConfig {
  std::string input_name;
  TensorConfig output;
  /// Whether input and output share one buffer.
  bool same_buffer = false;
};

/// An entry of `optimization.execution_accelerators`.
struct AcceleratorConfig {
  std::string name;
  std::map<std::string, std::string> parameters;
};

/// An entry of `instance_group`.
struct InstanceGroupConfig {
  /// "KIND_GPU", "KIND_CPU", "KIND_MODEL", or "KIND_AUTO" if the server is to choose.
  std::string kind = "KIND_AUTO";
  /// The ordinals of the GPUs. Empty means all for KIND_GPU.
  std::vector<int64_t> gpus;
};

/// The parts of a model's configuration that backends use.
struct ModelConfig {
  std::string name;
  uint64_t version = 0;
  /// The model's directory. The version's files are in its subdirectory `version`.
  std::string directory;
  std::string default_model_filename;
  int64_t max_batch_size = 0;
  std::vector<TensorConfig> inputs;
  std::vector<TensorConfig> outputs;
  std::vector<BatchInputConfig> batch_inputs;
  std::vector<BatchOutputConfig> batch_outputs;
  std::vector<ControlConfig> controls;
  std::vector<StateConfig> states;
  bool has_dynamic_batching = false;
  bool has_sequence_batching = false;
  bool decoupled = false;
  /// The number of instances in all groups; at least 1.
  int64_t instance_count = 1;
  /// Empty before the server has chosen where a model without groups runs.
  std::vector<InstanceGroupConfig> instance_groups;
  /// The custom operator libraries (`model_operations`).
  std::vector<std::string> op_libraries;
  std::vector<AcceleratorConfig> cpu_accelerators;
  std::vector<AcceleratorConfig> gpu_accelerators;
  /// The names of the settings in the configuration that have no effect without a GPU.
  std::vector<std::string> gpu_settings;
  std::optional<int64_t> graph_level;
  Parameters parameters;

  bool batching() const { return max_batch_size > 0; }
};

namespace config_detail {

inline std::vector<TensorConfig> ReadTensors(const rapidjson::Value* list) {
  std::vector<TensorConfig> tensors;
  if (list == nullptr || !list->IsArray()) {
    return tensors;
  }
  for (const rapidjson::Value& entry : list->GetArray()) {
    TensorConfig tensor;
    tensor.name = TextOf(Member(&entry, "name"));
    tensor.data_type = DataTypeFromConfig(TextOf(Member(&entry, "data_type")));
    tensor.dims = IntsOf(Member(&entry, "dims"));
    if (const rapidjson::Value* reshape = Member(&entry, "reshape"); MemberCount(reshape) > 0) {
      tensor.reshape = IntsOf(Member(reshape, "shape"));
    } else if (reshape != nullptr && reshape->IsObject()) {
      tensor.reshape.emplace();
    }
    tensor.allow_ragged_batch = BoolOf(Member(&entry, "allow_ragged_batch"));
    tensor.optional = BoolOf(Member(&entry, "optional"));
    tensor.is_shape_tensor = BoolOf(Member(&entry, "is_shape_tensor"));
    tensor.is_non_linear_format_io = BoolOf(Member(&entry, "is_non_linear_format_io"));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

inline void ReadNames(const rapidjson::Value* list, const char* member,
                      std::vector<std::string>* names) {
  if (list == nullptr || !list->IsArray()) {
    return;
  }
  for (const rapidjson::Value& entry : list->GetArray()) {
    names->push_back(TextOf(member == nullptr ? &entry : Member(&entry, member)));
  }
}

inline BatchInputKind ReadBatchInputKind(const std::string& name) {
  constexpr std::pair<const char*, BatchInputKind> kNames[] = {
      {"BATCH_ELEMENT_COUNT", BatchInputKind::kElementCount},
      {"BATCH_ACCUMULATED_ELEMENT_COUNT", BatchInputKind::kAccumulatedElementCount},
      {"BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO",
       BatchInputKind::kAccumulatedElementCountWithZero},
      {"BATCH_MAX_ELEMENT_COUNT_AS_SHAPE", BatchInputKind::kMaxElementCountAsShape},
      {"BATCH_ITEM_SHAPE", BatchInputKind::kItemShape},
      {"BATCH_ITEM_SHAPE_FLATTEN", BatchInputKind::kItemShapeFlatten}};
  for (const auto& [known, kind] : kNames) {
    if (name == known) {
      return kind;
    }
  }
  return BatchInputKind::kUnknown;
}

/// Returns the first of a list of texts. Every kind of batch input and output has one source.
inline std::string FirstText(const rapidjson::Value* list) {
  return list != nullptr && list->IsArray() && !list->Empty() ? TextOf(&(*list)[0]) : "";
}

inline std::vector<BatchInputConfig> ReadBatchInputs(const rapidjson::Value* list) {
  std::vector<BatchInputConfig> inputs;
  if (list == nullptr || !list->IsArray()) {
    return inputs;
  }
  for (const rapidjson::Value& entry : list->GetArray()) {
    BatchInputConfig& input = inputs.emplace_back();
    // JSON writers may omit `kind` if it is 0, the default.
    const rapidjson::Value* kind = Member(&entry, "kind");
    input.kind = kind == nullptr ? BatchInputKind::kElementCount : ReadBatchInputKind(TextOf(kind));
    ReadNames(Member(&entry, "target_name"), nullptr, &input.targets);
    input.data_type = DataTypeFromConfig(TextOf(Member(&entry, "data_type")));
    input.source = FirstText(Member(&entry, "source_input"));
  }
  return inputs;
}

inline std::vector<BatchOutputConfig> ReadBatchOutputs(const rapidjson::Value* list) {
  std::vector<BatchOutputConfig> outputs;
  if (list == nullptr || !list->IsArray()) {
    return outputs;
  }
  for (const rapidjson::Value& entry : list->GetArray()) {
    BatchOutputConfig& output = outputs.emplace_back();
    ReadNames(Member(&entry, "target_name"), nullptr, &output.targets);
    output.source = FirstText(Member(&entry, "source_input"));
  }
  return outputs;
}

inline std::vector<AcceleratorConfig> ReadAccelerators(const rapidjson::Value* list) {
  std::vector<AcceleratorConfig> accelerators;
  if (list == nullptr || !list->IsArray()) {
    return accelerators;
  }
  for (const rapidjson::Value& entry : list->GetArray()) {
    AcceleratorConfig& accelerator = accelerators.emplace_back();
    accelerator.name = TextOf(Member(&entry, "name"));
    if (const rapidjson::Value* given = Member(&entry, "parameters"); MemberCount(given) > 0) {
      for (const auto& member : given->GetObject()) {
        accelerator.parameters[TextOf(&member.name)] = TextOf(&member.value);
      }
    }
  }
  return accelerators;
}

inline std::vector<std::string> ReadGpuSettings(const rapidjson::Value& json) {
  std::vector<std::string> names;
  const rapidjson::Value* optimization = Member(&json, "optimization");
  if (const std::string priority = TextOf(Member(optimization, "priority"));
      !priority.empty() && priority != "PRIORITY_DEFAULT") {
    names.push_back("optimization.priority");
  }
  if (Member(optimization, "cuda") != nullptr) {
    names.push_back("optimization.cuda");
  }
  if (IntOf(Member(optimization, "gather_kernel_buffer_threshold")) != 0) {
    names.push_back("optimization.gather_kernel_buffer_threshold");
  }
  if (BoolOf(Member(optimization, "eager_batching"))) {
    names.push_back("optimization.eager_batching");
  }
  if (MemberCount(Member(&json, "cc_model_filenames")) > 0) {
    names.push_back("cc_model_filenames");
  }
  return names;
}

inline std::vector<ControlConfig> ReadControls(const rapidjson::Value* list) {
  constexpr std::pair<const char*, TRITONSERVER_DataType> kValues[] = {
      {"int32_false_true", TRITONSERVER_TYPE_INT32},
      {"fp32_false_true", TRITONSERVER_TYPE_FP32},
      {"bool_false_true", TRITONSERVER_TYPE_BOOL}};
  std::vector<ControlConfig> controls;
  if (list == nullptr || !list->IsArray()) {
    return controls;
  }
  for (const rapidjson::Value& entry : list->GetArray()) {
    ControlConfig& control = controls.emplace_back();
    control.name = TextOf(Member(&entry, "name"));
    const rapidjson::Value* kinds = Member(&entry, "control");
    if (kinds == nullptr || !kinds->IsArray() || kinds->Empty()) {
      continue;
    }
    control.data_type = DataTypeFromConfig(TextOf(Member(&(*kinds)[0], "data_type")));
    for (const auto& [member, type] : kValues) {
      const rapidjson::Value* values = Member(&(*kinds)[0], member);
      if (values != nullptr && values->IsArray() && !values->Empty()) {
        control.data_type = type;
      }
    }
  }
  return controls;
}

inline std::vector<StateConfig> ReadStates(const rapidjson::Value* list) {
  std::vector<StateConfig> states;
  if (list == nullptr || !list->IsArray()) {
    return states;
  }
  for (const rapidjson::Value& entry : list->GetArray()) {
    StateConfig& state = states.emplace_back();
    state.input_name = TextOf(Member(&entry, "input_name"));
    state.output.name = TextOf(Member(&entry, "output_name"));
    state.output.data_type = DataTypeFromConfig(TextOf(Member(&entry, "data_type")));
    state.output.dims = IntsOf(Member(&entry, "dims"));
    state.same_buffer = BoolOf(Member(&entry, "use_same_buffer_for_input_output"));
  }
  return states;
}

inline Parameters::Map ReadParameters(const rapidjson::Value* object) {
  Parameters::Map values;
  if (object != nullptr && object->IsObject()) {
    for (const auto& member : object->GetObject()) {
      values[TextOf(&member.name)] = TextOf(Member(&member.value, "string_value"));
    }
  }
  return values;
}

inline int64_t CountInstances(const rapidjson::Value* groups) {
  int64_t count = 0;
  if (groups != nullptr && groups->IsArray()) {
    for (const rapidjson::Value& group : groups->GetArray()) {
      const int64_t wanted = IntOf(Member(&group, "count"), 1);
      count += wanted > 0 ? wanted : 1;
    }
  }
  return count > 0 ? count : 1;
}

inline std::vector<InstanceGroupConfig> ReadInstanceGroups(const rapidjson::Value* list) {
  std::vector<InstanceGroupConfig> groups;
  if (list != nullptr && list->IsArray()) {
    for (const rapidjson::Value& entry : list->GetArray()) {
      InstanceGroupConfig& group = groups.emplace_back();
      if (const std::string kind = TextOf(Member(&entry, "kind")); !kind.empty()) {
        group.kind = kind;
      }
      group.gpus = IntsOf(Member(&entry, "gpus"));
    }
  }
  return groups;
}

}  // namespace config_detail

/// Reads the parts of a configuration in JSON form. They are not checked, because the server has
/// validated the configuration.
inline ModelConfig ParseModelConfig(const rapidjson::Value& json) {
  using namespace config_detail;
  ModelConfig config;
  config.name = TextOf(Member(&json, "name"));
  config.default_model_filename = TextOf(Member(&json, "default_model_filename"));
  config.max_batch_size = IntOf(Member(&json, "max_batch_size"));
  config.inputs = ReadTensors(Member(&json, "input"));
  config.outputs = ReadTensors(Member(&json, "output"));
  config.batch_inputs = ReadBatchInputs(Member(&json, "batch_input"));
  config.batch_outputs = ReadBatchOutputs(Member(&json, "batch_output"));
  config.has_dynamic_batching = Member(&json, "dynamic_batching") != nullptr;
  const rapidjson::Value* sequence = Member(&json, "sequence_batching");
  config.has_sequence_batching = sequence != nullptr;
  config.controls = ReadControls(Member(sequence, "control_input"));
  config.states = ReadStates(Member(sequence, "state"));
  config.decoupled = BoolOf(Member(Member(&json, "model_transaction_policy"), "decoupled"));
  config.instance_count = CountInstances(Member(&json, "instance_group"));
  config.instance_groups = ReadInstanceGroups(Member(&json, "instance_group"));
  ReadNames(Member(Member(&json, "model_operations"), "op_library_filename"), nullptr,
            &config.op_libraries);
  const rapidjson::Value* optimization = Member(&json, "optimization");
  const rapidjson::Value* accelerators = Member(optimization, "execution_accelerators");
  config.cpu_accelerators = ReadAccelerators(Member(accelerators, "cpu_execution_accelerator"));
  config.gpu_accelerators = ReadAccelerators(Member(accelerators, "gpu_execution_accelerator"));
  config.gpu_settings = ReadGpuSettings(json);
  if (const rapidjson::Value* graph = Member(optimization, "graph"); graph != nullptr) {
    config.graph_level = IntOf(Member(graph, "level"));
  }
  config.parameters =
      Parameters("model '" + config.name + "'", ReadParameters(Member(&json, "parameters")));
  return config;
}

/// Reads the configuration, the version and the directory of `model` from the server. UNSUPPORTED
/// if the model is not in a file system.
inline Error ReadModelConfig(TRITONBACKEND_Model* model, ModelConfig* config) {
  rapidjson::Document document;
  NEREID_BACKEND_TRY(ReadConfigDocument(model, &document));
  *config = ParseModelConfig(document);
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelVersion(model, &config->version));
  TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  const char* location = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelRepository(model, &type, &location));
  if (type != TRITONBACKEND_ARTIFACT_FILESYSTEM || location == nullptr) {
    return Error::Unsupported("model '" + config->name + "' is not in a file system");
  }
  config->directory = location;
  return {};
}

/// Reads the `--backend-config` settings that the server passes to `backend`.
inline Error ReadBackendConfig(TRITONBACKEND_Backend* backend, Parameters* settings) {
  TRITONSERVER_Message* message = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_BackendConfig(backend, &message));
  Parameters::Map values;
  if (message != nullptr) {
    rapidjson::Document document;
    NEREID_BACKEND_TRY(ParseMessage(message, &document));
    if (const rapidjson::Value* cmdline = Member(&document, "cmdline");
        cmdline != nullptr && cmdline->IsObject()) {
      for (const auto& member : cmdline->GetObject()) {
        values[TextOf(&member.name)] = TextOf(&member.value);
      }
    }
  }
  const char* name = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_BackendName(backend, &name));
  *settings =
      Parameters(std::string("backend '") + (name == nullptr ? "" : name) + "'", std::move(values));
  return {};
}

}  // namespace nereid::backend
