// SPDX-License-Identifier: Apache-2.0
// nereid gpus: what a server on this machine would find.
#include "app/options/flag_values.h"
#include "app/options/server_options.h"
#include "app/tables.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"
#include "base/files.h"
#include "base/json_writer.h"

namespace nereid::app::tools {
namespace {

constexpr ToolFlag kFlags[] = {
    {"min-supported-compute-capability", "number", "As for serve (default 6.0)"},
    {"format", "text|json", "Output format (default text)"},
    {"help", "", "Print this text"},
};

constexpr std::string_view kUsage =
    "Usage: nereid gpus [flags]\n"
    "\n"
    "Lists the GPUs of this machine as a server would find them, and says which of them it would\n"
    "use. Says why there are none, and whether the TensorRT plug-in runs plans.\n"
    "\n"
    "Exit codes: 0 some GPU would be used; 1 none would be; 2 the flags are wrong.\n"
    "\n";

/// What the TensorRT plug-in beside the program can do.
enum class TensorRtPlugin { kMissing, kBuiltWithoutTensorRt, kRunsPlans };

TensorRtPlugin FindTensorRt(const std::string& backend_directory) {
  if (backend_directory.empty()) return TensorRtPlugin::kMissing;
  const auto plugin = base::ReadFile(backend_directory + "/tensorrt/libtriton_tensorrt.so");
  if (!plugin.ok()) return TensorRtPlugin::kMissing;
  // Only the plug-in that is built without TensorRT exports this name
  // (backends/tensorrt/absent_plugin.cc).
  return plugin->find("NEREIDBACKEND_BuiltWithoutFramework") == plugin->npos
             ? TensorRtPlugin::kRunsPlans
             : TensorRtPlugin::kBuiltWithoutTensorRt;
}

const char* TextOf(TensorRtPlugin plugin) {
  switch (plugin) {
    case TensorRtPlugin::kMissing:
      return "TensorRT: there is no plug-in";
    case TensorRtPlugin::kBuiltWithoutTensorRt:
      return "TensorRT: the plug-in was built without TensorRT's headers and refuses every model";
    case TensorRtPlugin::kRunsPlans:
      return "TensorRT: the plug-in runs plans";
  }
  return "";
}

const char* NameOf(TensorRtPlugin plugin) {
  switch (plugin) {
    case TensorRtPlugin::kMissing:
      return "missing";
    case TensorRtPlugin::kBuiltWithoutTensorRt:
      return "built_without_tensorrt";
    case TensorRtPlugin::kRunsPlans:
      return "runs_plans";
  }
  return "";
}

std::string Text(const device::Gpus& gpus, TensorRtPlugin plugin) {
  std::string text;
  if (!gpus.used().empty() || !gpus.too_old().empty()) text = GpuTable(gpus);
  for (const std::string& failure : gpus.failures()) text += failure + "\n";
  if (!gpus.none_because().empty()) text += "No GPUs: " + gpus.none_because() + "\n";
  return text + TextOf(plugin) + "\n";
}

void WriteGpu(const device::Gpu& gpu, bool used, base::JsonWriter& json) {
  json.NewLine().BeginObject();
  json.Key("gpu").Integer(gpu.ordinal).Key("name").String(gpu.name);
  json.Key("compute_capability")
      .String(std::to_string(gpu.major) + "." + std::to_string(gpu.minor));
  json.Key("memory_bytes").Integer(gpu.memory).Key("pci_id").String(gpu.pci_id);
  json.Key("uuid").String(gpu.uuid).Key("used").Bool(used).EndObject();
}

std::string Json(const device::Gpus& gpus, TensorRtPlugin plugin) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginObject().Key("gpus").BeginArray();
  for (const device::Gpu& gpu : gpus.used()) WriteGpu(gpu, true, json);
  for (const device::Gpu& gpu : gpus.too_old()) WriteGpu(gpu, false, json);
  json.EndArray().Key("failures").BeginArray();
  for (const std::string& failure : gpus.failures()) json.String(failure);
  json.EndArray().Key("none_because").String(gpus.none_because());
  json.Key("tensorrt_plugin").String(NameOf(plugin)).EndObject();
  return text + "\n";
}

}  // namespace

ToolResult RunGpus(std::span<const std::string> words, const ToolContext& context) {
  const auto arguments = ToolArguments::Parse(kFlags, words);
  if (!arguments.ok()) return CannotRun("gpus", arguments.status().message());
  if (arguments->Has("help")) return {0, std::string(kUsage) + FlagsText(kFlags), ""};
  if (!arguments->words().empty()) return CannotRun("gpus", "expected no words, only flags");
  const std::string format = arguments->Get("format", "text");
  if (format != "text" && format != "json") {
    return CannotRun("gpus", "--format must be text or json. Got " + format);
  }
  double capability = DeviceOptions().min_supported_compute_capability;
  if (arguments->Has("min-supported-compute-capability")) {
    const auto given = ParseNumber(arguments->Get("min-supported-compute-capability"), 0, 1000);
    if (!given.ok()) {
      return CannotRun("gpus", "--min-supported-compute-capability: " + given.status().message());
    }
    capability = *given;
  }
  const device::Gpus gpus = context.find_gpus ? context.find_gpus(capability) : device::Gpus();
  const TensorRtPlugin plugin = FindTensorRt(context.backend_directory);
  return {gpus.empty() ? 1 : 0, format == "json" ? Json(gpus, plugin) : Text(gpus, plugin), ""};
}

}  // namespace nereid::app::tools
