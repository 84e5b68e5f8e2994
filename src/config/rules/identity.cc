// SPDX-License-Identifier: Apache-2.0
// Who the model is: name, platform, backend, batch size, versions; and its directory's name.
#include "config/known_backends.h"
#include "config/rules/rule.h"

namespace nereid::config::rules {
namespace {

Violation NameGiven(const Proto& config) {
  if (!config.name().empty()) return std::nullopt;
  return "model configuration must specify 'name'";
}

Violation PlatformOrBackendGiven(const Proto& config) {
  if (!config.platform().empty() || !config.backend().empty()) return std::nullopt;
  return "must specify 'platform' or 'backend' for '" + config.name() + "'";
}

Violation PlatformKnown(const Proto& config) {
  if (!config.backend().empty() || config.platform() == kEnsemblePlatform) return std::nullopt;
  return "unexpected platform type '" + config.platform() + "' for " + config.name();
}

Violation EnsembleHasNoBackend(const Proto& config) {
  if (config.platform() != kEnsemblePlatform || config.backend().empty()) return std::nullopt;
  return "Ensemble model '" + config.name() +
         "' must have platform type 'ensemble' and empty backend type";
}

Violation PlatformFitsBackend(const Proto& config) {
  if (!BackendHasPlatforms(config.backend())) return std::nullopt;
  if (BackendOfPlatform(config.platform()) == config.backend()) return std::nullopt;
  return "unexpected 'platform' and 'backend' pair, got:" + config.platform() + ", " +
         config.backend();
}

Violation MaxBatchSizeNotNegative(const Proto& config) {
  if (config.max_batch_size() >= 0) return std::nullopt;
  return "'max_batch_size' must be non-negative value for " + config.name();
}

constexpr Rule<Proto> kRules[] = {
    {"identity.name", "name", NameGiven},
    {"identity.platform_or_backend", "platform", PlatformOrBackendGiven},
    {"identity.platform", "platform", PlatformKnown},
    {"identity.ensemble_backend", "backend", EnsembleHasNoBackend},
    {"identity.platform_backend_pair", "backend", PlatformFitsBackend},
    {"identity.max_batch_size", "max_batch_size", MaxBatchSizeNotNegative},
};

struct DirectorySubject {
  const Proto& config;
  const std::string& directory_name;
};

Violation NamedLikeDirectory(const DirectorySubject& subject) {
  if (subject.config.name() == subject.directory_name) return std::nullopt;
  return "unexpected directory name '" + subject.directory_name + "' for model '" +
         subject.config.name() + "', directory name must equal model name";
}

constexpr Rule<DirectorySubject> kDirectoryRules[] = {
    {"directory.name", "name", NamedLikeDirectory},
};

}  // namespace

Violation CheckIdentity(const Proto& config) { return FirstViolation(kRules, config); }
void ListIdentity(std::vector<RuleInfo>* list) { List(kRules, list); }

Violation CheckDirectory(const Proto& config, const std::string& directory_name) {
  return FirstViolation(kDirectoryRules, DirectorySubject{config, directory_name});
}
void ListDirectory(std::vector<RuleInfo>* list) { List(kDirectoryRules, list); }

}  // namespace nereid::config::rules
