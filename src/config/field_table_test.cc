// SPDX-License-Identifier: Apache-2.0
// One row for every field of a model's configuration: a text that sets it, what then appears in the
// JSON form, and for the fields that have one the typed accessor. tools/check_config_fields.py
// compares the rows with the messages; src/config/testdata/field_tests.toml
// names the tests of the fields' effects.
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <set>

#include "config/complete/complete.h"
#include "config/complete/instance_groups.h"
#include "config/describe/describe.h"
#include "config/parse/parse.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

namespace pb = google::protobuf;

struct Row {
  std::string field;
  /// The part between << and >> sets the field; without it, the rest is still a configuration.
  std::string text;
  /// Appears with the field, and only then.
  std::string json;
  /// True with the field, and only then. Null for fields that are read through the message.
  bool (*typed)(const ModelConfig&) = nullptr;
};

std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.field; }

// A text around a part of the configuration.
std::string In(const std::string& part) { return "input { name: \"i\" " + part + " }"; }
std::string Out(const std::string& part) { return "output { name: \"o\" " + part + " }"; }
std::string Group(const std::string& part) { return "instance_group { " + part + " }"; }
std::string Dynamic(const std::string& part) { return "dynamic_batching { " + part + " }"; }
std::string Sequence(const std::string& part) { return "sequence_batching { " + part + " }"; }
std::string Control(const std::string& part) {
  return Sequence("control_input { control { " + part + " } }");
}
std::string State(const std::string& part) { return Sequence("state { " + part + " }"); }
std::string Initial(const std::string& part) { return State("initial_state { " + part + " }"); }
std::string Optimization(const std::string& part) { return "optimization { " + part + " }"; }
std::string Graph(const std::string& part) {
  return Optimization("cuda { graph_spec { " + part + " } }");
}
std::string Step(const std::string& part) {
  return "ensemble_scheduling { step { " + part + " } }";
}
std::string Warmup(const std::string& part) { return "model_warmup { " + part + " }"; }
std::string WarmupInput(const std::string& part) {
  return Warmup("inputs { key: \"w\" value { " + part + " } }");
}
std::string Metric(const std::string& part) {
  return "model_metrics { metric_control { " + part + " } }";
}

const InstanceGroup& FirstGroup(const ModelConfig& config) { return config.instance_groups()[0]; }

