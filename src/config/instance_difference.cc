// SPDX-License-Identifier: Apache-2.0
#include "config/instance_difference.h"

#include <google/protobuf/util/message_differencer.h>

#include "model_config.pb.h"

namespace nereid::config {

bool SameButForInstances(const ModelConfig& a, const ModelConfig& b) {
  google::protobuf::util::MessageDifferencer differencer;
  const auto* type = inference::ModelConfig::descriptor();
  differencer.IgnoreField(type->FindFieldByName("instance_group"));
  differencer.IgnoreField(type->FindFieldByName("version_policy"));
  return differencer.Compare(a.proto(), b.proto());
}

ModelConfigPtr WithInstancesOf(const ModelConfig& config, const ModelConfig& other) {
  inference::ModelConfig proto = config.proto();
  *proto.mutable_instance_group() = other.proto().instance_group();
  *proto.mutable_version_policy() = other.proto().version_policy();
  return ModelConfig::Create(std::move(proto));
}

}  // namespace nereid::config
