// SPDX-License-Identifier: Apache-2.0
// Backends and platforms with a wrong name.
#include <algorithm>
#include <vector>

#include "base/near_name.h"
#include "config/known_backends.h"
#include "layout/advise.h"
#include "layout/candidates.h"

namespace nereid::layout {
namespace {

struct Alias {
  std::string_view name;
  std::string_view backend;
};

/// Names that people and other servers use for the backends.
constexpr Alias kAliases[] = {
    {"onnx", "onnxruntime"},     {"ort", "onnxruntime"},       {"onnx_runtime", "onnxruntime"},
    {"torch", "pytorch"},        {"libtorch", "pytorch"},      {"torchscript", "pytorch"},
    {"tf", "tensorflow"},        {"savedmodel", "tensorflow"}, {"graphdef", "tensorflow"},
    {"openvino_ir", "openvino"}, {"trt", "tensorrt"},          {"py", "python"},
    {"python3", "python"},
};

/// Returns the backend that a wrong name means; empty if it means none.
std::string_view BackendMeant(std::string_view wrong) {
  for (const Alias& alias : kAliases) {
    if (alias.name == wrong) return alias.backend;
  }
  if (const auto backend = config::BackendOfPlatform(wrong); !backend.empty()) return backend;
  std::vector<std::string_view> names;
  for (const config::KnownBackend& backend : config::KnownBackends()) names.push_back(backend.name);
  return base::NearestName(wrong, names);
}

/// Returns the model in a version's directory, or else the first one.
const Candidate* ModelOf(const std::vector<Candidate>& candidates) {
  const auto found = std::find_if(candidates.begin(), candidates.end(), [](const Candidate& c) {
    return c.path.find('/') != std::string::npos;
  });
  if (found != candidates.end()) return &*found;
  return candidates.empty() ? nullptr : &candidates.front();
}

}  // namespace

std::optional<Advice> AdviseOnBackend(const Folder& folder, const ModelFacts& facts) {
  const bool is_known = config::FindKnownBackend(facts.backend) != nullptr;
  auto candidates = FindCandidates(folder, is_known ? facts.backend : std::string());
  if (candidates.empty() && is_known) candidates = FindCandidates(folder, "");
  const Candidate* const model = ModelOf(candidates);
  const std::string config = InRepository(folder, facts.config_file);
  if (model != nullptr) {
    const KindFormat& format = *FormatOf(model->kind);
    Advice advice{FoundText(folder, {*model}), {}};
    std::string steps = SetStep("backend", format.backend, config);
    if (!facts.platform.empty() && format.platform.empty()) {
      steps = Then(RemoveStep("platform", config), steps);
    } else if (!facts.platform.empty() || format.backend == "tensorflow") {
      steps = SetStep("platform", format.platform, config);
      if (!facts.backend.empty() && facts.backend != format.backend) {
        steps = Then(steps, SetStep("backend", format.backend, config));
      }
    }
    advice.ways.push_back(steps);
    return advice;
  }
  const bool is_platform = facts.backend.empty();
  const std::string& wrong = is_platform ? facts.platform : facts.backend;
  const std::string_view meant = is_known ? std::string_view() : BackendMeant(wrong);
  if (meant.empty()) return std::nullopt;
  std::string steps = SetStep("backend", meant, config);
  if (!facts.platform.empty()) steps = Then(RemoveStep("platform", config), steps);
  if (is_platform && meant == wrong) {
    return Advice{Quoted(wrong) + " is the name of a backend, not of a platform", {steps}};
  }
  return Advice{
      std::string("there is no ") + (is_platform ? "platform '" : "backend '") + wrong + "'",
      {steps}};
}

}  // namespace nereid::layout