std::vector<Row> IdentityRows() {
  return {
      {"ModelConfig.name", "<<name: \"m\">>", R"("name":"m",)",
       [](const ModelConfig& c) { return c.name() == "m"; }},
      {"ModelConfig.platform", "<<platform: \"p\">>", R"("platform":"p")",
       [](const ModelConfig& c) { return c.platform() == "p"; }},
      {"ModelConfig.backend", "default_model_filename: \"f\" <<backend: \"x\">>",
       R"("backend":"x")", [](const ModelConfig& c) { return c.backend() == "x"; }},
      {"ModelConfig.runtime", "<<runtime: \"r.so\">>", R"("runtime":"r.so")",
       [](const ModelConfig& c) { return c.runtime() == "r.so"; }},
      {"ModelConfig.version_policy", "<<version_policy { all { } }>>",
       R"("version_policy":{"all":{}})",
       [](const ModelConfig& c) {
         return std::holds_alternative<AllVersions>(c.version_policy());
       }},
      {"ModelVersionPolicy.latest", "version_policy { <<latest { num_versions: 3 }>> }",
       R"("latest":{"num_versions":3})",
       [](const ModelConfig& c) {
         return std::get<LatestVersions>(c.version_policy()).count == 3;
       }},
      {"ModelVersionPolicy.all", "version_policy { <<all { }>> }", R"("all":{})",
       [](const ModelConfig& c) {
         return std::holds_alternative<AllVersions>(c.version_policy());
       }},
      {"ModelVersionPolicy.specific", "version_policy { <<specific { versions: 7 }>> }",
       R"("specific":{"versions":[7]})",
       [](const ModelConfig& c) {
         return std::holds_alternative<SpecificVersions>(c.version_policy());
       }},
      {"ModelVersionPolicy.Latest.num_versions",
       "version_policy { latest { <<num_versions: 4>> } }", R"("num_versions":4)",
       [](const ModelConfig& c) {
         return std::get<LatestVersions>(c.version_policy()).count == 4;
       }},
      {"ModelVersionPolicy.Specific.versions",
       "version_policy { specific { <<versions: [ 5, 2 ]>> } }", R"("versions":[5,2])",
       [](const ModelConfig& c) {
         return std::get<SpecificVersions>(c.version_policy()).versions ==
                std::vector<int64_t>{5, 2};
       }},
      {"ModelConfig.max_batch_size", "<<max_batch_size: 6>>", R"("max_batch_size":6)",
       [](const ModelConfig& c) { return c.max_batch_size() == 6; }},
      {"ModelConfig.default_model_filename", "<<default_model_filename: \"f.bin\">>",
       R"("default_model_filename":"f.bin")",
       [](const ModelConfig& c) { return c.default_model_filename() == "f.bin"; }},
      {"ModelConfig.cc_model_filenames", "<<cc_model_filenames { key: \"7.5\" value: \"f\" }>>",
       R"("cc_model_filenames":{"7.5":"f"})",
       [](const ModelConfig& c) { return c.cc_model_filenames().contains("7.5"); }},
      {"ModelConfig.metric_tags", "<<metric_tags { key: \"team\" value: \"t\" }>>",
       R"("metric_tags":{"team":"t"})",
       [](const ModelConfig& c) { return c.metric_tags().contains("team"); }},
      {"ModelConfig.parameters", "<<parameters { key: \"k\" value { } }>>",
       R"("parameters":{"k":{)",
       [](const ModelConfig& c) { return c.FindParameter("k") != nullptr; }},
      {"ModelParameter.string_value", "parameters { key: \"k\" value { <<string_value: \"v\">> } }",
       R"("string_value":"v")", [](const ModelConfig& c) { return *c.FindParameter("k") == "v"; }},
      {"ModelConfig.model_operations", "<<model_operations { }>>", R"("model_operations":{)"},
      {"ModelOperations.op_library_filename",
       "model_operations { <<op_library_filename: \"op.so\">> }",
       R"("op_library_filename":["op.so"])"},
      {"ModelConfig.model_transaction_policy", "<<model_transaction_policy { }>>",
       R"("model_transaction_policy":{)"},
      {"ModelTransactionPolicy.decoupled", "model_transaction_policy { <<decoupled: true>> }",
       R"("decoupled":true)", [](const ModelConfig& c) { return c.decoupled(); }},
      {"ModelConfig.model_repository_agents", "<<model_repository_agents { }>>",
       R"("model_repository_agents":{)"},
      {"ModelRepositoryAgents.agents", "model_repository_agents { <<agents { name: \"a\" }>> }",
       R"("agents":[{)"},
      {"ModelRepositoryAgents.Agent.name",
       "model_repository_agents { agents { <<name: \"checksum\">> } }", R"("name":"checksum")"},
      {"ModelRepositoryAgents.Agent.parameters",
       "model_repository_agents { agents { <<parameters { key: \"a\" value: \"b\" }>> } }",
       R"("parameters":{"a":"b"})"},
      {"ModelConfig.response_cache", "<<response_cache { }>>", R"("response_cache":{)"},
      {"ModelResponseCache.enable", "response_cache { <<enable: true>> }",
       R"("response_cache":{"enable":true})",
       [](const ModelConfig& c) { return c.response_cache_enabled(); }},
      {"ModelConfig.model_metrics", "<<model_metrics { }>>", R"("model_metrics":{)"},
      {"ModelMetrics.metric_control", "model_metrics { <<metric_control { }>> }",
       R"("metric_control":[{)"},
      {"ModelMetrics.MetricControl.metric_identifier", Metric("<<metric_identifier { }>>"),
       R"("metric_identifier":{)"},
      {"ModelMetrics.MetricControl.MetricIdentifier.family",
       Metric("metric_identifier { <<family: \"f\">> }"), R"("family":"f")"},
      {"ModelMetrics.MetricControl.histogram_options", Metric("<<histogram_options { }>>"),
       R"("histogram_options":{)"},
      {"ModelMetrics.MetricControl.HistogramOptions.buckets",
       Metric("histogram_options { <<buckets: [ 0.5, 2 ]>> }"), R"("buckets":[0.5,2])"},
  };
}

