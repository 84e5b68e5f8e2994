// SPDX-License-Identifier: Apache-2.0
// Warnings about names that backends, the metrics page or people read.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <span>

#include "base/near_name.h"
#include "config/metric_families.h"
#include "config/rules/advice.h"

namespace nereid::config::rules {
namespace {

namespace pb = google::protobuf;

// The longest name of a file on common file systems. Longer names are hardly written by a person.
constexpr size_t kLongName = 255;

// What Nereid's own backends read. tools/check_backend_parameters.py compares these tables with the
// sources of the backends.
constexpr std::string_view kIdentityParameters[] = {
    "creation_delay_sec",       "execute_delay_ms",      "instance_wise_delay_multiplier",
    "echo_parameters",          "enable_custom_tracing", "nested_span_count",
    "single_activity_frequency"};
constexpr std::string_view kOnnxParameters[] = {
    "intra_op_thread_count",
    "inter_op_thread_count",
    "execution_mode",
    "enable_mem_arena",
    "enable_mem_pattern",
    "memory.enable_memory_arena_shrinkage",
    "share_session_between_instances",
    "cudnn_conv_algo_search",
    "arena_extend_strategy",
    "gpu_mem_limit",
    "do_copy_in_default_stream",
    "cpu_threads_per_instance",
    "cpu_threads_vary",
};
constexpr std::string_view kTorchParameters[] = {
    "DISABLE_OPTIMIZED_EXECUTION",
    "INFERENCE_MODE",
    "ENABLE_WEIGHT_SHARING",
    "ENABLE_JIT_EXECUTOR",
    "ENABLE_JIT_PROFILING",
    "ENABLE_TENSOR_FUSER",
    "ENABLE_NVFUSER",
    "ENABLE_CACHE_CLEANING",
    "DISABLE_CUDNN",
    "INTRA_OP_THREAD_COUNT",
    "INTER_OP_THREAD_COUNT",
    "cpu_threads_per_instance",
};
// Parameters that the server reads, whatever the backend.
constexpr std::string_view kServerParameters[] = {
    "TRITON_BATCH_STRATEGY_PATH", "EXECUTION_ENV_PATH", "execution_watchdog_secs",
    "latency_objective_us",       "load_timeout_secs",  "sequence_end_notice",
    "batch_before_timeout",       "inline_execution",   "memory_pinned",
    "no_waiting_alone",           "cheapest_batch_size"};

std::span<const std::string_view> ParametersOf(const std::string& backend) {
  if (backend == "identity") return kIdentityParameters;
  if (backend == "onnxruntime") return kOnnxParameters;
  if (backend == "pytorch") return kTorchParameters;
  return {};
}

bool Contains(std::span<const std::string_view> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns whether the ONNX Runtime backend passes the parameter to ONNX Runtime unchanged.
bool IsPassedOn(const std::string& backend, const std::string& name) {
  if (backend != "onnxruntime") return false;
  for (const std::string_view prefix : {"session.", "optimization.", "mlas.", "ep."}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

void ParametersKnown(const AdviceSubject& subject, Findings& findings) {
  const std::string& backend = subject.config.backend();
  const auto known = ParametersOf(backend);
  if (known.empty()) return;
  std::map<std::string, bool> given;
  for (const auto& [name, value] : subject.config.parameters()) given[name] = true;
  for (const auto& [name, unused] : given) {
    if (Contains(known, name) || Contains(kServerParameters, name) || IsPassedOn(backend, name)) {
      continue;
    }
    findings.Add(At("parameters", name), "the backend " + backend + " has no parameter '" + name +
                                             "' (" + subject.config.name() + ")." +
                                             base::DidYouMean(name, known));
  }
}

bool IsLabelName(const std::string& name) {
  if (name.empty()) return false;
  for (const char c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  }
  return true;
}

void TagsAreLabels(const AdviceSubject& subject, Findings& findings) {
  std::map<std::string, bool> tags;
  for (const auto& [name, value] : subject.config.metric_tags()) tags[name] = true;
  for (const auto& [name, unused] : tags) {
    if (IsLabelName(name)) continue;
    findings.Add(At("metric_tags", name), "the metric tag '" + name + "' of " +
                                              subject.config.name() +
                                              " is no label name: each other character is "
                                              "written as '_'");
  }
}

void FamilyKnown(const AdviceSubject& subject, Findings& findings) {
  const auto& controls = subject.config.model_metrics().metric_control();
  for (int i = 0; i < controls.size(); ++i) {
    const std::string& family = controls[i].metric_identifier().family();
    if (family.empty() || family == kFirstResponseFamily) continue;
    findings.Add(At("model_metrics.metric_control", i) + ".metric_identifier.family",
                 "no histogram of " + subject.config.name() + " is called '" + family +
                     "', only '" + std::string(kFirstResponseFamily) + "' is there");
  }
}

void BucketsAscend(const AdviceSubject& subject, Findings& findings) {
  const auto& controls = subject.config.model_metrics().metric_control();
  for (int i = 0; i < controls.size(); ++i) {
    const auto& buckets = controls[i].histogram_options().buckets();
    for (int j = 0; j < buckets.size(); ++j) {
      const bool above = j == 0 || buckets[j] > buckets[j - 1];
      if (std::isfinite(buckets[j]) && above) continue;
      findings.Add(At(At("model_metrics.metric_control", i) + ".histogram_options.buckets", j),
                   "the buckets of '" + controls[i].metric_identifier().family() + "' of " +
                       subject.config.name() + " do not ascend");
    }
  }
}

void Printable(const std::string& name, const std::string& path, const AdviceSubject& subject,
               Findings& findings) {
  for (const char c : name) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) continue;
    findings.Add(path, "a name in " + subject.config.name() + " has a control character");
    return;
  }
  if (name.size() <= kLongName) return;
  findings.Add(path, "a name in " + subject.config.name() + " has " + std::to_string(name.size()) +
                         " bytes");
}

void NamesSane(const AdviceSubject& subject, Findings& findings) {
  Printable(subject.config.name(), "name", subject, findings);
  for (int i = 0; i < subject.config.input_size(); ++i) {
    Printable(subject.config.input(i).name(), At("input", i) + ".name", subject, findings);
  }
  for (int i = 0; i < subject.config.output_size(); ++i) {
    Printable(subject.config.output(i).name(), At("output", i) + ".name", subject, findings);
  }
}

// Reports enum values without a name, which proto3 accepts, in `message` and all messages in it.
void FindUnknownValues(const pb::Message& message, const std::string& prefix,
                       const AdviceSubject& subject, Findings& findings);

void FindUnknownValue(const pb::Message& message, const pb::FieldDescriptor* field, int position,
                      const AdviceSubject& subject, const std::string& prefix, Findings& findings) {
  const pb::Reflection* reflection = message.GetReflection();
  const bool repeated = field->is_repeated();
  const auto path = [&] {
    return prefix + (repeated ? At(field->name(), position) : field->name());
  };
  if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
    FindUnknownValues(repeated ? reflection->GetRepeatedMessage(message, field, position)
                               : reflection->GetMessage(message, field),
                      path() + ".", subject, findings);
  } else if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_ENUM) {
    const int value = repeated ? reflection->GetRepeatedEnumValue(message, field, position)
                               : reflection->GetEnumValue(message, field);
    if (field->enum_type()->FindValueByNumber(value) != nullptr) return;
    findings.Add(path(), "the value " + std::to_string(value) + " of " + path() + " for " +
                             subject.config.name() + " means nothing");
  }
}

void FindUnknownValues(const pb::Message& message, const std::string& prefix,
                       const AdviceSubject& subject, Findings& findings) {
  std::vector<const pb::FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    const int size = field->is_repeated() ? message.GetReflection()->FieldSize(message, field) : 1;
    for (int i = 0; i < size; ++i) {
      FindUnknownValue(message, field, i, subject, prefix, findings);
    }
  }
}

