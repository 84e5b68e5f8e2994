// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "config/sequence_batching.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace inference {
class ModelConfig;
}

namespace nereid::config {

/// An input or output of a model, as the configuration describes it.
struct TensorSpec {
  std::string name;
  tensor::DataType data_type = tensor::DataType::kInvalid;
  /// The shape for clients, without the batch dimension; tensor::kVariableDim for any size.
  tensor::Shape dims;
  /// The shape for the backend if it differs from `dims`, without the batch dimension. May be
  /// empty.
  std::optional<tensor::Shape> reshape;
  /// Inputs only: a request may omit it.
  bool optional = false;
  /// Inputs only: requests with different shapes may be batched.
  bool allow_ragged_batch = false;
  bool is_shape_tensor = false;
  bool is_non_linear_format_io = false;
  /// Outputs only: the label file, relative to the model's directory; empty without labels.
  std::string label_filename;
};

/// The inputs or outputs of a model in the order of the configuration. Immutable.
class TensorSpecs {
 public:
  explicit TensorSpecs(std::vector<TensorSpec> specs);
  TensorSpecs(const TensorSpecs&) = delete;
  TensorSpecs& operator=(const TensorSpecs&) = delete;

  const std::vector<TensorSpec>& list() const { return list_; }
  /// Returns the first tensor with this name, or null. Valid as long as the object.
  const TensorSpec* Find(std::string_view name) const;
  /// The number of tensors that are not optional.
  size_t required_count() const { return required_count_; }

 private:
  std::vector<TensorSpec> list_;
  // Sorted by name. The keys are views of the names in list_.
  std::vector<std::pair<std::string_view, const TensorSpec*>> index_;
  size_t required_count_ = 0;
};

/// How a queue (the default one, or that of a priority level) treats waiting requests.
struct QueuePolicy {
  enum class TimeoutAction { kReject = 0, kDelay = 1 };
  TimeoutAction timeout_action = TimeoutAction::kReject;
  /// Microseconds; 0 means no timeout.
  uint64_t default_timeout_us = 0;
  /// Whether a request may shorten the default timeout. It can never lengthen it.
  bool allow_timeout_override = false;
  /// 0 means no limit.
  uint32_t max_queue_size = 0;
};

struct DynamicBatchingOptions {
  /// In the order of the configuration. In a validated configuration each is in [1,
  /// max_batch_size].
  std::vector<int32_t> preferred_batch_sizes;
  uint64_t max_queue_delay_us = 0;
  bool preserve_ordering = false;
  /// 0 for a single queue; otherwise the levels are 1 (highest priority) to this number.
  uint64_t priority_levels = 0;
  uint64_t default_priority_level = 0;
  QueuePolicy default_queue_policy;
  /// By level. Other levels use the default policy.
  std::map<uint64_t, QueuePolicy> priority_queue_policies;
};

/// The device kind of an instance. The values equal TRITONSERVER_InstanceGroupKind (the protobuf
/// enum has other numbers).
enum class InstanceKind { kAuto = 0, kCpu = 1, kGpu = 2, kModel = 3 };

/// Returns the configuration's name of the kind, such as "KIND_CPU".
std::string_view InstanceKindName(InstanceKind kind);

/// A second device of an instance. It is passed to the backend unchanged.
struct SecondaryDevice {
  std::string kind;
  int64_t device_id = 0;
};

struct RateLimiterResource {
  std::string name;
  bool global = false;
  uint32_t count = 0;
};

struct InstanceGroup {
  std::string name;
  InstanceKind kind = InstanceKind::kAuto;
  /// Instances on each device for kGpu, or in total for other kinds.
  int32_t count = 0;
  std::vector<int32_t> gpus;
  std::vector<std::string> profiles;
  /// Passive instances are created and initialized but never execute requests.
  bool passive = false;
  /// If empty, the policy follows from the kind ("cpu", "gpu_<id>", "model").
  std::string host_policy;
  std::vector<SecondaryDevice> secondary_devices;
  std::vector<RateLimiterResource> rate_limiter_resources;
  /// 0 has the meaning of 1.
  uint32_t rate_limiter_priority = 0;
};

/// Serve the `count` numerically greatest versions.
struct LatestVersions {
  uint32_t count = 1;
};
struct AllVersions {};
/// Serve those of `versions` that exist.
struct SpecificVersions {
  std::vector<int64_t> versions;
};
using VersionPolicy = std::variant<LatestVersions, AllVersions, SpecificVersions>;

class ModelConfig;
using ModelConfigPtr = std::shared_ptr<const ModelConfig>;

/// The configuration of one model. Immutable, so it may be read from any thread. Each step that
/// changes a configuration (config/complete/) creates a new object. All accessors are plain loads.
/// Rarely used parts (warmup, ensemble steps, optimization) are read through proto(); the caller
/// includes model_config.pb.h for that.
class ModelConfig {
 public:
  /// Creates a configuration from the message, which is moved or copied.
  static ModelConfigPtr Create(inference::ModelConfig&& proto);
  static ModelConfigPtr Create(const inference::ModelConfig& proto);
  ~ModelConfig();
  ModelConfig(const ModelConfig&) = delete;
  ModelConfig& operator=(const ModelConfig&) = delete;