std::vector<Row> TensorRows() {
  return {
      {"ModelConfig.input", "<<input { name: \"i\" }>>", R"("input":[{"name":"i")",
       [](const ModelConfig& c) { return c.FindInput("i") != nullptr; }},
      {"ModelInput.name", "input { <<name: \"n\">> }", R"("name":"n")",
       [](const ModelConfig& c) { return c.inputs()[0].name == "n"; }},
      {"ModelInput.data_type", In("<<data_type: TYPE_BF16>>"), R"("data_type":"TYPE_BF16")",
       [](const ModelConfig& c) { return c.inputs()[0].data_type == tensor::DataType::kBf16; }},
      {"ModelInput.format", In("<<format: FORMAT_NCHW>>"), R"("format":"FORMAT_NCHW")"},
      {"ModelInput.dims", In("<<dims: [ 3, -1 ]>>"), R"("dims":[3,-1])",
       [](const ModelConfig& c) {
         return c.inputs()[0].dims == tensor::Shape{3, -1};
       }},
      {"ModelInput.reshape", In("<<reshape { }>>"), R"("reshape":{)",
       [](const ModelConfig& c) { return c.inputs()[0].reshape.has_value(); }},
      {"ModelTensorReshape.shape", In("reshape { <<shape: [ 2, 2 ]>> }"), R"("shape":[2,2])",
       [](const ModelConfig& c) {
         return c.inputs()[0].reshape == tensor::Shape{2, 2};
       }},
      {"ModelInput.is_shape_tensor", In("<<is_shape_tensor: true>>"), R"("is_shape_tensor":true)",
       [](const ModelConfig& c) { return c.inputs()[0].is_shape_tensor; }},
      {"ModelInput.allow_ragged_batch", In("<<allow_ragged_batch: true>>"),
       R"("allow_ragged_batch":true)",
       [](const ModelConfig& c) { return c.inputs()[0].allow_ragged_batch; }},
      {"ModelInput.optional", In("<<optional: true>>"), R"("optional":true)",
       [](const ModelConfig& c) {
         return c.inputs()[0].optional && c.required_input_count() == 0;
       }},
      {"ModelInput.is_non_linear_format_io", In("<<is_non_linear_format_io: true>>"),
       R"("is_non_linear_format_io":true)",
       [](const ModelConfig& c) { return c.inputs()[0].is_non_linear_format_io; }},
      {"ModelConfig.output", "<<output { name: \"o\" }>>", R"("output":[{"name":"o")",
       [](const ModelConfig& c) { return c.FindOutput("o") != nullptr; }},
      {"ModelOutput.name", "output { <<name: \"n\">> }", R"("name":"n")",
       [](const ModelConfig& c) { return c.outputs()[0].name == "n"; }},
      {"ModelOutput.data_type", Out("<<data_type: TYPE_STRING>>"), R"("data_type":"TYPE_STRING")",
       [](const ModelConfig& c) { return c.outputs()[0].data_type == tensor::DataType::kBytes; }},
      {"ModelOutput.dims", Out("<<dims: 5>>"), R"("dims":[5])",
       [](const ModelConfig& c) { return c.outputs()[0].dims == tensor::Shape{5}; }},
      {"ModelOutput.reshape", Out("<<reshape { }>>"), R"("reshape":{)",
       [](const ModelConfig& c) { return c.outputs()[0].reshape.has_value(); }},
      {"ModelOutput.label_filename", Out("<<label_filename: \"l\">>"), R"("label_filename":"l")",
       [](const ModelConfig& c) { return c.outputs()[0].label_filename == "l"; }},
      {"ModelOutput.is_shape_tensor", Out("<<is_shape_tensor: true>>"), R"("is_shape_tensor":true)",
       [](const ModelConfig& c) { return c.outputs()[0].is_shape_tensor; }},
      {"ModelOutput.is_non_linear_format_io", Out("<<is_non_linear_format_io: true>>"),
       R"("is_non_linear_format_io":true)",
       [](const ModelConfig& c) { return c.outputs()[0].is_non_linear_format_io; }},
      {"ModelConfig.batch_input", "<<batch_input { }>>", R"("batch_input":[{)"},
      {"BatchInput.kind", "batch_input { <<kind: BATCH_ITEM_SHAPE>> }",
       R"("kind":"BATCH_ITEM_SHAPE")"},
      {"BatchInput.target_name", "batch_input { <<target_name: \"t\">> }",
       R"("target_name":["t"])"},
      {"BatchInput.data_type", "batch_input { <<data_type: TYPE_INT32>> }",
       R"("data_type":"TYPE_INT32")"},
      {"BatchInput.source_input", "batch_input { <<source_input: \"s\">> }",
       R"("source_input":["s"])"},
      {"ModelConfig.batch_output", "<<batch_output { }>>", R"("batch_output":[{)"},
      {"BatchOutput.target_name", "batch_output { <<target_name: \"t\">> }",
       R"("target_name":["t"])"},
      // There is one kind only, which is also the default: a number shows that it is kept.
      {"BatchOutput.kind", "batch_output { <<kind: 1>> }", R"("kind":1)"},
      {"BatchOutput.source_input", "batch_output { <<source_input: \"s\">> }",
       R"("source_input":["s"])"},
  };
}