void ValuesKnown(const AdviceSubject& subject, Findings& findings) {
  FindUnknownValues(subject.config, "", subject, findings);
}

constexpr Rule<AdviceSubject> kRules[] = {
    {{"advice.parameters", "parameters", "The parameters are some that the backend reads.",
      "a parameter of the backend", "Correct the name, or remove the parameter."},
     ParametersKnown},
    {{"advice.metric_tags", "metric_tags",
      "The keys of metric tags are letters, digits and underscores.", "a label name",
      "Write the key with letters, digits and underscores."},
     TagsAreLabels},
    {{"advice.metric_family", "model_metrics.metric_control.metric_identifier.family",
      "Buckets are chosen for a histogram that models have.",
      "nv_inference_first_response_histogram_ms",
      "Correct the name of the family, or remove the metric_control."},
     FamilyKnown},
    {{"advice.buckets", "model_metrics.metric_control.histogram_options.buckets",
      "The buckets of a histogram ascend.", "finite bounds, each above the one before",
      "Sort the bounds, and list each once."},
     BucketsAscend},
    {{"advice.names", "name, input.name, output.name",
      "Names are printable, and of a length that people can read.", "at most 255 printable bytes",
      "Choose a name that can be read and typed."},
     NamesSane},
    {{"advice.values", "*", "Enumerated fields have one of their named values.", "a named value",
      "Write the name of a value in place of the number."},
     ValuesKnown},
};

}  // namespace

void AdviseOnNames(const AdviceSubject& subject, Findings& findings) {
  Apply(kRules, subject, findings, Severity::kWarning);
}

void ListNameAdvice(std::vector<RuleInfo>* list) {
  List(kRules, Stage::kPoll, Severity::kWarning, list);
}

}  // namespace nereid::config::rules
