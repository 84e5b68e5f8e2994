// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <map>

#include "config/rules/advice.h"

namespace nereid::config::rules {
namespace {

// No request should wait longer than this for a larger batch.
constexpr uint64_t kLongDelayUs = 60'000'000;
// Each level is a separate queue.
constexpr uint64_t kManyLevels = 1000;
// Triton reserves memory for each candidate and exits if it cannot.
constexpr int32_t kManyCandidates = 100'000;

void BatchesPossible(const AdviceSubject& subject, Findings& findings) {
  const Proto& config = subject.config;
  if (!config.has_dynamic_batching() || config.max_batch_size() != 0) return;
  findings.Add("dynamic_batching",
               "dynamic_batching of " + config.name() +
                   " joins no requests: max_batch_size is 0, so every request runs by itself");
}

void Delay(const AdviceSubject& subject, const std::string& field, uint64_t delay_us,
           Findings& findings) {
  if (delay_us <= kLongDelayUs) return;
  findings.Add(field, "requests for " + subject.config.name() + " may wait " +
                          std::to_string(delay_us / 1'000'000) + " seconds for a batch");
}

void DelaySane(const AdviceSubject& subject, Findings& findings) {
  const Proto& config = subject.config;
  const std::string field = "max_queue_delay_microseconds";
  Delay(subject, "dynamic_batching." + field,
        config.dynamic_batching().max_queue_delay_microseconds(), findings);
  const auto& sequences = config.sequence_batching();
  Delay(subject, "sequence_batching.direct." + field,
        sequences.direct().max_queue_delay_microseconds(), findings);
  Delay(subject, "sequence_batching.oldest." + field,
        sequences.oldest().max_queue_delay_microseconds(), findings);
}

void DirectDelayUsed(const AdviceSubject& subject, Findings& findings) {
  const auto& direct = subject.config.sequence_batching().direct();
  if (direct.max_queue_delay_microseconds() == 0 || direct.minimum_slot_utilization() > 0) return;
  findings.Add("sequence_batching.direct.max_queue_delay_microseconds",
               "the direct strategy of " + subject.config.name() +
                   " waits for no other requests: minimum_slot_utilization is 0");
}

void PrioritiesUsed(const AdviceSubject& subject, Findings& findings) {
  const auto& batching = subject.config.dynamic_batching();
  if (batching.priority_levels() != 0) return;
  const std::string ignored = " of " + subject.config.name() + " is ignored: priority_levels is 0";
  if (batching.default_priority_level() != 0) {
    findings.Add("dynamic_batching.default_priority_level", "default_priority_level" + ignored);
  }
  std::map<uint64_t, bool> levels;
  for (const auto& [level, policy] : batching.priority_queue_policy()) levels[level] = true;
  for (const auto& [level, unused] : levels) {
    findings.Add(At("dynamic_batching.priority_queue_policy", level),
                 "priority_queue_policy " + std::to_string(level) + ignored);
  }
}

void LevelsFew(const AdviceSubject& subject, Findings& findings) {
  const uint64_t levels = subject.config.dynamic_batching().priority_levels();
  if (levels <= kManyLevels) return;
  findings.Add("dynamic_batching.priority_levels",
               subject.config.name() + " has " + std::to_string(levels) +
                   " priority levels, each of which is a queue of its own");
}

void CandidatesFew(const AdviceSubject& subject, Findings& findings) {
  const auto& batching = subject.config.sequence_batching();
  const int32_t candidates = batching.oldest().max_candidate_sequences();
  const std::string field = "sequence_batching.oldest.max_candidate_sequences";
  if (candidates < 0) {
    findings.Add(field, "max_candidate_sequences of " + subject.config.name() +
                            " is negative, and counts as max_batch_size");
  } else if (candidates > kManyCandidates) {
    findings.Add(field, std::to_string(candidates) + " candidate sequences for " +
                            subject.config.name() + " take memory before the first request");
  }
}

void VersionsPossible(const AdviceSubject& subject, Findings& findings) {
  const auto& policy = subject.config.version_policy();
  const std::string nothing = "the version policy of " + subject.config.name() + " serves ";
  if (policy.has_latest() && policy.latest().num_versions() == 0) {
    findings.Add("version_policy.latest.num_versions", nothing + "no version: num_versions is 0");
  }
  if (policy.has_specific() && policy.specific().versions().empty()) {
    findings.Add("version_policy.specific.versions", nothing + "no version: it lists none");
  }
  for (int i = 0; i < policy.specific().versions_size(); ++i) {
    const int64_t version = policy.specific().versions(i);
    if (version >= 0) continue;
    findings.Add(At("version_policy.specific.versions", i),
                 nothing + "no version " + std::to_string(version) + ": versions count from 0");
  }
}

void EnsembleInputsRead(const AdviceSubject& subject, Findings& findings) {
  const Proto& config = subject.config;
  for (int i = 0; i < config.ensemble_scheduling().step_size(); ++i) {
    const auto& outputs = config.ensemble_scheduling().step(i).output_map();
    for (const auto& [output, tensor] :
         std::map<std::string, std::string>(outputs.begin(), outputs.end())) {
      for (const auto& input : config.input()) {
        if (input.name() != tensor) continue;
        findings.Add(At("ensemble_scheduling.step", i) + "." + At("output_map", output),
                     "step " + std::to_string(i) + " of ensemble " + config.name() +
                         " writes to the ensemble's input '" + tensor + "'");
      }
    }
  }
}

constexpr Rule<AdviceSubject> kRules[] = {
    {{"advice.dynamic_without_batches", "dynamic_batching",
      "The dynamic batcher needs a model that takes batches.", "max_batch_size above 0",
      "Set max_batch_size to the largest batch that the model takes, or remove dynamic_batching."},
     BatchesPossible},
    {{"advice.queue_delay",
      "dynamic_batching.max_queue_delay_microseconds, "
      "sequence_batching.direct.max_queue_delay_microseconds, "
      "sequence_batching.oldest.max_queue_delay_microseconds",
      "A queue delay is in microseconds, and mostly far below a second.", "less than a minute",
      "Write the delay in microseconds, as in 500."},
     DelaySane},
    {{"advice.direct_delay", "sequence_batching.direct.max_queue_delay_microseconds",
      "The direct strategy delays only to reach minimum_slot_utilization.",
      "minimum_slot_utilization above 0", "Set minimum_slot_utilization, or remove the delay."},
     DirectDelayUsed},
    {{"advice.priority_unused",
      "dynamic_batching.default_priority_level, "
      "dynamic_batching.priority_queue_policy",
      "Priorities need priority_levels.", "priority_levels above 0",
      "Set priority_levels, or remove the default level and the policies."},
     PrioritiesUsed},
    {{"advice.priority_levels", "dynamic_batching.priority_levels",
      "There are few priority levels: each is a queue of its own.", "at most 1000",
      "Set priority_levels to the number of priorities that clients use."},
     LevelsFew},
    {{"advice.candidates", "sequence_batching.oldest.max_candidate_sequences",
      "The candidate sequences are positive, and not many more than clients keep open.",
      "1 to 100000", "Set max_candidate_sequences to the number of sequences open at once."},
     CandidatesFew},
    {{"advice.versions", "version_policy", "A version policy can serve a version.",
      "num_versions above 0, or versions of 0 and more",
      "Set num_versions to 1 or more, or list versions that exist."},
     VersionsPossible},
    {{"advice.ensemble_input", "ensemble_scheduling.step.output_map",
      "The steps of an ensemble do not write its inputs.", "a tensor that is no input",
      "Give the tensor another name."},
     EnsembleInputsRead},
};

}  // namespace

void AdviseOnScheduling(const AdviceSubject& subject, Findings& findings) {
  Apply(kRules, subject, findings, Severity::kWarning);
}

void ListSchedulingAdvice(std::vector<RuleInfo>* list) {
  List(kRules, Stage::kPoll, Severity::kWarning, list);
}

}  // namespace nereid::config::rules