  const inference::ModelConfig& proto() const { return *proto_; }

  const std::string& name() const { return name_; }
  const std::string& platform() const { return platform_; }
  const std::string& backend() const { return backend_; }
  const std::string& runtime() const { return runtime_; }
  const std::string& default_model_filename() const { return default_model_filename_; }

  /// 0 means that requests have no batch dimension.
  int32_t max_batch_size() const { return max_batch_size_; }
  const std::vector<TensorSpec>& inputs() const { return inputs_.list(); }
  const std::vector<TensorSpec>& outputs() const { return outputs_.list(); }
  /// Returns the first input (output) with this name, or null. Valid as long as the configuration.
  const TensorSpec* FindInput(std::string_view name) const { return inputs_.Find(name); }
  const TensorSpec* FindOutput(std::string_view name) const { return outputs_.Find(name); }
  /// The number of inputs that are not optional.
  size_t required_input_count() const { return inputs_.required_count(); }
  /// Returns the shape of a tensor in requests: `dims`, preceded by a batch dimension
  /// (kVariableDim) if the model batches. Shape tensors have no batch dimension.
  tensor::Shape FullShape(const TensorSpec& spec) const;

  bool decoupled() const { return decoupled_; }
  bool response_cache_enabled() const { return response_cache_enabled_; }
  /// Absent if the model has no dynamic batcher.
  const std::optional<DynamicBatchingOptions>& dynamic_batching() const {
    return dynamic_batching_;
  }
  /// Absent if the model has no sequence batcher.
  const std::optional<SequenceBatchingOptions>& sequence_batching() const {
    return sequence_batching_;
  }
  /// True if the platform is "ensemble" or ensemble scheduling is configured.
  bool is_ensemble() const { return is_ensemble_; }

  const std::vector<InstanceGroup>& instance_groups() const { return instance_groups_; }
  const VersionPolicy& version_policy() const { return version_policy_; }
  /// Returns the value of a parameter, or null if it is not set.
  const std::string* FindParameter(const std::string& key) const;
  const std::map<std::string, std::string>& metric_tags() const { return metric_tags_; }
  /// Maps a compute capability ("7.5") to the model file for it.
  const std::map<std::string, std::string>& cc_model_filenames() const {
    return cc_model_filenames_;
  }

 private:
  explicit ModelConfig(std::unique_ptr<const inference::ModelConfig> proto);

  std::unique_ptr<const inference::ModelConfig> proto_;
  std::string name_;
  std::string platform_;
  std::string backend_;
  std::string runtime_;
  std::string default_model_filename_;
  int32_t max_batch_size_ = 0;
  TensorSpecs inputs_;
  TensorSpecs outputs_;
  bool decoupled_ = false;
  bool response_cache_enabled_ = false;
  bool is_ensemble_ = false;
  std::optional<DynamicBatchingOptions> dynamic_batching_;
  std::optional<SequenceBatchingOptions> sequence_batching_;
  std::vector<InstanceGroup> instance_groups_;
  VersionPolicy version_policy_;
  std::map<std::string, std::string> parameters_;
  std::map<std::string, std::string> metric_tags_;
  std::map<std::string, std::string> cc_model_filenames_;
};

}  // namespace nereid::config
