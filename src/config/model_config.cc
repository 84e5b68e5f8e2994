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

std::vector<TensorSpec> ReadInputs(const inference::ModelConfig& proto) {
  std::vector<TensorSpec> specs;
  specs.reserve(proto.input_size());
  for (const auto& input : proto.input()) {
    TensorSpec& spec = specs.emplace_back(ToTensorSpec(input));
    spec.optional = input.optional();
    spec.allow_ragged_batch = input.allow_ragged_batch();
  }
  return specs;
}

std::vector<TensorSpec> ReadOutputs(const inference::ModelConfig& proto) {
  std::vector<TensorSpec> specs;
  specs.reserve(proto.output_size());
  for (const auto& output : proto.output()) {
    specs.emplace_back(ToTensorSpec(output)).label_filename = output.label_filename();
  }
  return specs;
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

TensorSpecs::TensorSpecs(std::vector<TensorSpec> specs) : list_(std::move(specs)) {
  index_.reserve(list_.size());
  for (const TensorSpec& spec : list_) {
    index_.emplace_back(spec.name, &spec);
    if (!spec.optional) ++required_count_;
  }
  // A stable sort, so that Find returns the first of several tensors with the same name.
  std::ranges::stable_sort(index_, {}, &decltype(index_)::value_type::first);
}

const TensorSpec* TensorSpecs::Find(std::string_view name) const {
  constexpr size_t kMaxLinear = 8;
  if (list_.size() <= kMaxLinear) {
    for (const TensorSpec& spec : list_) {
      if (spec.name == name) return &spec;
    }
    return nullptr;
  }
  const auto found =
      std::ranges::lower_bound(index_, name, {}, &decltype(index_)::value_type::first);
  return found != index_.end() && found->first == name ? found->second : nullptr;
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
      inputs_(ReadInputs(*proto_)),
      outputs_(ReadOutputs(*proto_)),
      decoupled_(proto_->model_transaction_policy().decoupled()),
      response_cache_enabled_(proto_->response_cache().enable()),
      is_ensemble_(proto_->has_ensemble_scheduling() || proto_->platform() == "ensemble"),
      version_policy_(ToVersionPolicy(proto_->version_policy())),
      metric_tags_(proto_->metric_tags().begin(), proto_->metric_tags().end()),
      cc_model_filenames_(proto_->cc_model_filenames().begin(),
                          proto_->cc_model_filenames().end()) {
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
