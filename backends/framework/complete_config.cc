// SPDX-License-Identifier: Apache-2.0
#include "framework/complete_config.h"

#include <algorithm>
#include <optional>

#include "nereid/backend/data_type.h"
#include "nereid/backend/log.h"

namespace nereid::framework {
namespace {

using Json = rapidjson::Value;
using backend::ModelConfig;

void Set(rapidjson::Document* config, const char* name, Json value) {
  if (const auto found = config->FindMember(name); found != config->MemberEnd()) {
    found->value = value;
  } else {
    config->AddMember(Json(name, config->GetAllocator()), value, config->GetAllocator());
  }
}

/// Returns an entry of `input` or `output` for `tensor`. A tensor without dims gets dims [1], and
/// an empty reshape if the model batches.
Json Describe(const TensorSignature& tensor, bool batching,
              rapidjson::Document::AllocatorType& memory) {
  Json entry(rapidjson::kObjectType);
  entry.AddMember("name", Json(tensor.name.c_str(), memory), memory);
  entry.AddMember("data_type", Json(backend::DataTypeToConfig(tensor.data_type).c_str(), memory),
                  memory);
  Json dims(rapidjson::kArrayType);
  if (tensor.shape_tensor && !tensor.dims.empty()) {
    dims.PushBack(tensor.dims[0] - (batching ? 1 : 0), memory);
  }
  for (size_t i = batching ? 1 : 0; i < tensor.dims.size() && !tensor.shape_tensor; ++i) {
    dims.PushBack(tensor.dims[i], memory);
  }
  const bool empty = dims.Empty();
  if (empty) {
    dims.PushBack(1, memory);
  }
  entry.AddMember("dims", dims, memory);
  if (empty && batching && !tensor.shape_tensor) {
    Json reshape(rapidjson::kObjectType);
    reshape.AddMember("shape", Json(rapidjson::kArrayType), memory);
    entry.AddMember("reshape", reshape, memory);
  }
  if (tensor.shape_tensor) {
    entry.AddMember("is_shape_tensor", true, memory);
  }
  if (tensor.non_linear) {
    entry.AddMember("is_non_linear_format_io", true, memory);
  }
  return entry;
}

/// Returns whether the server (a control or state of the sequence batcher) or the backend (a batch
/// input) provides the input, so that clients do not send it.
bool IsMade(const ModelConfig& config, const std::string& name) {
  const auto any = [](const auto& list, const auto& matches) {
    return std::any_of(list.begin(), list.end(), matches);
  };
  return any(config.controls, [&](const auto& control) { return control.name == name; }) ||
         any(config.states, [&](const auto& state) { return state.input_name == name; }) ||
         any(config.batch_inputs, [&](const backend::BatchInputConfig& input) {
           return any(input.targets, [&](const std::string& target) { return target == name; });
         });
}

/// Returns whether the output is a state. Clients receive it only if the author of the
/// configuration lists it.
bool IsState(const ModelConfig& config, const std::string& name) {
  return std::any_of(config.states.begin(), config.states.end(),
                     [&](const auto& state) { return state.output.name == name; });
}

/// Creates the entry for a tensor that the configuration does not list. `*entry` stays null for
/// tensors that clients do not see, and for outputs that the protocol cannot carry.
Error DescribeNew(const TensorSignature& tensor, const ModelConfig& config, bool output,
                  bool batching, rapidjson::Document::AllocatorType& memory, Json* entry) {
  if (output ? IsState(config, tensor.name) : IsMade(config, tensor.name)) {
    return {};
  }
  const std::string what = "model '" + config.name + "': " + (output ? "output" : "input") + " '" +
                           tensor.name + "' is " + tensor.Text() + " in the model";
  if (tensor.data_type == TRITONSERVER_TYPE_INVALID) {
    if (!output) {
      return Error::Unsupported(what + ", which the inference protocol cannot carry");
    }
    NEREID_BACKEND_LOG(WARN, what + "; it is left out of the configuration");
    return {};
  }
  if (!tensor.has_rank) {
    return Error::InvalidArgument(what + ": its rank is open, so it cannot be completed; write " +
                                  (output ? "output" : "input") + " into the configuration");
  }
  *entry = Describe(tensor, batching, memory);
  return {};
}

/// Sets `input` or `output` to entries for all tensors.
Error DescribeAll(const std::vector<TensorSignature>& tensors, const ModelConfig& config,
                  bool output, bool batching, rapidjson::Document* document) {
  Json list(rapidjson::kArrayType);
  for (const TensorSignature& tensor : tensors) {
    Json entry;
    NEREID_BACKEND_TRY(
        DescribeNew(tensor, config, output, batching, document->GetAllocator(), &entry));
    if (!entry.IsNull()) {
      list.PushBack(entry, document->GetAllocator());
    }
  }
  Set(document, output ? "output" : "input", std::move(list));
  return {};
}

/// Adds the missing data type and dims to an entry of the configuration.
Error FillEntry(const TensorSignature& tensor, const ModelConfig& config, bool batching,
                rapidjson::Document::AllocatorType& memory, Json* entry) {
  const std::string type = backend::TextOf(backend::Member(entry, "data_type"));
  const bool lacks_type = type.empty() || type == "TYPE_INVALID";
  const bool lacks_dims = backend::MemberCount(backend::Member(entry, "dims")) == 0;
  if (lacks_dims && !tensor.has_rank) {
    return Error::InvalidArgument("Unable to autofill for '" + config.name +
                                  "': the rank of model tensor '" + tensor.name +
                                  "' is 0 and dimensions are not defined");
  }
  Json described = Describe(tensor, batching, memory);
  const auto take = [&](const char* name) {
    entry->RemoveMember(name);
    if (const auto found = described.FindMember(name); found != described.MemberEnd()) {
      entry->AddMember(Json(name, memory), found->value, memory);
    }
  };
  if (lacks_type && tensor.data_type != TRITONSERVER_TYPE_INVALID) {
    take("data_type");
  }
  if (lacks_dims) {
    take("dims");
    take("reshape");
  }
  // The server writes the default value of a field that the configuration does not have.
  if (tensor.shape_tensor) {
    take("is_shape_tensor");
  }
  if (tensor.non_linear) {
    take("is_non_linear_format_io");
  }
  return {};
}

/// Completes the entries of `input` or `output`, and appends missing inputs.
Error FillList(const std::vector<TensorSignature>& tensors, const ModelConfig& config, bool output,
               bool batching, rapidjson::Document* document) {
  auto& memory = document->GetAllocator();
  const char* const name = output ? "output" : "input";
  if (!document->HasMember(name)) {
    Set(document, name, Json(rapidjson::kArrayType));
  }
  Json& list = (*document)[name];
  for (const TensorSignature& tensor : tensors) {
    Json* entry = nullptr;
    for (Json& candidate : list.GetArray()) {
      if (backend::TextOf(backend::Member(&candidate, "name")) == tensor.name) {
        entry = &candidate;
        break;
      }
    }
    if (entry != nullptr) {
      NEREID_BACKEND_TRY(FillEntry(tensor, config, batching, memory, entry));
    } else if (!output) {
      Json added;
      NEREID_BACKEND_TRY(DescribeNew(tensor, config, output, batching, memory, &added));
      if (!added.IsNull()) {
        list.PushBack(added, memory);
      }
    }
  }
  return {};
}

Error SetMaxBatchSize(const ModelSignature& signature, const backend::Parameters& backend_settings,
                      ModelConfig* config, rapidjson::Document* document) {
  int64_t size = signature.max_batch_size.value_or(4);
  if (!signature.max_batch_size) {
    NEREID_BACKEND_TRY(backend_settings.ReadInt("default-max-batch-size", 0, INT32_MAX, &size));
  }
  config->max_batch_size = size;
  Set(document, "max_batch_size", Json(size));
  return {};
}

/// Adds dynamic batching to a model that batches and has no scheduler.
void AddScheduler(const ModelConfig& config, rapidjson::Document* document) {
  if (config.max_batch_size > 1 && !config.has_dynamic_batching && !config.has_sequence_batching) {
    Set(document, "dynamic_batching", Json(rapidjson::kObjectType));
  }
}

Error CompleteBatching(const ModelSignature& signature, const backend::Parameters& backend_settings,
                       ModelConfig* config, rapidjson::Document* document) {
  if (!CanBatch(signature)) {
    if (config->max_batch_size == 0) {
      return {};
    }
    return Error::InvalidArgument("autofill failed for model '" + config->name +
                                  "': model does not support batching while non-zero "
                                  "max_batch_size is specified");
  }
  if (config->max_batch_size == 0) {
    NEREID_BACKEND_TRY(SetMaxBatchSize(signature, backend_settings, config, document));
  }
  AddScheduler(*config, document);
  return {};
}

/// Derives from the entries of a configuration whether the model batches. Every tensor of the model
/// has a variable first dimension: `dims` without that dimension mean batching, `dims` with it mean
/// none.
class BatchHint {
 public:
  explicit BatchHint(const ModelConfig& config) : config_(config) {}

