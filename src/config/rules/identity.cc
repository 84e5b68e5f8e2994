// SPDX-License-Identifier: Apache-2.0
// Rules for name, platform, backend and batch size, and for the directory's name.
#include "config/known_backends.h"
#include "config/rules/sections.h"

namespace nereid::config::rules {
namespace {

void NameGiven(const Proto& config, Findings& findings) {
  if (config.name().empty()) findings.Add("name", "model configuration must specify 'name'");
}

void PlatformKnown(const Proto& config, Findings& findings) {
  if (!config.backend().empty() || config.platform() == kEnsemblePlatform) return;
  findings.Add("platform",
               "unexpected platform type '" + config.platform() + "' for " + config.name());
}

void EnsembleHasNoBackend(const Proto& config, Findings& findings) {
  if (config.platform() != kEnsemblePlatform || config.backend().empty()) return;
  findings.Add("backend", "Ensemble model '" + config.name() +
                              "' must have platform type 'ensemble' and empty backend type");
}

void PlatformFitsBackend(const Proto& config, Findings& findings) {
  const KnownBackend* const backend = FindKnownBackend(config.backend());
  if (backend == nullptr || !backend->requires_own_platform) return;
  if (BackendOfPlatform(config.platform()) == config.backend()) return;
  findings.Add("backend", "unexpected 'platform' and 'backend' pair, got:" + config.platform() +
                              ", " + config.backend());
}

void MaxBatchSizeNotNegative(const Proto& config, Findings& findings) {
  if (config.max_batch_size() >= 0) return;
  findings.Add("max_batch_size",
               "'max_batch_size' must be non-negative value for " + config.name());
}

constexpr Rule<Proto> kRules[] = {
    {{"identity.name", "name", "A model has a name.", "the name of the model's directory",
      "Set name to the name of the model's directory, or leave it out."},
     NameGiven},
    {{"identity.platform", "platform",
      "A model that is not an ensemble has a backend, named by itself or by a known platform.",
      "a known platform, or a backend",
      "Set backend to the name of the plug-in that runs the model."},
     PlatformKnown},
    {{"identity.ensemble_backend", "backend", "An ensemble has no backend.", "no backend",
      "Remove backend, or the platform \"ensemble\"."},
     EnsembleHasNoBackend},
    {{"identity.platform_backend_pair", "backend",
      "The platforms of tensorrt, tensorflow, onnxruntime and pytorch go with that backend only.",
      "a platform of the backend", "Remove platform: the backend alone says how the model is run."},
     PlatformFitsBackend},
    {{"identity.max_batch_size", "max_batch_size", "The largest batch is not negative.",
      "0 (requests have no batch dimension) or more",
      "Set max_batch_size to the largest batch that the model takes, or to 0."},
     MaxBatchSizeNotNegative},
};

struct DirectorySubject {
  const Proto& config;
  const std::string& directory_name;
};

void NamedLikeDirectory(const DirectorySubject& subject, Findings& findings) {
  if (subject.config.name() == subject.directory_name) return;
  findings.Add("name",
               "unexpected directory name '" + subject.directory_name + "' for model '" +
                   subject.config.name() + "', directory name must equal model name",
               "'" + subject.directory_name + "'");
}

constexpr Rule<DirectorySubject> kDirectoryRules[] = {
    {{"directory.name", "name", "A model is named like its directory.",
      "the name of the model's directory",
      "Set name to the name of the directory, rename the directory, or leave the name out."},
     NamedLikeDirectory},
};

}  // namespace

void CheckIdentity(const Proto& config, Findings& findings) { Apply(kRules, config, findings); }
void ListIdentity(std::vector<RuleInfo>* list) { List(kRules, Stage::kPoll, list); }

void CheckDirectory(const Proto& config, const std::string& directory_name, Findings& findings) {
  Apply(kDirectoryRules, DirectorySubject{config, directory_name}, findings);
}
void ListDirectory(std::vector<RuleInfo>* list) { List(kDirectoryRules, Stage::kPoll, list); }

}  // namespace nereid::config::rules