std::vector<Row> PlacementRows() {
  return {
      {"ModelConfig.instance_group", "<<instance_group { count: 7 }>>", R"("count":7)",
       [](const ModelConfig& c) { return FirstGroup(c).count == 7; }},
      {"ModelInstanceGroup.name", Group("<<name: \"g\">>"), R"("name":"g")",
       [](const ModelConfig& c) { return FirstGroup(c).name == "g"; }},
      {"ModelInstanceGroup.kind", Group("<<kind: KIND_MODEL>>"), R"("kind":"KIND_MODEL")",
       [](const ModelConfig& c) { return FirstGroup(c).kind == InstanceKind::kModel; }},
      {"ModelInstanceGroup.count", Group("<<count: 3>>"), R"("count":3)",
       [](const ModelConfig& c) { return FirstGroup(c).count == 3; }},
      {"ModelInstanceGroup.rate_limiter", Group("<<rate_limiter { }>>"), R"("rate_limiter":{)"},
      {"ModelRateLimiter.resources", Group("rate_limiter { <<resources { }>> }"),
       R"("resources":[{)",
       [](const ModelConfig& c) { return FirstGroup(c).rate_limiter_resources.size() == 1; }},
      {"ModelRateLimiter.Resource.name", Group("rate_limiter { resources { <<name: \"R\">> } }"),
       R"("name":"R")",
       [](const ModelConfig& c) { return FirstGroup(c).rate_limiter_resources[0].name == "R"; }},
      {"ModelRateLimiter.Resource.global", Group("rate_limiter { resources { <<global: true>> } }"),
       R"("global":true)",
       [](const ModelConfig& c) { return FirstGroup(c).rate_limiter_resources[0].global; }},
      {"ModelRateLimiter.Resource.count", Group("rate_limiter { resources { <<count: 9>> } }"),
       R"("count":9)",
       [](const ModelConfig& c) { return FirstGroup(c).rate_limiter_resources[0].count == 9; }},
      {"ModelRateLimiter.priority", Group("rate_limiter { <<priority: 2>> }"), R"("priority":2)",
       [](const ModelConfig& c) { return FirstGroup(c).rate_limiter_priority == 2; }},
      {"ModelInstanceGroup.gpus", Group("kind: KIND_GPU <<gpus: 1>>"), R"("gpus":[1])",
       [](const ModelConfig& c) { return FirstGroup(c).gpus == std::vector<int32_t>{1}; }},
      {"ModelInstanceGroup.secondary_devices", Group("<<secondary_devices { }>>"),
       R"("secondary_devices":[{)",
       [](const ModelConfig& c) { return FirstGroup(c).secondary_devices.size() == 1; }},
      // There is one kind only, which is also the default: a number shows that it is kept.
      {"ModelInstanceGroup.SecondaryDevice.kind", Group("secondary_devices { <<kind: 1>> }"),
       R"("kind":1)",
       [](const ModelConfig& c) {
         return FirstGroup(c).secondary_devices[0].kind != "KIND_NVDLA";
       }},
      {"ModelInstanceGroup.SecondaryDevice.device_id",
       Group("secondary_devices { <<device_id: 4>> }"), R"("device_id":"4")",
       [](const ModelConfig& c) { return FirstGroup(c).secondary_devices[0].device_id == 4; }},
      {"ModelInstanceGroup.profile", Group("<<profile: \"0\">>"), R"("profile":["0"])",
       [](const ModelConfig& c) { return FirstGroup(c).profiles.size() == 1; }},
      {"ModelInstanceGroup.passive", Group("<<passive: true>>"), R"("passive":true)",
       [](const ModelConfig& c) { return FirstGroup(c).passive; }},
      {"ModelInstanceGroup.host_policy", Group("<<host_policy: \"h\">>"), R"("host_policy":"h")",
       [](const ModelConfig& c) { return FirstGroup(c).host_policy == "h"; }},
      {"ModelConfig.optimization", "<<optimization { eager_batching: true }>>",
       R"("eager_batching":true)"},
      {"ModelOptimizationPolicy.graph", Optimization("<<graph { }>>"), R"("graph":{)"},
      {"ModelOptimizationPolicy.Graph.level", Optimization("graph { <<level: -1>> }"),
       R"("level":-1)"},
      {"ModelOptimizationPolicy.priority", Optimization("<<priority: PRIORITY_MIN>>"),
       R"("priority":"PRIORITY_MIN")"},
      {"ModelOptimizationPolicy.cuda", Optimization("<<cuda { }>>"), R"("cuda":{)"},
      {"ModelOptimizationPolicy.Cuda.graphs", Optimization("cuda { <<graphs: true>> }"),
       R"("graphs":true)"},
      {"ModelOptimizationPolicy.Cuda.busy_wait_events",
       Optimization("cuda { <<busy_wait_events: true>> }"), R"("busy_wait_events":true)"},
      {"ModelOptimizationPolicy.Cuda.graph_spec", Optimization("cuda { <<graph_spec { }>> }"),
       R"("graph_spec":[{)"},
      {"ModelOptimizationPolicy.Cuda.output_copy_stream",
       Optimization("cuda { <<output_copy_stream: true>> }"), R"("output_copy_stream":true)"},
      {"ModelOptimizationPolicy.Cuda.GraphSpec.batch_size", Graph("<<batch_size: 2>>"),
       R"("batch_size":2)"},
      {"ModelOptimizationPolicy.Cuda.GraphSpec.input", Graph("<<input { key: \"a\" value { } }>>"),
       R"("input":{"a":{)"},
      {"ModelOptimizationPolicy.Cuda.GraphSpec.graph_lower_bound",
       Graph("<<graph_lower_bound { }>>"), R"("graph_lower_bound":{)"},
      {"ModelOptimizationPolicy.Cuda.GraphSpec.Shape.dim",
       Graph("input { key: \"a\" value { <<dim: [ 1, 2 ]>> } }"), R"("dim":["1","2"])"},
      {"ModelOptimizationPolicy.Cuda.GraphSpec.LowerBound.batch_size",
       Graph("graph_lower_bound { <<batch_size: 1>> }"), R"("batch_size":1)"},
      {"ModelOptimizationPolicy.Cuda.GraphSpec.LowerBound.input",
       Graph("graph_lower_bound { <<input { key: \"a\" value { } }>> }"), R"("input":{"a":{)"},
      {"ModelOptimizationPolicy.execution_accelerators",
       Optimization("<<execution_accelerators { }>>"), R"("execution_accelerators":{)"},
      {"ModelOptimizationPolicy.ExecutionAccelerators.gpu_execution_accelerator",
       Optimization("execution_accelerators { <<gpu_execution_accelerator { }>> }"),
       R"("gpu_execution_accelerator":[{)"},
      {"ModelOptimizationPolicy.ExecutionAccelerators.cpu_execution_accelerator",
       Optimization("execution_accelerators { <<cpu_execution_accelerator { }>> }"),
       R"("cpu_execution_accelerator":[{)"},
      {"ModelOptimizationPolicy.ExecutionAccelerators.Accelerator.name",
       Optimization("execution_accelerators { gpu_execution_accelerator { <<name: \"trt\">> } }"),
       R"("name":"trt")"},
      {"ModelOptimizationPolicy.ExecutionAccelerators.Accelerator.parameters",
       Optimization("execution_accelerators { gpu_execution_accelerator { "
                    "<<parameters { key: \"a\" value: \"b\" }>> } }"),
       R"("parameters":{"a":"b"})"},
      {"ModelOptimizationPolicy.input_pinned_memory",
       Optimization("<<input_pinned_memory { enable: false }>>"),
       R"("input_pinned_memory":{"enable":false})"},
      {"ModelOptimizationPolicy.output_pinned_memory",
       Optimization("<<output_pinned_memory { enable: false }>>"),
       R"("output_pinned_memory":{"enable":false})"},
      {"ModelOptimizationPolicy.PinnedMemoryBuffer.enable",
       Optimization("input_pinned_memory { <<enable: true>> }"),
       R"("input_pinned_memory":{"enable":true})"},
      {"ModelOptimizationPolicy.gather_kernel_buffer_threshold",
       Optimization("<<gather_kernel_buffer_threshold: 5>>"),
       R"("gather_kernel_buffer_threshold":5)"},
      {"ModelOptimizationPolicy.eager_batching", Optimization("<<eager_batching: true>>"),
       R"("eager_batching":true)"},
  };
}

