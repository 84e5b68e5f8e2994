// SPDX-License-Identifier: Apache-2.0
#include "config/rules/validate.h"

#include <numeric>
#include <utility>

#include "config/rules/advice.h"
#include "config/rules/find_problems.h"
#include "config/rules/sections.h"

namespace nereid::config {
namespace {

using rules::Findings;

void FindErrors(const rules::Proto& config, const ValidateOptions& options, Findings& findings) {
  using namespace rules;
  CheckIdentity(config, findings);
  CheckDynamicBatching(config, findings);
  CheckSequenceBatching(config, findings);
  CheckEnsemble(config, findings);
  CheckResponses(config, findings);
  CheckAgents(config, findings);
  if (options.check_io) {
    CheckTensors(config, findings);
    CheckBatchIo(config, findings);
  }
  if (options.check_instance_groups) CheckInstanceGroups(config, options, findings);
  if (options.check_sequence_states) CheckSequenceStates(config, findings);
  if (options.check_warmup) CheckWarmup(config, findings);
  if (!options.directory_name.empty()) CheckDirectory(config, options.directory_name, findings);
}

void FindWarnings(const rules::Proto& config, const ValidateOptions& options, Findings& findings) {
  const rules::AdviceSubject subject{config, options};
  AdviseOnScheduling(subject, findings);
  AdviseOnOptimization(subject, findings);
  AdviseOnPlacement(subject, findings);
  AdviseOnTensors(subject, findings);
  AdviseOnNames(subject, findings);
}

std::vector<int32_t> FirstGpus(int count) {
  std::vector<int32_t> gpus(static_cast<size_t>(count));
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

}  // namespace

ValidateOptions ValidateOptions::ForPoll(bool strict, std::string directory_name) {
  ValidateOptions options;
  options.check_io = strict;
  options.directory_name = std::move(directory_name);
  return options;
}

ValidateOptions ValidateOptions::ForLoad(std::vector<int32_t> gpus) {
  ValidateOptions options;
  options.check_io = true;
  options.check_instance_groups = true;
  options.check_sequence_states = true;
  options.gpus = std::move(gpus);
  return options;
}

ValidateOptions ValidateOptions::ForLoad(int gpu_count) { return ForLoad(FirstGpus(gpu_count)); }

ValidateOptions ValidateOptions::ForAll(std::vector<int32_t> gpus, std::string directory_name) {
  ValidateOptions options = ForLoad(std::move(gpus));
  options.check_warmup = true;
  options.directory_name = std::move(directory_name);
  return options;
}

ValidateOptions ValidateOptions::ForAll(int gpu_count, std::string directory_name) {
  return ForAll(FirstGpus(gpu_count), std::move(directory_name));
}

base::Status ValidateModelConfig(const ModelConfig& config, const ValidateOptions& options) {
  Findings findings(Findings::Wanted::kFirst);
  FindErrors(config.proto(), options, findings);
  if (findings.count() == 0) return base::Status::Ok();
  const base::StatusCode code = findings.first_code();
  return {code, std::move(findings.Take().front().message)};
}

std::vector<Problem> FindProblems(const ModelConfig& config, const ValidateOptions& options) {
  Findings findings(Findings::Wanted::kAll);
  FindErrors(config.proto(), options, findings);
  FindWarnings(config.proto(), options, findings);
  return findings.Take();
}

std::vector<RuleInfo> AllRules() {
  std::vector<RuleInfo> list;
  rules::ListIdentity(&list);
  rules::ListDynamicBatching(&list);
  rules::ListSequenceBatching(&list);
  rules::ListEnsemble(&list);
  rules::ListResponses(&list);
  rules::ListAgents(&list);
  rules::ListTensors(&list);
  rules::ListBatchIo(&list);
  rules::ListInstanceGroups(&list);
  rules::ListSequenceStates(&list);
  rules::ListWarmup(&list);
  rules::ListDirectory(&list);
  rules::ListSchedulingAdvice(&list);
  rules::ListOptimizationAdvice(&list);
  rules::ListPlacementAdvice(&list);
  rules::ListTensorAdvice(&list);
  rules::ListNameAdvice(&list);
  return list;
}

}  // namespace nereid::config
