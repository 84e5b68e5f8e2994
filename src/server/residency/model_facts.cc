// SPDX-License-Identifier: Apache-2.0
#include "server/residency/model_facts.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "base/files.h"
#include "config/version_policy.h"
#include "repository/ensemble_links.h"

namespace nereid::server {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPinnedParameter = "memory_pinned";

std::vector<int64_t> FindVersions(const std::string& directory) {
  std::vector<int64_t> versions;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const auto version = config::ParseVersionDirectory(it->path().filename().string());
    if (version) versions.push_back(*version);
  }
  return versions;
}

}  // namespace

uint64_t DirectoryBytes(const std::string& directory) {
  uint64_t bytes = 0;
  std::error_code error;
  fs::recursive_directory_iterator it(directory, error);
  for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    if (!it->is_regular_file(unknown)) continue;
    const uint64_t size = it->file_size(unknown);
    if (!unknown) bytes += size;
  }
  return bytes;
}

ModelFacts ReadModelFacts(const repository::ModelDirectory& directory,
                          const repository::PollOptions& options,
                          const repository::LoadOverrides& overrides) {
  ModelFacts facts;
  if (auto written = repository::ReadWrittenConfig(directory, options, overrides); written.ok()) {
    facts.written = std::move(written).value();
    facts.members = repository::MembersOf(*facts.written);
    const std::string* const pinned = facts.written->FindParameter(kPinnedParameter);
    facts.is_pinned = pinned != nullptr && *pinned == "true";
  }
  // Files that came with the load are in no repository, so the model could not be loaded again.
  if (!overrides.files.empty()) facts.is_pinned = true;
  if (repository::IsUrl(directory.path) || !overrides.files.empty()) return facts;
  const config::VersionPolicy policy =
      facts.written == nullptr ? config::VersionPolicy() : facts.written->version_policy();
  for (const int64_t version :
       config::SelectVersions(policy, FindVersions(directory.path)).versions) {
    facts.versions.insert(version);
    facts.file_bytes += DirectoryBytes(base::JoinPath(directory.path, std::to_string(version)));
  }
  return facts;
}

}  // namespace nereid::server
