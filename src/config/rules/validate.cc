// SPDX-License-Identifier: Apache-2.0
#include "config/rules/validate.h"

#include "config/rules/rule.h"

namespace nereid::config {
namespace {

rules::Violation FirstViolationOf(const rules::Proto& config, const ValidateOptions& options) {
  using namespace rules;
  if (auto violation = CheckIdentity(config)) return violation;
  if (auto violation = CheckDynamicBatching(config)) return violation;
  if (auto violation = CheckSequenceBatching(config)) return violation;
  if (auto violation = CheckEnsemble(config)) return violation;
  if (auto violation = CheckResponses(config)) return violation;
  if (options.check_io) {
    if (auto violation = CheckTensors(config)) return violation;
    if (auto violation = CheckBatchIo(config)) return violation;
  }
  if (options.check_instance_groups) {
    if (auto violation = CheckInstanceGroups(config, options)) return violation;
  }
  if (options.check_sequence_states) {
    if (auto violation = CheckSequenceStates(config)) return violation;
  }
  if (!options.directory_name.empty()) return CheckDirectory(config, options.directory_name);
  return std::nullopt;
}

}  // namespace

ValidateOptions ValidateOptions::ForPoll(bool strict, std::string directory_name) {
  ValidateOptions options;
  options.check_io = strict;
  options.directory_name = std::move(directory_name);
  return options;
}

ValidateOptions ValidateOptions::ForLoad(int gpu_count) {
  ValidateOptions options;
  options.check_io = true;
  options.check_instance_groups = true;
  options.check_sequence_states = true;
  options.gpu_count = gpu_count;
  return options;
}

base::Status ValidateModelConfig(const ModelConfig& config, const ValidateOptions& options) {
  if (auto violation = FirstViolationOf(config.proto(), options)) {
    return base::Status::InvalidArgument(std::move(*violation));
  }
  return base::Status::Ok();
}

std::vector<RuleInfo> AllRules() {
  std::vector<RuleInfo> list;
  rules::ListIdentity(&list);
  rules::ListDynamicBatching(&list);
  rules::ListSequenceBatching(&list);
  rules::ListEnsemble(&list);
  rules::ListResponses(&list);
  rules::ListTensors(&list);
  rules::ListBatchIo(&list);
  rules::ListInstanceGroups(&list);
  rules::ListSequenceStates(&list);
  rules::ListDirectory(&list);
  return list;
}

}  // namespace nereid::config