  Error Look(const std::vector<backend::TensorConfig>& entries,
             const std::vector<TensorSignature>& tensors) {
    for (const backend::TensorConfig& entry : entries) {
      const int place = FindTensor(tensors, entry.name);
      if (entry.allow_ragged_batch) {
        ragged_ = true;
      }
      if (ragged_ || place < 0) {
        continue;
      }
      const TensorSignature& tensor = tensors[static_cast<size_t>(place)];
      if (!tensor.has_rank || !tensor.shape_binds || tensor.dims.empty() || tensor.shape_tensor) {
        continue;
      }
      if (entry.dims.empty()) {
        weak_ = true;
        continue;
      }
      const bool batch = entry.ModelDims().size() + 1 == tensor.dims.size();
      if (strong_ && *strong_ != batch) {
        return Error::Internal("unable to autofill for '" + config_.name +
                               "', model tensor configurations are contradicting each other in "
                               "terms of whether batching is supported");
      }
      strong_ = batch;
    }
    return {};
  }

  bool batch() const {
    if (config_.inputs.empty() && config_.outputs.empty()) {
      return true;
    }
    return ragged_ || strong_.value_or(weak_);
  }

 private:
  const ModelConfig& config_;
  bool ragged_ = false;
  bool weak_ = false;
  std::optional<bool> strong_;
};

/// Completes a configuration with Completion::kEntries. The signature names every input and output,
/// but may leave ranks open.
Error CompleteEntries(const ModelSignature& signature, const backend::Parameters& backend_settings,
                      rapidjson::Document* document) {
  ModelConfig config = backend::ParseModelConfig(*document);
  const auto fixed = [](const TensorSignature& tensor) {
    return tensor.has_rank && tensor.shape_binds && !tensor.shape_tensor && !tensor.dims.empty() &&
           tensor.dims[0] != -1;
  };
  const bool can_batch = signature.max_batch_size.value_or(INT64_MAX) > 0 &&
                         std::none_of(signature.inputs.begin(), signature.inputs.end(), fixed) &&
                         std::none_of(signature.outputs.begin(), signature.outputs.end(), fixed);
  if (!can_batch && config.batching()) {
    return Error::Internal(
        "unable to autofill for '" + config.name + "', configuration specified max-batch " +
        std::to_string(config.max_batch_size) + " but model signature does not support batching");
  }
  BatchHint hint(config);
  if (can_batch) {
    NEREID_BACKEND_TRY(hint.Look(config.inputs, signature.inputs));
    NEREID_BACKEND_TRY(hint.Look(config.outputs, signature.outputs));
    if (config.max_batch_size == 0 && hint.batch()) {
      NEREID_BACKEND_TRY(SetMaxBatchSize(signature, backend_settings, &config, document));
    }
  }
  AddScheduler(config, document);
  const bool batching = config.batching() && hint.batch();
  NEREID_BACKEND_TRY(FillList(signature.inputs, config, false, batching, document));
  return config.outputs.empty() ? DescribeAll(signature.outputs, config, true, batching, document)
                                : FillList(signature.outputs, config, true, batching, document);
}

}  // namespace

bool CanBatch(const ModelSignature& signature) {
  const auto can = [](const TensorSignature& tensor) {
    return !tensor.is_tensor || (tensor.has_rank && !tensor.dims.empty() && tensor.dims[0] == -1);
  };
  return std::all_of(signature.inputs.begin(), signature.inputs.end(), can) &&
         std::all_of(signature.outputs.begin(), signature.outputs.end(), can);
}

Error CompleteConfig(const ModelSignature& signature, const backend::Parameters& backend_settings,
                     Completion completion, rapidjson::Document* document, bool* changed) {
  *changed = completion == Completion::kEntries;
  if (*changed) {
    return CompleteEntries(signature, backend_settings, document);
  }
  ModelConfig config = backend::ParseModelConfig(*document);
  if (config.inputs.size() + config.batch_inputs.size() > 0 && !config.outputs.empty()) {
    return {};
  }
  *changed = true;
  NEREID_BACKEND_TRY(CompleteBatching(signature, backend_settings, &config, document));
  if (config.inputs.empty()) {
    NEREID_BACKEND_TRY(DescribeAll(signature.inputs, config, false, config.batching(), document));
  }
  if (config.outputs.empty()) {
    NEREID_BACKEND_TRY(DescribeAll(signature.outputs, config, true, config.batching(), document));
  }
  return {};
}

Error CompleteModel(TRITONBACKEND_Model* model, const ModelSignature& signature,
                    const backend::Parameters& backend_settings, Completion completion,
                    backend::ModelConfig* config) {
  bool wanted = false;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelAutoCompleteConfig(model, &wanted));
  if (!wanted) {
    return {};
  }
  rapidjson::Document document;
  NEREID_BACKEND_TRY(backend::ReadConfigDocument(model, &document));
  bool changed = false;
  NEREID_BACKEND_TRY(CompleteConfig(signature, backend_settings, completion, &document, &changed));
  if (!changed) {
    return {};
  }
  NEREID_BACKEND_TRY(backend::WriteConfigDocument(model, document));
  ModelConfig completed = backend::ParseModelConfig(document);
  completed.version = config->version;
  completed.directory = config->directory;
  *config = std::move(completed);
  return {};
}

}  // namespace nereid::framework