std::vector<Row> SchedulingRows() {
  return {
      {"ModelConfig.dynamic_batching", "<<dynamic_batching { }>>", R"("dynamic_batching":{)",
       [](const ModelConfig& c) { return c.dynamic_batching().has_value(); }},
      {"ModelDynamicBatching.preferred_batch_size", Dynamic("<<preferred_batch_size: [ 2, 4 ]>>"),
       R"("preferred_batch_size":[2,4])",
       [](const ModelConfig& c) {
         return c.dynamic_batching()->preferred_batch_sizes == std::vector<int32_t>{2, 4};
       }},
      {"ModelDynamicBatching.max_queue_delay_microseconds",
       Dynamic("<<max_queue_delay_microseconds: 18446744073709551615>>"),
       R"("max_queue_delay_microseconds":18446744073709551615)",
       [](const ModelConfig& c) { return c.dynamic_batching()->max_queue_delay_us == UINT64_MAX; }},
      {"ModelDynamicBatching.preserve_ordering", Dynamic("<<preserve_ordering: true>>"),
       R"("preserve_ordering":true)",
       [](const ModelConfig& c) { return c.dynamic_batching()->preserve_ordering; }},
      {"ModelDynamicBatching.priority_levels", Dynamic("<<priority_levels: 3>>"),
       R"("priority_levels":3)",
       [](const ModelConfig& c) { return c.dynamic_batching()->priority_levels == 3; }},
      {"ModelDynamicBatching.default_priority_level", Dynamic("<<default_priority_level: 2>>"),
       R"("default_priority_level":2)",
       [](const ModelConfig& c) { return c.dynamic_batching()->default_priority_level == 2; }},
      {"ModelDynamicBatching.default_queue_policy",
       Dynamic("<<default_queue_policy { max_queue_size: 1 }>>"), R"("default_queue_policy":{)",
       [](const ModelConfig& c) {
         return c.dynamic_batching()->default_queue_policy.max_queue_size == 1;
       }},
      {"ModelDynamicBatching.priority_queue_policy",
       Dynamic("<<priority_queue_policy { key: 2 value { } }>>"),
       R"("priority_queue_policy":{"2":{)",
       [](const ModelConfig& c) {
         return c.dynamic_batching()->priority_queue_policies.contains(2);
       }},
      {"ModelQueuePolicy.timeout_action",
       Dynamic("default_queue_policy { <<timeout_action: DELAY>> }"), R"("timeout_action":"DELAY")",
       [](const ModelConfig& c) {
         return c.dynamic_batching()->default_queue_policy.timeout_action ==
                QueuePolicy::TimeoutAction::kDelay;
       }},
      {"ModelQueuePolicy.default_timeout_microseconds",
       Dynamic("default_queue_policy { <<default_timeout_microseconds: 8>> }"),
       R"("default_timeout_microseconds":8)",
       [](const ModelConfig& c) {
         return c.dynamic_batching()->default_queue_policy.default_timeout_us == 8;
       }},
      {"ModelQueuePolicy.allow_timeout_override",
       Dynamic("default_queue_policy { <<allow_timeout_override: true>> }"),
       R"("allow_timeout_override":true)",
       [](const ModelConfig& c) {
         return c.dynamic_batching()->default_queue_policy.allow_timeout_override;
       }},
      {"ModelQueuePolicy.max_queue_size", Dynamic("default_queue_policy { <<max_queue_size: 6>> }"),
       R"("max_queue_size":6)",
       [](const ModelConfig& c) {
         return c.dynamic_batching()->default_queue_policy.max_queue_size == 6;
       }},
      {"ModelConfig.sequence_batching", "<<sequence_batching { }>>", R"("sequence_batching":{)",
       [](const ModelConfig& c) { return c.sequence_batching().has_value(); }},
      {"ModelSequenceBatching.direct", Sequence("<<direct { }>>"), R"("direct":{)"},
      {"ModelSequenceBatching.oldest", Sequence("<<oldest { }>>"), R"("oldest":{)"},
      {"ModelSequenceBatching.max_sequence_idle_microseconds",
       Sequence("<<max_sequence_idle_microseconds: 77>>"),
       R"("max_sequence_idle_microseconds":77)"},
      {"ModelSequenceBatching.control_input", Sequence("<<control_input { }>>"),
       R"("control_input":[{)"},
      {"ModelSequenceBatching.state", Sequence("<<state { }>>"), R"("state":[{)"},
      {"ModelSequenceBatching.iterative_sequence", Sequence("<<iterative_sequence: true>>"),
       R"("iterative_sequence":true)"},
      {"ModelSequenceBatching.ControlInput.name", Sequence("control_input { <<name: \"C\">> }"),
       R"("name":"C")"},
      {"ModelSequenceBatching.ControlInput.control", Sequence("control_input { <<control { }>> }"),
       R"("control":[{)"},
      {"ModelSequenceBatching.Control.kind", Control("<<kind: CONTROL_SEQUENCE_CORRID>>"),
       R"("kind":"CONTROL_SEQUENCE_CORRID")"},
      {"ModelSequenceBatching.Control.int32_false_true", Control("<<int32_false_true: [ 0, 1 ]>>"),
       R"("int32_false_true":[0,1])"},
      {"ModelSequenceBatching.Control.fp32_false_true", Control("<<fp32_false_true: [ 0.5, 1 ]>>"),
       R"("fp32_false_true":[0.5,1])"},
      {"ModelSequenceBatching.Control.bool_false_true",
       Control("<<bool_false_true: [ false, true ]>>"), R"("bool_false_true":[false,true])"},
      {"ModelSequenceBatching.Control.data_type", Control("<<data_type: TYPE_UINT64>>"),
       R"("data_type":"TYPE_UINT64")"},
      {"ModelSequenceBatching.State.input_name", State("<<input_name: \"a\">>"),
       R"("input_name":"a")"},
      {"ModelSequenceBatching.State.output_name", State("<<output_name: \"b\">>"),
       R"("output_name":"b")"},
      {"ModelSequenceBatching.State.data_type", State("<<data_type: TYPE_FP64>>"),
       R"("data_type":"TYPE_FP64")"},
      {"ModelSequenceBatching.State.dims", State("<<dims: [ -1, 2 ]>>"), R"("dims":[-1,2])"},
      {"ModelSequenceBatching.State.initial_state", State("<<initial_state { }>>"),
       R"("initial_state":[{)"},
      {"ModelSequenceBatching.State.use_same_buffer_for_input_output",
       State("<<use_same_buffer_for_input_output: true>>"),
       R"("use_same_buffer_for_input_output":true)"},
      {"ModelSequenceBatching.State.use_growable_memory", State("<<use_growable_memory: true>>"),
       R"("use_growable_memory":true)"},
      {"ModelSequenceBatching.InitialState.data_type", Initial("<<data_type: TYPE_INT8>>"),
       R"("data_type":"TYPE_INT8")"},
      {"ModelSequenceBatching.InitialState.dims", Initial("<<dims: [ 1, 2 ]>>"),
       R"("dims":["1","2"])"},
      {"ModelSequenceBatching.InitialState.zero_data", Initial("<<zero_data: false>>"),
       R"("zero_data":false)"},
      {"ModelSequenceBatching.InitialState.data_file", Initial("<<data_file: \"d\">>"),
       R"("data_file":"d")"},
      {"ModelSequenceBatching.InitialState.name", Initial("<<name: \"n\">>"), R"("name":"n")"},
      {"ModelSequenceBatching.StrategyDirect.max_queue_delay_microseconds",
       Sequence("direct { <<max_queue_delay_microseconds: 5>> }"),
       R"("max_queue_delay_microseconds":5)"},
      {"ModelSequenceBatching.StrategyDirect.minimum_slot_utilization",
       Sequence("direct { <<minimum_slot_utilization: 0.25>> }"),
       R"("minimum_slot_utilization":0.25)"},
      {"ModelSequenceBatching.StrategyOldest.max_candidate_sequences",
       Sequence("oldest { <<max_candidate_sequences: 12>> }"), R"("max_candidate_sequences":12)"},
      {"ModelSequenceBatching.StrategyOldest.preferred_batch_size",
       Sequence("oldest { <<preferred_batch_size: 3>> }"), R"("preferred_batch_size":[3])"},
      {"ModelSequenceBatching.StrategyOldest.max_queue_delay_microseconds",
       Sequence("oldest { <<max_queue_delay_microseconds: 6>> }"),
       R"("max_queue_delay_microseconds":6)"},
      {"ModelSequenceBatching.StrategyOldest.preserve_ordering",
       Sequence("oldest { <<preserve_ordering: true>> }"), R"("preserve_ordering":true)"},
      {"ModelConfig.ensemble_scheduling", "<<ensemble_scheduling { }>>",
       R"("ensemble_scheduling":{)", [](const ModelConfig& c) { return c.is_ensemble(); }},
      {"ModelEnsembling.step", "ensemble_scheduling { <<step { }>> }", R"("step":[{)"},
      {"ModelEnsembling.max_inflight_requests",
       "ensemble_scheduling { <<max_inflight_requests: 11>> }", R"("max_inflight_requests":11)"},
      {"ModelEnsembling.Step.model_name", Step("<<model_name: \"x\">>"), R"("model_name":"x")"},
      {"ModelEnsembling.Step.model_version", Step("<<model_version: -1>>"),
       R"("model_version":-1)"},
      {"ModelEnsembling.Step.input_map", Step("<<input_map { key: \"a\" value: \"b\" }>>"),
       R"("input_map":{"a":"b"})"},
      {"ModelEnsembling.Step.output_map", Step("<<output_map { key: \"a\" value: \"b\" }>>"),
       R"("output_map":{"a":"b"})"},
      {"ModelEnsembling.Step.model_namespace", Step("<<model_namespace: \"ns\">>"),
       R"("model_namespace":"ns")"},
      {"ModelConfig.model_warmup", "<<model_warmup { }>>", R"("model_warmup":[{)"},
      {"ModelWarmup.name", Warmup("<<name: \"w\">>"), R"("name":"w")"},
      {"ModelWarmup.batch_size", Warmup("<<batch_size: 2>>"), R"("batch_size":2)"},
      {"ModelWarmup.inputs", Warmup("<<inputs { key: \"w\" value { } }>>"), R"("inputs":{"w":{)"},
      {"ModelWarmup.count", Warmup("<<count: 4>>"), R"("count":4)"},
      {"ModelWarmup.Input.data_type", WarmupInput("<<data_type: TYPE_FP16>>"),
       R"("data_type":"TYPE_FP16")"},
      {"ModelWarmup.Input.dims", WarmupInput("<<dims: [ 4 ]>>"), R"("dims":[4])"},
      {"ModelWarmup.Input.zero_data", WarmupInput("<<zero_data: true>>"), R"("zero_data":true)"},
      {"ModelWarmup.Input.random_data", WarmupInput("<<random_data: false>>"),
       R"("random_data":false)"},
      {"ModelWarmup.Input.input_data_file", WarmupInput("<<input_data_file: \"f\">>"),
       R"("input_data_file":"f")"},
  };
}

