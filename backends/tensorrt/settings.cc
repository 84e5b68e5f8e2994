// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/settings.h"

#include <algorithm>

namespace nereid::tensorrt {
namespace {

using Json = rapidjson::Value;
using backend::BoolOf;
using backend::IntOf;
using backend::IntsOf;
using backend::Member;
using backend::TextOf;

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t from = 0;
  while (from <= text.size()) {
    const size_t to = std::min(text.find(separator, from), text.size());
    if (to > from) {
      parts.push_back(text.substr(from, to - from));
    }
    from = to + 1;
  }
  return parts;
}

GraphShapes ReadShapes(const Json& entry) {
  GraphShapes shapes;
  shapes.batch_size = IntOf(Member(&entry, "batch_size"));
  if (const Json* inputs = Member(&entry, "input"); inputs != nullptr && inputs->IsObject()) {
    for (const auto& input : inputs->GetObject()) {
      shapes.inputs[TextOf(&input.name)] = IntsOf(Member(&input.value, "dim"));
    }
  }
  return shapes;
}

void ReadCuda(const Json* cuda, Settings* settings) {
  settings->graphs = BoolOf(Member(cuda, "graphs"));
  settings->busy_wait = BoolOf(Member(cuda, "busy_wait_events"));
  settings->output_stream = BoolOf(Member(cuda, "output_copy_stream"));
  const Json* specs = Member(cuda, "graph_spec");
  if (specs == nullptr || !specs->IsArray()) {
    return;
  }
  for (const Json& entry : specs->GetArray()) {
    GraphSpec& spec = settings->graph_specs.emplace_back();
    spec.shapes = ReadShapes(entry);
    if (const Json* lower = Member(&entry, "graph_lower_bound"); lower != nullptr) {
      spec.lower = ReadShapes(*lower);
    }
  }
}

void AddNames(const Json* list, std::vector<std::string>* names) {
  if (list == nullptr || !list->IsArray()) {
    return;
  }
  for (const Json& name : list->GetArray()) {
    if (std::find(names->begin(), names->end(), TextOf(&name)) == names->end()) {
      names->push_back(TextOf(&name));
    }
  }
}

/// Reads the groups' profiles, and the devices of the first group.
void ReadGroups(const Json* groups, Settings* settings) {
  if (groups == nullptr || !groups->IsArray() || groups->Empty()) {
    return;
  }
  bool unnamed = false;
  for (const Json& group : groups->GetArray()) {
    AddNames(Member(&group, "profile"), &settings->profiles);
    unnamed = unnamed || backend::MemberCount(Member(&group, "profile")) == 0;
  }
  // A group without profiles uses the first one.
  if (unnamed && !settings->profiles.empty() &&
      std::find(settings->profiles.begin(), settings->profiles.end(), "0") ==
          settings->profiles.end()) {
    settings->profiles.emplace_back("0");
  }
  const Json& first = (*groups)[0];
  if (const std::vector<int64_t> gpus = IntsOf(Member(&first, "gpus")); !gpus.empty()) {
    settings->first_gpu = static_cast<int>(gpus[0]);
  }
  if (const Json* devices = Member(&first, "secondary_devices");
      devices != nullptr && devices->IsArray() && !devices->Empty()) {
    settings->first_dla_core = static_cast<int>(IntOf(Member(&(*devices)[0], "device_id")));
  }
}

Error ReadContextMemory(const backend::Parameters& parameters, ContextMemory* memory) {
  const std::string* text = parameters.Find("execution_context_allocation_strategy");
  if (text == nullptr || *text == "STATIC") {
    return {};
  }
  if (*text != "ON_PROFILE_CHANGE") {
    return Error::InvalidArgument("the parameter 'execution_context_allocation_strategy' is '" +
                                  *text + "', but must be STATIC or ON_PROFILE_CHANGE");
  }
  *memory = ContextMemory::kOnProfileChange;
  return {};
}

}  // namespace

Error ReadBackendOptions(const backend::Parameters& given, BackendOptions* options) {
  if (const std::string* plugins = given.Find("plugins"); plugins != nullptr) {
    options->plugins = Split(*plugins, ';');
  }
  NEREID_BACKEND_TRY(given.ReadBool("version-compatible", &options->host_code));
  NEREID_BACKEND_TRY(given.ReadBool("coalesce-request-input", &options->coalesce_inputs));
  if (const std::string* policy = given.Find("execution-policy"); policy != nullptr) {
    options->one_launcher = *policy == "DEVICE_BLOCKING";
    if (!options->one_launcher && *policy != "BLOCKING") {
      return Error::InvalidArgument("backend 'tensorrt': execution-policy is '" + *policy +
                                    "', but must be BLOCKING or DEVICE_BLOCKING");
    }
  }
  return {};
}

Error ReadSettings(const Json& config, const backend::Parameters& parameters, Settings* settings) {
  NEREID_BACKEND_TRY(ReadContextMemory(parameters, &settings->context_memory));
  if (const Json* files = Member(&config, "cc_model_filenames");
      files != nullptr && files->IsObject()) {
    for (const auto& file : files->GetObject()) {
      settings->files[TextOf(&file.name)] = TextOf(&file.value);
    }
  }
  ReadGroups(Member(&config, "instance_group"), settings);
  const Json* optimization = Member(&config, "optimization");
  const std::string priority = TextOf(Member(optimization, "priority"));
  settings->priority = priority == "PRIORITY_MAX" ? 1 : priority == "PRIORITY_MIN" ? -1 : 0;
  settings->gather_kernel = IntOf(Member(optimization, "gather_kernel_buffer_threshold")) > 0;
  ReadCuda(Member(optimization, "cuda"), settings);
  return {};
}

}  // namespace nereid::tensorrt
