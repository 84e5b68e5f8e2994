// SPDX-License-Identifier: Apache-2.0
#include "framework/complete_config.h"

#include <algorithm>

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

/// The entry of `input` or `output` that describes `tensor`.
Json Describe(const TensorSignature& tensor, bool batching,
              rapidjson::Document::AllocatorType& memory) {
  Json entry(rapidjson::kObjectType);
  entry.AddMember("name", Json(tensor.name.c_str(), memory), memory);
  entry.AddMember("data_type", Json(backend::DataTypeToConfig(tensor.data_type).c_str(), memory),
                  memory);
  Json dims(rapidjson::kArrayType);
  for (size_t i = batching ? 1 : 0; i < tensor.dims.size(); ++i) {
    dims.PushBack(tensor.dims[i], memory);
  }
  const bool empty = dims.Empty();
  if (empty) {
    dims.PushBack(1, memory);
  }
  entry.AddMember("dims", dims, memory);
  if (empty && batching) {
    Json reshape(rapidjson::kObjectType);
    reshape.AddMember("shape", Json(rapidjson::kArrayType), memory);
    entry.AddMember("reshape", reshape, memory);
  }
  return entry;
}

/// Whether the server (a control or a state of the sequence batcher) or the backend (a batch input)
/// makes the input, so that no client sends it.
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

/// Whether the output is a state: clients get it only where the configuration's author lists it.
bool IsState(const ModelConfig& config, const std::string& name) {
  return std::any_of(config.states.begin(), config.states.end(),
                     [&](const auto& state) { return state.output.name == name; });
}

/// Sets `input` or `output`.
Error DescribeAll(const std::vector<TensorSignature>& tensors, const ModelConfig& config,
                  bool output, rapidjson::Document* document) {
  Json list(rapidjson::kArrayType);
  for (const TensorSignature& tensor : tensors) {
    if (output ? IsState(config, tensor.name) : IsMade(config, tensor.name)) {
      continue;
    }
    const std::string what = "model '" + config.name + "': " + (output ? "output" : "input") +
                             " '" + tensor.name + "' is " + tensor.Text() + " in the model";
    if (tensor.data_type == TRITONSERVER_TYPE_INVALID) {
      if (!output) {
        return Error::Unsupported(what + ", which the inference protocol cannot carry");
      }
      NEREID_BACKEND_LOG(WARN, what + "; it is left out of the configuration");
      continue;
    }
    if (!tensor.has_rank) {
      return Error::InvalidArgument(what + ": its rank is open, so it cannot be completed; write " +
                                    (output ? "output" : "input") + " into the configuration");
    }
    list.PushBack(Describe(tensor, config.batching(), document->GetAllocator()),
                  document->GetAllocator());
  }
  Set(document, output ? "output" : "input", std::move(list));
  return {};
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
    int64_t size = 4;
    NEREID_BACKEND_TRY(backend_settings.ReadInt("default-max-batch-size", 0, INT32_MAX, &size));
    config->max_batch_size = size;
    Set(document, "max_batch_size", Json(size));
  }
  if (config->max_batch_size > 1 && !config->has_dynamic_batching &&
      !config->has_sequence_batching) {
    Set(document, "dynamic_batching", Json(rapidjson::kObjectType));
  }
  return {};
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
                     rapidjson::Document* document, bool* changed) {
  *changed = false;
  ModelConfig config = backend::ParseModelConfig(*document);
  if (config.inputs.size() + config.batch_inputs.size() > 0 && !config.outputs.empty()) {
    return {};
  }
  *changed = true;
  NEREID_BACKEND_TRY(CompleteBatching(signature, backend_settings, &config, document));
  if (config.inputs.empty()) {
    NEREID_BACKEND_TRY(DescribeAll(signature.inputs, config, false, document));
  }
  if (config.outputs.empty()) {
    NEREID_BACKEND_TRY(DescribeAll(signature.outputs, config, true, document));
  }
  return {};
}

Error CompleteModel(TRITONBACKEND_Model* model, const ModelSignature& signature,
                    const backend::Parameters& backend_settings, backend::ModelConfig* config) {
  bool wanted = false;
  NEREID_BACKEND_TRY(TRITONBACKEND_ModelAutoCompleteConfig(model, &wanted));
  if (!wanted) {
    return {};
  }
  rapidjson::Document document;
  NEREID_BACKEND_TRY(backend::ReadConfigDocument(model, &document));
  bool changed = false;
  NEREID_BACKEND_TRY(CompleteConfig(signature, backend_settings, &document, &changed));
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
