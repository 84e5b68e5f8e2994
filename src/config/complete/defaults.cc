// SPDX-License-Identifier: Apache-2.0
// The defaults that depend on neither files nor backends.
#include "config/complete/complete.h"
#include "config/complete/completion.h"

namespace nereid::config {
namespace {

constexpr uint64_t kDefaultSequenceIdleUs = 1'000'000;

struct DefaultsSubject {
  bool is_ensemble = false;
  inference::ModelConfig* config = nullptr;
};

void SetVersionPolicy(const DefaultsSubject& subject) {
  if (subject.config->version_policy().policy_choice_case() !=
      inference::ModelVersionPolicy::POLICY_CHOICE_NOT_SET) {
    return;
  }
  subject.config->mutable_version_policy()->mutable_latest()->set_num_versions(1);
}

// Dynamic batching and the oldest strategy have the same default.
template <typename Batcher>
void SetPreferredBatchSize(int32_t max_batch_size, Batcher* batcher) {
  if (batcher->preferred_batch_size().empty() && max_batch_size > 0) {
    batcher->add_preferred_batch_size(max_batch_size);
  }
}

void SetDynamicBatchSize(const DefaultsSubject& subject) {
  if (!subject.config->has_dynamic_batching()) return;
  SetPreferredBatchSize(subject.config->max_batch_size(),
                        subject.config->mutable_dynamic_batching());
}

void SetOldestBatchSize(const DefaultsSubject& subject) {
  if (!subject.config->sequence_batching().has_oldest()) return;
  SetPreferredBatchSize(subject.config->max_batch_size(),
                        subject.config->mutable_sequence_batching()->mutable_oldest());
}

void SetSequenceIdle(const DefaultsSubject& subject) {
  if (!subject.config->has_sequence_batching()) return;
  auto* const batching = subject.config->mutable_sequence_batching();
  if (batching->max_sequence_idle_microseconds() != 0) return;
  batching->set_max_sequence_idle_microseconds(kDefaultSequenceIdleUs);
}

void SetInputPinnedMemory(const DefaultsSubject& subject) {
  if (subject.is_ensemble || subject.config->optimization().has_input_pinned_memory()) return;
  subject.config->mutable_optimization()->mutable_input_pinned_memory()->set_enable(true);
}

void SetOutputPinnedMemory(const DefaultsSubject& subject) {
  if (subject.is_ensemble || subject.config->optimization().has_output_pinned_memory()) return;
  subject.config->mutable_optimization()->mutable_output_pinned_memory()->set_enable(true);
}

std::string LatestVersion(const CompletionContext&) {
  return "the latest version, where no policy is given";
}
std::string MaxBatchSize(const CompletionContext&) { return "the value of max_batch_size"; }
std::string ServersDefault(const CompletionContext&) { return "the server's default"; }

constexpr Completion<DefaultsSubject> kDefaults[] = {
    {{"default.version_policy", "version_policy.latest.num_versions",
      "The numerically greatest version is served.", LatestVersion},
     SetVersionPolicy},
    {{"default.preferred_batch_size", "dynamic_batching.preferred_batch_size",
      "The value of max_batch_size, if the model batches.", MaxBatchSize},
     SetDynamicBatchSize},
    {{"default.oldest_preferred_batch_size", "sequence_batching.oldest.preferred_batch_size",
      "The value of max_batch_size, if the model batches.", MaxBatchSize},
     SetOldestBatchSize},
    {{"default.sequence_idle", "sequence_batching.max_sequence_idle_microseconds", "One second.",
      ServersDefault},
     SetSequenceIdle},
    {{"default.input_pinned_memory", "optimization.input_pinned_memory.enable",
      "On, except in ensembles.", ServersDefault},
     SetInputPinnedMemory},
    {{"default.output_pinned_memory", "optimization.output_pinned_memory.enable",
      "On, except in ensembles.", ServersDefault},
     SetOutputPinnedMemory},
};

}  // namespace

void ListDefaults(std::vector<CompletionInfo>* list) { List(kDefaults, list); }

ModelConfigPtr NormalizeModelConfig(const ModelConfig& config) {
  inference::ModelConfig proto = config.proto();
  Apply(kDefaults, {.is_ensemble = config.is_ensemble(), .config = &proto});
  return ModelConfig::Create(std::move(proto));
}

}  // namespace nereid::config
