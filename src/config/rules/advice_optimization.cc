// SPDX-License-Identifier: Apache-2.0
// Warnings about optimizations that have no effect on this machine or for this model.
#include "config/known_backends.h"
#include "config/rules/advice.h"

namespace nereid::config::rules {
namespace {

bool ServesTensorRt(const AdviceSubject& subject) {
  return subject.config.platform() == kTensorRtPlatform && !subject.options.gpus.empty();
}

void AddUnused(const AdviceSubject& subject, const std::string& path, Findings& findings) {
  const bool tensorrt = subject.config.platform() == kTensorRtPlatform;
  findings.Add(path, path + " of " + subject.config.name() + " has no effect: " +
                         (tensorrt ? "this machine has no GPU" : "only TensorRT models use it"));
}

void PriorityUsable(const AdviceSubject& subject, Findings& findings) {
  const auto priority = subject.config.optimization().priority();
  if (priority == inference::ModelOptimizationPolicy::PRIORITY_DEFAULT ||
      !inference::ModelOptimizationPolicy::ModelPriority_IsValid(priority) ||
      ServesTensorRt(subject)) {
    return;
  }
  AddUnused(subject, "optimization.priority", findings);
}

void CudaUsable(const AdviceSubject& subject, Findings& findings) {
  if (!subject.config.optimization().has_cuda() || ServesTensorRt(subject)) return;
  AddUnused(subject, "optimization.cuda", findings);
}

void GatherKernelUsable(const AdviceSubject& subject, Findings& findings) {
  if (subject.config.optimization().gather_kernel_buffer_threshold() == 0 ||
      ServesTensorRt(subject)) {
    return;
  }
  AddUnused(subject, "optimization.gather_kernel_buffer_threshold", findings);
}

void EagerBatchingUsable(const AdviceSubject& subject, Findings& findings) {
  if (!subject.config.optimization().eager_batching()) return;
  findings.Add("optimization.eager_batching",
               "optimization.eager_batching of " + subject.config.name() +
                   " has no effect: a batch is formed when an instance is free for it");
}

void AcceleratorsUsable(const AdviceSubject& subject, Findings& findings) {
  const auto& accelerators = subject.config.optimization().execution_accelerators();
  for (int i = 0; i < accelerators.gpu_execution_accelerator_size(); ++i) {
    if (!subject.options.gpus.empty()) continue;
    const std::string path = "optimization.execution_accelerators.gpu_execution_accelerator";
    findings.Add(At(path, i),
                 "the execution accelerator '" + accelerators.gpu_execution_accelerator(i).name() +
                     "' of " + subject.config.name() + " has no effect: this machine has no GPU");
  }
}

constexpr Rule<AdviceSubject> kRules[] = {
    {{"advice.stream_priority", "optimization.priority",
      "The priority of CUDA streams needs a TensorRT model and a GPU.",
      "a TensorRT model on a machine with a GPU", "Remove optimization.priority."},
     PriorityUsable},
    {{"advice.cuda", "optimization.cuda", "Settings for CUDA need a TensorRT model and a GPU.",
      "a TensorRT model on a machine with a GPU", "Remove optimization.cuda."},
     CudaUsable},
    {{"advice.gather_kernel", "optimization.gather_kernel_buffer_threshold",
      "The gather kernel needs a TensorRT model and a GPU.",
      "a TensorRT model on a machine with a GPU",
      "Remove optimization.gather_kernel_buffer_threshold."},
     GatherKernelUsable},
    {{"advice.eager_batching", "optimization.eager_batching",
      "Batches are formed late, which eager batching would only hinder.", "eager_batching off",
      "Remove optimization.eager_batching."},
     EagerBatchingUsable},
    {{"advice.accelerators", "optimization.execution_accelerators.gpu_execution_accelerator",
      "Accelerators of the GPU need a GPU.", "a machine with a GPU",
      "Remove the accelerator, or run the server on a machine with a GPU."},
     AcceleratorsUsable},
};

}  // namespace

void AdviseOnOptimization(const AdviceSubject& subject, Findings& findings) {
  // An ensemble has no optimization settings.
  if (subject.config.platform() == kEnsemblePlatform) return;
  Apply(kRules, subject, findings, Severity::kWarning);
}

void ListOptimizationAdvice(std::vector<RuleInfo>* list) {
  List(kRules, Stage::kLoad, Severity::kWarning, list);
}

}  // namespace nereid::config::rules
