// SPDX-License-Identifier: Apache-2.0
#include "config/model_config.h"

#include <algorithm>

#include "model_config.pb.h"

namespace nereid::config {
namespace {

using tensor::DataType;

DataType ToDataType(inference::DataType type) {
  // The numbers of both enums are the same. Unknown numbers (proto3 enums are open) become invalid.
  if (!inference::DataType_IsValid(type)) return DataType::kInvalid;
  return static_cast<DataType>(type);
}

// Converts the fields that inputs and outputs have in common.
template <typename Io>
TensorSpec ToTensorSpec(const Io& io) {
  TensorSpec spec;
  spec.name = io.name();
  spec.data_type = ToDataType(io.data_type());
  spec.dims.assign(io.dims().begin(), io.dims().end());
  if (io.has_reshape()) {
    spec.reshape.emplace(io.reshape().shape().begin(), io.reshape().shape().end());
  }
  spec.is_shape_tensor = io.is_shape_tensor();
  spec.is_non_linear_format_io = io.is_non_linear_format_io();
  return spec;
}

QueuePolicy ToQueuePolicy(const inference::ModelQueuePolicy& proto) {
  QueuePolicy policy;
  policy.timeout_action = proto.timeout_action() == inference::ModelQueuePolicy::DELAY
                              ? QueuePolicy::TimeoutAction::kDelay
                              : QueuePolicy::TimeoutAction::kReject;
  policy.default_timeout_us = proto.default_timeout_microseconds();
  policy.allow_timeout_override = proto.allow_timeout_override();
  policy.max_queue_size = proto.max_queue_size();
  return policy;
}

DynamicBatchingOptions ToDynamicBatching(const inference::ModelDynamicBatching& proto) {
  DynamicBatchingOptions options;
  options.preferred_batch_sizes.assign(proto.preferred_batch_size().begin(),
                                       proto.preferred_batch_size().end());
  options.max_queue_delay_us = proto.max_queue_delay_microseconds();
  options.preserve_ordering = proto.preserve_ordering();
  options.priority_levels = proto.priority_levels();
  options.default_priority_level = proto.default_priority_level();
  options.default_queue_policy = ToQueuePolicy(proto.default_queue_policy());
  for (const auto& [level, policy] : proto.priority_queue_policy()) {
    options.priority_queue_policies.emplace(level, ToQueuePolicy(policy));
  }
  return options;
}

InstanceKind ToInstanceKind(inference::ModelInstanceGroup::Kind kind) {
  switch (kind) {
    case inference::ModelInstanceGroup::KIND_CPU:
      return InstanceKind::kCpu;
    case inference::ModelInstanceGroup::KIND_GPU:
      return InstanceKind::kGpu;
    case inference::ModelInstanceGroup::KIND_MODEL:
      return InstanceKind::kModel;
    default:
      return InstanceKind::kAuto;
  }
}

InstanceGroup ToInstanceGroup(const inference::ModelInstanceGroup& proto) {
  InstanceGroup group;
  group.name = proto.name();
  group.kind = ToInstanceKind(proto.kind());
  group.count = proto.count();
  group.gpus.assign(proto.gpus().begin(), proto.gpus().end());
  group.profiles.assign(proto.profile().begin(), proto.profile().end());
  group.passive = proto.passive();
  group.host_policy = proto.host_policy();
  for (const auto& device : proto.secondary_devices()) {
    group.secondary_devices.push_back(
        {inference::ModelInstanceGroup::SecondaryDevice::SecondaryDeviceKind_Name(device.kind()),
         device.device_id()});
  }
  for (const auto& resource : proto.rate_limiter().resources()) {
    group.rate_limiter_resources.push_back({resource.name(), resource.global(), resource.count()});
  }
  group.rate_limiter_priority = proto.rate_limiter().priority();
  return group;
}

VersionPolicy ToVersionPolicy(const inference::ModelVersionPolicy& proto) {
  switch (proto.policy_choice_case()) {
    case inference::ModelVersionPolicy::kAll:
      return AllVersions{};
    case inference::ModelVersionPolicy::kSpecific:
      return SpecificVersions{
          {proto.specific().versions().begin(), proto.specific().versions().end()}};
    case inference::ModelVersionPolicy::kLatest:
      return LatestVersions{proto.latest().num_versions()};
    default:
      return LatestVersions{1};
  }
}

using NameIndex = std::vector<std::pair<std::string_view, const TensorSpec*>>;

NameIndex IndexByName(const std::vector<TensorSpec>& specs) {
  NameIndex index;
  index.reserve(specs.size());
  for (const TensorSpec& spec : specs) index.emplace_back(spec.name, &spec);
  // A stable sort, so that Find returns the first of several tensors with the same name.
  std::stable_sort(index.begin(), index.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return index;
}

const TensorSpec* Find(const std::vector<TensorSpec>& specs, const NameIndex& index,
                       std::string_view name) {
  constexpr size_t kLinearLimit = 8;
  if (specs.size() <= kLinearLimit) {
    for (const TensorSpec& spec : specs) {
      if (spec.name == name) return &spec;
    }
    return nullptr;
  }
  auto it = std::lower_bound(index.begin(), index.end(), name,
                             [](const auto& entry, std::string_view n) { return entry.first < n; });
  return it != index.end() && it->first == name ? it->second : nullptr;
}

}  // namespace

std::string_view InstanceKindName(InstanceKind kind) {
  switch (kind) {
    case InstanceKind::kAuto:
      return "KIND_AUTO";
    case InstanceKind::kCpu:
      return "KIND_CPU";
    case InstanceKind::kGpu:
      return "KIND_GPU";
    case InstanceKind::kModel:
      return "KIND_MODEL";
  }
  return "<invalid>";
}

ModelConfigPtr ModelConfig::Create(inference::ModelConfig&& proto) {
  return ModelConfigPtr(
      new ModelConfig(std::make_unique<const inference::ModelConfig>(std::move(proto))));
}

ModelConfigPtr ModelConfig::Create(const inference::ModelConfig& proto) {
  return ModelConfigPtr(new ModelConfig(std::make_unique<const inference::ModelConfig>(proto)));
}

ModelConfig::~ModelConfig() = default;

ModelConfig::ModelConfig(std::unique_ptr<const inference::ModelConfig> proto)
    : proto_(std::move(proto)),
      name_(proto_->name()),
      platform_(proto_->platform()),
      backend_(proto_->backend()),
      runtime_(proto_->runtime()),
      default_model_filename_(proto_->default_model_filename()),
      max_batch_size_(proto_->max_batch_size()),
      decoupled_(proto_->model_transaction_policy().decoupled()),
      response_cache_enabled_(proto_->response_cache().enable()),
      is_ensemble_(proto_->has_ensemble_scheduling() || proto_->platform() == "ensemble"),
      version_policy_(ToVersionPolicy(proto_->version_policy())),
      metric_tags_(proto_->metric_tags().begin(), proto_->metric_tags().end()),
      cc_model_filenames_(proto_->cc_model_filenames().begin(),
                          proto_->cc_model_filenames().end()) {
  for (const auto& input : proto_->input()) {
    TensorSpec spec = ToTensorSpec(input);
    spec.optional = input.optional();
    spec.allow_ragged_batch = input.allow_ragged_batch();
    if (!spec.optional) ++required_input_count_;
    inputs_.push_back(std::move(spec));
  }
  for (const auto& output : proto_->output()) {
    TensorSpec spec = ToTensorSpec(output);
    spec.label_filename = output.label_filename();
    outputs_.push_back(std::move(spec));
  }
  input_index_ = IndexByName(inputs_);
  output_index_ = IndexByName(outputs_);
  if (proto_->has_dynamic_batching()) {
    dynamic_batching_ = ToDynamicBatching(proto_->dynamic_batching());
  }
  if (proto_->has_sequence_batching()) {
    sequence_batching_ = ReadSequenceBatching(proto_->sequence_batching());
  }
  for (const auto& group : proto_->instance_group()) {
    instance_groups_.push_back(ToInstanceGroup(group));
  }
  for (const auto& [key, parameter] : proto_->parameters()) {
    parameters_.emplace(key, parameter.string_value());
  }
}

const TensorSpec* ModelConfig::FindInput(std::string_view name) const {
  return Find(inputs_, input_index_, name);
}

const TensorSpec* ModelConfig::FindOutput(std::string_view name) const {
  return Find(outputs_, output_index_, name);
}

tensor::Shape ModelConfig::FullShape(const TensorSpec& spec) const {
  tensor::Shape shape;
  shape.reserve(spec.dims.size() + 1);
  if (max_batch_size_ > 0 && !spec.is_shape_tensor) shape.push_back(tensor::kVariableDim);
  shape.insert(shape.end(), spec.dims.begin(), spec.dims.end());
  return shape;
}

const std::string* ModelConfig::FindParameter(const std::string& key) const {
  auto it = parameters_.find(key);
  return it == parameters_.end() ? nullptr : &it->second;
}

}  // namespace nereid::config