std::vector<Row> Rows() {
  std::vector<Row> rows = IdentityRows();
  for (auto more : {TensorRows(), PlacementRows(), SchedulingRows()}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

// As the server reads a configuration in a directory "d" on a machine with two GPUs.
ModelConfigPtr Read(const Row& row, const std::string& text) {
  std::string base = row.field == "ModelConfig.backend" ? "" : "backend: \"b\" ";
  if (row.field != "ModelConfig.max_batch_size") base += "max_batch_size: 8 ";
  const auto parsed = ParseModelConfigText(base + text, "config.pbtxt");
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  if (!parsed.ok()) return nullptr;
  ModelFiles files;
  files.directory_name = "d";
  const auto completed = CompleteModelConfig(**parsed, files);
  EXPECT_TRUE(completed.ok()) << completed.status().message();
  InstanceDefaults defaults;
  defaults.gpus = {0, 1};
  return completed.ok() ? CompleteInstanceGroups(**completed, defaults) : nullptr;
}

class FieldTableTest : public testing::TestWithParam<Row> {};

TEST_P(FieldTableTest, IsReadKeptAndShown) {
  const Row& row = GetParam();
  const size_t begin = row.text.find("<<");
  const size_t end = row.text.find(">>");
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::string before = row.text.substr(0, begin);
  const std::string after = row.text.substr(end + 2);
  const auto with = Read(row, before + row.text.substr(begin + 2, end - begin - 2) + after);
  const auto without = Read(row, before + after);
  ASSERT_NE(with, nullptr);
  ASSERT_NE(without, nullptr);
  const std::string json = DescribeModelConfigJson(*with);
  EXPECT_NE(json.find(row.json), std::string::npos) << json;
  EXPECT_EQ(DescribeModelConfigJson(*without).find(row.json), std::string::npos);
  // What a client reads can be given back as it is.
  const auto again = ParseModelConfigJson(json);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(DescribeModelConfigJson(**again), json);
  if (row.typed == nullptr) return;
  EXPECT_TRUE(row.typed(*with));
  EXPECT_FALSE(row.typed(*without));
}

INSTANTIATE_TEST_SUITE_P(Config, FieldTableTest, testing::ValuesIn(Rows()), [](const auto& info) {
  std::string name = info.param.field;
  for (char& c : name) c = c == '.' ? '_' : c;
  return name;
});

void CollectFields(const pb::Descriptor* type, const std::string& prefix,
                   std::set<std::string>* fields) {
  if (type->options().map_entry()) return;
  const std::string name = prefix + type->name();
  for (int i = 0; i < type->field_count(); ++i) fields->insert(name + "." + type->field(i)->name());
  for (int i = 0; i < type->nested_type_count(); ++i) {
    CollectFields(type->nested_type(i), name + ".", fields);
  }
}

TEST(FieldTable, HasARowForEveryField) {
  std::set<std::string> fields;
  const pb::FileDescriptor* file = inference::ModelConfig::descriptor()->file();
  for (int i = 0; i < file->message_type_count(); ++i) {
    CollectFields(file->message_type(i), "", &fields);
  }
  std::set<std::string> rows;
  for (const Row& row : Rows()) EXPECT_TRUE(rows.insert(row.field).second) << row.field;
  EXPECT_EQ(rows, fields);
}

}  // namespace
}  // namespace nereid::config
