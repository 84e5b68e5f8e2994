// SPDX-License-Identifier: Apache-2.0
#include "config/complete/complete.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

constexpr uint64_t kDefaultSequenceIdleUs = 1'000'000;

// Dynamic batching and the oldest strategy have the same default.
template <typename Batcher>
void DefaultPreferredSize(int32_t max_batch_size, Batcher* batcher) {
  if (batcher->preferred_batch_size().empty() && max_batch_size > 0) {
    batcher->add_preferred_batch_size(max_batch_size);
  }
}

void NormalizeScheduling(inference::ModelConfig* proto) {
  if (proto->has_dynamic_batching()) {
    DefaultPreferredSize(proto->max_batch_size(), proto->mutable_dynamic_batching());
  }
  if (proto->has_sequence_batching()) {
    auto* batching = proto->mutable_sequence_batching();
    if (batching->max_sequence_idle_microseconds() == 0) {
      batching->set_max_sequence_idle_microseconds(kDefaultSequenceIdleUs);
    }
    if (batching->has_oldest()) {
      DefaultPreferredSize(proto->max_batch_size(), batching->mutable_oldest());
    }
  }
}

}  // namespace

ModelConfigPtr NormalizeModelConfig(const ModelConfig& config) {
  inference::ModelConfig proto = config.proto();
  if (proto.version_policy().policy_choice_case() ==
      inference::ModelVersionPolicy::POLICY_CHOICE_NOT_SET) {
    proto.mutable_version_policy()->mutable_latest()->set_num_versions(1);
  }
  NormalizeScheduling(&proto);
  if (!config.is_ensemble()) {
    auto* optimization = proto.mutable_optimization();
    if (!optimization->has_input_pinned_memory()) {
      optimization->mutable_input_pinned_memory()->set_enable(true);
    }
    if (!optimization->has_output_pinned_memory()) {
      optimization->mutable_output_pinned_memory()->set_enable(true);
    }
  }
  return ModelConfig::Create(std::move(proto));
}

}  // namespace nereid::config
